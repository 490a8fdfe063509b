"""`Model`: a loaded ONNX model that is called with arrays or tensors.

in:  a path, bytes or a parsed model      out: a callable with named inputs and outputs
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from weft.base.arguments import kind_of
from weft.base.dtype import DType, dtypes, element_dtype
from weft.base.locks import reentrant_lock
from weft.base.settings import settings
from weft.base.suggestions import nearest
from weft.device import registry as devices
from weft.engine.capture import recording
from weft.engine.recorded_steps import Unreplayable
from weft.onnx import small_types
from weft.onnx.arguments import InputConverter
from weft.onnx.errors import OnnxError
from weft.onnx.graph import ModelGraph, ValueInfo
from weft.onnx.model_program import ModelProgram
from weft.onnx.programs import Programs
from weft.onnx.protobuf import ModelFile, Source, parse, read
from weft.onnx.stored_programs import Interface, StoredPrograms
from weft.tensor import Tensor

if TYPE_CHECKING:
    from weft.onnx.interpreter import Interpreter


def load(
    source: Source,
    *,
    device: str | None = None,
    dtype: DType | str | None = None,
    jit: bool = True,
    folder: str | os.PathLike[str] | None = None,
) -> Model:
    """Load an ONNX model.

    :param source: a path, the bytes of a file, or an `onnx.ModelProto`.
    :param device: where it runs; None: the default device.
    :param dtype: a float dtype that replaces float32 in constants and inputs, such as "bfloat16".
        Outputs keep their declared dtype.
    :param jit: whether calls are recorded as programs, which later calls run, and which are stored
        on disk for later processes. The first call with new shapes records.
    :param folder: where files with external data lie; by default the folder of the model.
    :raises FileError: if a file cannot be read.
    :raises ModelFormatError: if it is no valid model, or refers to files outside of its folder.
    :raises UnsupportedOperators: if operators are missing: all of them at once.
    :raises OnnxError: if the package `onnx` is not installed, or does not know the opset.
    """
    file = read(source, folder)
    kind = None if dtype is None else _float_dtype(dtype)
    if jit and file.data is not None:
        where = devices.canonical(device)
        stored = StoredPrograms(file.data, file.folder, where, (kind,))
        if (interface := stored.interface()) is not None:
            return Model(file, interface, stored, device=where, dtype=kind)
        return Model(parse(file), None, stored, device=where, dtype=kind)
    return Model(parse(file), device=device, dtype=kind, jit=jit)


class Outputs(Mapping[str, Any]):
    """The outputs of a call by name, in the order of the model.

    `outputs["name"]`, `outputs.name` and `outputs[0]` are one output. An output is a tensor.
    Strings and small types that no device stores are NumPy arrays. A sequence is a list.
    """

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = dict(values)

    def __getitem__(self, key: str | int) -> Any:
        if isinstance(key, str):
            return self._values[key]
        return list(self._values.values())[key]

    if not TYPE_CHECKING:  # a checker reports a name that is not there

        def __getattr__(self, name: str) -> Any:
            if not name.startswith("_") and name in self._values:
                return self._values[name]
            raise AttributeError(f"no output is called {name!r}: there are {', '.join(self)}")

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        shown = (f"{name}: {_described(value)}" for name, value in self._values.items())
        return f"Outputs({', '.join(shown)})"


class Model:
    """A loaded model. Call it with its inputs by position or by name.

    >>> outputs = model(image=array)  # doctest: +SKIP

    Several threads may call one model: the calls wait for each other.

    :ivar metadata: texts that the file holds by name.
    """

    def __init__(
        self,
        source: ModelGraph | ModelFile,
        interface: Interface | None = None,
        stored: StoredPrograms | None = None,
        *,
        device: str | None = None,
        dtype: DType | None = None,
        jit: bool = True,
    ) -> None:
        self._device = devices.canonical(device)
        self._dtype = dtype
        self._source = source
        self._has_jit = jit
        self._stored = stored
        self._lock = reentrant_lock()
        if interface is None:
            assert isinstance(source, ModelGraph)
            interface = Interface.of(source)
            _ = self._interpreter  # operators that are missing are reported at once
        self._interface = interface
        self.metadata = dict(interface.metadata)
        self._every = {each.name: each for each in interface.inputs}
        self._programs = Programs(self._device, self._evaluate, self._find, self._keep, self._every)
        self._programs.host_inputs = interface.host_inputs
        self._inputs = tuple(
            each for each in interface.inputs if each.name not in interface.defaults
        )
        self._converter = InputConverter(self._device, dtype)

    @cached_property
    def _parsed(self) -> ModelGraph:
        """The graph. A model with a stored program is parsed when it is needed."""
        source = self._source
        return source if isinstance(source, ModelGraph) else parse(source)

    @cached_property
    def _interpreter(self) -> Interpreter:
        """Evaluates the graph. Imported late: a stored program needs no operators."""
        constants = importlib.import_module("weft.onnx.values").Constants(self._device, self._dtype)
        if self._has_jit:
            make = importlib.import_module("weft.onnx.segments").SegmentedInterpreter
        else:
            make = importlib.import_module("weft.onnx.interpreter").Interpreter
        return make(self._parsed, constants)

    @property
    def inputs(self) -> tuple[ValueInfo, ...]:
        """Name, dtype and shape of each required input. An unknown size is a name or None."""
        return self._inputs

    @property
    def outputs(self) -> tuple[ValueInfo, ...]:
        """Name, dtype and shape of each output."""
        return self._interface.outputs

    @property
    def opsets(self) -> dict[str, int]:
        """The version of each domain of operators that the model uses."""
        return dict(self._interface.opsets)

    @property
    def device(self) -> str:
        """The device on which the model runs."""
        return self._device

    @property
    def size_reason(self) -> str | None:
        """Why each size of a symbolic axis has a program of its own: the operator that needs its
        value. None: one program serves all sizes, or not enough sizes were seen."""
        return self._programs.size_reason

    def jit(self) -> Model:
        """Return the model with tracing and replay. Constants are loaded anew."""
        return Model(
            self._parsed, None, self._stored, device=self._device, dtype=self._dtype, jit=True
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Outputs:
        """Run the model.

        :param args: inputs in the order of `inputs`: arrays, tensors, nested lists, or objects with
            `__dlpack__`. A dict of inputs may be given instead.
        :param kwargs: inputs by name.
        :raises OnnxError: if inputs are missing, unknown, or of another dtype or shape.
        """
        given = self._given(args, kwargs)
        with self._lock:
            outputs = self._programs.known(given) if self._uses_programs else None
            if outputs is None:
                outputs = self._first_call(self._converter.check(self._every, given))
        return Outputs(outputs)

    @property
    def _uses_programs(self) -> bool:
        """Whether calls run programs. Inside a function that is recorded they do not."""
        return self._has_jit and bool(settings.JIT) and not settings.CHECK and recording() is None

    def _first_call(self, checked: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the outputs of a call whose program is not loaded."""
        outputs = self._programs.first_call(checked) if self._uses_programs else None
        if outputs is None:
            graph = self._parsed.graph
            values = self._converter.to_values(checked)
            outputs = self._named(self._interpreter.run_main(graph, values))
            _realize(list(outputs.values()))
        return outputs

    # ---- programs -------------------------------------------------------------------------------

    def _evaluate(self, values: Mapping[str, Any], keeps_sizes: bool) -> dict[str, Any]:
        """Evaluate the whole graph, for a program. Inputs on the host stay there.

        keeps_sizes: refuse operators that take the value of a symbolic size.
        """
        if self._interpreter.implementations.has_custom:
            raise Unreplayable("a custom operator may depend on more than its inputs")
        given = {
            name: each if isinstance(each, np.ndarray) else self._converter.to_value(each)
            for name, each in values.items()
        }
        self._interpreter.keeps_sizes = keeps_sizes
        try:
            return self._named(self._interpreter.run_whole(self._parsed.graph, given))
        finally:
            self._interpreter.keeps_sizes = False

    def _find(self, signature: tuple[Any, ...]) -> ModelProgram | None:
        return None if self._stored is None else self._stored.find(signature, self._interface)

    def _keep(self, signature: tuple[Any, ...], made: ModelProgram) -> None:
        if self._stored is not None:
            host_inputs = self._programs.host_inputs
            self._stored.keep(signature, made, replace(self._interface, host_inputs=host_inputs))

    def export_c(
        self,
        folder: str | os.PathLike[str],
        *args: Any,
        name: str = "model",
        build: bool = True,
        **kwargs: Any,
    ) -> Path:
        """Compile the model to C sources, a file of weights and a shared library.

        The library runs without Python. Its sizes are those of the given inputs. An input whose
        value selects a branch is fixed to its value.

        :param folder: where the files are written. :param name: of the library.
        :param args, kwargs: inputs as for a call. :param build: whether the library is compiled.
        :returns: the shared library; without `build`, the header.
        :raises OnnxError: if shapes or branches depend on values of tensors.
        :raises CapabilityError: if the kernels of the model's device are not written in C.
        """
        make = importlib.import_module("weft.onnx.c_export").export_c
        checked = self._converter.check(self._every, self._given(args, kwargs))
        with self._lock:
            return make(self._programs, checked, folder, name, build)

    def __repr__(self) -> str:
        inputs, outputs = (", ".join(map(str, each)) for each in (self.inputs, self.outputs))
        return f"Model({inputs} -> {outputs})"

    def _given(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """Return the inputs of a call by name, in the order of the model."""
        if len(args) == 1 and not kwargs and isinstance(args[0], Mapping):
            args, kwargs = (), dict(args[0])
        every = self._every
        if len(args) > len(self._inputs):
            raise self._refuse(f"{len(args)} inputs by position", "there are fewer inputs")
        given = {each.name: value for each, value in zip(self._inputs, args)}
        for name, value in kwargs.items():
            if name in given:
                raise self._refuse(f"the input {name!r} twice", "it is given by position, too")
            if name not in every:
                close = nearest(name, every)
                hint = f"did you mean {close[0]!r}?" if close else "there is no such input"
                raise self._refuse(f"the input {name!r}", hint)
            given[name] = value
        missing = [
            each for each in self._inputs if each.name not in given and each.type.kind != "optional"
        ]
        if missing:
            raise self._refuse(
                f"the inputs {', '.join(given) or 'of no name'}",
                f"{', '.join(repr(each.name) for each in missing)} is missing",
            )
        return {name: given[name] for name in every if name in given}

    def _refuse(self, asked: str, because: str) -> OnnxError:
        return OnnxError(
            "these are not the inputs of the model",
            asked=f"call it with {asked}",
            because=because,
            try_="; ".join(map(str, self._inputs)),
        )

    def _named(self, results: Sequence[Any]) -> dict[str, Any]:
        outputs = self._interface.outputs
        return {each.name: self._output(each, value) for each, value in zip(outputs, results)}

    def _output(self, declared: ValueInfo, value: Any) -> Any:
        if isinstance(value, list):
            return [self._output(declared, each) for each in value]
        if isinstance(value, small_types.Coded):
            return small_types.to_numpy(value)
        if isinstance(value, np.ndarray):
            value = self._interpreter.constants.to_tensor(value)
            return small_types.to_numpy(value) if isinstance(value, small_types.Coded) else value
        if self._dtype is not None and isinstance(value, Tensor) and value.dtype == self._dtype:
            return value.cast(declared.dtype or dtypes.float32)
        return value


def _float_dtype(dtype: DType | str) -> DType:
    kind = element_dtype(dtype)
    if not dtypes.is_float(kind):
        raise OnnxError(
            "a model computes in a float dtype",
            asked=f"load(..., dtype={kind!r})",
            because="it replaces float32 in constants and inputs",
            try_='dtype="bfloat16" or dtype="float16"',
        )
    return kind


def _realize(values: Sequence[Any]) -> None:
    tensors = []
    for value in values:
        if isinstance(value, list):
            _realize(value)
        elif isinstance(value, Tensor):
            tensors.append(value)
    if tensors:
        Tensor.realize(*tensors)


def _described(value: Any) -> str:
    if isinstance(value, Tensor | np.ndarray):
        return f"{value.dtype} {value.shape}"
    return kind_of(value)
