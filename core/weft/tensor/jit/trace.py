"""One run of a function, recorded, and everything that a replay of it has to do.

Besides running kernels a function may put tensors and Python values somewhere: into what it reaches
(`State`), under tensors that were there before, in its result. A replay does the same with new
memory. What it could not do makes the recording unreplayable, with the reason.

in:  a function, its arguments and its state      out: `Trace`
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
from weft.tensor.jit.arguments import Arguments, outline
from weft.tensor.jit.results import New, Template, has_known, taken_apart, template
from weft.tensor.jit.state import LIST, State
from weft.tensor.jit.views import (
    ViewOf,
    realize_with_bases,
    shared_bases,
    views_among,
    with_bases,
    without_values,
)
from weft.tensor.live_tensors import is_settled, live_tensors
from weft.tensor.protocol import TensorBase
from weft.uop import Ops, UOp


@dataclass(frozen=True, slots=True)
class Put:
    """After a replay: `tree` goes to place `key` of container `container`."""

    container: int
    key: Any
    tree: Any


@dataclass(frozen=True, slots=True)
class Turn:
    """After a replay: the known tensor `number` stands as `how` says."""

    number: int
    how: Template


@dataclass(frozen=True, slots=True)
class Grad:
    """After a replay: the gradient of the known tensor `number` is `tree`."""

    number: int
    tree: Any


@dataclass(eq=False)
class Trace:
    """What one run did.

    result: its value. tree, templates, effects: how to make that again. outputs: device, elements
    and dtype of the new memory. held: tensors, weakly, over memory that nobody passes in.
    read: variables whose values it took, see `Recording`.
    turned: tensors that get another node, see `Turn`.
    views: which of the new tensors are views. shared: which arguments share their value with what
    else, see `shared_bases`.
    reason: why it cannot be replayed; None where it can.
    """

    result: Any
    tree: Any = None
    templates: Sequence[Template] = ()
    effects: Sequence[Any] = ()
    outputs: Sequence[tuple[UOp, int, DType]] = ()
    swaps: Sequence[tuple[int, int]] | None = None
    held: Sequence[tuple[Any, UOp]] = ()
    draws: Sequence[Any] = ()
    replay: Replay | None = None
    read: frozenset[UOp] = frozenset()
    views: Sequence[ViewOf] = ()
    shared: Any = ()
    tells_apart: bool = False
    turned: Sequence[int] = ()
    reason: str | None = None
    pattern: Any = None

    def nbytes(self, output: int) -> int:
        """The size of an output."""
        _, size, dtype = self.outputs[output]
        return size * dtype.itemsize


class Before:
    """What was there before a run."""

    def __init__(self, arguments: Arguments, state: State) -> None:
        self.tensors: list[TensorBase] = []
        self.number: dict[int, int] = {}
        for tensor in [*arguments.tensors, *state.tensors]:
            if id(tensor) not in self.number:
                self.number[id(tensor)] = len(self.tensors)
                self.tensors.append(tensor)
        self.stands = [(t._uop, t.grad, t._requires_grad, t.is_leaf) for t in self.tensors]
        self.live = [(ref(t), t._uop) for t in live_tensors() if id(t) not in self.number]
        self.ids = {id(t()) for t, _ in self.live}
        graph = UOp(Ops.SINK, src=tuple(dict.fromkeys([uop for _, uop in self.live])))
        # both are kept, so that the ids of the buffers mean them for as long as this lives
        self.nodes = [u for u in graph.toposort() if u.op is Ops.BUFFER and binding.is_bound(u)]
        self.bound = {id(binding.buffer_of(u)): u for u in self.nodes}


def traced(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    arguments: Arguments,
    state: State,
    name: str,
) -> Trace:
    """Run `function`, recorded. Raises what it raises, and CaptureError for what it must not do."""
    before = Before(arguments, state)
    nodes = [*arguments.nodes, *state.signature.nodes]
    changing = {*before.bound, *(id(binding.buffer_of(node)) for node in nodes)}
    with recorded(name, changing) as record:
        result = function(*args, **kwargs)
        new: dict[int, TensorBase] = {}
        try:
            tree = taken_apart(result, before.number, new, f"the result of {name}")
        except RecursionError as error:
            raise too_deep(result, f"the results of {name}", error) from None
        puts = _puts(state, before, new)
        grads = _grads(before, new)
        with_bases(before.tensors, new)
        realize_with_bases([*new.values(), *before.tensors])
    _without_past(before, new)
    made = Trace(result, tree)
    passed_in = {*arguments.values, *state.signature.values}
    made.read = frozenset(record.read & passed_in)
    try:
        _check_containers(args, kwargs, arguments)
        _complete(made, record, before, arguments, state, list(new.values()), [*puts, *grads])
    except Unreplayable as unreplayable:
        made.reason = str(unreplayable)
        made.replay = None
    return made


def _without_past(before: Before, new: Mapping[int, TensorBase]) -> None:
    """Of what comes out no run knows how it was computed, since no replay does.

    A tensor that waited for an equal value stands in the same memory, and does know.
    """
    changed = [t for t, (uop, *_) in zip(before.tensors, before.stands) if t._uop is not uop]
    outside = {t._uop.base for reference, _ in before.live if (t := reference()) is not None}
    for tensor in [*new.values(), *changed]:
        base = tensor._uop.base
        if base in outside and way_back(base) is not None:
            tensor._uop = UOp(Ops.DETACH, tensor._uop.dtype, (tensor._uop,))
        else:
            forget(base)


# ---- what it changed -----------------------------------------------------------------------------


def _puts(state: State, before: Before, new: dict[int, TensorBase]) -> list[Put]:
    """What it put into containers that it reaches."""
    found = []
    for number, container in enumerate(state.containers):
        keys, values = container.now()
        if len(keys) == len(container.keys) and all(map(is_, values, container.values)):
            continue
        old = dict(zip(container.keys, container.values))
        if container.keys != keys[: len(container.keys)]:
            found.append(Put(number, None, _Unable(f"it takes something out of {container.path}")))
            continue
        for key, value in zip(keys, values):
            if key in old and old[key] is value:
                continue
            if _is_unable(container, key, value, len(old)):
                why = f"it changes {container.path}, at {key!r}"
                found.append(Put(number, None, _Unable(why)))
            else:
                path = f"{container.path}, at {key!r}"
                found.append(Put(number, key, taken_apart(value, before.number, new, path)))
    return found


def _is_unable(container: Any, key: Any, value: Any, length: int) -> bool:
    if container.kind is LIST:
        return not isinstance(container.of, list) or key > length
    return isinstance(container.of, MappingProxyType)


@dataclass(frozen=True)
class _Unable:
    why: str


def _grads(before: Before, new: dict[int, TensorBase]) -> list[Grad]:
    found = []
    for number, tensor in enumerate(before.tensors):
        if tensor.grad is not before.stands[number][1]:
            tree = taken_apart(tensor.grad, before.number, new, "a gradient")
            found.append(Grad(number, tree))
    return found


def _check_containers(args: Any, kwargs: Any, arguments: Arguments) -> None:
    """Lists and dicts among the arguments must be as they were."""
    try:
        after = Arguments(args, kwargs)
    except Exception as error:
        let_through(error)
        raise Unreplayable("it changes what it was given") from error
    if len(after.tensors) < len(arguments.tensors) or len(after.roots) != len(arguments.roots):
        raise Unreplayable("it changes a container that it was given")
    shape = [part for part in after.key if not _tells_tensor(part)]
    was = [part for part in arguments.key if not _tells_tensor(part)]
    outer = [t for t in after.tensors if not any(t is g for g in after.grads)]
    outer_was = [t for t in arguments.tensors if not any(t is g for g in arguments.grads)]
    if shape != was or not all(map(is_, outer, outer_was)) or len(outer) != len(outer_was):
        raise Unreplayable("it changes a container that it was given")


def _tells_tensor(part: Any) -> bool:
    if part == "grad":
        return True
    kind = part[-1] if isinstance(part, tuple) and part else None
    return isinstance(kind, type) and issubclass(kind, TensorBase)


# ---- what that takes -----------------------------------------------------------------------------


def _complete(
    made: Trace,
    record: Recording,
    before: Before,
    arguments: Arguments,
    state: State,
    new: list[TensorBase],
    effects: list[Any],
) -> None:
    for effect in effects:
        if isinstance(effect.tree, _Unable):
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
            raise Unreplayable("it gives memory of a tensor that is neither argument nor state")
        return len(nodes) + outputs.setdefault(node, len(outputs))

    made.views = views_among(before.tensors, new)
    made.shared = shared_bases(arguments.tensors, state)
    made.templates = [template(tensor, number_of) for tensor in new]
    turns = []
    for number, tensor in enumerate(before.tensors):
        uop, _, flag, leaf = before.stands[number]
        if is_view(tensor):
            continue  # it follows its base, which is known, or has the memory that it had
        if tensor._uop is not uop or (tensor._requires_grad, tensor.is_leaf) != (flag, leaf):
            turns.append(Turn(number, template(tensor, number_of)))
    made.effects = [*turns, *effects]
    made.turned = [turn.number for turn in turns]
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
    if (array := state.unwatched.read()) is not None:
        raise Unreplayable(f"it reaches {array}, which may change without a trace")
    if (seen := _out_of_sight(record, before, new, given)) is not None:
        gc.collect()  # what is in a ring of references only is nobody's
        del seen
        seen = _out_of_sight(record, before, new, given)
    if seen is not None:
        raise Unreplayable(seen)
    made.outputs = [(u.src[0], u.arg, u.dtype) for u in outputs]
    made.held = _held(replay, before)
    made.draws = list(record.draws)
    made.replay = replay
    made.tells_apart = bool(replay.written or made.views or made.effects) or has_known(made.tree)
    made.pattern = (
        replay.pattern(),
        replay.numbers(volatile_set),
        [draw if isinstance(draw, int) else draw[2:] for draw in record.draws],
        made.tree,
        [_shape_of(t) for t in made.templates],
        [_effect_shape(effect) for effect in made.effects],
        made.outputs,
        without_values(made.views),
        made.shared,
    )
    replay.forget()


def _swaps(
    effects: list[Any],
    before: Before,
    state: State,
    new: list[TensorBase],
    given: Iterable[UOp],
) -> list[tuple[int, int]] | None:
    """Which tensors of the state others take the place of, if the effects do no more than that."""
    if state.signature.values:
        return None  # others may be bound to other values
    place = {id(t): number for number, t in enumerate(state.tensors)}
    met = Counter(id(value) for c in state.containers for value in c.values)
    met.update(id(before.stands[before.number[id(t)]][1]) for t in state.tensors)
    over = Counter(
        node for t in state.tensors for node in _nodes_of(before.stands[before.number[id(t)]][0])
    )
    taken = set(given)
    found: list[tuple[int, int]] = []
    for effect in effects:
        target = None if isinstance(effect, Put) else before.tensors[effect.number]
        if target is not None and id(target) not in place:
            continue
        if isinstance(effect, Turn) or not isinstance(effect.tree, New):
            return None
        if isinstance(effect, Put):
            container = state.containers[effect.container]
            old = dict(zip(container.keys, container.values)).get(effect.key)
        else:
            old = before.stands[effect.number][1]
        if not isinstance(old, TensorBase) or met[id(old)] != 1 or id(old) not in place:
            return None
        uop, grad, flag, leaf = before.stands[before.number[id(old)]]
        made = new[effect.tree.number]
        nodes = _nodes_of(uop)
        if len(nodes) != 1 or over[nodes[0]] != 1 or grad is not None:
            return None
        if uop.base is not nodes[0]:
            return None  # detached from what stands there
        if (flag, leaf) != (made._requires_grad, made.is_leaf):
            return None
        if outline(uop, {}, {}) != outline(made._uop, {}, {}):
            return None
        (memory,) = _nodes_of(made._uop)
        if memory in taken:
            return None
        taken.add(memory)
        found.append((place[id(old)], effect.tree.number))
    return found


def _nodes_of(uop: UOp) -> list[UOp]:
    return [u for u in traversal(uop) if u.op is Ops.BUFFER]


def _shape_of(how: Template) -> Any:
    return outline(how.value, {}, {}), how.memory, how.requires_grad, how.is_leaf


def _effect_shape(effect: Any) -> Any:
    if isinstance(effect, Turn):
        return effect.number, _shape_of(effect.how)
    return effect


def _out_of_sight(
    record: Recording, before: Before, new: list[TensorBase], given: Sequence[Buffer]
) -> str | None:
    """What it did to a tensor that is neither in its result nor in what it reaches, if anything."""
    touched = {id(b) for step in record.steps for b in step.bufs} - set(before.bound)
    touched.update(map(id, given))
    ours = {id(t) for t in new} | set(before.number) | {id(t) for t in record.protected}
    ours.update(id(base_of(t)) for t in new)
    # of a known view the base may be written in place, and not become another value
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
    """What is written must not be seen through other memory, nor be out of sight."""
    for place in replay.written:
        if binding.is_shared(nodes[place]):
            raise Unreplayable("it writes memory of which there are windows")
    if replay.writes_kept():
        raise Unreplayable("it writes to a tensor that is neither argument nor state")


def _check_values(record: Recording, values: Mapping[UOp, int]) -> None:
    """A variable that is passed in must not be bound to something else inside."""
    for step in record.steps:
        for variable, value in step.values.items():
            if values.get(variable, value) != value:
                name = variable.arg.name
                raise Unreplayable(f"it binds {name!r}, which is passed in, to another value")


def _held(replay: Replay, before: Before) -> list[tuple[Any, UOp]]:
    """The tensors over memory that was there and that nobody passes in: they have to stay."""
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
            raise Unreplayable("it reads memory over which no tensor stands that it could watch")
    return found


def _is_lasting(node: UOp) -> bool:
    device = node.src[0].arg
    return isinstance(device, str) and registry.capabilities(device).memory.persistent


def new_memory(
    outputs: Iterable[tuple[UOp, int, DType]],
    buffers: Sequence[Buffer],
    again: Sequence[Buffer | None] | None = None,
) -> list[Any]:
    """A BUFFER node for each of these buffers; None for those that have one already: `again`."""
    made: list[Any] = []
    for place, ((device, size, dtype), buffer) in enumerate(zip(outputs, buffers)):
        if again is not None and again[place] is not None:
            made.append(None)
            continue
        node = UOp(Ops.BUFFER, dtype, (device, UOp.unique()), size)
        binding.bind_anew(node, buffer)
        made.append(node)
    return made
