"""Tracing: run a function once and record its kernels, its result and its side effects.

Besides launching kernels a function may store tensors and Python values: in the state that it
reaches (`State`), in the fields of tensors, in its result. A replay repeats these effects over new
memory. An effect that cannot be repeated makes the trace unreplayable, with a reason.

in:  a function, its arguments and its state      out: `Trace`

Source: tracing JIT compilers (JAX, `torch.jit.trace`); CUDA graph capture.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import is_
from types import MappingProxyType
from typing import Any
from weakref import ref

from weft.autograd.history import forget, way_back
from weft.base.arguments import too_deep
from weft.base.dtype import DType
from weft.base.interrupts import let_through
from weft.device import Buffer, binding, registry
from weft.engine.capture import Recording, recorded
from weft.engine.recorded_steps import KEPT, Unreplayable
from weft.engine.replay import Replay
from weft.schedule.structural_key import traversal
from weft.tensor.alias import base_of, is_view
from weft.tensor.jit.pytree import NewLeaf, TensorSpec, flatten, has_existing, spec_of
from weft.tensor.jit.signature import Signature, memory_layout
from weft.tensor.jit.state import LIST, State
from weft.tensor.jit.views import (
    ResultView,
    add_bases,
    alias_groups,
    realize_with_bases,
    result_views,
    unbound_views,
)
from weft.tensor.live_tensors import is_settled, live_tensors
from weft.tensor.protocol import TensorBase
from weft.uop import Ops, UOp


@dataclass(frozen=True, slots=True)
class StoreItem:
    """Effect: store `tree` under `key` in the container of that number."""

    container: int
    key: Any
    tree: Any


@dataclass(frozen=True, slots=True)
class RebindTensor:
    """Effect: give the existing tensor `number` the node and flags of the spec `how`."""

    number: int
    how: TensorSpec


@dataclass(frozen=True, slots=True)
class StoreGrad:
    """Effect: set the gradient of the existing tensor `number` to `tree`."""

    number: int
    tree: Any


@dataclass(eq=False)
class Trace:
    """One recorded run.

    result: its return value. inputs: the number of buffers of the arguments. tree: the flattened
    result. specs: of the new tensors. effects: in order. outputs: device, size and dtype of each
    new buffer. swaps: see `_swaps`.
    external: weak references to tensors whose memory is read, but that are neither arguments nor
    state. rng_draws: requests to the random stream. read: variables whose values Python took.
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


class Snapshot:
    """The tensors before a run: those passed in or reached, and all other live ones."""

    def __init__(self, arguments: Signature, state: State) -> None:
        self.tensors: list[TensorBase] = []
        self.number: dict[int, int] = {}
        for tensor in [*arguments.tensors, *state.tensors]:
            if id(tensor) not in self.number:
                self.number[id(tensor)] = len(self.tensors)
                self.tensors.append(tensor)
        self.fields = [(t._uop, t.grad, t._requires_grad, t.is_leaf) for t in self.tensors]
        self.live = [(ref(t), t._uop) for t in live_tensors() if id(t) not in self.number]
        self.ids = {id(t()) for t, _ in self.live}
        graph = UOp(Ops.SINK, src=tuple(dict.fromkeys([uop for _, uop in self.live])))
        # a reference to the nodes keeps the ids of their buffers valid
        self.nodes = [u for u in graph.toposort() if u.op is Ops.BUFFER and binding.is_bound(u)]
        self.bound = {id(binding.buffer_of(u)): u for u in self.nodes}


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
    with recorded(name, changing) as record:
        result = function(*args, **kwargs)
        new: dict[int, TensorBase] = {}
        try:
            tree = flatten(result, before.number, new, f"the result of {name}")
        except RecursionError as error:
            raise too_deep(result, f"the results of {name}", error) from None
        stores = _item_stores(state, before, new)
        grads = _grads(before, new)
        add_bases(before.tensors, new)
        realize_with_bases([*new.values(), *before.tensors])
    _detach_outputs(before, new)
    made = Trace(result, len(arguments.nodes), tree)
    passed_in = {*arguments.values, *state.signature.values}
    made.read = frozenset(record.read & passed_in)
    try:
        _check_containers(args, kwargs, arguments)
        _build_replay(made, record, before, arguments, state, list(new.values()), [*stores, *grads])
    except Unreplayable as unreplayable:
        made.reason = str(unreplayable)
        made.replay = None
    return made


