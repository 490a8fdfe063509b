"""Bounds checks of index tensors and class labels.

An index whose values are in host memory when it is recorded (Python numbers, lists, NumPy arrays,
and tensors made of them by movement and casts) is checked at once. Any other index would have to be
computed first: it is checked in checked mode only (`WEFT_CHECK=1`, see `weft/tensor/checked.py`),
and otherwise reads 0 and writes nothing beyond its axis.
"""

from __future__ import annotations

from typing import Any

from weft.base.arguments import shown
from weft.base.dtype import dtypes
from weft.base.errors import IndexingError
from weft.base.settings import settings
from weft.device import binding, numpy_dtype, registry
from weft.tensor import checked
from weft.uop import Ops, UOp

_read_check = settings.getter("CHECK")
_KEEPS = frozenset({Ops.RESHAPE, Ops.EXPAND, Ops.PERMUTE, Ops.FLIP, Ops.COPY, Ops.DETACH})
_CHANGES = frozenset({Ops.SHRINK, Ops.CAST})


def check_index(
    index: Any,
    size: Any,
    axis: int,
    shape: tuple[Any, ...],
    given: Any = None,
    from_end: bool = True,
) -> None:
    """Check an index tensor against an axis of `size` elements.

    given: what the user passed, for the error. from_end: what is below zero counts from the end.

    :raises IndexingError: at once for values that are known; in checked mode, when something is
        next computed, for all others.
    """
    if size.__class__ is not int:
        return
    first = -size if from_end else 0
    found = _extremes(index._uop)
    if found is None:
        if not _read_check():
            return
    elif first <= found[0] and found[1] < size:
        return

    def error(low: int, high: int, where: str) -> IndexingError | None:
        if first <= low and high < size:
            return None
        what = (
            f"index {shown(given)}" if given is not None else f"index tensor of shape {index.shape}"
        )
        return IndexingError(
            f"index {high if high >= size else low} is out of bounds",
            asked=f"an {what} into axis {axis} of shape {shape}{where}",
            because=f"the axis has {size} elements",
            try_=f"numbers from {first} to {size - 1}" if size else None,
        )

    _raise_or_defer(index, found, error)


def check_labels(
    labels: Any, classes: Any, what: str, ignored: int | None = None, try_: str | None = None
) -> None:
    """Check class numbers: from 0 to classes - 1, or `ignored`.

    :raises IndexingError: as `check_index` does.
    """
    if classes.__class__ is not int:
        return
    found = _extremes(labels._uop)
    if found is None:
        if not _read_check():
            return
    elif found[0] >= 0 and found[1] < classes:
        return
    if ignored is not None and not 0 <= ignored < classes:
        labels = (labels == ignored).where(0, labels)
        found = None if found is None else _extremes_of_labels(labels)

    def error(low: int, high: int, where: str) -> IndexingError | None:
        if low >= 0 and high < classes:
            return None
        also = f", and {ignored} for what does not count" if ignored is not None else ""
        return IndexingError(
            f"class {high if high >= classes else low} is out of bounds",
            asked=f"{what} of labels of shape {labels.shape}{where}",
            because=f"there are {classes} classes",
            try_=try_ or f"labels from 0 to {classes - 1}{also}",
        )

    _raise_or_defer(labels, found, error)


def _extremes_of_labels(labels: Any) -> tuple[int, int]:
    with settings.override(CHECK=0):
        return int(labels.min().item()), int(labels.max().item())


def _raise_or_defer(index: Any, found: tuple[int, int] | None, error: checked.Error) -> None:
    if found is None:
        checked.defer(index, error)
    elif (wrong := error(*found, "")) is not None:
        raise wrong


def _extremes(node: UOp) -> tuple[int, int] | None:
    """The least and the greatest value of an integer node that needs no computing; else None.

    Of no elements they are (0, -1), which is inside every axis.
    """
    base, is_changed = node, False
    while (op := base.op) in _KEEPS or op in _CHANGES:
        if op in _CHANGES:
            is_changed = True
            if not dtypes.is_int(base.dtype):
                return None
        base = base.src[0]
    if op is not Ops.CONST and (op is not Ops.BUFFER or base.src[0].arg != _staging()):
        return None
    if not dtypes.is_int(base.dtype):
        return None
    if 0 in node.shape:
        return 0, -1
    if op is Ops.CONST and not is_changed:
        return base.arg, base.arg
    values = _values(base)
    if values is None or not values.size:
        return None
    if is_changed:
        values = _moved(node, base, values)
    return int(values.min()), int(values.max())


_found: tuple[object, str] = (None, "")


def _staging() -> str:
    """The device string of Python's memory, looked up once for as long as devices stay the same."""
    global _found
    epoch, device = found = _found
    if epoch is not registry.epoch():
        device = str(registry.canonical(registry.staging()))
        _found = found = registry.epoch(), device
    return found[1]


def _values(base: UOp) -> Any:
    """The elements of a constant, or of a buffer in host memory that was filled; else None."""
    import numpy

    if base.op is Ops.CONST:
        return numpy.array(base.arg, numpy_dtype(base.dtype))
    if not binding.is_bound(base):
        return None
    buffer = binding.buffer_of(base)
    return buffer.numpy(window=True) if buffer.is_allocated else None


def _moved(node: UOp, base: UOp, values: Any) -> Any:
    """`values` after the movement and the casts that lead from `base` to `node`."""
    import numpy

    steps = []
    while node is not base:
        steps.append(node)
        node = node.src[0]
    for step in reversed(steps):
        op, arg = step.op, step.arg
        if op is Ops.RESHAPE:
            values = values.reshape(arg)
        elif op is Ops.EXPAND:
            values = numpy.broadcast_to(values, arg)
        elif op is Ops.PERMUTE:
            values = values.transpose(arg)
        elif op is Ops.FLIP:
            values = numpy.flip(values, tuple(i for i, flipped in enumerate(arg) if flipped))
        elif op is Ops.SHRINK:
            values = values[tuple(slice(*bounds) for bounds in arg)]
        elif op is Ops.CAST:
            values = values.astype(numpy_dtype(step.dtype))
    return values
