"""Registry of live tensors, by weak reference: realizing a graph replaces it in all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from types import NoneType
from typing import TYPE_CHECKING
from weakref import ref

from weft.autograd import history, nodes_between
from weft.autograd.history import saved_graph, storage
from weft.base.dtype import ImageDType
from weft.schedule import is_counter
from weft.shape import inverse_move
from weft.tensor.leaf_identities import follow, former_identities, note_moves, versions
from weft.uop import GroupOp, Ops, UOp, parts_of, sharding_seen

if TYPE_CHECKING:
    from weft.tensor.protocol import TensorBase

# In the order of creation, so that equal programs see their tensors in equal order. By id, because
# two references to one tensor compare as the tensor does.
_live: dict[int, ref[TensorBase]] = {}

# Those without pending work and without views, apart: there may be thousands, and the others are
# looked at in every schedule. The nodes of views change with those of their bases.
_idle: dict[int, ref[TensorBase]] = {}

# Called as `pop(id, reference)` where a tensor dies: no Python code, and no error for what is gone.
_drop_live, _drop_idle = _live.pop, _idle.pop


def register_tensor(tensor: TensorBase) -> ref[TensorBase]:
    """Register a tensor, and return the reference to it."""
    number = id(tensor)
    reference = _live[number] = ref(tensor, partial(_drop_live, number))
    return reference


# Weak references to the nodes of leaves that require gradients. A node outlives its tensor in other
# graphs: a leaf without a name receives no gradient, but it is an end of the graph.
_leaf_nodes: dict[ref[UOp], None] = {}

# nodes without pending work below them
SETTLED = frozenset({Ops.BUFFER, Ops.CONST})

# nodes that have memory, or get memory of their own
_MEMORY = frozenset({Ops.BUFFER, Ops.COPY, Ops.CONTIGUOUS, Ops.ASSIGN, Ops.MULTI})

_HOLDS = frozenset({Ops.BUFFER, Ops.MULTI})
_MARKS = (GroupOp.Identity - {Ops.DETACH}) | {Ops.CONTIGUOUS}


def live_tensors() -> list[TensorBase]:
    """Every tensor that is alive now: the idle ones, then the others, the oldest first of both."""
    # a copy: a tensor may die, and leave the table, during the iteration
    found = [reference() for reference in list(_idle.values()) + list(_live.values())]
    return [tensor for tensor in found if tensor is not None]


def set_node(tensor: TensorBase, node: UOp) -> None:
    """Give a registered tensor another node, which may have pending work."""
    tensor._uop = node
    note_pending(tensor)


def note_pending(tensor: TensorBase) -> None:
    """Note that a registered tensor may have pending work, or views, from now on."""
    if _idle.pop(id(tensor), None) is not None:
        register_tensor(tensor)


def _set_aside(tensor: TensorBase, node: UOp) -> None:
    """Move a tensor without pending work to those that schedules do not look at."""
    number = id(tensor)
    _idle[number] = ref(tensor, partial(_drop_idle, number))
    _live.pop(number, None)
    if tensor._uop is not node or tensor._alias is not None:  # another thread changed it meanwhile
        note_pending(tensor)


def mark_leaf(node: UOp) -> None:
    """Note that `node` is a leaf that requires gradients."""
    _leaf_nodes.setdefault(ref(node, _leaf_nodes.__delitem__))


def unmark_leaf(node: UOp) -> None:
    """Note that `node` is a constant from now on."""
    _leaf_nodes.pop(ref(node), None)


def leaf_nodes() -> list[UOp]:
    """The nodes of all leaves that require gradients, also of those without a live tensor."""
    found = [reference() for reference in list(_leaf_nodes)]
    return [node for node in found if node is not None]


def waiting_tensors() -> list[TensorBase]:
    """The live tensors with pending work."""
    found = []
    for reference in list(_live.values()):
        tensor = reference()
        if tensor is None:
            continue
        node = tensor._uop
        below = node.src[0] if node.op is Ops.RESHAPE else node
        if below.op not in SETTLED and not is_settled(node):
            found.append(tensor)
        elif tensor._alias is None:
            _set_aside(tensor, node)
    return found


def is_only_candidate(tensor: TensorBase) -> bool:
    """Whether no other live tensor can have pending work."""
    return len(_live) == 1 and id(tensor) in _live


def is_settled(node: UOp) -> bool:
    """Whether a node has no pending work: memory, a constant, a counter, or shards of these."""
    base = node.base
    while base.op is Ops.DETACH or base.op is Ops.BITCAST:
        if base.op is Ops.BITCAST and not shares_bytes(base):
            return False
        base = base.src[0].base
    if base.op is Ops.MULTI:
        return all(part.base.op in SETTLED for part in parts_of(base))
    return base.op in SETTLED or is_counter(base)


def is_recomputed(node: UOp) -> bool:
    """Whether a node is computed by each of its readers, and never stored for them.

    Such a FUSE has an argument: the name of the format of the memory below it.
    """
    while node.op in GroupOp.Movement or node.op is Ops.DETACH:
        node = node.src[0]
    return node.op is Ops.FUSE and node.arg is not None


def memory_of(node: UOp) -> list[UOp]:
    """The nodes below an expression that have memory, or will: BUFFERs, copies and the like."""
    found = node.toposort(gate=lambda u: u is node or u.op not in _MEMORY)
    return [u for u in found if u.op in _MEMORY]


def shares_bytes(node: UOp) -> bool:
    """Whether a BITCAST is a view of its source: elements of equal size, and no image."""
    old, new = node.src[0].dtype, node.dtype
    if isinstance(old, ImageDType) or isinstance(new, ImageDType):
        return False
    return old.itemsize == new.itemsize


def replace_in_graphs(becomes: Mapping[UOp, UOp], written: Sequence[UOp] = ()) -> None:
    """Replace nodes in the graphs of all live tensors.

    If gradients may flow through a realized value, its graph is saved beside the memory (see
    `weft.autograd.history`): reading a value before `backward` does not make it computed twice.
    `written`: the ASSIGN nodes that were executed.
    """
    finals = _last_versions(written)
    waiting = waiting_tensors()
    owned = [t for t in live_tensors() if t._requires_grad and t.is_leaf]
    leaves = [version for t in owned for version in versions(t._uop)]
    leaves += leaf_nodes()
    leaves += former_identities(owned)
    roots = {t._uop: None for t in waiting if leaves and _may_need_gradient(t, becomes)}
    on_paths = nodes_between(UOp(Ops.SINK, src=tuple(roots)), leaves) if roots else []
    before = history.timestamp()
    _note_writes(becomes, finals)
    note_moves([t for t in waiting if t._requires_grad and t.is_leaf], becomes)
    if leaves and becomes:
        becomes = _with_saved_graphs(becomes, leaves, set(on_paths) - set(leaves), finals, before)
        for node in leaves:
            if node in becomes:
                mark_leaf(becomes[node])
                history.leaf_realized(node, becomes[node])
    # references until the graphs have them
    followed = [*follow({**finals, **becomes}), *history.replace_nodes(becomes)]
    _replace(waiting, becomes)
    del followed


def _note_writes(becomes: Mapping[UOp, UOp], finals: Mapping[UOp, UOp]) -> None:
    """Bump the versions of written memory, and note executed writes, for saved graphs."""
    carried = [node for node in becomes if _is_kernel(node)]
    replaced = {node.src[0] for node in carried}  # of successive writes to one memory
    for node in carried:
        if node in replaced:
            history.write_executed(node)
    for memory in finals.values():
        history.bump_version(memory)
    for node in carried:
        if node not in replaced:
            history.write_executed(node)


def _last_versions(written: Sequence[UOp]) -> dict[UOp, UOp]:
    """By last write to each memory that memory."""
    below = {node.src[0].base for node in written}
    return {node: _memory_under(node) for node in written if node not in below}


def _memory_under(node: UOp) -> UOp:
    while node.op is Ops.ASSIGN or node.base is not node:
        node = node.src[0] if node.op is Ops.ASSIGN else node.base
    return node


def _with_saved_graphs(
    becomes: Mapping[UOp, UOp],
    leaves: list[UOp],
    on_paths: set[UOp],
    finals: Mapping[UOp, UOp],
    before: int,
) -> dict[UOp, UOp]:
    """Save graphs beside the memory through which gradients flow. Returns `becomes`, in which a
    detached value of such memory stays detached.
    """
    own = {node.base for node in leaves}
    known = {storage(becomes.get(node, node).base) for node in own}
    # a value that is computed first, for others, has no memory yet
    if any(n in on_paths and storage(v.base).op in _HOLDS for n, v in becomes.items()):
        fresh = _newly_computed(becomes, on_paths, known, finals)
        if fresh:
            hidden = {memory for memory in known if memory.op in _HOLDS} | fresh.keys()
            _save_graphs(
                fresh, _as_saved_graphs_see(becomes, on_paths, own, hidden, fresh), finals, before
            )
    result = dict(becomes)
    for node, value in becomes.items():
        if node not in on_paths and node not in own and not _is_kernel(node):
            memory = storage(value.base)
            if memory in known or saved_graph(memory) is not None:
                result[node] = UOp(Ops.DETACH, value.dtype, (value,))
    return result


def _as_saved_graphs_see(
    becomes: Mapping[UOp, UOp],
    on_paths: set[UOp],
    own: set[UOp],
    hidden: set[UOp],
    fresh: Mapping[UOp, tuple[UOp, UOp]],
) -> dict[UOp, UOp]:
    """`becomes` for saved graphs, which keep movement and marker ops.

    A detached value of memory through which gradients flow stays detached. A marker op on memory
    without a saved graph (a CUSTOM_VJP of a leaf) stays. A value below a marker op stays: the graph
    of the memory has the marker.
    """
    seen: dict[UOp, UOp] = {}
    marked = set()
    for node, _ in fresh.values():
        while node.op in _MARKS and node.op is not Ops.CUSTOM_VJP:
            node = node.src[0]
            marked.add(node)
    for node, value in becomes.items():
        if node in marked and fresh.get(storage(value.base), (node,))[0] is not node:
            continue
        if not _is_kernel(node) and node not in own:
            memory = storage(value.base)
            if node in on_paths:
                if node.op in _MARKS and memory not in fresh:
                    continue
            elif memory in hidden or saved_graph(memory) is not None:
                value = UOp(Ops.DETACH, value.dtype, (value,))
        seen[node] = value
    return seen


def _newly_computed(
    becomes: Mapping[UOp, UOp], on_paths: set[UOp], known: set[UOp], finals: Mapping[UOp, UOp]
) -> dict[UOp, tuple[UOp, UOp]]:
    """By new memory through which gradients flow (node computed into it, node that replaces it)."""
    # the output of an executed kernel is new, unless a kernel of this schedule reads it
    keys = tuple([n for n in becomes if not _is_kernel(n) and (finals or n in on_paths)])
    order = UOp(Ops.SINK, src=keys).toposort()
    given = {u for u in order if u.op is Ops.BUFFER}
    first: dict[UOp, UOp] = {}
    fresh: dict[UOp, tuple[UOp, UOp]] = {}
    for node in order:
        value = becomes.get(node)
        if value is None or _is_kernel(node):
            continue
        # of equal values the first is the computed one; a marker op on it defines its derivative
        memory = storage(value.base)
        if first.setdefault(memory, node) is not node and _unmarked(node) is not first[memory]:
            continue
        is_new = memory not in given or node in finals
        if node in on_paths and is_new and memory.op in _HOLDS and memory not in known:
            fresh[memory] = node, value
    return fresh


def _unmarked(node: UOp) -> UOp:
    while node.op in _MARKS:
        node = node.src[0]
    return node


def _may_need_gradient(tensor: TensorBase, becomes: Mapping[UOp, UOp]) -> bool:
    """Whether gradients may be requested through a pending tensor.

    Not with requires_grad=False, and not for a leaf. An undecided tensor counts only if it stays
    pending: values computed from gradients, step after step, would save the graphs of all steps.
    """
    flag = tensor._requires_grad
    if flag is False or (flag and tensor.is_leaf):
        return False
    return not tensor.is_leaf or tensor._uop.base not in becomes


def _is_kernel(node: UOp) -> bool:
    return node.op is Ops.ASSIGN and node.src[1].op is Ops.KERNEL


def _save_graphs(
    fresh: Mapping[UOp, tuple[UOp, UOp]],
    becomes: Mapping[UOp, UOp],
    finals: Mapping[UOp, UOp],
    before: int,
) -> None:
    """Save the graph of each memory in `fresh`, over the memory of the values below it.

    before: a time before the writes that led to `finals`, as of `history.timestamp`.
    """
    there = dict(becomes)
    for last, memory in finals.items():
        version, there[memory] = last.src[0].base, history.old_version(memory, left_since=before)
        while version.op is Ops.ASSIGN:
            there[version] = there[memory]
            version = version.src[0].base
        there[last] = becomes.get(
            last, memory
        )  # a write without a pending tensor is not in `becomes`
    parts = [s for node, _ in fresh.values() for s in node.src]
    whole = UOp(Ops.SINK, src=tuple(parts))
    if sharding_seen() and finals:
        written = set(finals.values())
        for node in whole.toposort():
            if node.op is Ops.MULTI and any(part.base in written for part in parts_of(node)):
                there[node] = history.old_version(node, left_since=before)
    rebuilt = dict(zip(parts, whole.substitute(there).src))
    for memory, (node, value) in fresh.items():
        if node.op is Ops.ASSIGN and node.arg is None:
            node = node.src[1]
            graph = rebuilt[node]
        else:
            graph = node.over(tuple([rebuilt[s] for s in node.src]))
        if node.shape != value.shape:  # the shape of the graph is that of the node
            graph = graph.reshape(value.shape)
        flat = _inverse_moves(graph, value, memory)
        if flat is not None:
            history.save_graph(memory, flat)


def _inverse_moves(graph: UOp, value: UOp, memory: UOp) -> UOp | None:
    """`graph`, the graph of `value`, with the movement of `value` over `memory` undone."""
    while value is not memory and value.op in GroupOp.Movement:
        op, arg = inverse_move(value.op, value.arg, value.src[0].shape)
        if op is Ops.REDUCE_AXIS:  # repeated values are equal: take the first
            if any(size == 0 for size in value.shape):
                return None
            op, arg = Ops.SHRINK, tuple([(0, size) for size in value.src[0].shape])
        graph, value = UOp(op, graph.dtype, (graph,), arg), value.src[0]
    return graph


def _replace(tensors: list[TensorBase], becomes: Mapping[UOp, UOp]) -> None:
    if not tensors or not becomes:
        return
    graphs = list(dict.fromkeys(t._uop for t in tensors))
    changed = UOp(Ops.SINK, src=tuple(graphs)).substitute(becomes).src
    new = dict(zip(graphs, changed))
    for tensor in tensors:
        # another thread may have changed its tensor meanwhile: its node stays
        tensor._uop = new.get(tensor._uop, tensor._uop)
    for tensor in tensors:
        if tensor._alias.__class__ not in (NoneType, tuple):
            tensor._rederive_views()
