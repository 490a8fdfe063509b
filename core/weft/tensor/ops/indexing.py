"""Indexing: reading and writing parts of a tensor, as NumPy does.

Ints, slices (negative steps too), None and "..." are movement. Integer tensors pick: an element is
said to be the sum of all where the index equals their place, which code generation makes a load at
that place. An index tensor beyond the axis picks 0, and writes nothing: it is not known before it
is computed.
Boolean masks are computed at once, because the shape of the result depends on them.
"""

from __future__ import annotations

from typing import Any, Self

from weft.base.arguments import index_of, shown
from weft.base.dtype import ImageDType, dtypes
from weft.base.errors import (
    ArgumentError,
    DTypeError,
    GradientError,
    IndexingError,
    WrongKind,
)
from weft.base.sequences import prod
from weft.shape.movement import broadcast_shapes, inverse_move, say_shape
from weft.tensor.ops.assign import owned_storage
from weft.tensor.ops.index_items import (
    as_bound,
    common_shape,
    covered,
    flat_index,
    from_the_front,
    is_alone,
    is_flag,
    is_known,
    is_mask,
    moves,
    places_of,
)
from weft.tensor.protocol import TensorBase, grad_enabled, grad_mode, record
from weft.uop import Ops, UOp, Window
from weft.uop.symbolic.sint import as_node, fold, high_of


