"""Operations of the graph by their names, for code that is written against nodes."""

from __future__ import annotations

from typing import Any

from weft.base.arguments import shown
from weft.base.dtype import dtypes
from weft.base.errors import ArgumentError, DTypeError
from weft.base.promotion import least_upper_dtype
from weft.tensor.ops.operators import broadcast_node, known_facts
from weft.tensor.protocol import TensorBase, TensorT, record
from weft.tensor.types import ArrayLike
from weft.uop import GroupOp, Ops

_ARITY = {
    **dict.fromkeys(GroupOp.Unary, 1),
    **dict.fromkeys(GroupOp.Binary, 2),
    **dict.fromkeys(GroupOp.Ternary, 3),
}


def alu(self: TensorT, arg: Ops, *src: Any) -> TensorT:
    """The operation `arg` of self and `src`, which are brought to one dtype and shape.

    :raises ArgumentError: if `arg` does not compute element by element, or takes another number
        of operands.

    >>> from weft.uop import Ops
    >>> Tensor([1, 2]).alu(Ops.ADD, 10).tolist()
    [11, 12]
    >>> Tensor([True, False]).alu(Ops.WHERE, Tensor([1, 2]), 0).tolist()
    [1, 0]
    """
    if not isinstance(arg, Ops) or _ARITY.get(arg) != 1 + len(src):
        raise ArgumentError(
            f"{shown(arg)} is no operation of {1 + len(src)} operands",
            asked=f"alu({shown(arg)}, ...) of {1 + len(src)} operands",
            because=f"it takes {_ARITY[arg]}"
            if isinstance(arg, Ops) and arg in _ARITY
            else "it does not compute element by element",
        )
    if arg in (Ops.NEG, Ops.TRUNC):
        return self.neg() if arg is Ops.NEG else self.trunc()
    if not src:
        return self._unary(arg)
    if arg in GroupOp.Comparison:
        return self._compare(arg, src[0])
    if arg is Ops.WHERE:
        return self.where(*src)
    if arg is Ops.MULACC:
        return _multiplied_and_added(self, *src)
    if arg in (Ops.FDIV, Ops.POW):
        return self.div(src[0]) if arg is Ops.FDIV else self.pow(src[0])
    return self.threefry(src[0]) if arg is Ops.THREEFRY else self._binary(arg, src[0])


def _multiplied_and_added(self: TensorBase, x: Any, y: Any) -> Any:
    """self * x + y, rounded once where a device can."""
    parts = [self, self.ufix(x), self.ufix(y)]
    dtype = least_upper_dtype(*(p._uop.dtype for p in parts))
    product = parts[0].cast(dtype) * parts[1].cast(dtype) + parts[2].cast(dtype)
    shape = product.shape
    nodes = tuple(broadcast_node(p.cast(dtype)._uop, shape) for p in parts)
    node = record(Ops.MULACC, dtype, nodes)
    return product._wrap(known_facts(node, shape, product._uop.device))


def const_like(self: TensorT, b: Any) -> TensorT:
    """The number `b` in the shape, dtype and place of self.

    >>> Tensor([1.5, 2.5]).const_like(3).tolist()
    [3.0, 3.0]
    """
    return self.full_like(b)


def ufix(self: TensorT, x: Any) -> TensorT:
    """x as a tensor beside self: itself if it is one, else `const_like(x)`.

    A float beside integers is of the default float.

    >>> Tensor([1, 2]).ufix(3).tolist()
    [3, 3]
    """
    x = self._operand(x)
    if isinstance(x, TensorBase):
        return x  # type: ignore[return-value]
    floating = isinstance(x, float) and not dtypes.is_float(self._uop.dtype)
    return self.full_like(x, dtype=dtypes.default_float) if floating else self.full_like(x)


def threefry(self: TensorT, seed: ArrayLike) -> TensorT:
    """64 random bits (uint64) of every counter in self and the key `seed`, both uint64.

    Threefry-2x32 of 20 rounds (Salmon and others, 2011).

    :raises DTypeError: for other dtypes.

    >>> Tensor([0], dtype="uint64").threefry(Tensor([1], dtype="uint64")).dtype
    dtypes.ulong
    """
    if not isinstance(seed, TensorBase):
        seed = self.full_like(seed)
    for part in (self, seed):
        if part._uop.dtype is not dtypes.uint64:
            raise DTypeError(
                "counters and keys are uint64",
                asked=f"threefry of {self._uop.dtype!r} with a key of {seed._uop.dtype!r}",
                try_="x.cast(dtypes.uint64)",
            )
    return self._binary(Ops.THREEFRY, seed).detach()
