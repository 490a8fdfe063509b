"""Guards: an inline cache of the last replayed call, checked before a signature is computed.

A call passes if its arguments have the layout of those of the last replayed call, the settings and
modes are the same, and the state is unchanged. Then the same specialization is replayed. Any other
call computes its signature and is looked up (`cache.py`).

After a kernel that streams large memory the processor's caches hold none of Python's data. The cost
of a call is then the code and data that it touches, so all checks are in two functions.

in:  the arguments of a call      out: its tensors and their BUFFERs, or None

Source: TorchDynamo, guards; L. P. Deutsch, A. M. Schiffman, "Efficient implementation of the
Smalltalk-80 system", POPL 1984 (inline caches).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from weft.base.settings import stamp
from weft.device import registry
from weft.tensor.jit.in_place_writes import MemoryMoved
from weft.tensor.jit.signature import PLAIN, Signature
from weft.tensor.jit.specialization import Specialization
from weft.tensor.protocol import TensorBase, grad_enabled
from weft.tensor.tensor import Tensor
from weft.uop import GroupOp, Ops, UOp

_BUFFER = Ops.BUFFER
_MOVES = GroupOp.Movement


class TensorGuard:
    """Guard of one tensor argument: flags, movement ops, dtype, size and device."""

    __slots__ = ("device", "dtype", "flag", "leaf", "moves", "size")

    def __init__(self, tensor: TensorBase) -> None:
        self.flag, self.leaf = tensor._requires_grad, tensor.is_leaf
        moves: list[tuple[Ops, Any]] = []
        node = tensor._uop
        while node.op in _MOVES:
            moves.append((node.op, node.arg))
            node = node.src[0]
        self.moves = tuple(moves)
        self.dtype, self.size, self.device = node.dtype, node.arg, node.src[0]


class ArgumentGuards:
    """Guards of the arguments of a call: tensors without gradients, each over memory of its own,
    and plain Python values. They hold no tensor.
    """

    __slots__ = ("_guards", "_names")

    def __init__(self, guards: list[Any], names: tuple[str, ...]) -> None:
        self._guards, self._names = guards, names

    @classmethod
    def of(
        cls, args: tuple[Any, ...], kwargs: Mapping[str, Any], arguments: Signature
    ) -> ArgumentGuards | None:
        """The guards of these arguments; None for arguments that need a full signature."""
        names = tuple(sorted(kwargs))
        guards: list[Any] = []
        tensors = 0
        for value in (*args, *[kwargs[name] for name in names]):
            kind = value.__class__
            if isinstance(value, TensorBase):
                if value._interleaved is not None:
                    return None
                if value._uop.base.op is not Ops.BUFFER or value.grad is not None:
                    return None
                guards.append((kind, TensorGuard(value)))
                tensors += 1
            elif kind in PLAIN:
                guards.append((kind, value))
            elif kind is float:
                guards.append((kind, value.hex()))
            else:
                return None
        if arguments.pending or arguments.values or arguments.roots:
            return None
        if tensors != len(arguments.tensors) or tensors != len(arguments.nodes):
            return None
        return cls(guards, names)

    def match(
        self, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> tuple[list[TensorBase], list[UOp]] | None:
        """The tensors and their BUFFERs in order; None if a guard fails."""
        if kwargs or self._names:
            names = self._names
            if len(kwargs) != len(names) or not all(map(kwargs.__contains__, names)):
                return None
            args = (*args, *[kwargs[name] for name in names])
        if len(args) != len(self._guards):
            return None
        tensors: list[TensorBase] = []
        nodes: list[UOp] = []
        for value, (kind, guard) in zip(args, self._guards):
            if value.__class__ is not kind:
                return None
            if guard.__class__ is not TensorGuard:
                if guard != (value.hex() if kind is float else value):
                    return None
                continue
            node = value._uop
            for op, arg in guard.moves:
                if node.op is not op or node.arg != arg:
                    return None
                node = node.src[0]
            if (
                node.op is not _BUFFER
                or node.src[0] is not guard.device
                or node.arg != guard.size
                or node.dtype != guard.dtype
                or value.grad is not None
                or value._requires_grad is not guard.flag
                or value.is_leaf is not guard.leaf
            ):
                return None
            tensors.append(value)
            nodes.append(node)
        if len(nodes) > 1 and len(set(nodes)) != len(nodes):
            return None
        return tensors, nodes


class CallGuard:
    """Guards of a call that was replayed: its arguments, settings, modes, devices and state."""

    __slots__ = ("_arguments", "_epoch", "_grad", "_mode", "_settings", "_trace", "specialization")

    def __init__(self, arguments: ArgumentGuards, specialization: Specialization) -> None:
        self._arguments, self.specialization = arguments, specialization
        self._settings, self._mode, self._grad = stamp(), Tensor.training, grad_enabled()
        self._epoch = registry.epoch()
        trace: Any = specialization.trace
        # the other guards of this trace cannot fail while those here hold
        is_static = not trace.external and not trace.checks_aliases
        self._trace = trace if is_static and trace.replay.is_of(self._epoch) else None

    @classmethod
    def of(
        cls,
        specialization: Specialization,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        arguments: Signature,
    ) -> CallGuard | None:
        """The guards of this call; None if its arguments need a full signature."""
        guards = ArgumentGuards.of(args, kwargs, arguments)
        return None if guards is None else cls(guards, specialization)

    def match(
        self, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> tuple[list[TensorBase], list[UOp]] | None:
        """The tensors and their BUFFERs in order; None if a guard fails."""
        if (
            stamp() is not self._settings
            or grad_enabled() is not self._grad
            or Tensor.training is not self._mode
            or registry.epoch() is not self._epoch
        ):
            return None
        found = self._arguments.match(args, kwargs)
        specialization, trace = self.specialization, self._trace
        if found is None or not specialization.accepts(found[1]):
            return None
        if trace is None or specialization.trace is not trace:
            try:
                if not specialization.check_guards(*found):
                    return None
            except MemoryMoved:
                return None
        return found
