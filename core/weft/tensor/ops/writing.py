"""Writing parts of a tensor, named as for reading.

A window is a view, and written as such (see `aliased_writes`). Of several writes to one place the
last one counts, and what an index tensor names beyond the axis is not written.
"""

from __future__ import annotations

from typing import Any

from weft.base.arguments import shown
from weft.base.dtype import ImageDType, dtypes
from weft.base.errors import GradientError, WrongKind
from weft.base.sequences import prod
from weft.tensor.alias import base_of, is_view
from weft.tensor.ops.aliased_writes import write_view
from weft.tensor.ops.index_items import as_bound, common_shape, flat_index, is_alone
from weft.tensor.protocol import TensorBase, grad_enabled, in_grad_mode
from weft.tensor.types import ArrayLike, Index
from weft.uop import Ops, UOp


class WritingMixin(TensorBase):
    """Methods that write parts."""

    __slots__ = ()

    def __setitem__(self, index: Index, value: ArrayLike) -> None:
        """Write `value`, which broadcasts, into the part that `index` names.

        :raises GradientError: if self is a leaf that requires gradients (outside `no_grad`).
        :raises ShapeError, DTypeError, IndexingError: as `assign` and reading do.
        """
        if self._requires_grad and self.is_leaf and grad_enabled():
            raise GradientError(
                "a part of a leaf that requires gradients cannot be overwritten",
                asked=f"writing into a leaf of shape {self.shape}",
                because="its gradient would no longer be that of the value it had",
                try_="with Tensor.no_grad(): x[...] = ..., or write before requires_grad_()",
            )
        is_view(self)
        base = base_of(self)
        if base._requires_grad and not base.is_leaf and not grad_enabled():
            # what is written is a constant; the rest of a value that was computed is none
            constant = value.detach() if isinstance(value, TensorBase) else value
            in_grad_mode(True, self.__setitem__, index, constant)
            return
        if self._persists():
            self[index].assign(value)
            return
        mask = index
        if (
            isinstance(mask, TensorBase)
            and mask._uop.dtype is dtypes.bool
            and (isinstance(value, (int, float)) or getattr(value, "shape", None) == ())
            and mask.shape == self.shape[: len(mask.shape)]
        ):
            self._write_masked(mask, value)
            return
        flag = self._only_flag(index)
        if flag is not None:
            items, place = flag
            self._write_flagged(items, place, value)
            return
        spread, places = self._without_flags(index)
        if spread is not self:
            spread = spread.clone()
            spread = spread._from_node(spread._uop, spread._requires_grad, True)
            spread[places] = value
            self._store(spread.reshape(self.shape))
            return
        items = self._items(index)
        if any(isinstance(item, TensorBase) for item in items):
            self._write_picked(items, value)
        else:
            self._write_window(items, value)

    def _write_flagged(self, items: list[Any], place: int, value: Any) -> None:
        """Under a mask that covers no axis: everywhere the other items say, or nowhere."""
        flag = items[place]
        spot = self[(*items[:place], None, *items[place + 1 :])]  # raises where they are none
        rest = (*items[:place], *items[place + 1 :])
        old = self[rest]
        chosen = isinstance(flag, TensorBase)  # which need not be computed now
        # a false flag selects no elements
        if 0 in getattr(value, "shape", ()) if chosen else not flag:
            axis = spot.ndim - len(items) + place if Ellipsis in items[:place] else place
            self._value_for(value, (*spot.shape[:axis], 0, *spot.shape[axis + 1 :]), "a write")
            return
        new = self._value_for(value, spot.shape, "a write").reshape(old.shape)
        self[rest] = flag.to(self.device).where(new, old) if chosen else new

    def __delitem__(self, index: Index) -> None:
        raise WrongKind(
            "a tensor does not lose elements",
            asked=f"del x[{shown(index)}] of shape {self.shape}",
            because="its shape is what it is",
            try_="x[mask], or x[:i].cat(x[i + 1 :])",
        )

    def _store(self, result: Any) -> None:
        if is_view(self):
            write_view(self, result)
        else:
            self._take(result)

    def _write_masked(self, mask: Any, value: Any) -> None:
        new = self._value_for(value, self.shape, "a write")
        mask = mask.to(self.device).reshape((*mask.shape, *(1,) * (self.ndim - mask.ndim)))
        self._store(mask.where(new, self))

    def _write_window(self, items: list[Any], value: Any) -> None:
        image = self._uop.dtype
        if isinstance(image, ImageDType):  # of which only whole pixels are written
            whole = self.cast(image.base)
            whole._write_window(items, value)
            self.assign(whole.cast(image))
            return
        part = self._window(items)
        if isinstance(value, TensorBase) and any(isinstance(size, UOp) for size in part.shape):
            value = as_bound(value, part.shape)
        write_view(part, self._value_for(value, part.shape, "a write"))

    def _write_picked(self, items: list[Any], value: Any) -> None:
        """Of several writes to one place the last one counts."""
        basic = [i for i in items if isinstance(i, slice) and i != slice(None)]
        if basic or any(i is None for i in items):
            window = [slice(None) if isinstance(i, (TensorBase, int)) else i for i in items]
            self._window(window)._write_picked(
                [i if isinstance(i, (TensorBase, int)) else slice(None) for i in items], value
            )
            return
        x, tensors, places, at = self._prepared(items)
        shape = common_shape(tensors)
        rest = tuple(s for i, s in enumerate(x.shape) if i not in places)
        flat, total = flat_index(tensors, [x.shape[p] for p in places], shape)
        new = self._value_for(value, (*rest[:at], *shape, *rest[at:]), "a write")
        count = prod(shape)
        if count == 0 or total == 0:
            return
        moved = [*range(at), *range(at + len(shape), len(new.shape)), *range(at, at + len(shape))]
        # what is picked stays where it is among the other axes: then it is written in place
        lead = sum(1 for i in range(places[0]) if i not in places)
        new = new.permute(*moved).reshape((*rest[:lead], 1, *rest[lead:], count))
        others = [i for i in range(len(x.shape)) if i not in places]
        order = (*others[:lead], *places, *others[lead:])
        taken = x if order == tuple(range(len(x.shape))) else x.permute(*order)
        target = taken.reshape((*rest[:lead], total, *rest[lead:]))
        made = target._overwritten(lead, flat.reshape(count), new).reshape(taken.shape)
        self._store(made if taken is x else made.permute(*self._inverse(order)))

    def _overwritten(self, axis: int, index: Any, new: Any) -> Any:
        """self with new (..., 1, ..., N) at index (N,) of an axis; the last one wins."""
        total, count = self.shape[axis], index.shape[-1]
        along = tuple(total if i == axis else 1 for i in range(len(self.shape) + 1))
        places = self.__class__.arange(total, device=self.device).reshape(along)
        order = self.__class__.arange(1, count + 1, device=self.device)
        if is_alone(self.device):  # each element is written by itself: nothing is kept of a place
            index = index._expanded(
                (*(1 if i == axis else s for i, s in enumerate(self.shape)), count)
            )
        hits = (index == places).where(order, 0)
        last = hits._reduce(Ops.MAX, -1, True)
        # a one-hot sum over the number of the last write: lowered to an indexed load
        value = (order == last).where(new, False)._reduce(Ops.ADD, -1, False)
        return (last.squeeze(-1) > 0).where(value, self)