class IndexingMixin(TensorBase):
    """Methods that read and write parts."""

    __slots__ = ()

    # ---- reading ------------------------------------------------------------------------------

    def __getitem__(self, index: Any) -> Self:
        """The part that `index` names.

        :raises IndexingError: for an int out of range, too many indices, or what does not index.
        """
        flag = self._only_flag(index)
        if flag is not None:
            return self._flagged(*flag)
        self, index = self._without_flags(index)
        items = self._items(index)
        if any(isinstance(item, TensorBase) for item in items):
            return self._picked(items)
        return self._window(items)

    def _only_flag(self, index: Any) -> tuple[list[Any], int] | None:
        """The items of an index of slices and one mask without axes, and its place."""
        items = list(index) if isinstance(index, tuple) else [index]
        found = [place for place, item in enumerate(items) if is_flag(item)]
        plain = all(
            item is None or item is Ellipsis or isinstance(item, (bool, slice))
            for place, item in enumerate(items)
            if place not in found
        )
        return (items, found[0]) if len(found) == 1 and plain else None

    def _flagged(self, items: list[Any], place: int) -> Any:
        """With a mask that covers no axis: a new axis, of size one where it holds, else of none."""
        flag = items[place]
        held = flag if isinstance(flag, bool) else flag.item()
        whole = self[(*items[:place], None, *items[place + 1 :])]
        if held:
            return whole
        at = whole.ndim - len(items) + place if Ellipsis in items[:place] else place
        return whole.shrink(tuple((0, 0) if i == at else None for i in range(whole.ndim)))

    def _without_flags(self, index: Any) -> tuple[Any, Any]:
        """self and an index in which every mask without axes is an index of a new axis of one."""
        items = list(index) if isinstance(index, tuple) else [index]
        if not any(map(is_flag, items)):
            return self, index
        x, axis = self, 0
        for place, item in enumerate(items):
            if item is Ellipsis:
                axis = x.ndim - sum(map(covered, items[place + 1 :]))
            elif is_flag(item):
                held = item if isinstance(item, bool) else item.item()
                x = x.unsqueeze(max(0, min(axis, x.ndim)))
                items[place] = self.__class__.zeros(int(held), dtype="int32", device=self.device)
                axis += 1
            else:
                axis += covered(item)
        return x, tuple(items)

    def _items(self, index: Any) -> list[Any]:
        """One item per axis and new axis: int, symbolic int, slice, None, or integer tensor."""
        given = list(index) if isinstance(index, tuple) else [index]
        taken = [self._item(item) for item in given]
        known = {id(t): item for t, item in zip(taken, given) if is_known(item)}
        items = self._unmasked(taken)
        used = sum(item is not None and item is not Ellipsis for item in items)
        dots = [place for place, item in enumerate(items) if item is Ellipsis]
        if len(dots) > 1:
            raise IndexingError(
                'an index has a single ellipsis ("...")', asked=f"an index with {len(dots)} of them"
            )
        if used > len(self.shape):
            raise IndexingError(
                "too many indices",
                asked=f"{used} indices into shape {self.shape}",
                because=f"there are {len(self.shape)} axes",
                try_="one index for each axis, and None for a new one",
            )
        whole = [slice(None)] * (len(self.shape) - used)
        at = dots[0] if dots else len(items)
        items = items[:at] + whole + items[at + 1 :]
        if known:
            along = [item for item in items if item is not None]
            for axis, item in enumerate(along):
                if id(item) in known:
                    self._check_places(known[id(item)], axis)
        return items

    def _check_places(self, places: Any, axis: int) -> None:
        """Refuse numbers that are known to be outside an axis; those in tensors cannot be seen."""
        import numpy

        found, size = numpy.asarray(places), self.shape[axis]
        if not found.size or found.dtype.kind not in "iu" or isinstance(size, UOp):
            return
        low, high = int(found.min()), int(found.max())
        if low < -size or high >= size:
            outside = high if high >= size else low
            raise IndexingError(
                f"index {outside} is out of bounds",
                asked=f"an index {shown(places)} into axis {axis} of shape {self.shape}",
                because=f"the axis has {size} elements",
                try_=f"numbers from {-size} to {size - 1}" if size else None,
            )

    def _unmasked(self, items: list[Any]) -> list[Any]:
        """Boolean masks replaced by the integer tensors of the places where they hold."""
        if not any(is_mask(item) for item in items):
            return items
        covers = [0 if i is None or i is Ellipsis else i.ndim if is_mask(i) else 1 for i in items]
        result: list[Any] = []
        at = 0
        for place, item in enumerate(items):
            if is_mask(item):
                own = self.shape[at : at + covers[place]]
                # a mask may be empty along any axis, as in NumPy: it holds nowhere
                if len(own) != item.ndim or any(m not in (n, 0) for m, n in zip(item.shape, own)):
                    raise IndexingError(
                        "the mask does not fit",
                        asked=f"a mask of shape {item.shape} at axis {at} of shape {self.shape}",
                        because=f"the axes that it masks have shape {own}",
                        try_="a mask made of the tensor itself, as in x[x > 0]",
                    )
                result += self._mask(item)
            else:
                result.append(item)
            at += covers[place]
            if item is Ellipsis:
                at = len(self.shape) - sum(covers[place + 1 :])
        return result

    def _item(self, item: Any) -> Any:
        if item is None or item is Ellipsis or isinstance(item, (slice, UOp)):
            return item
        if isinstance(item, bool):
            return self.__class__(item, device=self.device)
        if isinstance(item, int):
            return item
        if not isinstance(item, TensorBase):
            if (number := index_of(item)) is not None:
                return number
            if isinstance(item, (float, str)):
                raise self._no_index(item)
            if isinstance(item, (list, tuple)) and not item:
                item = self.__class__.zeros(0, dtype=dtypes.int32, device=self.device)
            else:
                item = self.__class__(item, device=self.device)
        if not dtypes.is_int(item._uop.dtype) and item._uop.dtype is not dtypes.bool:
            raise self._no_index(item)
        return item.to(self.device) if item.device != self.device else item

    def _no_index(self, item: Any) -> IndexingError:
        what = repr(item._uop.dtype) if isinstance(item, TensorBase) else type(item).__name__
        return IndexingError(
            f"a {what} does not index",
            asked=f"an index {shown(item)}",
            because="the place of an element is a whole number",
            try_="ints, slices, None, ..., integer tensors and boolean masks",
        )

    def _mask(self, mask: Any) -> list[Any]:
        """A boolean mask as the integer tensors of the places where it holds: computed now."""
        import numpy

        places = places_of(mask)
        return [self.__class__(p.astype(numpy.int32), device=self.device) for p in places]

    def _window(self, items: list[Any]) -> Any:
        """Movement alone: ints, slices and None."""
        axes = [item for item in items if item is not None]
        x = self
        bounds, flips, steps = [], [], []
        for axis, item in enumerate(axes):
            start, stop, step = self._span(axis, item)
            bounds.append((start, stop))
            flips.append(step < 0)
            steps.append(abs(step))
        x = x.shrink(tuple(bounds))
        if any(flips):
            x = x.flip(tuple(i for i, f in enumerate(flips) if f))
        if any(s != 1 for s in steps):
            x = x._strided(steps)
        shape: list[Any] = []
        left = iter(zip(axes, x.shape))
        for item in items:
            if item is None:
                shape.append(1)
                continue
            kind, size = next(left)
            if isinstance(kind, slice):
                shape.append(size)
        return x.reshape(tuple(shape))

    def _span(self, axis: int, item: Any) -> tuple[Any, Any, int]:
        """Start, stop (start <= stop) and step of one axis."""
        size = self.shape[axis]
        if isinstance(item, slice):
            symbolic = isinstance(size, UOp) or any(
                isinstance(x, UOp) for x in (item.start, item.stop)
            )
            if symbolic:
                return self._symbolic_span(size, item)
            try:
                start, stop, step = item.indices(size)
            except TypeError as error:
                raise DTypeError(
                    "the bounds of a slice are integers", asked=repr(item), because=str(error)
                ) from None
            except ValueError:
                raise ArgumentError(
                    "a slice has no step of 0",
                    asked=repr(item),
                    because="it would pick the same element for ever",
                    try_="x[::1] for all elements, x[::-1] for all of them backwards",
                ) from None
            count = len(range(start, stop, step))
            if count == 0:
                return 0, 0, 1
            last = start + (count - 1) * step
            return (start, last + 1, step) if step > 0 else (last, start + 1, step)
        if isinstance(item, UOp):
            at = from_the_front(item, size)
            return at, fold(at + 1), 1
        if isinstance(size, int) and not -size <= item < size:
            raise IndexingError(
                f"index {item} is out of bounds",
                asked=f"index {item} into axis {axis} of shape {self.shape}",
                because=f"the axis has {size} elements",
                try_=f"an index from {-size} to {size - 1}" if size else None,
            )
        at = item + size if item < 0 else item
        return at, at + 1, 1

    def _symbolic_span(self, size: Any, item: slice) -> tuple[Any, Any, int]:
        asked = ":".join("" if x is None else say_shape(x) for x in (item.start, item.stop))
        if item.step not in (None, 1):
            raise IndexingError(
                "a symbolic slice has no step",
                asked=f"[{asked}:{say_shape(item.step)}]",
                because="how many elements it picks is no sum of variables",
                try_="a step of 1, or flip",
            )
        start = 0 if item.start is None else from_the_front(item.start, size)
        stop = size if item.stop is None else from_the_front(item.stop, size)
        if all(isinstance(x, int) for x in (start, stop, size)):
            return min(start, stop), stop, 1
        return start, stop, 1

    def _strided(self, steps: list[int]) -> Any:
        """Every steps[i]-th element of each axis, from the first on."""
        counts = [-(-s // n) for s, n in zip(self.shape, steps)]
        x = self.pad(tuple((0, c * n - s) for c, n, s in zip(counts, steps, self.shape)))
        x = x.reshape(tuple(p for c, n in zip(counts, steps) for p in (c, n)))
        x = x.shrink(tuple(p for c in counts for p in ((0, c), (0, 1))))
        return x.reshape(tuple(counts))

    def _picked(self, items: list[Any]) -> Any:
        """Integer tensors among the indices: all of them, and ints beside them, broadcast."""
        x, tensors, places, at = self._prepared(items)
        shape = common_shape(tensors)
        rest = tuple(s for i, s in enumerate(x.shape) if i not in places)
        flat, total = flat_index(tensors, [x.shape[p] for p in places], shape)
        # what is picked stays where it is among the other axes: so does its gradient
        lead = sum(1 for i in range(places[0]) if i not in places)
        others = [i for i in range(len(x.shape)) if i not in places]
        x = x.permute(*others[:lead], *places, *others[lead:])
        ones = (1,) * len(shape)
        x = x.reshape((*rest[:at], *ones, *rest[at:lead], total, *rest[lead:]))
        behind = (1,) * (len(rest) - lead)
        places_of = self.__class__.arange(total, device=self.device).reshape(total, *behind)
        index = flat.reshape((*(1,) * at, *shape, *(1,) * (len(rest) - at + 1)))
        chosen = (index == places_of).where(x, False)
        return chosen._reduce(Ops.ADD, lead + len(shape), False)

    def _prepared(self, items: list[Any]) -> tuple[Any, list[Any], list[int], int]:
        """self with slices taken and new axes put in; the index tensors, the axes they are for, and
        where among the other axes their shape goes (NumPy's rule: in place if side by side)."""
        picks = [i for i, item in enumerate(items) if isinstance(item, (TensorBase, int, UOp))]
        picks = [i for i in picks if items[i] is not None]
        adjacent = picks == list(range(picks[0], picks[-1] + 1))
        basic = [slice(None) if isinstance(item, TensorBase) else item for item in items]
        basic = [slice(None) if isinstance(item, (int, UOp)) else item for item in basic]
        x = self._window(basic)
        tensors, places = [], []
        for place in picks:
            item = items[place]
            if isinstance(item, UOp):
                axis = sum(i is not None for i in items[:place])
                at, _, _ = self._span(axis, item)
                whole = tuple(
                    (0, s) if i != axis else (at, fold(at + 1)) for i, s in enumerate(self.shape)
                )
                self.shrink(whole)  # says where it is not inside
                item = self._from_node(as_node(at))
            if isinstance(item, int):
                size = x.shape[place]
                self._span(sum(i is not None for i in items[:place]), item)
                at = item + size if item < 0 else item
                kind = dtypes.int64 if high_of(at) > dtypes.int32.max else dtypes.int32
                item = self.__class__.full((), at, dtype=kind, device=self.device)
            tensors.append(item)
            places.append(place)
        at = sum(1 for i in range(picks[0]) if i not in places) if adjacent else 0
        return x, tensors, places, at

    # ---- writing ------------------------------------------------------------------------------

    def __setitem__(self, index: Any, value: Any) -> None:
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

    def __delitem__(self, index: Any) -> None:
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

    # ---- masks --------------------------------------------------------------------------------

    def masked_select(self, mask: Any) -> Self:
        """The elements where a mask, broadcast to the shape of self, holds, as a vector.

        The mask is computed at once: the size of the result depends on it.

        >>> x = Tensor([1, -2, 3])
        >>> x.masked_select(x > 0).tolist()
        [1, 3]
        """
        mask = self.__class__._as_tensor(mask, self).cast(dtypes.bool)
        shape = broadcast_shapes(self.shape, mask.shape)
        return self._expanded(shape)[mask._expanded(shape)]

    def nonzero(self, as_tuple: bool = False) -> Any:
        """The places of what is not zero, an (n, rank) int32 tensor; computed at once.

        With `as_tuple` one vector for each axis, which index self.

        >>> Tensor([[0, 5], [7, 0]]).nonzero().tolist()
        [[0, 1], [1, 0]]
        >>> [places.tolist() for places in Tensor([0, 5, 7]).nonzero(as_tuple=True)]
        [[1, 2]]
        """
        import numpy

        places = places_of(self if self._uop.dtype is dtypes.bool else self != 0)
        if as_tuple:
            axes = (numpy.ascontiguousarray(p, numpy.int32) for p in places)
            return tuple(self.__class__(p, device=self.device) for p in axes)
        if not places:
            found = numpy.argwhere(self.numpy() != 0).astype(numpy.int32)
            return self.__class__(found, device=self.device)
        return self.__class__(numpy.stack(places, -1, dtype=numpy.int32), device=self.device)

    def one_hot(self, num_classes: int = -1) -> Self:
        """A new last axis with 1 at the class and 0 elsewhere (int32).

        Without a number of classes the largest is computed at once.

        >>> Tensor([0, 2]).one_hot(3).tolist()
        [[1, 0, 0], [0, 0, 1]]
        """
        if not dtypes.is_int(self._uop.dtype):
            raise DTypeError("classes are integers", asked=f"one_hot of {self._uop.dtype!r}")
        if num_classes == -1:
            num_classes = int((self.max() + 1).item()) if self.numel() else 0
        classes = self.__class__.arange(num_classes, device=self.device)
        return (self.unsqueeze(-1) == classes).cast(dtypes.int32)
