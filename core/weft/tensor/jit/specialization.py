"""One signature of a captured function: what was recorded of it, and how that is replayed.

in:  a call's `Signature`      out: what the function would give, and do
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from weft.autograd import history
from weft.device import binding
from weft.tensor import rng
from weft.tensor.alias import changed, follow_replay, is_view, leave
from weft.tensor.jit.in_place_writes import ReaderCounts, copy_hidden_readers
from weft.tensor.jit.output_reuse import OutputReuse, is_applied
from weft.tensor.jit.pytree import NewLeaf, bind_values, instantiate, unflatten
from weft.tensor.jit.state import State
from weft.tensor.jit.trace import RebindTensor, StoreGrad, StoreItem, Trace, new_memory
from weft.tensor.jit.views import ResultView, alias_groups
from weft.tensor.protocol import TensorBase
from weft.uop import UOp


class Specialization:
    """One signature: what was recorded of it so far. state: what it was found with."""

    __slots__ = (
        "again",
        "aliased_state",
        "failed_guard",
        "is_disabled",
        "state",
        "trace",
        "tries",
        "watch",
    )

    def __init__(self, state: State, aliased_state: list[int]) -> None:
        self.state = state
        self.aliased_state = aliased_state
        self.trace: Trace | None = None
        self.tries = 0
        self.is_disabled = False
        self.watch: ReaderCounts | None = None
        self.again: OutputReuse | None = None
        self.failed_guard = ""  # why the last call was not replayed

    @property
    def is_ready(self) -> bool:
        """Whether two runs have done the same."""
        return self.tries < 0

    def accepts(self, nodes: Iterable[UOp]) -> bool:
        """Whether all that it was found with is as it was, and arguments of its signature, over
        these memories, share as much of it."""
        state = self.state
        return state.is_unchanged() and (
            not state.signature.nodes or aliased_state_of(nodes, state) == self.aliased_state
        )

    def check_guards(self, tensors: list[TensorBase], nodes: list[UOp]) -> bool:
        """Whether a replay on these arguments would do the same; if not, it is recorded anew.

        :raises MemoryMoved: where they have other memory now.
        """
        trace: Any = self.trace
        if trace is None:
            return False
        if not trace.replay.is_valid:
            self.trace, self.tries = None, 0
            self.failed_guard = "a device, or memory of one, that it recorded is not there any more"
            return False
        written = trace.replay.written
        if trace.checks_aliases and alias_groups(tensors, self.state) != trace.aliases:
            self.trace, self.tries = None, 0
            return False
        if trace.rebound:
            known = _existing_tensors(tensors, self.state)
            if any(known[number]._alias.__class__ is tuple for number in trace.rebound):
                return False  # it is a view now, and its base would have to become another value
        if written and not self._may_write(tensors, nodes, written):
            return False
        return self._reads_recorded_memory()

    def _may_write(self, tensors: list[TensorBase], nodes: list[UOp], written: Any) -> bool:
        """Whether what is written in place is seen by nobody but those who share its value: readers
        out of sight are on copies then."""
        trace: Any = self.trace
        unseen = written[0] >= len(nodes) and self.watch is not None and self.watch.has_no_readers()
        memory = [*nodes, *self.state.signature.nodes]
        if any(binding.is_shared(memory[place]) for place in written):
            self.failed_guard = "it writes memory of which there are windows"
            return False
        if not unseen:
            self.protect_readers(tensors, nodes)
            if self.watch is None or trace.swaps or self.watch.is_stale():
                self.watch = ReaderCounts(self.state, {memory[place] for place in written})
        return True

    def _reads_recorded_memory(self) -> bool:
        """Whether tensors that are neither arguments nor state have the memory recorded."""
        trace: Any = self.trace
        for reference, uop in trace.external:
            tensor = reference()
            if tensor is None or tensor._uop is not uop:
                self.trace, self.tries = None, 0
                self.failed_guard = (
                    f"a tensor of shape {uop.shape} that it reads, and does not reach by name, is "
                    "another one at every call"
                )
                return False
        return True

    def protect_readers(self, tensors: list[TensorBase], nodes: list[UOp]) -> None:
        """Give readers out of sight of what the recording writes in place memory of their own.
        Done before the second run is recorded too, so that it does no more than the first.

        :raises MemoryMoved: where one of these tensors, or of the state, has other memory now.
        """
        trace: Any = self.trace
        if trace is not None and trace.replay.written:
            memory = [*nodes, *self.state.signature.nodes]
            written = {memory[place] for place in trace.replay.written}
            copy_hidden_readers(written, [*tensors, *self.state.tensors])

    def replay(self, tensors: list[TensorBase], nodes: list[UOp], values: Mapping[UOp, int]) -> Any:
        """What a call gives, and does, with these tensors in its arguments, the memory below them,
        and these values of variables."""
        trace: Any = self.trace
        state = self.state
        again = self.again
        if again is None or again.trace is not trace or again.state is not state:
            again = self.again = OutputReuse(trace, state, len(nodes))
        unseen, nodes_again, tensors_again = again.reusable()
        if state.signature.nodes:
            nodes = [*nodes, *state.signature.nodes]
        if state.signature.values:
            values = {**state.signature.values, **values}
        if trace.rng_draws:
            for draw in trace.rng_draws:
                if draw.__class__ is int:
                    rng.manual_seed(draw)
                else:
                    draw[0][:] = rng.next_block(draw[2], draw[3])
        buffers = trace.replay.run(binding.buffers_of(nodes), values, unseen)
        if trace.replay.written:
            follow_replay([*tensors, *state.tensors])
            if history.in_use():
                for place in trace.replay.written:
                    history.overwritten(nodes[place])
        is_whole = again.is_whole
        if buffers and not is_whole:
            nodes = [*nodes, *new_memory(trace.outputs, buffers, unseen)]
        new = []
        for how, node, tensor in zip(trace.specs, nodes_again, tensors_again):
            if tensor is None:
                if node is None:
                    node = instantiate(how, nodes, values)
                tensor = how.kind._from_node(node, how.requires_grad, not how.is_leaf)
            new.append(tensor)
        if trace.views:
            _alias_results(trace.views, _existing_tensors(tensors, state), new, values)
        effects = trace.effects
        if effects:
            effects = [each for each in effects if not is_applied(each, tensors_again)]
        if effects or again.returns_existing:
            known = _existing_tensors(tensors, state)
            if effects:
                _apply_effects(effects, state, known, new, nodes, values)
                if trace.swaps:
                    state.replace_tensors(
                        [(number, new[place]) for number, place in trace.swaps],
                        [effect.container for effect in effects if effect.__class__ is StoreItem],
                    )
            again.record(new, nodes_again)
            return unflatten(trace.tree, known, new)
        if new and not is_whole:
            again.record(new, nodes_again)
        tree = trace.tree
        return new[tree.number] if tree.__class__ is NewLeaf else unflatten(tree, (), new)


def aliased_state_of(nodes: Iterable[UOp], state: State) -> list[int]:
    """Which memory of the state each memory of the arguments is; -1 for none."""
    known = state.signature.nodes
    return [known.get(node, -1) for node in nodes]


def _alias_results(
    views: Sequence[ResultView],
    known: Sequence[TensorBase],
    new: Sequence[TensorBase],
    values: Mapping[UOp, int],
) -> None:
    """Of the new tensors those are views that were views when it was recorded."""
    for each in views:
        of = known[each.known] if each.known is not None else new[each.of]
        base, steps, views_there = of._stands()
        tensor = new[each.number]
        tensor._alias = (base, steps + bind_values(each.steps, values))
        views_there.note(tensor)


def _existing_tensors(tensors: Sequence[TensorBase], state: State) -> list[TensorBase]:
    """The tensors that were there before, as `trace.Snapshot` numbers them."""
    return list({id(t): t for t in [*tensors, *state.tensors]}.values())


def _apply_effects(
    effects: Sequence[Any],
    state: State,
    known: Sequence[TensorBase],
    new: Sequence[TensorBase],
    memory: Sequence[UOp],
    values: Mapping[UOp, int],
) -> None:
    """What a replay does besides giving a result."""
    for effect in effects:
        if effect.__class__ is RebindTensor:
            tensor, how = known[effect.number], effect.how
            if is_view(tensor):
                leave(tensor)
            tensor._uop = instantiate(how, memory, values)
            changed(tensor)
            tensor._requires_grad, tensor.is_leaf = how.requires_grad, how.is_leaf
        elif effect.__class__ is StoreGrad:
            known[effect.number].grad = unflatten(effect.tree, known, new)
        elif effect.__class__ is StoreItem:
            state.containers[effect.container].write(effect.key, unflatten(effect.tree, known, new))
