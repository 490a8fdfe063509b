"""Vectorizing map: a function of one sample becomes a function of many samples.
Also: auto-batching, batched map.

The function is called once, on abstract tensors of the shape of one sample. `Batch` rewrites the
graph that it returns (see `batching.py`).

Source: JAX, `jax.vmap`; PyTorch, `torch.vmap`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any

from weft.autograd import independent
from weft.base.arguments import shown
from weft.base.dtype import dtypes
from weft.base.errors import ArgumentError, CaptureError, ShapeError, WrongKind
from weft.func.batching import Batch, abstract_node
from weft.func.containers import as_tensor, entries, function_name, leaves, refilled
from weft.tensor import Tensor, rng
from weft.tensor.complex import view_as_complex, view_as_real
from weft.tensor.live_tensors import live_tensors, set_node
from weft.tensor.protocol import TensorBase
from weft.uop import UOp

_RANDOMNESS = ("error", "different", "same")


def vmap(
    function: Callable[..., Any],
    in_axes: Any = 0,
    out_axes: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
    in_dims: Any = None,
    out_dims: Any = None,
) -> Callable[..., Any]:
    """A function that maps `function` over an axis of its arguments: one call for all samples.

    :param function: takes and returns tensors, also in lists, tuples, dicts and dataclasses. It is
        called once, with tensors without values: it cannot decide by them in Python.
    :param in_axes: for each positional argument the axis of the samples, or None for an argument
        that is the same for all. One number holds for all arguments. For a container it may be a
        container of numbers. Arguments by name are the same for all samples.
    :param out_axes: for each result the axis of the samples.
    :param randomness: whether random numbers in the function are an "error", "different" for each
        sample, or the "same".
    :param chunk_size: at most so many samples at once, to limit memory.
    :param in_dims: PyTorch's name of in_axes. :param out_dims: of out_axes.
    :raises ShapeError: at the call, if arguments have different numbers of samples.
    :raises CaptureError: at the call, if the function reads values, or writes to its arguments.

    >>> dot = weft.vmap(lambda a, b: (a * b).sum())
    >>> dot(Tensor([[1.0, 2.0], [3.0, 4.0]]), Tensor([[1.0, 1.0], [2.0, 2.0]])).tolist()
    [3.0, 14.0]
    >>> weft.vmap(weft.outer, in_axes=(0, None))(Tensor.ones(5, 2), Tensor.ones(3)).shape
    (5, 2, 3)
    """
    if randomness not in _RANDOMNESS:
        raise ArgumentError(
            "randomness is one of 'error', 'different' and 'same'",
            asked=f"vmap(randomness={shown(randomness)})",
        )
    if chunk_size is not None and (not isinstance(chunk_size, int) or chunk_size < 1):
        raise ArgumentError(
            "a chunk has at least one sample", asked=f"vmap(chunk_size={shown(chunk_size)})"
        )
    what = f"vmap of {function_name(function)}"
    axes = in_axes if in_dims is None else in_dims
    results = out_axes if out_dims is None else out_dims

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        flat, samples = _samples(args, axes, what)
        size = next(iter(samples.values())).shape[0]
        step = size if chunk_size is None else chunk_size
        if not isinstance(size, int) or size <= step:
            return one_call(args, kwargs, flat, samples)
        parts, state = [], rng.get_rng_state()
        for start in range(0, size, step):
            if randomness == "same":
                rng.set_rng_state(state)
            chunk = {place: each[start : start + step] for place, each in samples.items()}
            parts.append(one_call(args, kwargs, flat, chunk))
        return _joined(parts, entries(results, parts[0], "the result", what))

    def one_call(
        args: tuple[Any, ...], kwargs: Mapping[str, Any], flat: list[Any], samples: dict[int, Any]
    ) -> Any:
        values: dict[UOp, UOp] = {}
        given = flat.copy()
        for place, each in samples.items():
            given[place] = _abstract(each, values)
        before = [(tensor, tensor._uop) for tensor in live_tensors()]
        size = next(iter(samples.values())).shape[0]
        drawn = rng.MappedDraws(size if randomness == "different" else 1, randomness == "error")
        try:
            with drawn:
                result = function(*refilled(args, given), **kwargs)
        finally:
            written = _undo_writes(before, values)
        if written:
            raise _refused_write(written[0], what)
        if randomness == "different":
            values |= {node: _counters(node, blocks, size) for node, blocks in drawn.draws}
        batch = Batch(size, values)
        found = leaves(result)
        axes_of = entries(results, result, "the result", what)
        return refilled(
            result, [_batched(batch, each, axis, what) for each, axis in zip(found, axes_of)]
        )

    return call


def _samples(args: tuple[Any, ...], axes: Any, what: str) -> tuple[list[Any], dict[int, Tensor]]:
    """The leaves of the arguments; of those that are mapped, by number, the samples first.

    :raises ShapeError: for an axis that is not there, and different numbers of samples.
    """
    if isinstance(axes, list):
        axes = tuple(axes)
    if isinstance(axes, tuple) and len(axes) != len(args):
        raise ArgumentError(
            "in_axes is one number, or one entry for each positional argument",
            asked=f"{what}, {len(args)} arguments, with in_axes={axes!r}",
        )
    flat, found = leaves(args), dict[int, Tensor]()
    for place, axis in enumerate(entries(axes, args, "the arguments", what)):
        if axis is not None:
            found[place] = _with_samples_first(flat[place], axis, what)
    if not found:
        raise ArgumentError(
            "vmap needs an argument to map over",
            asked=f"{what} with in_axes={axes!r}",
            because="None keeps an argument whole" if args else "the call has no arguments",
        )
    sizes = {place: each.shape[0] for place, each in found.items()}
    if len(set(sizes.values())) > 1:
        shapes = ", ".join(f"{size} in leaf {place}" for place, size in sizes.items())
        raise ShapeError(
            "all mapped arguments have the same number of samples",
            asked=f"{what}: {shapes} of the arguments",
            try_="in_axes=None for an argument that is the same for all samples",
        )
    return flat, found


def _with_samples_first(leaf: Any, axis: Any, what: str) -> Tensor:
    if not isinstance(axis, int):
        raise WrongKind("an axis is a number or None", asked=f"{what} with in_axes {shown(axis)}")
    tensor = as_tensor(leaf, "an argument", f"{what} over axis {axis}")
    rank = len(tensor.shape)
    if not -rank <= axis < rank:
        raise ShapeError(
            "a mapped argument has the axis that it is mapped over",
            asked=f"{what}: axis {axis} of an argument of shape {tensor.shape}",
            try_="in_axes=None for an argument that is the same for all samples",
        )
    return tensor.movedim(axis, 0) if axis % rank else tensor


def _abstract(samples: Tensor, values: dict[UOp, UOp]) -> Tensor:
    """A tensor that stands for one sample; its node is entered with the samples."""
    if samples._interleaved is not None:
        return view_as_complex(_abstract(view_as_real(samples), values))
    node = samples._uop
    size, *shape = node.shape
    memory = abstract_node(node, tuple(shape))
    one = independent(memory.reshape(tuple(shape)))  # no BUFFER: it is not computed, nor writable
    values |= {memory: node.reshape((size, memory.arg)), one: node}
    flag = samples._requires_grad
    return Tensor._from_node(one, flag, bool(flag))


def _undo_writes(
    before: Sequence[tuple[TensorBase, UOp]], values: Mapping[UOp, UOp]
) -> list[TensorBase]:
    """Give tensors that were there before the call, and to which it wrote mapped values, the nodes
    that they had. Returns these tensors."""
    changed = [(tensor, node) for tensor, node in before if tensor._uop is not node]
    written = [each for each in changed if not values.keys().isdisjoint(each[0]._uop.toposort())]
    for tensor, node in written:
        set_node(tensor, node)
    return [tensor for tensor, _ in written]


def _refused_write(tensor: TensorBase, what: str) -> CaptureError:
    return CaptureError(
        "a mapped function does not write to its arguments or to tensors outside",
        asked=f"{what}: a write to a tensor of shape {tensor._uop.shape}",
        because="the tensor exists once, and each sample would write another value",
        try_="return the new value: x = x + 1 instead of x += 1; model.eval() for layers that "
        "keep running statistics",
    )


def _counters(node: UOp, blocks: int, size: int) -> UOp:
    """Counter and key of a draw for each sample: the counters are `blocks` apart."""
    steps = Tensor.arange(size, dtype=dtypes.uint64, device=node.device) * blocks
    rows = steps.stack(steps.zeros_like(), dim=1)
    return (Tensor._from_node(node) + rows)._uop


def _batched(batch: Batch, result: Any, axis: Any, what: str) -> Any:
    """A result for all samples, which are along `axis`."""
    if result is None:
        return None
    result = as_tensor(result, "a result", what)
    if result._interleaved is not None:
        moved = axis - 1 if isinstance(axis, int) and axis < 0 else axis
        return view_as_complex(_batched(batch, view_as_real(result), moved, what))
    value = batch.value(result._uop)
    if axis is None:
        if value is not None:
            raise ArgumentError(
                "a result that differs between samples needs an axis for them",
                asked=f"{what} with out_axes None for a result of shape {result.shape}",
            )
        return result
    rank = len(result.shape) + 1
    if not isinstance(axis, int) or not -rank <= axis < rank:
        raise ShapeError(
            "the samples of a result are along one of its axes",
            asked=f"{what} with out_axes {shown(axis)} for a result of shape {result.shape}",
        )
    node = batch.expanded(result._uop) if value is None else value
    made = Tensor._from_node(node, result._requires_grad, not result.is_leaf)
    return made.movedim(0, axis) if axis % rank else made


def _joined(parts: list[Any], axes: list[Any]) -> Any:
    """The results of all chunks, one behind the other."""
    rows = zip(*[leaves(part) for part in parts], strict=True)
    joined = [
        row[0] if axis is None or row[0] is None else row[0].cat(*row[1:], dim=axis)
        for row, axis in zip(rows, axes, strict=True)
    ]
    return refilled(parts[0], joined)
