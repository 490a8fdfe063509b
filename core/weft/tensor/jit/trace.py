"""Tracing: run a function once and record its kernels, its result and its side effects.
Also: record and replay.

Besides launching kernels a function may store tensors and Python values: in the state that it
reaches (`State`), in the fields of tensors, in its result. A replay repeats these effects over new
memory. An effect that cannot be repeated makes the trace unreplayable, with a reason.

in:  a function, its arguments and its state      out: `Trace`

Source: tracing JIT compilers (JAX, `torch.jit.trace`); CUDA graph capture.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import is_
from typing import Any

from weft.autograd.history import clear_graph, saved_graph
from weft.base.arguments import too_deep
from weft.base.deferred_dataclass import dataclass
from weft.base.dtype import DType
from weft.base.interrupts import let_through
from weft.device import Buffer, binding, registry
from weft.engine.capture import Recording, recorded
from weft.engine.recorded_steps import CONSTANT, Unreplayable
from weft.engine.replay import Replay
from weft.tensor.alias import base_of, is_view
from weft.tensor.jit.conditions import expressions_read, recorded_conditions
from weft.tensor.jit.effects import (
    RebindTensor,
    check_effects,
    grad_stores,
    item_stores,
    rebound_tensors,
    replaced_tensors,
)
from weft.tensor.jit.pytree import TensorSpec, flatten, has_existing, spec_of
from weft.tensor.jit.signature import Signature, memory_layout
from weft.tensor.jit.snapshot import Snapshot
from weft.tensor.jit.state import State
from weft.tensor.jit.views import (
    ResultView,
    add_bases,
    alias_groups,
    realize_with_bases,
    result_views,
    unbound_views,
)
from weft.tensor.live_tensors import is_recomputed, is_settled, live_tensors, set_node
from weft.tensor.protocol import TensorBase
from weft.uop import Ops, UOp


@dataclass(eq=False)
class Trace:
    """One recorded run.

    result: its return value. inputs: the number of buffers of the arguments. tree: the flattened
    result. specs: of the new tensors. effects: in order. outputs: device, size and dtype of each
    new buffer. swaps: see `replaced_tensors`.
    external: weak references to tensors whose memory is read, but that are neither arguments nor
    state. rng_draws: requests to the random stream. read: the variables whose values Python took,
    and the conditions of variables that it evaluated.
    views: which new tensors are views. aliases: the alias groups of the arguments;
    checks_aliases: whether a replay depends on them. rebound: tensors that get another node.
    reason: why it cannot be replayed; None if it can. pattern: equal for traces that do the same.
    """

    result: Any
    inputs: int
    tree: Any = None
    specs: Sequence[TensorSpec] = ()
    effects: Sequence[Any] = ()
    outputs: Sequence[tuple[UOp, int, DType]] = ()
    swaps: Sequence[tuple[int, int]] | None = None
    external: Sequence[tuple[Any, UOp]] = ()
    rng_draws: Sequence[Any] = ()
    replay: Replay | None = None
    read: frozenset[UOp] = frozenset()
    views: Sequence[ResultView] = ()
    aliases: Any = ()
    checks_aliases: bool = False
    rebound: Sequence[int] = ()
    reason: str | None = None
    pattern: Any = None

    def nbytes(self, output: int) -> int:
        """The bytes of an output."""
        _, size, dtype = self.outputs[output]
        return size * dtype.itemsize


def record_trace(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    arguments: Signature,
    state: State,
    name: str,
) -> Trace:
    """Run `function` and record it.

    :raises CaptureError: for an operation that no trace can contain.
    """
    before = Snapshot(arguments, state)
    nodes = [*arguments.nodes, *state.signature.nodes]
    changing = {*before.bound, *(id(binding.buffer_of(node)) for node in nodes)}
    with recorded(name, changing) as record, recorded_conditions(record) as conditions:
        result = function(*args, **kwargs)
        new: dict[int, TensorBase] = {}
        try:
            tree = flatten(result, before.number, new, f"the result of {name}")
        except RecursionError as error:
            raise too_deep(result, f"the results of {name}", error) from None
        stores = item_stores(state, before, new)
        grads = grad_stores(before, new)
        add_bases(before.tensors, new)
        realize_with_bases([*new.values(), *_stored(before)])
    _detach_outputs(before, new)
    made = Trace(result, len(arguments.nodes), tree)
    made.read = expressions_read(record.read, conditions, arguments.values, state.signature.values)
    try:
        _check_containers(args, kwargs, arguments)
        _build_replay(made, record, before, arguments, state, list(new.values()), [*stores, *grads])
    except Unreplayable as unreplayable:
        made.reason = str(unreplayable)
        made.replay = None
    return made


def _stored(before: Snapshot) -> list[TensorBase]:
    """The known tensors, without the unchanged ones that their readers recompute."""
    was = zip(before.tensors, before.fields)
    return [t for t, (node, *_) in was if t._uop is not node or not is_recomputed(node)]


def _detach_outputs(before: Snapshot, new: Mapping[int, TensorBase]) -> None:
    """Detach results and changed tensors from the graph, as a replay does.

    The memory of a result may also belong to a tensor outside that keeps its graph: the result
    becomes a DETACH of it then.
    """
    changed = [t for t, (uop, *_) in zip(before.tensors, before.fields) if t._uop is not uop]
    outside = {t._uop.base for reference, _ in before.live if (t := reference()) is not None}
    for tensor in [*new.values(), *changed]:
        base = tensor._uop.base
        if base in outside and saved_graph(base) is not None:
            set_node(tensor, UOp(Ops.DETACH, tensor._uop.dtype, (tensor._uop,)))
        else:
            clear_graph(base)


# ---- effects -------------------------------------------------------------------------------------


def _check_containers(args: Any, kwargs: Any, arguments: Signature) -> None:
    """:raises Unreplayable: if the run changed a list or dict among its arguments."""
    try:
        after = Signature(args, kwargs)
    except Exception as error:
        let_through(error)
        raise Unreplayable("it changes its arguments") from error
    if len(after.tensors) < len(arguments.tensors) or len(after.roots) != len(arguments.roots):
        raise Unreplayable("it changes a container among its arguments")
    shape = [part for part in after.key if not _tells_tensor(part)]
    was = [part for part in arguments.key if not _tells_tensor(part)]
    outer = [t for t in after.tensors if not any(t is g for g in after.grads)]
    outer_was = [t for t in arguments.tensors if not any(t is g for g in arguments.grads)]
    if shape != was or not all(map(is_, outer, outer_was)) or len(outer) != len(outer_was):
        raise Unreplayable("it changes a container among its arguments")


def _tells_tensor(part: Any) -> bool:
    if part == "grad":
        return True
    kind = part[-1] if isinstance(part, tuple) and part else None
    return isinstance(kind, type) and issubclass(kind, TensorBase)


# ---- replay --------------------------------------------------------------------------------------


def _build_replay(
    made: Trace,
    record: Recording,
    before: Snapshot,
    arguments: Signature,
    state: State,
    new: list[TensorBase],
    effects: list[Any],
) -> None:
    """Complete a trace by its replay.

    :raises Unreplayable: if the run did something that no replay can repeat.
    """
    check_effects(effects)
    if any(t.grad is not None for t in new):
        raise Unreplayable("a new tensor has a gradient")
    numbers = _BufferNumbers([*arguments.nodes, *state.signature.nodes], before)
    made.views = result_views(before.tensors, new)
    made.aliases = alias_groups(arguments.tensors, state)
    made.specs = [spec_of(tensor, numbers) for tensor in new]
    rebinds = rebound_tensors(before, numbers)
    made.effects = [*rebinds, *effects]
    made.rebound = [rebind.number for rebind in rebinds]
    made.swaps = replaced_tensors(made.effects, before, state, new, numbers.inputs)
    made.outputs = [(u.src[0], u.arg, u.dtype) for u in numbers.outputs]
    made.rng_draws = list(record.draws)
    given = [binding.buffer_of(node) for node in numbers.inputs]
    volatile = frozenset(id(draw[1]) for draw in record.draws if isinstance(draw, tuple))
    replay = Replay(
        record.steps,
        given,
        loose=len(arguments.nodes),
        known=before.bound,
        volatile=volatile,
        outputs=[binding.buffer_of(node) for node in numbers.outputs],
        dynamic=[*arguments.values, *state.signature.values],
    )
    _check_memory(replay, numbers.inputs)
    _check_values(record, {**state.signature.values, **arguments.values})
    if (array := state.untracked.first_read()) is not None:
        raise Unreplayable(f"it reaches {array}, which may change without a trace")
    _check_hidden_changes(record, before, new, given)
    made.external = _external_tensors(replay, before)
    made.replay = replay
    is_changing = bool(replay.written or made.views or made.effects)
    made.checks_aliases = is_changing or has_existing(made.tree)
    made.pattern = _pattern(made, replay, volatile)
    replay.forget()


class _BufferNumbers:
    """Numbers of BUFFERs in a trace: the inputs, then the outputs in the order of their use."""

    def __init__(self, inputs: list[UOp], before: Snapshot) -> None:
        self.inputs, self.outputs = inputs, dict[UOp, int]()
        self._numbers = {node: number for number, node in enumerate(inputs)}
        self._before = before

    def __call__(self, node: UOp) -> int:
        """The number of a BUFFER. :raises Unreplayable: for one that is neither."""
        found = self._numbers.get(node)
        if found is not None:
            return found
        if id(binding.buffer_of(node)) in self._before.bound:
            raise Unreplayable("it returns memory of a tensor that is neither argument nor state")
        return len(self.inputs) + self.outputs.setdefault(node, len(self.outputs))


def _pattern(made: Trace, replay: Replay, volatile: frozenset[int]) -> Any:
    """All that a replay depends on, without memory: equal for two traces that do the same."""
    return (
        replay.pattern(),
        replay.numbers(volatile),
        [draw if isinstance(draw, int) else draw[2:] for draw in made.rng_draws],
        made.tree,
        [_shape_of(t) for t in made.specs],
        [_effect_shape(effect) for effect in made.effects],
        made.outputs,
        unbound_views(made.views),
        made.aliases,
    )


def _shape_of(how: TensorSpec) -> Any:
    return memory_layout(how.value, {}, {}), how.memory, how.requires_grad, how.is_leaf


def _effect_shape(effect: Any) -> Any:
    if isinstance(effect, RebindTensor):
        return effect.number, _shape_of(effect.how)
    return effect


def _check_hidden_changes(
    record: Recording, before: Snapshot, new: list[TensorBase], given: Sequence[Buffer]
) -> None:
    """:raises Unreplayable: if the run changed or kept a tensor that is no result and no state."""
    if _hidden_change(record, before, new, given) is not None:
        gc.collect()  # a reference cycle is garbage
        if (found := _hidden_change(record, before, new, given)) is not None:
            raise Unreplayable(found)


def _hidden_change(
    record: Recording, before: Snapshot, new: list[TensorBase], given: Sequence[Buffer]
) -> str | None:
    """A tensor that the run changed or kept, and that is neither result nor state, in words."""
    touched = {id(b) for step in record.steps for b in step.bufs} - set(before.bound)
    touched.update(map(id, given))
    ours = {id(t) for t in new} | set(before.number) | {id(t) for t in record.protected}
    ours.update(id(base_of(t)) for t in new)
    # the base of an existing view may be written in place, but not rebound
    bases = {id(base_of(t)) for t in before.tensors} - set(before.number)
    ours -= bases
    was = {id(tensor): uop for t, uop in before.live if (tensor := t()) is not None}
    for tensor in live_tensors():
        if id(tensor) in ours or (is_view(tensor) and id(base_of(tensor)) in before.number):
            continue
        old = was.get(id(tensor))
        if old is tensor._uop or (old is not None and not is_settled(old)):
            continue
        found = (u for u in tensor._uop.toposort() if u.op is Ops.BUFFER and binding.is_bound(u))
        if id(tensor) in bases or any(id(binding.buffer_of(u)) in touched for u in found):
            what = "changes" if old is not None else "keeps"
            return f"it {what} a tensor of shape {tensor.shape} where it cannot be seen"
    return None


def _check_memory(replay: Replay, nodes: Sequence[UOp]) -> None:
    """:raises Unreplayable: if written memory has other views, or is no input."""
    for place in replay.written:
        if binding.is_shared(nodes[place]):
            raise Unreplayable("it writes memory that has other views")
    if replay.writes_constant():
        raise Unreplayable("it writes to a tensor that is neither argument nor state")


def _check_values(record: Recording, values: Mapping[UOp, int]) -> None:
    """:raises Unreplayable: if the run binds a variable of its arguments to another value."""
    for step in record.steps:
        for variable, value in step.values.items():
            if values.get(variable, value) != value:
                name = variable.arg.name
                raise Unreplayable(f"it binds {name!r}, which is passed in, to another value")


def _external_tensors(replay: Replay, before: Snapshot) -> list[tuple[Any, UOp]]:
    """(weak reference, node) of each tensor whose memory is read, but not passed in."""
    wanted = {
        before.bound[id(m.buffer)]
        for m in replay._memories.values()
        if m.kind is CONSTANT and id(m.buffer) in before.bound
    }
    if not wanted:
        return []
    found = []
    seen: set[UOp] = set()
    for reference, uop in before.live:
        below = {u for u in uop.toposort() if u.op is Ops.BUFFER} & wanted
        tensor = reference()
        if below and tensor is not None and is_settled(uop) and tensor._uop is uop:
            found.append((reference, uop))
            seen |= below
    for node in wanted - seen:
        if not _is_lasting(node):
            raise Unreplayable("it reads memory that no live tensor owns")
    return found


def _is_lasting(node: UOp) -> bool:
    device = node.src[0].arg
    return isinstance(device, str) and registry.capabilities(device).memory.persistent


def new_memory(
    outputs: Iterable[tuple[UOp, int, DType]],
    buffers: Sequence[Buffer],
    again: Sequence[Buffer | None] | None = None,
) -> list[Any]:
    """A BUFFER node for each of these buffers; None for those that are reused: `again`."""
    made: list[Any] = []
    for place, ((device, size, dtype), buffer) in enumerate(zip(outputs, buffers)):
        if again is not None and again[place] is not None:
            made.append(None)
            continue
        node = UOp(Ops.BUFFER, dtype, (device, UOp.unique()), size)
        binding.bind_anew(node, buffer)
        made.append(node)
    return made
