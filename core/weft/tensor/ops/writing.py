"""Writing parts of a tensor, named as for reading.

A window of memory that self owns is written in place; elsewhere the part is moved back to its place
and chosen there. Of several writes to one place the last one counts, and what an index tensor names
beyond the axis is not written.
"""

from __future__ import annotations

from typing import Any

from weft.base.arguments import shown
from weft.base.dtype import ImageDType, dtypes
from weft.base.errors import GradientError, WrongKind
from weft.base.sequences import prod
from weft.shape.movement import inverse_move
from weft.tensor.ops.assign import owned_storage
from weft.tensor.ops.index_items import as_bound, common_shape, flat_index, is_alone, moves
from weft.tensor.protocol import TensorBase, grad_enabled, grad_mode, record
from weft.tensor.types import ArrayLike, Index
from weft.uop import Ops, UOp, Window


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
        if self._requires_grad and not self.is_leaf and not grad_enabled():
            # what is written is a constant; the rest of a value that was computed is none
            with grad_mode(True):
                self[index] = value.detach() if isinstance(value, TensorBase) else value
            return
        if self._persists():
            self[index].assign(value)
            return
        spread, places = self._without_flags(index)
        if spread is not self:
            spread = spread.clone()
            spread = spread._from_node(spread._uop, spread._requires_grad, True)
            spread[places] = value
            self._store(spread.reshape(self.shape))
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
            self._write_flagged(*flag, value)
            return
        items = self._items(index)
        if any(isinstance(item, TensorBase) for item in items):
            self._write_picked(items, value)
        else:
            self._write_window(items, value)

    def _write_flagged(self, items: list[Any], place: int, value: Any) -> None:
        """Under a mask that covers no axis: everywhere the other items say, or nowhere."""
        flag = items[place]
        held = flag if isinstance(flag, bool) else flag.item()
        if held:
            spot = self[(*items[:place], None, *items[place + 1 :])]
            new = self._value_for(value, spot.shape, "a write")
            rest = (*items[:place], *items[place + 1 :])
            self[rest] = new.reshape(self[rest].shape)

    def __delitem__(self, index: Index) -> None:
        raise WrongKind(
            "a tensor does not lose elements",
            asked=f"del x[{shown(index)}] of shape {self.shape}",
            because="its shape is what it is",
            try_="x[mask], or x[:i].cat(x[i + 1 :])",
        )

    def _store(self, result: Any) -> None:
        if owned_storage(self._uop) is not None:
            self.assign(result)
        else:
            self._become(result._uop, result)

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
        new = self._value_for(value, part.shape, "a write")
        if 0 in part.shape:
            return
        storage = owned_storage(self._uop)
        tracked = part._uop.st if storage is not None and part._uop.base is storage else None
        if isinstance(self._uop.device, tuple):  # a window of several memories is no window
            tracked = None
            if storage is not None:  # all of self is written: it may be read at its own places only
                new = new.contiguous()
        differentiable = grad_enabled() and (self._requires_grad or new._requires_grad)
        if tracked is not None and not differentiable:
            tracked = tracked.simplify()
            if len(tracked.views) == 1 and tracked.views[0].mask is None:
                node = record(Ops.ASSIGN, self._uop.dtype, (storage, new._uop), Window(tracked))
                self._become(self._over(node), new)
                return
        # a value elsewhere: the part is moved back to its place, and chosen there
        inside = new.ones_like(dtype=dtypes.bool)
        back, here = new._uop, inside._uop
        for op, arg, shape in moves(part._uop, self._uop):
            back_op, back_arg = inverse_move(op, arg, shape)
            back = record(back_op, back.dtype, (back,), back_arg)
            here = record(back_op, here.dtype, (here,), back_arg)
        placed, where = new._wrap(back), self._from_node(here)
        self._store(where.where(placed, self))

    def _write_picked(self, items: list[Any], value: Any) -> None:
        """Of several writes to one place the last one counts."""
        basic = [i for i in items if isinstance(i, slice) and i != slice(None)]
        if basic or any(i is None for i in items):
            # write into the window first, then the window into self
            window = [slice(None) if isinstance(i, (TensorBase, int)) else i for i in items]
            part = self._window(window).detach() if not grad_enabled() else self._window(window)
            part = part.clone() if owned_storage(part._uop) is not None else part
            part = part._from_node(part._uop, part._requires_grad, True)
            part._write_picked(
                [i if isinstance(i, (TensorBase, int)) else slice(None) for i in items], value
            )
            self._write_window(window, part)
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
        turns = self.__class__.arange(1, count + 1, device=self.device)
        if is_alone(self.device):  # each element is written by itself: nothing is kept of a place
            index = index._expanded(
                (*(1 if i == axis else s for i, s in enumerate(self.shape)), count)
            )
        hits = (index == places).where(turns, 0)
        last = hits._reduce(Ops.MAX, -1, True)
        # the last write to a place is known by its turn, so that it is looked up and not sought
        value = (turns == last).where(new, False)._reduce(Ops.ADD, -1, False)
        return (last.squeeze(-1) > 0).where(value, self)
