"""Programs for all sizes: named symbolic axes of the inputs become variables of one program.
Also: dynamic batch, dynamic sequence length.

A model is recorded for each of the first sizes, since kernels of known sizes are faster. With the
third size of the same axes, one program is recorded whose kernels take the sizes as arguments. Its
memory has the largest size; a larger one is recorded anew. Sizes below two have programs of their
own: such axes are broadcast.

in:  inputs of a call, and the names of their axes      out: a program for all sizes

Source: TVM Relax, symbolic shapes; PyTorch, dynamic shapes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from weft.base.sequences import prod
from weft.device import Buffer
from weft.engine.recorded_steps import Unreplayable
from weft.export import fill, record, tensor_over
from weft.onnx.graph import ValueInfo
from weft.onnx.model_program import ModelProgram, Result
from weft.tensor import Tensor
from weft.uop import UOp
from weft.uop.symbolic.sint import Variable, fold, high_of, sprod, unbind_sint

SEEN_BEFORE = 2
"""Sizes that have programs of their own before one program for all sizes is recorded."""
_LEAST = 2
_MOST_ELEMENTS = 1 << 26  # of an input of the largest size

Given = Mapping[str, Any]
Sizes = dict[str, int]


def named_sizes(declared: Mapping[str, ValueInfo], given: Given) -> Sizes | None:
    """Return the sizes of the named axes of the inputs.

    None if there are none, or one is too small for a program for all sizes.
    """
    sizes: Sizes = {}
    for name, value in given.items():
        for size, wanted in zip(value.shape, declared[name].shape or ()):
            if isinstance(wanted, str) and sizes.setdefault(wanted, size) != size:
                return None
    return sizes if sizes and min(sizes.values()) >= _LEAST else None


def largest(sizes: Mapping[str, int]) -> Sizes:
    """Return the bounds of a program that serves these sizes: powers of two."""
    return {name: 1 << (2 * size - 1).bit_length() for name, size in sizes.items()}


def fits(made: ModelProgram, sizes: Mapping[str, int]) -> bool:
    """Whether a program serves these sizes."""
    variables = {each.arg.name: each for each in made.program.variables}
    return variables.keys() == sizes.keys() and all(
        variables[name].vmin <= size <= variables[name].vmax for name, size in sizes.items()
    )


def record_sizes(
    declared: Mapping[str, ValueInfo],
    given: Given,
    names: Sequence[str],
    sizes: Mapping[str, int],
    device: str,
    evaluate: Callable[[Given], Mapping[str, Any]],
) -> ModelProgram:
    """Return a program for all sizes.

    :param names: the inputs on the device. :param sizes: the present ones by name.
    :raises Unreplayable: if the model needs the values of sizes, or is too large.
    """
    bounds = largest(sizes)
    bound = {n: Variable(n, _LEAST, bounds[n]).bind(size) for n, size in sizes.items()}
    shapes = {
        name: tuple(
            bound[wanted] if isinstance(wanted, str) else size
            for size, wanted in zip(given[name].shape, _axes(declared[name], given[name]))
        )
        for name in names
    }
    called: dict[str, tuple[Any, ...]] = {}

    def run(passed: Sequence[Tensor]) -> list[Tensor]:
        values = {
            name: flat.shrink(((0, sprod(shapes[name])),)).reshape(shapes[name])
            for name, flat in zip(names, passed)
        }
        outputs = evaluate({**given, **values})
        if not all(isinstance(each, Tensor) for each in outputs.values()):
            raise Unreplayable("an output is no tensor")
        called.update((name, each.shape) for name, each in outputs.items())
        return [_padded(each) for each in outputs.values()]

    inputs = [_in_largest(given[name], shapes[name], device) for name in names]
    variables = [each.src[0] for each in bound.values()]
    program, numbers, _ = record(run, inputs, "an ONNX model", variables)
    results = tuple(
        Result(name, number, tuple(unbind_sint(size)[0] for size in shape))
        for (name, shape), number in zip(called.items(), numbers)
    )
    return ModelProgram(tuple(names), results, program)


def _axes(info: ValueInfo, value: Any) -> Sequence[Any]:
    return info.shape if info.shape is not None else value.shape


def _in_largest(value: Any, shape: Sequence[Any], device: str) -> Tensor:
    """Return a flat tensor of the largest size, whose first elements are the value."""
    count = prod(map(high_of, shape))
    if count > _MOST_ELEMENTS:
        raise Unreplayable(f"an input would take {count} elements")
    array = value.numpy() if isinstance(value, Tensor) else value
    flat = np.zeros(count, array.dtype)
    flat[: array.size] = np.asarray(array).reshape(-1)
    kind = Tensor(array.reshape(-1)[:1]).dtype
    return tensor_over(fill(Buffer(device, count, kind), flat), (count,))


def _padded(output: Tensor) -> Tensor:
    """Return the elements of an output, padded to the largest number of them."""
    if not any(isinstance(size, UOp) for size in output.shape):
        return output
    count = sprod(output.shape)
    most = prod(map(high_of, output.shape))
    return output.reshape((count,)).pad(((0, fold(most - count)),))
