"""The reverse walk: from a value back to its targets, every node once, without recursion."""

from __future__ import annotations

from collections.abc import Sequence

from weft.autograd.rules import RULES, STOPS
from weft.base.dtype import dtypes
from weft.base.errors import GradientError
from weft.base.provenance import Metadata
from weft.base.settings import settings
from weft.uop import UOp
from weft.uop.node import memo_slot

_set_meta = memo_slot("meta")


def leading_to(root: UOp, targets: Sequence[UOp]) -> list[UOp]:
    """The nodes between `root` and any target through which a gradient flows; sources first."""
    wanted = set(targets)
    order = root.toposort(gate=lambda node: node.op not in STOPS or node in wanted)
    leads: dict[UOp, bool] = {}
    for node in order:
        through = node.op not in STOPS and dtypes.is_float(node.dtype)
        leads[node] = node in wanted or (through and any(leads.get(s, False) for s in node.src))
    return [node for node in order if leads[node]]


def gradient(root: UOp, targets: Sequence[UOp], upstream: UOp) -> list[UOp | None]:
    """The gradient of sum(root * upstream) with respect to each target; None where root does not
    depend on it.

    `upstream` has the shape and dtype of root. Gradients of a node that is used more than once are
    added up. :raises GradientError: for an op through which no gradient is known.
    """
    path = leading_to(root, targets)
    on_path = set(path)
    gradients: dict[UOp, UOp] = {root: upstream}
    wanted = set(targets)
    for node in reversed(path):
        flowing = gradients.get(node)
        if flowing is None or node.op in STOPS or not any(s in on_path for s in node.src):
            continue
        if node not in wanted:
            # what is not asked for is not needed again
            del gradients[node]
        rule = RULES.get(node.op)
        if rule is None:
            raise GradientError(
                f"no gradient is known for {node.op.name}",
                asked=f"a gradient through {node.op}",
                try_="x.detach() where no gradient is meant to flow",
            )
        for source, part in zip(node.src, rule(node, flowing)):
            if part is None or source not in on_path:
                continue
            known = gradients.get(source)
            gradients[source] = _marked(part if known is None else known + part, node)
    return [gradients.get(target) for target in targets]


def _marked(part: UOp, node: UOp) -> UOp:
    """The new nodes of a gradient are from the method of the node that they derive."""
    if settings.TRACEMETA:
        meta = getattr(node, "meta", None)
        if meta is not None:
            mark = Metadata(meta.name, meta.where, backward=True)
            for fresh in part.toposort(gate=lambda u: not hasattr(u, "meta")):
                if fresh.src and not hasattr(fresh, "meta"):  # numbers are shared by all
                    _set_meta(fresh, mark)
    return part
