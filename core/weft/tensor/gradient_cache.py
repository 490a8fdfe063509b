"""Gradient cache: the gradient graph of a structure is derived once, and instantiated afterwards.
Also: memoized differentiation.

Gradient rules look at operations, shapes, dtypes and arguments, not at the identity of memory. So
graphs that are equal but for their BUFFERs have equal gradient graphs. The second time that a
structure is differentiated its gradients become a template; later calls fill in their own nodes.

in:  the root, the targets and the upstream gradient, on one device
out: the gradients

Graphs are differentiated each time if they contain saved graphs of realized values, hooks,
checkpoints, custom derivatives, shards, or variables.

Source: A. Griewank, A. Walther, "Evaluating Derivatives", SIAM 2008, chapter 6 (source
transformation: the derivative of a program is a program).
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from weft.autograd import CUSTOM, RECOMPUTE, gradient
from weft.autograd.history import old_identity
from weft.base.collector import uncollected
from weft.base.provenance import Metadata
from weft.base.settings import settings
from weft.schedule.structural_key import is_plain, traversal
from weft.tensor.tracing_cache import not_equal, settings_number
from weft.uop import GraphTemplate, Ops, UOp

_MOST_TEMPLATES = 64
_SEEN = object()
_ENDS = frozenset({Ops.CONST, Ops.VCONST, Ops.DEVICE})
_REFUSED = frozenset({Ops.KERNEL, Ops.MULTI, Ops.BIND, Ops.DEFINE_VAR, Ops.UNIQUE, Ops.HOST_CALL})

_templates: dict[Any, Any] = {}
_read_enabled = settings.getter("TRACING_CACHE")
_read_tracing, _read_checking = settings.getter("TRACEMETA"), settings.getter("CHECK")


@dataclass(frozen=True, slots=True)
class _Gradients:
    """The gradients of a structure.

    Operands are the nodes of the structure, then the constants.

    :ivar results: the number of each gradient; None: the root does not depend on the target.
    :ivar sources: by number of a provenance a node of the structure that has it; -1: none.
    """

    constants: tuple[UOp, ...]
    template: GraphTemplate
    results: tuple[int | None, ...]
    sources: tuple[int, ...]

    def instantiate(self, nodes: Sequence[UOp]) -> list[UOp | None]:
        marks = None
        if _read_tracing() or _read_checking():
            marks = [None if n < 0 else _backward(nodes[n].meta) for n in self.sources]
        values = self.template.instantiate([*nodes, *self.constants], marks)
        return [None if number is None else values[number] for number in self.results]


def cached_gradient(
    root: UOp,
    targets: Sequence[UOp],
    upstream: UOp,
    ends: Container[UOp],
    hooks: Mapping[UOp, Callable[[UOp], UOp]],
) -> list[UOp | None]:
    """`weft.autograd.gradient`, by the template of an equal graph if there is one."""
    found = None
    if targets and not hooks and _read_enabled():
        order = traversal(UOp(Ops.SINK, src=(root, upstream, *targets)))
        found = uncollected(_structure, order, targets, ends)
    if found is None:
        return gradient(root, targets, upstream, ends, hooks)
    key, nodes = found
    template: Any = _templates.get(key)
    if template.__class__ is _Gradients and _read_enabled() != 2:
        made: list[UOp | None] = uncollected(template.instantiate, nodes)
        return made
    derived = gradient(root, targets, upstream, ends, hooks)
    if template is None:
        if len(_templates) >= _MOST_TEMPLATES:
            _templates.clear()
        _templates[key] = _SEEN
    elif template is _SEEN:
        _templates[key] = _template(nodes, derived) or False  # not tried again
    elif template.__class__ is _Gradients and template.instantiate(nodes) != derived:
        raise not_equal("a cached gradient", "gradient")
    return derived


def _structure(
    order: Mapping[UOp, None], targets: Sequence[UOp], ends: Container[UOp]
) -> tuple[Any, list[UOp]] | None:
    """What the gradient of a graph depends on but for its memory, and its nodes; None if it depends
    on more."""
    places: dict[UOp, int] = {}
    rows: list[Any] = []
    serials: dict[Any, int] = {}
    number_of = places.__getitem__
    for node in order:
        op, arg = node.op, node.arg
        if op is Ops.BUFFER:
            device = node.src[0].arg
            if device.__class__ is not str or _has_history(node):
                return None
            row: Any = (op, node.dtype, arg, device)
        elif op in _ENDS:
            row = node
        elif op in _REFUSED:
            return None
        else:
            if op is Ops.CUSTOM_VJP:
                if arg[0] == CUSTOM or arg[0] == RECOMPUTE:
                    return None
            elif arg is not None and not is_plain(arg):
                if op is not Ops.CONTIGUOUS:
                    return None
                arg = arg[0], serials.setdefault(arg, len(serials))
            row = (op, node.dtype, arg, tuple(map(number_of, node.src)))
        places[node] = len(rows)
        rows.append(row)
    stops = tuple([node in ends for node in targets])
    return (tuple(rows), stops, settings_number()), list(places)


def _has_history(memory: UOp) -> bool:
    """Whether a gradient may flow on from memory, or its value was overwritten."""
    return getattr(memory, "_history", None) is not None or old_identity(memory) is not None


def _template(nodes: Sequence[UOp], gradients: Sequence[UOp | None]) -> _Gradients | None:
    """The template of gradients that were derived of a structure; None if they have nodes that
    differ at each derivation."""
    known = set(nodes)
    found = UOp(Ops.SINK, src=tuple(dict.fromkeys([g for g in gradients if g is not None])))
    order = found.toposort(gate=lambda node: node not in known)
    fresh = [node for node in order if node not in known and node is not found]
    constants = [node for node in fresh if not node.src or node.op is Ops.CONST]
    computed = [node for node in fresh if node.src and node.op is not Ops.CONST]
    for node in fresh:
        if node.op is Ops.BUFFER or node.op in _REFUSED:
            return None
        if node.op is not Ops.CUSTOM_VJP and node.arg is not None and not is_plain(node.arg):
            return None
    operands = [*nodes, *constants]
    places = {node: number for number, node in enumerate([*operands, *computed])}
    origins: dict[Any, int] = {}
    for number, node in enumerate(nodes):
        if node.meta is not None:
            origins.setdefault((node.meta.name, node.meta.where), number)
    numbers: dict[int, int] = {}

    def origin_of(node: UOp) -> int:
        meta = node.meta
        origin = -1 if meta is None else origins.get((meta.name, meta.where), -1)
        return numbers.setdefault(origin, len(numbers))

    template = GraphTemplate.of(computed, places, origin_of)
    results = tuple([None if node is None else places[node] for node in gradients])
    return _Gradients(tuple(constants), template, results, tuple(numbers))


def _backward(meta: Metadata | None) -> Metadata | None:
    return None if meta is None else _marked(meta.name, meta.where)


@lru_cache(4096)
def _marked(name: str, where: Any) -> Metadata:
    return Metadata(name, where, backward=True)
