"""Random sums of products, as matmul and convolution have them: kernels that tiles are for.

Two operands, stored in any order of their axes, with padding, as windows that overlap, or broadcast
over a batch, in the dtype of the sum or a narrower one, with something done to them before and to
the sum afterwards. `RandomKernel` seldom grows one, and so seldom lets STAGE or a matrix unit in.
"""

from __future__ import annotations

from typing import Any

from weft.base.dtype import DType, dtypes
from weft.shape.tracker import ShapeTracker
from weft.testing.kernels import Pair, RandomKernel
from weft.uop import Ops, UOp

_TURNS = 2500  # multiplications of a kernel, at most
_SIZES = (1, 2, 3, 4, 4, 5, 6, 8, 8, 9, 12, 15, 16)


class RandomProduct(RandomKernel):
    """One random kernel with a sum of products in it.

    :param seed: of the choice.
    :param dtype: of the sum: float32 or int32.
    :param narrow: what operands may be stored in besides; its values are small integers.
    """

    def __init__(
        self, seed: int, dtype: DType = dtypes.float32, narrow: DType | None = None
    ) -> None:
        self.narrow = narrow
        super().__init__(seed, dtype)

    def rows(self, steps: int) -> list[UOp]:
        return self.plain(steps)

    def plain(self, steps: int) -> list[UOp]:
        """A store of what is made of one sum of products; sometimes one of the sum too."""
        pick = self.random
        value = self.product()
        stores = []
        if pick.random() < 0.15:
            stores.append(self.store(1, value))
        for _ in range(pick.randint(0, 2)):
            value = self.after(value)
        return [self.store(0, value), *stores]

    def sizes(self) -> tuple[int, int, int, int]:
        """(batch, m, n, k)"""
        pick = self.random
        while True:
            batch = pick.choice((1, 1, 1, 2, 3))
            m, n, k = (pick.choice(_SIZES) for _ in range(3))
            if batch * m * n * k <= _TURNS:
                return batch, m, n, k

    def product(self) -> Pair:
        """Shape (batch, m, n, 1, 1): the sum is over two axes, one of which may be 1."""
        numpy, pick = self.numpy, self.random
        batch, m, n, k = self.sizes()
        inner = pick.choice([part for part in (1, 2, 3) if k % part == 0])
        terms = (k // inner, inner)
        # a factor moves with its own side alone
        narrow = self.narrow
        left, x = self.operand((batch, m, *terms), (0, 1, 3, 4), narrow, n)
        narrow = narrow if pick.random() < 0.9 else None
        right, y = self.operand((batch, n, *terms), (0, 2, 3, 4), narrow, m)
        if pick.random() < 0.3:
            (left, x), (right, y) = (right, y), (left, x)
        total = numpy.add.reduce(x * y, axis=(3, 4), keepdims=True, dtype=self.kind)
        return (left * right).reduce(Ops.ADD, (3, 4)), total

    def operand(
        self, shape: tuple[int, ...], axes: tuple[int, ...], narrow: DType | None, other: int
    ) -> Pair:
        """A fresh input brought to (batch, m, n, k, j) of which it moves with `axes`."""
        numpy, pick = self.numpy, self.random
        st, array = self.stored(shape, narrow)
        dtype, node = narrow or self.dtype, None
        if narrow is dtypes.bfloat16:  # the upper half of a float32
            bits = self.inputs[self.slots].astype(numpy.float32).view(numpy.uint32) >> 16
            self.inputs[self.slots] = bits.astype(numpy.uint16)
        pointer = UOp(Ops.DEFINE_GLOBAL, dtype.ptr(self.inputs[self.slots].size), (), self.slots)
        self.slots += 1
        (missing,) = {0, 1, 2, 3, 4} - set(axes)
        wide = tuple(numpy.insert(shape, missing, 1).tolist())
        whole = tuple(numpy.insert(shape, missing, other).tolist())
        node = pointer.view(st.reshape(wide).expand(whole)).load()
        array = numpy.broadcast_to(array.reshape(wide), whole)
        before = pick.random()
        if before < 0.15:
            node, array = node + node.const_like(1), array + array.dtype.type(1)
        elif before < 0.3:
            node, array = node.maximum(node.const_like(0)), numpy.maximum(array, 0)
        return node.cast(self.dtype), array.astype(self.kind)

    def stored(self, shape: tuple[int, ...], narrow: DType | None) -> tuple[ShapeTracker, Any]:
        """A new input, and how it is read as (batch, side, k, j)."""
        numpy, pick = self.numpy, self.random
        kind = numpy.float16 if narrow is dtypes.half else self.kind
        kind = numpy.int8 if narrow is dtypes.int8 else kind
        batch, side, k, j = shape
        lead = 1 if pick.random() < 0.4 else batch
        form = pick.random()
        if form < 0.2 and j > 1:
            return self.windows(lead, shape, kind)
        cut = pick.choice((0, 0, 0, 1)) if k > 1 else 0
        order = pick.choice(((0, 1, 2, 3), (0, 2, 1, 3), (0, 2, 3, 1), (1, 0, 3, 2)))
        own = (lead, side, k - cut, j)
        data = self.numbers(tuple(own[axis] for axis in order), kind)
        back = tuple(order.index(axis) for axis in range(4))
        st, array = ShapeTracker.from_shape(data.shape).permute(back), data.transpose(back)
        if cut:
            amount = ((0, 0), (0, 0), pick.choice(((0, 1), (1, 0))), (0, 0))
            st, array = st.pad(amount), numpy.pad(array, amount)
        return st.expand(shape), numpy.broadcast_to(array, shape)

    def windows(self, lead: int, shape: tuple[int, ...], kind: Any) -> tuple[ShapeTracker, Any]:
        """Element (b, s, k, j) is (b, k, s + j): what a convolution reads."""
        _, side, k, j = shape
        long = side + j - 1
        data = self.numbers((lead, k, long), kind)
        st = ShapeTracker.from_shape(data.shape).reshape((lead, k, 1, long))
        st = st.expand((lead, k, j, long)).reshape((lead, k, j * long))
        st = st.pad(((0, 0), (0, 0), (0, j))).reshape((lead, k, j, long + 1))
        st = st.shrink(((0, lead), (0, k), (0, j), (0, side))).permute((0, 3, 1, 2))
        rows = self.numpy.lib.stride_tricks.sliding_window_view(data, j, axis=2)
        whole = self.numpy.broadcast_to(rows.transpose(0, 2, 1, 3), shape)
        return st.expand(shape), whole

    def numbers(self, shape: tuple[int, ...], kind: Any) -> Any:
        count = int(self.numpy.prod(shape))
        data = [self.random.randint(-3, 3) for _ in range(count)]
        self.inputs[self.slots] = self.numpy.array(data, dtype=kind).reshape(shape)
        return self.inputs[self.slots].copy()

    def after(self, value: Pair) -> Pair:
        """Something that is done to the sums: a bias, a bound, a scale, the largest taken off."""
        numpy, pick = self.numpy, self.random
        node, array = value
        kind = pick.random()
        if kind < 0.3:
            return node.maximum(node.const_like(0)), numpy.maximum(array, 0)
        if kind < 0.5:
            return node * node.const_like(2), array * array.dtype.type(2)
        if kind < 0.65:
            most = node.reduce(Ops.MAX, (2,))
            small = array.max(2, keepdims=True)
            st = ShapeTracker.from_shape(small.shape).expand(array.shape)
            return node - most.view(st), array - small
        shape = array.shape if pick.random() < 0.5 else (1, 1, array.shape[2], 1, 1)
        data = self.numbers(shape, self.kind)
        st = ShapeTracker.from_shape(shape).expand(array.shape)
        pointer = UOp(Ops.DEFINE_GLOBAL, self.dtype.ptr(data.size), (), self.slots)
        self.slots += 1
        return node + pointer.view(st).load(), array + data
