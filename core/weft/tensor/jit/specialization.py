"""Specialization of a captured function: the trace of one signature and state, guards, replay.

in:  the tensors of a call, the memory below them, values of variables
out: the result of the function, its side effects applied
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from weft.autograd import history
from weft.device import binding
from weft.tensor import rng
from weft.tensor.alias import invalidate_resized_views
from weft.tensor.jit.effects import StoreItem, apply_effects
from weft.tensor.jit.in_place_writes import ReaderCounts, copy_hidden_readers
from weft.tensor.jit.output_reuse import OutputReuse, is_applied
from weft.tensor.jit.pytree import bind_values, has_existing, instantiate, unflatten
from weft.tensor.jit.state import State
from weft.tensor.jit.trace import Trace, new_memory
from weft.tensor.jit.views import ResultView, alias_groups
from weft.tensor.live_tensors import note_pending
from weft.tensor.protocol import TensorBase
from weft.uop import UOp


class Specialization:
    """The trace of one signature and state.

    recordings: calls that were recorded in a row. is_ready: whether two of them did the same.
    is_disabled: whether calls run as written. failed_guard: why the last call was not replayed.
    aliased_state: see `aliased_state_of`.
    """

    __slots__ = (
        "_has_effects", "_has_state", "_makers", "_readers", "_reuse", "aliased_state",
        "failed_guard", "is_disabled", "is_ready", "recordings", "state", "trace",
    )  # fmt: skip

    def __init__(self, state: State, aliased_state: list[int]) -> None:
        self.aliased_state = aliased_state
        self.is_disabled = False
        self.failed_guard = ""
        self._discard()
        self.set_state(state)

    def set_state(self, state: State) -> None:
        """Use another state with an equal signature."""
        self.state = state
        self._readers: ReaderCounts | None = None
        self._reuse = None

    def set_trace(self, trace: Trace, is_ready: bool) -> None:
        """Keep a trace: the first one to compare with, or the one to replay."""
        if is_ready:
            trace.replay.prepare()  # type: ignore[union-attr]
            trace.pattern = None
        self.trace, self.is_ready, self._reuse = trace, is_ready, None

    def disable(self) -> None:
        """Run calls as written from now on."""
        self.is_disabled, self.trace = True, None

    def _discard(self) -> None:
        """Record the next calls anew."""
        self.trace: Trace | None = None
        self._reuse: OutputReuse | None = None
        self.recordings, self.is_ready = 0, False

    # ---- guards ---------------------------------------------------------------------------------

    def accepts(self, nodes: Iterable[UOp]) -> bool:
        """Whether the state is unchanged, and arguments of its signature over these buffers alias
        the state in the same way."""
        state = self.state
        return state.is_unchanged() and (
            not state.signature.nodes or aliased_state_of(nodes, state) == self.aliased_state
        )

    def check_guards(self, tensors: list[TensorBase], nodes: list[UOp]) -> bool:
        """Whether the trace is valid for these arguments. An invalid trace is discarded.

        :raises MemoryMoved: if one of them has other memory now.
        """
        trace: Any = self.trace
        if trace is None:
            return False
        if not trace.replay.is_valid:
            self._discard()
            self.failed_guard = "a device that it used, or memory of one, is gone"
            return False
        written = trace.replay.written
        if trace.checks_aliases and alias_groups(tensors, self.state) != trace.aliases:
            self._discard()
            return False
        if trace.rebound:
            known = _existing_tensors(tensors, self.state)
            if any(known[number]._alias.__class__ is tuple for number in trace.rebound):
                return False  # it is a view now, and its base would have to be rebound
        if written and not self._can_write(tensors, nodes, written):
            return False
        return self._has_external_tensors()

    def _can_write(self, tensors: list[TensorBase], nodes: list[UOp], written: Any) -> bool:
        """Whether memory that is written in place has no other views; hidden readers are moved to
        copies."""
        trace: Any = self.trace
        readers = self._readers
        is_private = written[0] >= len(nodes) and readers is not None and readers.has_no_readers()
        memory = [*nodes, *self.state.signature.nodes]
        if any(binding.is_shared(memory[place]) for place in written):
            self.failed_guard = "it writes memory that has other views"
            return False
        if not is_private:
            self.protect_readers(tensors, nodes)
            if readers is None or trace.swaps or readers.is_stale():
                self._readers = ReaderCounts(self.state, {memory[place] for place in written})
        return True

    def _has_external_tensors(self) -> bool:
        """Whether tensors that are neither arguments nor state have the memory of the trace."""
        trace: Any = self.trace
        for reference, uop in trace.external:
            tensor = reference()
            if tensor is None or tensor._uop is not uop:
                self._discard()
                self.failed_guard = (
                    f"it reads a tensor of shape {uop.shape} that no name reaches, and that is "
                    "another one at every call"
                )
                return False
        return True

    def protect_readers(self, tensors: list[TensorBase], nodes: list[UOp]) -> None:
        """Move hidden readers of the memory that the trace writes to copies. The second recording
        does so too: it has to record the same kernels as the first.

        :raises MemoryMoved: if one of these tensors, or of the state, has other memory now.
        """
        trace: Any = self.trace
        if trace is not None and trace.replay.written:
            memory = [*nodes, *self.state.signature.nodes]
            written = {memory[place] for place in trace.replay.written}
            copy_hidden_readers(written, [*tensors, *self.state.tensors])

    # ---- replay ---------------------------------------------------------------------------------

    def replay(self, tensors: list[TensorBase], nodes: list[UOp], values: Mapping[UOp, int]) -> Any:
        """Run the kernels of the trace on these arguments, apply its effects, return its result.

        nodes: the BUFFERs of the arguments. values: of variables.
        """
        trace: Any = self.trace
        reuse = self._reuse
        if reuse is None:
            reuse = self._prepare_replay(trace)
        past, reused = reuse.take()
        if self._has_state:
            nodes, values = self._with_state(trace, nodes, values)
        outputs = trace.replay.run(binding.buffers_of(nodes), values, reused)
        any_new = None in reused
        if any_new:
            nodes = [*nodes, *new_memory(trace.outputs, outputs, reused)]
        new: list[TensorBase] = []
        for (spec, from_node, flag, is_derived), one in zip(self._makers, past):
            if one is None:
                new.append(from_node(instantiate(spec, nodes, values), flag, is_derived))
            elif one.tensor:
                new.append(one.tensor[0])
            else:
                new.append(from_node(one.objects[0], flag, is_derived))
        known: Sequence[TensorBase] = ()
        if self._has_effects:
            known = _existing_tensors(tensors, self.state)
            self._apply(trace, known, new, nodes, values, past)
        if any_new:
            reuse.record(new, past)
        return unflatten(trace.tree, known, new)

    def _prepare_replay(self, trace: Trace) -> OutputReuse:
        """Compute all that does not change from one replay to the next."""
        state, specs = self.state.signature, trace.specs
        self._has_state = bool(state.nodes or state.values or trace.rng_draws)
        self._has_effects = has_existing(trace.tree) or bool(
            trace.effects or trace.views or trace.replay.written  # type: ignore[union-attr]
        )
        self._makers = [(s, s.kind._from_node, s.requires_grad, not s.is_leaf) for s in specs]
        self._reuse = OutputReuse(trace, self.state)
        return self._reuse

    def _with_state(
        self, trace: Trace, nodes: list[UOp], values: Mapping[UOp, int]
    ) -> tuple[list[UOp], Mapping[UOp, int]]:
        """Add the BUFFERs and the values of the state; draw from the random stream."""
        state = self.state.signature
        for draw in trace.rng_draws:
            if draw.__class__ is int:
                rng.manual_seed(draw)
            else:
                draw[0][:] = rng.next_block(draw[2], draw[3])
        return [*nodes, *state.nodes], {**state.values, **values} if state.values else values

    def _apply(
        self,
        trace: Any,
        known: Sequence[TensorBase],
        new: Sequence[TensorBase],
        nodes: Sequence[UOp],
        values: Mapping[UOp, int],
        past: Sequence[Any],
    ) -> None:
        """Apply what the trace does besides computing new tensors."""
        if trace.replay.written:
            invalidate_resized_views(known)
            if history.is_tracking():
                for place in trace.replay.written:
                    history.bump_version(nodes[place])
        if trace.views:
            _alias_results(trace.views, known, new, values)
        effects = [each for each in trace.effects if not is_applied(each, past)]
        if effects:
            apply_effects(effects, self.state, known, new, nodes, values)
            if trace.swaps:
                self.state.replace_tensors(
                    [(number, new[place]) for number, place in trace.swaps],
                    [effect.container for effect in effects if effect.__class__ is StoreItem],
                )


def aliased_state_of(nodes: Iterable[UOp], state: State) -> list[int]:
    """For each buffer of the arguments its number in the state; -1 for a buffer outside of it."""
    known = state.signature.nodes
    return [known.get(node, -1) for node in nodes]


def _alias_results(
    views: Sequence[ResultView],
    known: Sequence[TensorBase],
    new: Sequence[TensorBase],
    values: Mapping[UOp, int],
) -> None:
    """Make new tensors views of the tensors of which they were views in the trace."""
    for each in views:
        of = known[each.known] if each.known is not None else new[each.of]
        base, steps, views_of_base = of._base_and_steps()
        tensor = new[each.number]
        tensor._alias = (base, steps + bind_values(each.steps, values))
        note_pending(tensor)
        views_of_base.note(tensor)


def _existing_tensors(tensors: Sequence[TensorBase], state: State) -> list[TensorBase]:
    """The tensors that existed before the call, in the order of `trace.Snapshot`."""
    return list({id(t): t for t in [*tensors, *state.tensors]}.values())
