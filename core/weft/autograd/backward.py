"""Reverse-mode differentiation: visit each node once, from a value back to its targets.
Also: automatic differentiation, backpropagation, vector-Jacobian product.

Source: A. Griewank, A. Walther, "Evaluating Derivatives", SIAM 2008, chapter 3 (reverse mode).
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from types import MappingProxyType

from weft.autograd.derivatives import RECOMPUTE, is_checkpoint
from weft.autograd.history import (
    Identity,
    identity,
    is_graph_lost,
    old_identity,
    saved_graph,
    storage,
)
from weft.autograd.rules import NON_DIFFERENTIABLE, RULES
from weft.base.collector import uncollected
from weft.base.dtype import dtypes
from weft.base.errors import GradientError
from weft.base.provenance import Metadata
from weft.base.settings import settings
from weft.shape import inverse_move
from weft.uop import GroupOp, Ops, UOp, memo_slot

_set_meta = memo_slot("meta")
_MEMORY = frozenset({Ops.BUFFER, Ops.MULTI, Ops.ASSIGN})
_HOLDS = frozenset({Ops.BUFFER, Ops.MULTI})
_LOOKED_UP = _MEMORY | NON_DIFFERENTIABLE  # for their sources, see `Paths._sources`
_WHOLE = frozenset({Ops.BUFFER, Ops.MULTI, Ops.RESHAPE})
_LOSING = frozenset({Ops.SHRINK, Ops.EXPAND})
_NO_RESULT = 0x7FC5_3A91
# ops that do not change a value
_SAME = (GroupOp.Identity - {Ops.DETACH}) | {Ops.CONTIGUOUS}


def nodes_between(root: UOp, targets: Sequence[UOp]) -> list[UOp]:
    """The nodes between `root` and any target through which a gradient flows; sources first."""
    return list(Paths(root, targets).nodes)


class Paths:
    """The paths from a root back to targets, also through memory with a saved graph.

    nodes: the nodes on the paths, sources first. order: all nodes that a gradient of the root
    visits. graphs: the saved graph of each memory on the paths. old_versions: for each placeholder
    of an old version, the target that had this value, or None. reached: the targets on the paths.
    """

    def __init__(
        self, root: UOp, targets: Sequence[UOp], ends: Container[UOp] = frozenset()
    ) -> None:
        """ends: targets at which the paths end, although they have a graph."""
        self._ends = ends
        self.graphs: dict[UOp, UOp] = {}
        self.old_versions: dict[UOp, UOp | None] = {}
        self._wanted = set(targets)
        # of several targets in one memory the first: no name refers to the later ones
        self._memory: dict[Identity, UOp] = {}
        for target in targets:
            if target.op in _WHOLE and target.base.op in _HOLDS:
                self._memory.setdefault(identity(target.base), target)
        self.nodes: dict[UOp, None] = {}
        self.order = self._order(root)
        self._find()
        self.reached = {node for node in self.nodes if node in self._wanted}
        old = [t for node, t in self.old_versions.items() if node in self.nodes]
        self.reached.update(t for t in old if t is not None)

    def _order(self, root: UOp) -> dict[UOp, None]:
        order: dict[UOp, None] = {}
        ends = self._ends
        above: list[tuple[UOp, Iterator[UOp]]] = []
        below = self._sources(root)
        node, sources = root, iter(() if root in ends else below)
        while True:
            for source in sources:
                if source in order:
                    continue
                src = self._sources(source) if source.op in _LOOKED_UP else source.src
                if src and source not in ends:
                    above.append((node, sources))
                    node, sources = source, iter(src)
                    break
                order[source] = None
            else:
                order[node] = None
                if not above:
                    return order
                node, sources = above.pop()

    def _sources(self, node: UOp) -> tuple[UOp, ...]:
        if node.op not in _MEMORY:
            return () if node.op in NON_DIFFERENTIABLE and node not in self._wanted else node.src
        graph = saved_graph(node)
        if graph is not None:
            self.graphs[node] = graph
            return (graph,)
        if (memory := old_identity(node)) is not None:
            self.old_versions[node] = self._memory.get(memory)
        return node.src if node.op is Ops.ASSIGN or node in self._wanted else ()

    def _find(self) -> None:
        """Find the nodes that gradients flow through: targets, and all that reach one."""
        wanted, found, graphs, old = self._wanted, self.nodes, self.graphs, self.old_versions
        for node in self.order:
            if node in wanted:
                found[node] = None
            elif node in old and (old[node] is not None or is_graph_lost(node)):
                found[node] = None
            elif node in graphs:
                if graphs[node] in found and dtypes.is_float(node.dtype):
                    found[node] = None
            elif node.op not in NON_DIFFERENTIABLE:
                for source in node.src:
                    if source in found:
                        if dtypes.is_float(node.dtype):
                            found[node] = None
                        break


def gradient(
    root: UOp,
    targets: Sequence[UOp],
    upstream: UOp,
    ends: Container[UOp] = frozenset(),
    hooks: Mapping[UOp, Callable[[UOp], UOp]] = MappingProxyType({}),
) -> list[UOp | None]:
    """The gradient of sum(root * upstream) with respect to each target; None where root does not
    depend on it.

    `upstream` has the shape and dtype of root; `ends` as for `Paths`; `hooks` change the gradient
    of a node before it flows on. Gradients of a node with several uses are accumulated. Realized
    values are read from memory.

    :raises GradientError: for an op through which no gradient is known, and where the gradient
        depends on a value that has been overwritten.
    """
    # thousands of nodes and no garbage among them
    return uncollected(_gradient, root, targets, upstream, ends, hooks)


def _gradient(
    root: UOp,
    targets: Sequence[UOp],
    upstream: UOp,
    ends: Container[UOp],
    hooks: Mapping[UOp, Callable[[UOp], UOp]],
) -> list[UOp | None]:
    paths = Paths(root, targets, ends)
    gradients: dict[UOp, UOp] = {root: upstream}
    wanted = set(targets)
    arrivals: dict[UOp, UOp] = {}

    def add(node: UOp, part: UOp, of: UOp) -> None:
        known = gradients.get(node)
        gradients[node] = _with_provenance(part if known is None else known + part, of)

    for node in reversed(paths.nodes):
        flowing = gradients.get(node)
        if flowing is None:
            continue
        if node in hooks:
            flowing = gradients[node] = hooks[node](flowing)
        if node not in wanted:
            # free a gradient that is no result
            del gradients[node]
        elif node in ends:
            continue
        if node in paths.graphs:
            add(paths.graphs[node], flowing, node)
        elif node in paths.old_versions:
            target = paths.old_versions[node]
            if target is None:
                raise _overwritten(node)
            add(target, flowing.reshape(target.shape), node)
        elif node.op not in NON_DIFFERENTIABLE:
            for source, part in zip(node.src, _parts(node, flowing, paths.nodes)):
                if part is not None and source in paths.nodes:
                    add(source, part, node)
        if is_checkpoint(node):
            arrivals.update((copy, flowing) for copy in _copies_in(node) if copy not in arrivals)
    found = [gradients.get(target) for target in targets]
    return _from_memory(found, paths, arrivals) if paths.graphs or arrivals else found


def _parts(node: UOp, flowing: UOp, path: Container[UOp]) -> Sequence[UOp | None]:
    if not any(source in path for source in node.src):
        return ()
    rule = RULES.get(node.op)
    if rule is None:
        raise GradientError(
            f"no gradient is known for {node.op.name}",
            asked=f"a gradient through {node.op}",
            try_="x.detach() if no gradient should flow there",
        )
    return rule(node, flowing)


def _from_memory(
    found: list[UOp | None], paths: Paths, arrivals: Mapping[UOp, UOp]
) -> list[UOp | None]:
    """Gradients that read realized values from memory. Values of checkpoints are recomputed, but
    not before the gradient arrives (`arrivals`)."""
    there = _in_memory(paths.graphs)
    done: dict[UOp, UOp] = {}
    stack = [(node, False) for node in found if node is not None]
    while stack:
        node, ready = stack.pop()
        if node in done:
            continue
        if node in there:
            done[node] = there[node]
            continue
        if storage(node) is not node:  # a pending write of a kernel keeps its sources
            done[node] = node
            continue
        needs = (*node.src, arrivals[node]) if node in arrivals else node.src
        if is_checkpoint(node):
            needs = node.src[:1]  # the second source is no part of its value
        if not ready:
            stack.append((node, True))
            stack.extend([(source, False) for source in needs if source not in done])
        elif node in arrivals:
            done[node] = node.over((_after(done[node.src[0]], done[arrivals[node]]),))
        else:
            done[node] = node.over(tuple([done.get(source, source) for source in node.src]))
    result = [None if node is None else done[node] for node in found]
    for node in UOp(Ops.SINK, src=tuple([n for n in result if n is not None])).toposort():
        if old_identity(node) is not None:
            raise _overwritten(node)
    return result


def _in_memory(graphs: Mapping[UOp, UOp]) -> dict[UOp, UOp]:
    """The realized nodes and their memory, also below movement and marker ops."""
    there: dict[UOp, UOp] = {}
    for memory, graph in graphs.items():
        node, value = graph, memory
        while node.op in _SAME or (node.op in GroupOp.Movement and node.op not in _LOSING):
            there.setdefault(node, value)
            source = node.src[0]
            if node.op in GroupOp.Movement:
                op, arg = inverse_move(node.op, node.arg, source.shape)
                value = UOp(op, value.dtype, (value,), arg)
            node = source
        there.setdefault(node, value)
    return there


def _copies_in(checkpoint: UOp) -> list[UOp]:
    """The copies of arguments from which a checkpoint is computed again; without those of nested
    checkpoints."""
    found = []
    seen: set[UOp] = set()
    stack = [checkpoint.src[1]]
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            stack.extend(node.src[:1] if is_checkpoint(node) else node.src)
            if node.op is Ops.CONTIGUOUS and node.arg is not None and node.arg[0] == RECOMPUTE:
                found.append(node)
    return found


def _after(value: UOp, arrival: UOp) -> UOp:
    """`value` with a data dependence on `arrival`, so that it is computed later.

    It compares the first element of `arrival` with a NaN payload that no computation produces.
    Values on several devices, and of symbolic sizes, get no dependence.
    """
    device = value.device
    sizes = (*value.shape, *arrival.shape)
    plain = all(isinstance(size, int) and size > 0 for size in sizes)
    if not plain or not isinstance(device, str) or arrival.device != device:
        return value
    first = arrival.shrink(((0, 1),) * len(arrival.shape)).reshape((1,))
    bits = first.cast(dtypes.float32).bitcast(dtypes.uint32)
    odd = bits.alu(Ops.CMPEQ, UOp.const(dtypes.uint32, _NO_RESULT))
    odd = odd.reshape((1,) * len(value.shape)).expand(value.shape)
    return odd.alu(Ops.WHERE, UOp.const(value.dtype, 0), value)


def _overwritten(memory: UOp) -> GradientError:
    return GradientError(
        "memory that the gradient needs has been overwritten",
        asked="a gradient through realized values",
        because=f"their input, memory of shape {memory.shape}, was overwritten later",
        try_="call backward before the write, or write to a copy: x.clone()",
    )


def _with_provenance(part: UOp, node: UOp) -> UOp:
    """Set the provenance of new nodes of a gradient: the method of the node that they derive."""
    # constants are shared between graphs
    if not part.src or part.meta is not None or not (settings.TRACEMETA or settings.CHECK):
        return part
    meta = node.meta
    if meta is not None:
        mark = Metadata(meta.name, meta.where, backward=True)
        stack = [part]
        while stack:
            fresh = stack.pop()
            if fresh.src and fresh.meta is None:
                _set_meta(fresh, mark)
                stack += fresh.src
    return part
