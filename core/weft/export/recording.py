"""Recording: run a function of tensors once, and keep what it launched as a program.

in:  a function of tensors and its inputs      out: `Program` and the results

Source: JAX, ahead-of-time lowering and compilation; CUDA graphs (stream capture).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from weft.base.dtype import to_dtype
from weft.base.sequences import prod
from weft.device import Buffer, binding
from weft.engine.capture import recorded
from weft.engine.recorded_steps import Unreplayable
from weft.export.program import Program, program_of
from weft.tensor import Tensor
from weft.tensor.storage import owned_storage
from weft.uop import Ops, UOp


def record(
    function: Callable[[Sequence[Tensor]], Sequence[Tensor]],
    inputs: Sequence[Tensor],
    name: str,
    variables: Sequence[UOp] = (),
    state: int = 0,
) -> tuple[Program, list[int], Sequence[Tensor]]:
    """Run a function and return its program, the number of each result's output, and the results.

    :param inputs: tensors by `own_tensor`. :param name: of the function, for errors.
    :param variables: whose values each run passes in; the results have no symbolic sizes.
    :param state: the number of trailing inputs that the function may overwrite, such as caches.
    :raises CaptureError: if the function reads the value of a tensor.
    :raises Unreplayable: if it does something else that no program repeats.
    """
    buffers = [memory_of(each) for each in inputs]
    with recorded(name, set(map(id, buffers))) as run:
        results = _realized([each.contiguous() for each in function(inputs)])
        computed = {id(step.bufs[place]) for step in run.steps for place in step.places[0]}
        results = _realized(
            [each if id(memory_of(each)) in computed else each.clone() for each in results]
        )
    outputs: dict[int, Buffer] = {}
    numbers: list[int] = []
    for each in results:
        buffer = memory_of(each)
        outputs.setdefault(id(buffer), buffer)
        numbers.append(list(outputs).index(id(buffer)))
    program = program_of(run, buffers, list(outputs.values()), variables, state)
    return program, numbers, results


def _realized(tensors: list[Tensor]) -> list[Tensor]:
    if tensors:
        Tensor.realize(*tensors)
    return tensors


def own_tensor(value: Any, device: str) -> Tensor:
    """Return a tensor that is all of its memory, which no other tensor has.

    :param value: a NumPy array, which is copied by the host, or a tensor.
    """
    if isinstance(value, Tensor):
        return value.to(device).clone().realize()
    kind = to_dtype(value.dtype)
    buffer = Buffer(device, prod(value.shape), kind)
    return tensor_over(fill(buffer, value), value.shape)


def fill(buffer: Buffer, array: Any) -> Buffer:
    """Copy a NumPy array into a buffer."""
    return buffer.copy_in(array if array.flags.c_contiguous else array.copy(order="C"))


def memory_of(tensor: Tensor) -> Buffer:
    """Return the buffer of a realized tensor.

    :raises Unreplayable: if the tensor is a part of other memory, or has none.
    """
    node = owned_storage(tensor._uop)
    if node is None or node.op is not Ops.BUFFER:
        raise Unreplayable("a value is no memory of its own")
    return binding.buffer_of(node)


def first_elements(buffer: Buffer, shape: Sequence[int]) -> Tensor:
    """Return a tensor of the first elements of some memory."""
    count = prod(shape)
    window = buffer if count == buffer.size else buffer.view(count, buffer.dtype, 0)
    return tensor_over(window, shape)


def tensor_over(buffer: Buffer, shape: Sequence[int]) -> Tensor:
    """Return a tensor of this memory."""
    node = UOp.new_buffer(buffer.device, buffer.size, buffer.dtype)
    binding.bind_anew(node, buffer)
    shape = tuple(shape)
    return Tensor._from_node(node if shape == (buffer.size,) else node.reshape(shape))
