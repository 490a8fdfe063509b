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
from functools import cache
from typing import Any

import numpy as np

from weft.base.errors import CaptureError
from weft.base.interrupts import let_through
from weft.base.sequences import prod
from weft.device import Buffer, registry, transfer
from weft.engine.recorded_steps import Unreplayable
from weft.export import (
    Executable,
    fill,
    first_elements,
    memory_of,
    own_tensor,
    record,
    tensor_over,
)
from weft.onnx import size_programs
from weft.onnx.errors import OnnxError
from weft.onnx.graph import ValueInfo
from weft.onnx.model_program import ModelProgram, Result
from weft.onnx.small_types import dtype_name
from weft.tensor import Tensor
from weft.uop.symbolic.sint import evaluate_sint

_MOST_PROGRAMS = 64
_MOST_HOST_VALUES = 8
"""Values of the inputs on the host for which programs are made."""
_MOST_HOST_ELEMENTS = 16

Given = Mapping[str, Any]
Signature = tuple[Any, ...]
_NO_SIZES: Mapping[str, int] = {}


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

    def __call__(self, given: Given, sizes: Mapping[str, int] = _NO_SIZES) -> dict[str, Tensor]:
        """Return the outputs by name.

        :param sizes: the values of the program's variables by name.
        """
        if not sizes:
            inputs = [self._memory(given[name], own) for name, own in self._inputs]
            outputs = self._executable(inputs)
            return {e.name: tensor_over(outputs[e.output], e.shape) for e in self._made.results}
        values = {each: sizes[each.arg.name] for each in self._made.program.variables}
        inputs = [self._part(given[name], own) for name, own in self._inputs]
        outputs = self._executable(inputs, values)
        return {
            each.name: first_elements(
                outputs[each.output], tuple(evaluate_sint(size, values) for size in each.shape)
            )
            for each in self._made.results
        }

    def _part(self, value: Any, own: Buffer) -> Buffer:
        """Copy an input to the first elements of its memory, which has the largest size."""
        count = prod(value.shape)
        window = own if count == own.size else own.view(count, own.dtype, 0)
        if isinstance(value, np.ndarray):
            fill(window, value)
        else:
            transfer.copy(window, self._memory(value, own))
        return own

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
    :param evaluate: computes the outputs by name from inputs by name, and refuses operators that
        take the value of a symbolic size if the second argument is true.
    :param find: returns the program that is stored for a signature; None: there is none.
    :param keep: stores a program.
    :param declared: the inputs of the model by name.
    :ivar reason: why calls have no program, if so.
    :ivar size_reason: why there is no program for all sizes, if so: it names the operator.
    :ivar host_inputs: inputs whose values belong to the signature.
    """

    def __init__(
        self,
        device: str,
        evaluate: Callable[[Given, bool], Mapping[str, Any]],
        find: Callable[[Signature], ModelProgram | None],
        keep: Callable[[Signature, ModelProgram], None],
        declared: Mapping[str, ValueInfo],
    ) -> None:
        self._device, self._evaluate, self._find, self._keep = device, evaluate, find, keep
        self._runners: OrderedDict[Signature, ProgramRunner] = OrderedDict()
        self._declared = declared
        self._for_sizes: dict[Signature, tuple[ModelProgram, ProgramRunner]] = {}
        self._seen: dict[Signature, set[Signature]] = {}
        self.reason: str | None = None
        self.size_reason: str | None = None
        self.host_inputs: tuple[str, ...] = ()

    def known(self, given: Given) -> dict[str, Tensor] | None:
        """Return the outputs; None if no program of this signature is loaded."""
        signature = self._signature(given)
        runner = self._runners.get(signature) if signature is not None else None
        if runner is None or signature is None:
            return self._run_for_sizes(given, signature) if self._for_sizes else None
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
        if (outputs := self._record_for_sizes(given, signature)) is not None:
            return outputs
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

    # ---- programs for all sizes -----------------------------------------------------------------

    def _family(self, signature: Signature) -> Signature:
        """Return a signature whose named sizes are names."""
        parts: list[Any] = ["for all sizes"]
        for part in signature:
            if isinstance(part, tuple):
                name, shape, kind = part
                axes = self._declared[name].shape or shape
                shape = tuple(a if isinstance(a, str) else s for a, s in zip(axes, shape))
                part = (name, shape, kind)
            parts.append(part)
        return tuple(parts)

    def _run_for_sizes(self, given: Given, signature: Signature | None) -> Any:
        """Return the outputs by a program for all sizes; None if there is none for these."""
        if signature is None:
            return None
        made, runner = self._for_sizes.get(self._family(signature), (None, None))
        sizes = size_programs.named_sizes(self._declared, given)
        if made is None or runner is None or sizes is None or not runner.is_valid:
            return None
        return runner(given, sizes) if size_programs.fits(made, sizes) else None

    def _record_for_sizes(self, given: Given, signature: Signature) -> Any:
        """Load or record a program for all sizes, and return its outputs; None if it is too early,
        or the model has none."""
        sizes = size_programs.named_sizes(self._declared, given)
        if sizes is None or self.size_reason is not None:
            return None
        if registry.capabilities(self._device).memory.alignment is None:
            return None  # inputs are windows of memory of the largest size
        family = self._family(signature)
        found = self._find(family)
        if found is None or not size_programs.fits(found, sizes):
            seen = self._seen.setdefault(family, set())
            seen.add(signature)
            if len(seen) <= size_programs.SEEN_BEFORE:
                return None
            names = [name for name in given if name not in self.host_inputs]
            try:
                found = size_programs.record_sizes(
                    self._declared, given, names, sizes, self._device,
                    lambda values: self._evaluate(values, True),
                )  # fmt: skip
            except Exception as error:
                let_through(error)
                self.size_reason = _reason_of(error)
                return None
            self._keep(family, found)
        self._for_sizes[family] = found, ProgramRunner(found, self._device)
        return self._run_for_sizes(given, signature)

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
            outputs = self._evaluate({**given, **dict(zip(names, passed))}, False)
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
                kind = _plain_name(value.dtype)
                if not kind or not value.size:
                    return None
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


def _reason_of(error: Exception) -> str:
    """Return why a model has no program for all sizes, with the operator if one is known."""
    if isinstance(error, OnnxError):
        return f"{error.asked}: {error.because}"
    return "; ".join([f"{type(error).__name__}: {error}"[:300], *getattr(error, "__notes__", ())])


@cache
def _plain_name(dtype: np.dtype[Any]) -> str:
    """Return the name of a dtype that a device stores as NumPy does; "" for others."""
    return dtype.name if dtype.isbuiltin == 1 and dtype.kind in "biuf" else ""


def _host_candidates(given: Given) -> tuple[str, ...]:
    """Return the names of inputs that may select a part of the model: few integers or bools."""
    return tuple(
        name for name, value in given.items()
        if isinstance(value, np.ndarray)
        and value.dtype.kind in "biu"
        and value.size <= _MOST_HOST_ELEMENTS
    )  # fmt: skip
