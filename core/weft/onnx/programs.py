"""Programs of a model: one for each signature of a call, recorded at its first call.
Also: ahead-of-time compilation, executable cache.

The first call of a signature (shapes and dtypes of the inputs) is recorded as a whole, from the
inputs to the outputs. Later calls run the program: NumPy arrays are copied into its memory, kernels
run, and nothing is traced. A program is stored on disk, where later processes find it
(`stored_programs.py`).

A model whose nodes read values of tensors (If, Loop, NonZero), or draw random numbers, has no
program: `segments.py` divides it. Where these values depend on small integer inputs alone, such as
a sampling rate, these inputs stay on the host, and their values belong to the signature.

Source: PyTorch, AOTInductor.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weft.base.errors import CaptureError
from weft.device import Buffer
from weft.engine.recorded_steps import Unreplayable
from weft.export import (
    Executable,
    Program,
    fill,
    memory_of,
    own_tensor,
    record,
    tensor_over,
)
from weft.onnx.small_types import dtype_name
from weft.tensor import Tensor

_MOST_PROGRAMS = 64
_MOST_HOST_VALUES = 8
"""Values of the inputs on the host for which programs are made."""
_MOST_HOST_ELEMENTS = 16

Given = Mapping[str, Any]
Signature = tuple[Any, ...]


@dataclass(frozen=True)
class Result:
    """An output of the model: its name, the number of its buffer, and its shape."""

    name: str
    output: int
    shape: tuple[int, ...]


@dataclass(eq=False)
class ModelProgram:
    """A program with the names of its inputs and the layout of the model's outputs."""

    inputs: tuple[str, ...]
    results: tuple[Result, ...]
    program: Program


class ProgramRunner:
    """Runs the program of a model on arrays and tensors, in one thread at a time."""

    def __init__(self, made: ModelProgram, device: str) -> None:
        self._made = made
        self._device = device
        self._executable = Executable(made.program)
        memories = made.program.memories[: len(made.inputs)]
        self._inputs = [
            (name, Buffer(each.device, each.size, each.dtype))
            for name, each in zip(made.inputs, memories)
        ]

    @property
    def is_valid(self) -> bool:
        """Whether its devices are still open."""
        return self._executable.is_valid

    def __call__(self, given: Given) -> dict[str, Tensor]:
        """Return the outputs by name."""
        inputs = [self._memory(given[name], own) for name, own in self._inputs]
        outputs = self._executable(inputs)
        return {
            each.name: tensor_over(outputs[each.output], each.shape) for each in self._made.results
        }

    def _memory(self, value: Any, own: Buffer) -> Buffer:
        """Return the memory of a tensor, or `own` with the content of an array."""
        if isinstance(value, np.ndarray):
            return fill(own, value)
        there = value.to(self._device).contiguous().realize()
        try:
            return memory_of(there)
        except Unreplayable:  # a window, or a constant without memory
            return memory_of(there.clone().realize())


