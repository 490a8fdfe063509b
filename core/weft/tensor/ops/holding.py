"""Where a value is held: on which device, in memory of its own, apart from gradients."""

from __future__ import annotations

import itertools
from typing import Self

from weft.device import registry
from weft.tensor import interop
from weft.tensor.alias import leave
from weft.tensor.protocol import TensorBase, record
from weft.tensor.storage import owned_storage
from weft.uop import Ops, UOp

_leaf_numbers = itertools.count()
_MEMORY = frozenset({Ops.BUFFER, Ops.ASSIGN, Ops.MULTI})


class HoldingMixin(TensorBase):
    """Methods that move, copy and detach."""

    __slots__ = ()

    def to(self, device: str | tuple[str, ...] | None) -> Self:
        """The same value on another device; the default one for None.

        On several devices it is whole on each (see `shard`); a sharded one is put together.

        >>> Tensor([1, 2]).to("REF").device
        'REF'
        """
        target = registry.placement(device)
        if target == self._uop.device:
            return self._viewed(self._uop)
        return self._wrap(interop.moved(self._uop, target))

    def to_(self, device: str | tuple[str, ...] | None) -> Self:
        """Move to another device; returns self.

        >>> x = Tensor([1, 2])
        >>> x.to_("REF").device
        'REF'
        """
        target = registry.placement(device)
        if target != self._uop.device:
            leave(self)
            self._uop = interop.moved(self._uop, target)
        return self

    def contiguous(self) -> Self:
        """The value row-major in memory, shared with nobody: no write is seen by the other.

        Memory that is row-major is copied only when one of both is written. `clone` copies at once.

        >>> Tensor([[1, 2], [3, 4]]).T.contiguous().tolist()
        [[1, 3], [2, 4]]
        """
        base = self._uop
        while base.op is Ops.RESHAPE:
            base = base.src[0]
        number = (base.src[0] if base.op is Ops.COPY else self._uop).base.op is Ops.CONST
        if base.op in (Ops.BUFFER, Ops.ASSIGN, Ops.CONTIGUOUS, Ops.COPY) and not number:
            return self._wrap(self._uop)
        if base.op is Ops.MULTI and owned_storage(base) is not None:
            return self._wrap(self._uop)
        # memory for a constant is asked for to be written: no two tensors may come to share it
        arg = ("own", next(_leaf_numbers)) if number else None
        return self._wrap(record(Ops.CONTIGUOUS, self._uop.dtype, (self._uop,), arg))

    def contiguous_backward(self) -> Self:
        """self, whose gradient is made contiguous.

        >>> Tensor([1.0, 2.0]).contiguous_backward().tolist()
        [1.0, 2.0]
        """
        return self._wrap(record(Ops.CONTIGUOUS_BACKWARD, self._uop.dtype, (self._uop,)))

    def fuse(self) -> Self:
        """self, asked for in one kernel: down to contiguous memory, what several need is computed
        again for each rather than stored. The limits of the device still hold.

        >>> (Tensor([1.0, 2.0]) + 1).fuse().tolist()
        [2.0, 3.0]
        """
        return self._wrap(record(Ops.FUSE, self._uop.dtype, (self._uop,)))

    def detach(self) -> Self:
        """The same value, through which no gradient flows.

        >>> x = Tensor([1.0], requires_grad=True)
        >>> (x * 2).detach().requires_grad
        False
        """
        made = self._viewed(record(Ops.DETACH, self._uop.dtype, (self._uop,)))
        made._requires_grad, made.is_leaf = False, True
        return made

    def clone(self) -> Self:
        """A copy in memory of its own.

        >>> x = Tensor([1, 2])
        >>> y = x.clone()
        >>> y[0] = 9
        >>> x.tolist(), y.tolist()
        ([1, 2], [9, 2])
        """
        node = record(Ops.CONTIGUOUS, self._uop.dtype, (self._uop,), ("own", next(_leaf_numbers)))
        return self._wrap(node)

    @staticmethod
    def _own_identity(node: UOp) -> UOp:
        """`node`, or a copy of it that no other graph can build, so that it is a leaf by itself."""
        base = node
        while base.op in (Ops.RESHAPE, Ops.COPY):
            base = base.src[0]
        if base.op in _MEMORY or (base.op is Ops.CONTIGUOUS and base.arg):
            return node
        return record(Ops.CONTIGUOUS, node.dtype, (node,), ("leaf", next(_leaf_numbers)))