def _detach_outputs(before: Snapshot, new: Mapping[int, TensorBase]) -> None:
    """Detach results and changed tensors from the graph, as a replay does.

    The memory of a result may also belong to a tensor outside that keeps its graph: the result
    becomes a DETACH of it then.
    """
    changed = [t for t, (uop, *_) in zip(before.tensors, before.fields) if t._uop is not uop]
    outside = {t._uop.base for reference, _ in before.live if (t := reference()) is not None}
    for tensor in [*new.values(), *changed]:
        base = tensor._uop.base
        if base in outside and way_back(base) is not None:
            tensor._uop = UOp(Ops.DETACH, tensor._uop.dtype, (tensor._uop,))
        else:
            forget(base)


# ---- effects -------------------------------------------------------------------------------------


def _item_stores(state: State, before: Snapshot, new: dict[int, TensorBase]) -> list[StoreItem]:
    """Items that the run stored in containers of the state."""
    found = []
    for number, container in enumerate(state.containers):
        keys, values = container.read()
        if len(keys) == len(container.keys) and all(map(is_, values, container.values)):
            continue
        old = dict(zip(container.keys, container.values))
        if container.keys != keys[: len(container.keys)]:
            found.append(
                StoreItem(number, None, _Unsupported(f"it takes something out of {container.path}"))
            )
            continue
        for key, value in zip(keys, values):
            if key in old and old[key] is value:
                continue
            if _cannot_store(container, key, value, len(old)):
                why = f"it changes {container.path}, at {key!r}"
                found.append(StoreItem(number, None, _Unsupported(why)))
            else:
                path = f"{container.path}, at {key!r}"
                found.append(StoreItem(number, key, flatten(value, before.number, new, path)))
    return found


def _cannot_store(container: Any, key: Any, value: Any, length: int) -> bool:
    if container.kind is LIST:
        return not isinstance(container.of, list) or key > length
    return isinstance(container.of, MappingProxyType)


@dataclass(frozen=True)
class _Unsupported:
    why: str


def _grads(before: Snapshot, new: dict[int, TensorBase]) -> list[StoreGrad]:
    found = []
    for number, tensor in enumerate(before.tensors):
        if tensor.grad is not before.fields[number][1]:
            tree = flatten(tensor.grad, before.number, new, "a gradient")
            found.append(StoreGrad(number, tree))
    return found


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
    for effect in effects:
        if isinstance(effect.tree, _Unsupported):
            raise Unreplayable(effect.tree.why)
    if any(t.grad is not None for t in new):
        raise Unreplayable("a new tensor has a gradient")
    nodes = [*arguments.nodes, *state.signature.nodes]
    given = [binding.buffer_of(node) for node in nodes]
    numbers = {node: number for number, node in enumerate(nodes)}
    outputs: dict[UOp, int] = {}

    def number_of(node: UOp) -> int:
        found = numbers.get(node)
        if found is not None:
            return found
        if id(binding.buffer_of(node)) in before.bound:
            raise Unreplayable("it returns memory of a tensor that is neither argument nor state")
        return len(nodes) + outputs.setdefault(node, len(outputs))

    made.views = result_views(before.tensors, new)
    made.aliases = alias_groups(arguments.tensors, state)
    made.specs = [spec_of(tensor, number_of) for tensor in new]
    rebinds = []
    for number, tensor in enumerate(before.tensors):
        uop, _, flag, leaf = before.fields[number]
        if is_view(tensor):
            continue  # a view is derived from its base
        if tensor._uop is not uop or (tensor._requires_grad, tensor.is_leaf) != (flag, leaf):
            rebinds.append(RebindTensor(number, spec_of(tensor, number_of)))
    made.effects = [*rebinds, *effects]
    made.rebound = [turn.number for turn in rebinds]
    made.swaps = _swaps(made.effects, before, state, new, nodes)
    volatile = [id(draw[1]) for draw in record.draws if isinstance(draw, tuple)]
    replay = Replay(
        record.steps,
        given,
        loose=len(arguments.nodes),
        known=before.bound,
        volatile=volatile,
        outputs=[binding.buffer_of(node) for node in outputs],
        dynamic=[*arguments.values, *state.signature.values],
    )
    volatile_set = frozenset(volatile)
    _check_memory(replay, nodes)
    _check_values(record, {**state.signature.values, **arguments.values})
    if (array := state.untracked.first_read()) is not None:
        raise Unreplayable(f"it reaches {array}, which may change without a trace")
    if (seen := _hidden_change(record, before, new, given)) is not None:
        gc.collect()  # a reference cycle is garbage
        del seen
        seen = _hidden_change(record, before, new, given)
    if seen is not None:
        raise Unreplayable(seen)
    made.outputs = [(u.src[0], u.arg, u.dtype) for u in outputs]
    made.external = _external_tensors(replay, before)
    made.rng_draws = list(record.draws)
    made.replay = replay
    made.checks_aliases = bool(replay.written or made.views or made.effects) or has_existing(
        made.tree
    )
    made.pattern = (
        replay.pattern(),
        replay.numbers(volatile_set),
        [draw if isinstance(draw, int) else draw[2:] for draw in record.draws],
        made.tree,
        [_shape_of(t) for t in made.specs],
        [_effect_shape(effect) for effect in made.effects],
        made.outputs,
        unbound_views(made.views),
        made.aliases,
    )
    replay.forget()


