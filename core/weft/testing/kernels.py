"""Random kernels with their results in NumPy: for tests of code generation and of devices.

A kernel grows from its leaves. Every value is a node and the array that it must equal. Numbers are
small integers, also in floats, so that no order of summation rounds.

Some kernels have outer axes that are never moved nor reduced: these kernels keep rows in local
arrays, and store values of different rank.
"""

from __future__ import annotations

import random
from typing import Any

from weft.base.dtype import DType, dtypes
from weft.shape import ShapeTracker
from weft.uop import Ops, UOp
from weft.uop.args import Row

Pair = tuple[UOp, Any]
_MOST = 200  # elements of a value


class RandomKernel:
    """One random kernel. `ast` is its SINK, `inputs` and `outputs` are arrays by slot.

    :param seed: of the choice.
    :param dtype: of its values: float32 or int32.
    """

    def __init__(self, seed: int, dtype: DType = dtypes.float32, steps: int = 6) -> None:
        import numpy

        self.numpy = numpy
        self.random = random.Random(seed)
        self.dtype = dtype
        self.kind = numpy.float32 if dtype is dtypes.float32 else numpy.int32
        self.inputs: dict[int, Any] = {}
        self.outputs: dict[int, Any] = {}
        self.slots = 8
        self.reduces = 0
        self.outer = 0
        self.ast = UOp.sink(*(self.rows(steps) if seed % 3 == 0 else self.plain(steps)))

    def plain(self, steps: int) -> list[UOp]:
        """Stores of one value and of what is made of it."""
        stores = []
        value = self.grow(self.shape(), steps)
        for slot in range(self.random.choice((1, 1, 1, 2))):
            stores.append(self.store(slot, value))
            value = self.reduced(value) if self.random.random() < 0.5 else self.combined(value)
        if self.random.random() < 0.2:  # one that need not have any axis in common with the others
            stores.append(self.store(3, self.grow(self.shape(), 3)))
        return stores

    def rows(self, steps: int) -> list[UOp]:
        """Stores of values that share their outer axes, some of them in local arrays."""
        pick = self.random
        inner = tuple(pick.choice((1, 2, 4, 5, 8, 12)) for _ in range(pick.randint(1, 2)))
        self.outer = pick.randint(1, 2)
        outer = tuple(pick.choice((1, 2, 3, 4, 8)) for _ in range(self.outer))
        value = self.in_local_array(self.leaf(outer + inner))
        known = [value]
        for _ in range(pick.randint(1, steps)):
            kind = pick.random()
            before = pick.choice(known) if kind < 0.2 else value
            if kind < 0.5:
                value = self.combined(before)
            elif kind < 0.7:
                value = self.centred(before) if self.reduces < 4 else before
            elif kind < 0.85:
                value = self.in_local_array(before)
            elif before[0].op is not Ops.CONST:
                value = self.viewed(before, before[1].shape)
            known.append(value)
        stores = [self.store(0, value)]
        for slot in range(1, pick.randint(1, 4)):
            other = pick.choice(known)
            if pick.random() < 0.5:
                other = self.reduced(other)
            if pick.random() < 0.5 and other[1].size == self.numpy.prod(outer):
                other = self.reshaped(other, outer)
            stores.append(self.store(slot, other))
        pick.shuffle(stores)
        return stores

    def in_local_array(self, value: Pair) -> Pair:
        node, array = value
        if node.op is Ops.CONST:
            return value
        return UOp(Ops.CONTIGUOUS, node.dtype, (node,), Row(self.outer)), array

    def centred(self, value: Pair) -> Pair:
        """A value less what it is reduced to."""
        node, array = value
        less, small = self.reduced(value)
        if less.op is Ops.CONST:
            return value
        if self.random.random() < 0.3:
            less, small = self.in_local_array((less, small))
        st = ShapeTracker.from_shape(small.shape).expand(array.shape)
        return node - less.view(st), array - self.numpy.broadcast_to(small, array.shape)

    def reshaped(self, value: Pair, shape: tuple[int, ...]) -> Pair:
        node, array = value
        if node.op is Ops.CONST:
            return node, array.reshape(shape)
        st = ShapeTracker.from_shape(array.shape).reshape(shape)
        return node.view(st), array.reshape(shape)

    def shape(self) -> tuple[int, ...]:
        axes = self.random.randint(1, 3)
        return tuple(self.random.choice((1, 2, 3, 4, 4, 5, 8)) for _ in range(axes))

    def store(self, slot: int, value: Pair) -> UOp:
        node, array = value
        self.outputs[slot] = array
        pointer = UOp(Ops.DEFINE_GLOBAL, self.dtype.ptr(max(array.size, 1)), (), slot)
        return pointer.view(ShapeTracker.from_shape(array.shape)).store(node)

    # ---- values -------------------------------------------------------------------------------

    def leaf(self, shape: tuple[int, ...]) -> Pair:
        """A load of a fresh input, moved about, of this shape."""
        numpy, pick = self.numpy, self.random
        if pick.random() < 0.1:
            number = pick.randint(-3, 3)
            return UOp.const(self.dtype, number), numpy.full(shape, number, self.kind)
        base = tuple(
            1 if pick.random() < 0.3 and axis >= self.outer else n for axis, n in enumerate(shape)
        )
        stored = numpy.array(
            [pick.randint(-3, 3) for _ in range(int(numpy.prod(base)))], dtype=self.kind
        ).reshape(base)
        slot = self.slots
        self.slots += 1
        self.inputs[slot] = stored.copy()
        st, array = ShapeTracker.from_shape(base), stored
        for _ in range(pick.randint(0, 2)):
            st, array = self.moved(st, array)
        if array.shape != shape:
            st, array = self.fitted(st, array, shape)
        pointer = UOp(Ops.DEFINE_GLOBAL, self.dtype.ptr(stored.size), (), slot)
        return pointer.view(st).load(), array

    def moved(self, st: ShapeTracker, array: Any) -> tuple[ShapeTracker, Any]:
        """One random move, on a tracker and an array alike."""
        numpy, pick, outer = self.numpy, self.random, self.outer
        axes, inner = range(array.ndim), range(outer, array.ndim)
        kind = pick.choice(("permute", "pad", "shrink", "flip", "reshape"))
        if kind == "permute":
            order = (*range(outer), *pick.sample(list(inner), len(inner)))
            return st.permute(order), array.transpose(order)
        if kind == "pad" and array.size < _MOST // 4:
            amount = tuple(
                (pick.randint(0, 1), pick.randint(0, 2)) if axis in inner else (0, 0)
                for axis in axes
            )
            return st.pad(amount), numpy.pad(array, amount)
        if kind == "shrink" and all(n > 1 for n in array.shape[outer:]):
            window = tuple(
                (pick.randint(0, 1), n - pick.randint(0, n > 2)) if axis in inner else (0, n)
                for axis, n in enumerate(array.shape)
            )
            return st.shrink(window), array[tuple(slice(*w) for w in window)]
        if kind == "flip":
            flipped = tuple(axis in inner and pick.random() < 0.5 for axis in axes)
            return st.flip(flipped), numpy.flip(array, [a for a in axes if flipped[a]])
        if kind == "reshape" and len(inner) > 1:
            first = array.shape[outer] * array.shape[outer + 1]
            shape = (*array.shape[:outer], first, *array.shape[outer + 2 :])
            return st.reshape(shape), array.reshape(shape)
        return st, array

    def fitted(self, st: ShapeTracker, array: Any, shape: tuple[int, ...]) -> Any:
        """Brought to a shape by reshape, shrink and pad; outer axes stay where they are."""
        numpy, outer = self.numpy, array.shape[: self.outer]
        size, wanted = (int(numpy.prod(s[self.outer :])) for s in (array.shape, shape))
        st, array = st.reshape((*outer, size)), array.reshape((*outer, size))
        whole = tuple((0, extent) for extent in outer)
        none = ((0, 0),) * len(outer)
        if size > wanted:
            st, array = st.shrink((*whole, (0, wanted))), array[..., :wanted]
        elif size < wanted:
            st = st.pad((*none, (0, wanted - size)))
            array = numpy.pad(array, (*none, (0, wanted - size)))
        return st.reshape(shape), array.reshape(shape)

    def cut(self, st: ShapeTracker, array: Any, shape: tuple[int, ...]) -> Any:
        """Every axis cut or padded to that of a shape; None for another number of axes.

        A row is read within its own row for sure: no axis is taken apart.
        """
        if len(array.shape) != len(shape):
            return None
        window = tuple((0, min(extent, wanted)) for extent, wanted in zip(array.shape, shape))
        st, array = st.shrink(window), array[tuple(slice(*part) for part in window)]
        amount = tuple((0, wanted - extent) for extent, wanted in zip(array.shape, shape))
        return st.pad(amount), self.numpy.pad(array, amount)

    def viewed(self, value: Pair, shape: tuple[int, ...]) -> Pair:
        """A computed value moved about and brought to a shape."""
        node, array = value
        st = ShapeTracker.from_shape(array.shape)
        if self.random.random() < 0.7:
            st, array = self.moved(st, array)
        if self.outer:
            st, array = self.cut(st, array, shape) or (ShapeTracker.from_shape(shape), value[1])
        elif array.shape != shape:
            same = len(array.shape) == len(shape)
            if same and all(a in (1, n) for a, n in zip(array.shape, shape)):
                st, array = st.expand(shape), self.numpy.broadcast_to(array, shape)
            else:
                st, array = self.fitted(st, array, shape)
        return node.view(st), array

    def combined(self, value: Pair) -> Pair:
        numpy, pick = self.numpy, self.random
        (a, x) = value
        (b, y) = self.leaf(x.shape) if pick.random() < 0.6 else self.viewed(value, x.shape)
        if a.op is Ops.CONST:
            return b, y
        kind = pick.choice(("add", "sub", "mul", "max", "where", "less"))
        if kind == "add":
            return a + b, x + y
        if kind == "sub":
            return a - b, x - y
        if kind == "mul" and abs(x).max() < 1000:
            return a * b, x * y
        if kind == "where":
            chosen = UOp(Ops.WHERE, self.dtype, (a < b, a, b))
            return chosen, numpy.where(x < y, x, y)
        if kind == "less":
            return (a < b).cast(self.dtype), (x < y).astype(self.kind)
        return a.maximum(b), numpy.maximum(x, y)

    def reduced(self, value: Pair) -> Pair:
        numpy, pick = self.numpy, self.random
        node, array = value
        if node.op is Ops.CONST:
            return value
        self.reduces += 1
        inner = range(self.outer, array.ndim)
        axes = tuple(a for a in inner if pick.random() < 0.6) or (array.ndim - 1,)
        if pick.random() < 0.6 and abs(array).max() * array.size < 1 << 22:
            result = array.sum(axes, keepdims=True, dtype=self.kind)
            return node.reduce(Ops.ADD, axes), result
        return node.reduce(Ops.MAX, axes), numpy.max(array, axes, keepdims=True)

    def grow(self, shape: tuple[int, ...], steps: int) -> Pair:
        value = self.leaf(shape)
        for _ in range(self.random.randint(1, steps)):
            kind = self.random.random()
            if kind < 0.55:
                value = self.combined(value)
            elif kind < 0.75 and self.reduces < 3:
                array = value[1]
                done = self.reduced(value)
                if self.random.random() < 0.7 and done[0].op is not Ops.CONST:
                    st = ShapeTracker.from_shape(done[1].shape).expand(array.shape)
                    back = self.numpy.broadcast_to(done[1], array.shape)
                    done = (value[0] - done[0].view(st), array - back)
                value = done
            elif value[0].op is not Ops.CONST:
                value = self.viewed(value, self.shape())
        return value
