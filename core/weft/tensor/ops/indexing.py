"""Indexing: reading parts of a tensor, as NumPy does; `writing` is the other way.

Ints, slices (negative steps too), None and "..." are movement. Integer tensors pick: an element is
said to be the sum of all where the index equals their place, which code generation makes a load at
that place. An index that is known when it is recorded is checked; any other picks 0 beyond the
axis, and writes nothing there, except in checked mode (see `index_bounds`).
Boolean masks are computed at once, because the shape of the result depends on them.
"""

from __future__ import annotations

from typing import Any, Literal, Self, overload

from weft.base.arguments import index_of, shown
from weft.base.dtype import dtypes
from weft.base.errors import ArgumentError, DTypeError, IndexingError
from weft.shape.movement import broadcast_shapes, say_shape
from weft.tensor.ops import gather_scatter, index_functions
from weft.tensor.ops.index_bounds import check_index, check_labels
from weft.tensor.ops.index_items import (
    common_shape,
    covered,
    flat_index,
    from_the_front,
    holds,
    is_flag,
    is_mask,
    places_of,
)
from weft.tensor.ops.operators import known_facts
from weft.tensor.protocol import TensorBase, record
from weft.tensor.types import ArrayLike, Index
from weft.uop import Ops, UOp
from weft.uop.symbolic.sint import as_node, fold, high_of


def _are_ints(index: tuple[Any, ...]) -> bool:
    """Whether an index is some ints and nothing else."""
    for item in index:
        if item.__class__ is not int:
            return False
    return len(index) > 0


class IndexingMixin(TensorBase):
    """Methods that read parts."""

    __slots__ = ()

    # ---- reading ------------------------------------------------------------------------------

    def __getitem__(self, index: Index) -> Self:
        """The part that `index` names.

        :raises IndexingError: for an int out of range, too many indices, or what does not index.
        """
        places: Any = index if index.__class__ is tuple else (index,)
        if _are_ints(places) and (found := self._at(places)) is not None:
            return found
        flag = self._only_flag(index)
        if flag is not None:
            return self._flagged(*flag)
        self, index = self._without_flags(index)
        items = self._items(index)
        if any(isinstance(item, TensorBase) for item in items):
            return self._picked(items)
        return self._window(items)

    def _at(self, places: tuple[Any, ...]) -> Any:
        """The part at these places of the first axes: the usual case by itself. None where a size
        is symbolic or an index is wrong."""
        u = self._uop
        shape, device = u.shape, u.device
        count = len(places)
        if count > len(shape):
            return None
        window: list[tuple[int, int]] = []
        for place, size in zip(places, shape):
            if size.__class__ is not int or not -size <= place < size:
                return None
            start = place + size if place < 0 else place
            window.append((start, start + 1))
        rest = shape[count:]
        for size in rest:
            if size.__class__ is not int:
                return None
            window.append((0, size))
        node = u
        if any(pair != (0, size) for pair, size in zip(window, shape)):
            node = record(Ops.SHRINK, u.dtype, (u,), tuple(window))
            known_facts(node, (1,) * count + rest, device)
        node = record(Ops.RESHAPE, u.dtype, (node,), rest)
        return self._viewed(known_facts(node, rest, device))

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
        held = holds(items[place])
        whole = self[(*items[:place], None, *items[place + 1 :])]
        whole = whole._wrap(whole._uop)
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
                held = holds(item)
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
        self._check_places(items, {id(t): item for t, item in zip(taken, given) if t is not item})
        return items

    def _check_places(self, items: list[Any], given: dict[int, Any]) -> None:
        """Refuse index tensors that are known to leave their axis, unless together they pick
        nothing. `given`: by the id of a tensor what it was made of."""
        if any(isinstance(item, TensorBase) and 0 in item.shape for item in items):
            return
        axis = 0
        for item in items:
            if item is not None:
                if isinstance(item, TensorBase):
                    shape = self.shape
                    check_index(item, shape[axis], axis, shape, given.get(id(item)))
                axis += 1

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
        return x if tuple(shape) == x._uop.shape else x.reshape(tuple(shape))

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
        rank = len(steps)
        x = self._wrap(self._uop)
        x = x.pad(tuple((0, c * n - s) for c, n, s in zip(counts, steps, self.shape)))
        x = x.reshape(tuple(p for c, n in zip(counts, steps) for p in (c, n)))
        x = x.shrink(tuple(p for c in counts for p in ((0, c), (0, 1))))
        x = x.reshape(tuple(counts))
        rows = [tuple(n * (i == j) for j in range(rank)) for i, n in enumerate(steps)]
        return self._viewed_as(x._uop, tuple(rows))

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
        """self with slices and new axes applied; the index tensors, the axes they are for, and
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

    # ---- masks --------------------------------------------------------------------------------

    def masked_select(self, mask: ArrayLike) -> Self:
        """The elements where a mask, broadcast to the shape of self, holds, as a vector.

        The mask is computed at once: the size of the result depends on it.

        >>> x = Tensor([1, -2, 3])
        >>> x.masked_select(x > 0).tolist()
        [1, 3]
        """
        mask = self.__class__._as_tensor(mask, self).cast(dtypes.bool)
        shape = broadcast_shapes(self.shape, mask.shape)
        return self._expanded(shape)[mask._expanded(shape)]

    @overload
    def nonzero(self, as_tuple: Literal[False] = False) -> Self: ...
    @overload
    def nonzero(self, as_tuple: Literal[True]) -> tuple[Self, ...]: ...
    def nonzero(self, as_tuple: bool = False) -> Self | tuple[Self, ...]:
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
        :raises IndexingError: for a class that does not exist, where that is known.

        >>> Tensor([0, 2]).one_hot(3).tolist()
        [[1, 0, 0], [0, 0, 1]]
        """
        if not dtypes.is_int(self._uop.dtype):
            raise DTypeError("classes are integers", asked=f"one_hot of {self._uop.dtype!r}")
        if num_classes == -1:
            num_classes = int((self.max() + 1).item()) if self.numel() else 0
        check_labels(self, num_classes, "one_hot")
        classes = self.__class__.arange(num_classes, device=self.device)
        return (self.unsqueeze(-1) == classes).cast(dtypes.int32)

    # ---- gathering and scattering along an axis -----------------------------------------------

    gather = gather_scatter.gather
    scatter = gather_scatter.scatter
    scatter_reduce = gather_scatter.scatter_reduce
    take = index_functions.take
    take_along_dim = index_functions.take_along_dim
    index_select = index_functions.index_select
    argwhere = index_functions.argwhere
    bucketize = index_functions.bucketize
    index_add = index_functions.index_add
    index_copy = index_functions.index_copy
    index_fill = index_functions.index_fill
    index_put = index_functions.index_put
    put = index_functions.put
    scatter_add = index_functions.scatter_add
    masked_scatter = index_functions.masked_scatter
    select_scatter = index_functions.select_scatter
    vander = index_functions.vander
    cartesian_prod = index_functions.cartesian_prod
    take_along_axis = index_functions.take_along_dim