class Programs:
    """The programs of a model by signature.

    :param device: where the model runs.
    :param evaluate: computes the outputs by name from inputs by name.
    :param find: returns the program that is stored for a signature; None: there is none.
    :param keep: stores a program.
    :ivar reason: why calls have no program, if so.
    :ivar host_inputs: inputs whose values belong to the signature.
    """

    def __init__(
        self,
        device: str,
        evaluate: Callable[[Given], Mapping[str, Any]],
        find: Callable[[Signature], ModelProgram | None],
        keep: Callable[[Signature, ModelProgram], None],
    ) -> None:
        self._device, self._evaluate, self._find, self._keep = device, evaluate, find, keep
        self._runners: OrderedDict[Signature, ProgramRunner] = OrderedDict()
        self.reason: str | None = None
        self.host_inputs: tuple[str, ...] = ()

    def known(self, given: Given) -> dict[str, Tensor] | None:
        """Return the outputs; None if no program of this signature is loaded."""
        signature = self._signature(given)
        runner = self._runners.get(signature) if signature is not None else None
        if runner is None or signature is None:
            return None
        if not runner.is_valid:
            del self._runners[signature]
            return None
        self._runners.move_to_end(signature)
        return runner(given)

    def first_call(self, given: Given) -> Mapping[str, Any] | None:
        """Load or record a program, and return the outputs; None if the model has none."""
        signature = self._signature(given)
        if signature is None or self.reason is not None:
            return None
        found = self._find(signature)
        if found is not None:
            return self._added(signature, found)(given)
        try:
            made, outputs = self._record(given)
        except CaptureError as error:
            if self.host_inputs or not (names := _host_candidates(given)):
                return self._refuse(str(error))
            self.host_inputs = names
            return self.first_call(given)
        except Unreplayable as error:
            return self._refuse(str(error))
        self._keep(signature, made)
        self._added(signature, made)
        return outputs

    def recorded(self, given: Given) -> ModelProgram:
        """Return the program for these inputs, which is not loaded.

        :raises CaptureError: if a node reads the value of a tensor.
        :raises Unreplayable: if the model does something else that no program repeats.
        """
        if self._signature(given) is None:
            raise Unreplayable("an input is neither an array nor a tensor")
        before = self.host_inputs
        try:
            return self._record(given)[0]
        except CaptureError:
            self.host_inputs = _host_candidates(given)
            return self._record(given)[0]
        finally:
            self.host_inputs = before

    def _refuse(self, reason: str) -> None:
        self.reason, self.host_inputs = reason, ()
        self._runners.clear()

    def _added(self, signature: Signature, made: ModelProgram) -> ProgramRunner:
        runner = self._runners[signature] = ProgramRunner(made, self._device)
        if self.host_inputs and len(self._runners) > _MOST_HOST_VALUES:
            values = {
                tuple(each for each in key if isinstance(each, bytes)) for key in self._runners
            }
            if len(values) > _MOST_HOST_VALUES:
                self._refuse(f"the values of {', '.join(self.host_inputs)} change often")
        if len(self._runners) > _MOST_PROGRAMS:
            self._runners.popitem(last=False)
        return runner

    def _record(self, given: Given) -> tuple[ModelProgram, Mapping[str, Tensor]]:
        names = tuple(name for name in given if name not in self.host_inputs)
        tensors = [own_tensor(given[name], self._device) for name in names]
        called: list[str] = []

        def evaluate(passed: Sequence[Tensor]) -> list[Tensor]:
            outputs = self._evaluate({**given, **dict(zip(names, passed))})
            if not all(isinstance(each, Tensor) for each in outputs.values()):
                raise Unreplayable("an output is no tensor")
            called.extend(outputs)
            return list(outputs.values())

        program, numbers, results = record(evaluate, tensors, "an ONNX model")
        shapes = [tuple(map(int, each.shape)) for each in results]
        layout = tuple(map(Result, called, numbers, shapes))
        return ModelProgram(names, layout, program), dict(zip(called, results))

    def _signature(self, given: Given) -> Signature | None:
        """Return what a program depends on; None if an input is neither array nor tensor."""
        parts: list[Any] = []
        for name, value in given.items():
            if isinstance(value, np.ndarray):
                if not _is_plain(value.dtype) or not value.size:
                    return None
                kind = value.dtype.name
                if name in self.host_inputs:
                    parts.append(value.tobytes())
            elif isinstance(value, Tensor) and name not in self.host_inputs:
                if not all(isinstance(size, int) for size in value.shape):
                    return None
                kind = dtype_name(value)
            else:
                return None
            parts.append((name, value.shape, kind))
        return tuple(parts)


def _is_plain(dtype: np.dtype[Any]) -> bool:
    """Whether a device stores the elements as NumPy does."""
    return dtype.isbuiltin == 1 and dtype.kind in "biuf"


def _host_candidates(given: Given) -> tuple[str, ...]:
    """Return the names of inputs that may select a part of the model: few integers or bools."""
    return tuple(
        name for name, value in given.items()
        if isinstance(value, np.ndarray)
        and value.dtype.kind in "biu"
        and value.size <= _MOST_HOST_ELEMENTS
    )  # fmt: skip
