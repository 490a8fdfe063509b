"""Replay specialization: calls whose arguments have the layout of the last replayed call are
replayed without computing a signature.

After a kernel that streams large memory the caches hold none of Python's data for the next call, so
a call costs as much as the different memory that it touches, code above all. One function costs
half of many small ones. So calls that take tensors alone and whose only result is small and not yet
read have a function of their own (`Straight`).

in:  a call's arguments      out: its result, or MISSED
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from weft.base.settings import stamp
from weft.device import registry
from weft.tensor.jit.in_place_writes import MemoryMoved
from weft.tensor.jit.output_reuse import OutputReuse, PastOutput
from weft.tensor.jit.pytree import NewLeaf, unflatten
from weft.tensor.jit.signature import ArgumentGuards, Signature, TensorGuard
from weft.tensor.jit.specialization import Specialization
from weft.tensor.protocol import grad_enabled
from weft.tensor.tensor import Tensor
from weft.uop import Ops, UOp

MISSED = object()
"""What is given for a call that something is different about."""

_BUFFER = Ops.BUFFER
_NO_VALUES: dict[UOp, int] = {}


class Like:
    """What was replayed, with which arguments, and what stood around it."""

    __slots__ = ("_entry", "_epoch", "_grad", "_met", "_mode", "_settings", "_trace")

    def __init__(self, met: ArgumentGuards, entry: Specialization) -> None:
        self._met, self._entry = met, entry
        self._settings, self._mode, self._grad = stamp(), Tensor.training, grad_enabled()
        self._epoch = registry.epoch()
        trace: Any = entry.trace
        # what needs no other look as long as all of this stays
        is_still = (
            not trace.external and not trace.checks_aliases
        )  # arguments may share other memory
        self._trace = trace if is_still and trace.replay.is_of(self._epoch) else None

    @classmethod
    def of(
        cls,
        entry: Specialization,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        arguments: Signature,
    ) -> Like | None:
        """None where the arguments are not so simple."""
        met = ArgumentGuards.of(args, kwargs, arguments)
        if met is None:
            return None
        made = cls(met, entry)
        stands, results = met.only_tensors(), _only_result(entry)
        if made._trace is None or stands is None or results is None:
            return made
        return Straight(met, entry, stands, results)

    def call(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """What a replay gives; MISSED where it might not do what a call does."""
        return self._call(args, kwargs) if self._is_around() else MISSED

    def _is_around(self) -> bool:
        """Whether settings, modes and devices are what they were."""
        return (
            stamp() is self._settings
            and grad_enabled() is self._grad
            and Tensor.training is self._mode
            and registry.epoch() is self._epoch
        )

    def _call(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        found = self._met.again(args, kwargs)
        entry, trace = self._entry, self._trace
        if found is None or not entry.accepts(found[1]):
            return MISSED
        if trace is None or entry.trace is not trace:
            try:
                if not entry.check_guards(*found):
                    return MISSED
            except MemoryMoved:
                return MISSED
        return entry.replay(*found, _NO_VALUES)


class Straight(Like):
    """The same of a call of tensors alone that draws nothing, changes nothing and gives one small
    tensor: all of it in one function, as far as the last results (`PastOutput`) are of nobody's interest.
    """

    __slots__ = ("_again", "_make", "_replay", "_results", "_stands", "_state", "_tree")

    def __init__(
        self,
        met: ArgumentGuards,
        entry: Specialization,
        stands: list[tuple[type, TensorGuard]],
        results: list[PastOutput],
    ) -> None:
        super().__init__(met, entry)
        trace: Any = entry.trace
        self._again: Any = entry.again
        self._stands, self._results, self._state = stands, results, entry.state
        self._replay, self._tree = trace.replay, trace.tree
        (how,) = trace.specs
        self._make = how.kind._from_node, how.requires_grad, not how.is_leaf

    def call(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        stands, state = self._stands, self._state
        if kwargs or len(args) != len(stands) or not self._is_around():
            return MISSED
        buffers = []
        for value, (kind, what) in zip(args, stands):
            if value.__class__ is not kind:
                return MISSED
            node = value._uop
            for op, arg in what.moves:
                if node.op is not op or node.arg != arg:
                    return MISSED
                node = node.src[0]
            if (
                node.op is not _BUFFER
                or node.src[0] is not what.device
                or node.arg != what.size
                or node.dtype != what.dtype
                or value.grad is not None
                or value._requires_grad is not what.flag
                or value.is_leaf is not what.leaf
            ):
                return MISSED
            try:
                buffers.append(node._buffer)
            except AttributeError:  # nobody asked for it before
                return self._call(args, kwargs)
        if len(buffers) > 1 and len(set(buffers)) != len(buffers):
            return MISSED
        if not state.is_unchanged():
            return MISSED
        for one in self._results:
            if one.is_unreferenced(state):
                break
        else:
            return self._call(args, kwargs)
        if self._again.misses:
            self._again.misses.clear()
        objects = one.objects
        buffers.append(objects[-2])
        self._replay.run_over(buffers)
        make, flag, derived = self._make
        made = make(objects[0], flag, derived)
        tree = self._tree
        return made if tree.__class__ is NewLeaf else unflatten(tree, (), (made,))


def _only_result(entry: Specialization) -> list[PastOutput] | None:
    """What the only result became lately, where nothing else is done, and what is known beforehand
    is all that there is to know; else None."""
    trace: Any = entry.trace
    again, signature = entry.again, entry.state.signature
    if trace.rng_draws or trace.effects or trace.views or signature.nodes or signature.values:
        return None
    if not isinstance(again, OutputReuse) or again.returns_existing or again.trace is not trace:
        return None
    return again.only_result() if trace.replay.is_plain else None