def _swaps(
    effects: list[Any],
    before: Snapshot,
    state: State,
    new: list[TensorBase],
    given: Iterable[UOp],
) -> list[tuple[int, int]] | None:
    """(number in the state, number of the new tensor) of each replaced tensor of the state; None if
    the effects on the state are not all replacements by tensors of the same layout."""
    if state.signature.values:
        return None  # the new tensors may have other values of variables
    place = {id(t): number for number, t in enumerate(state.tensors)}
    met = Counter(id(value) for c in state.containers for value in c.values)
    met.update(id(before.fields[before.number[id(t)]][1]) for t in state.tensors)
    over = Counter(
        node for t in state.tensors for node in _nodes_of(before.fields[before.number[id(t)]][0])
    )
    taken = set(given)
    found: list[tuple[int, int]] = []
    for effect in effects:
        target = None if isinstance(effect, StoreItem) else before.tensors[effect.number]
        if target is not None and id(target) not in place:
            continue
        if isinstance(effect, RebindTensor) or not isinstance(effect.tree, NewLeaf):
            return None
        if isinstance(effect, StoreItem):
            container = state.containers[effect.container]
            old = dict(zip(container.keys, container.values)).get(effect.key)
        else:
            old = before.fields[effect.number][1]
        if not isinstance(old, TensorBase) or met[id(old)] != 1 or id(old) not in place:
            return None
        uop, grad, flag, leaf = before.fields[before.number[id(old)]]
        made = new[effect.tree.number]
        nodes = _nodes_of(uop)
        if len(nodes) != 1 or over[nodes[0]] != 1 or grad is not None:
            return None
        if uop.base is not nodes[0]:
            return None  # it is detached from the memory
        if (flag, leaf) != (made._requires_grad, made.is_leaf):
            return None
        if memory_layout(uop, {}, {}) != memory_layout(made._uop, {}, {}):
            return None
        (memory,) = _nodes_of(made._uop)
        if memory in taken:
            return None
        taken.add(memory)
        found.append((place[id(old)], effect.tree.number))
    return found


def _nodes_of(uop: UOp) -> list[UOp]:
    return [u for u in traversal(uop) if u.op is Ops.BUFFER]


def _shape_of(how: TensorSpec) -> Any:
    return memory_layout(how.value, {}, {}), how.memory, how.requires_grad, how.is_leaf


def _effect_shape(effect: Any) -> Any:
    if isinstance(effect, RebindTensor):
        return effect.number, _shape_of(effect.how)
    return effect


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
    if replay.writes_kept():
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
        if m.kind is KEPT and id(m.buffer) in before.bound
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
