"""Gradient rules of host functions, by the name of the function.

The layer that records a HOST_CALL enters its rule into `HOST_CALL_VJPS`: this layer has no matrix
products. A rule maps (the node, its gradient) to one gradient for each source.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from weft.base.errors import GradientError
from weft.uop import UOp

Rule = Callable[[UOp, UOp], Sequence["UOp | None"]]

HOST_CALL_VJPS: dict[str, Rule] = {}
"""The rule of each host function that has one."""


def host_call_vjp(node: UOp, upstream: UOp) -> Sequence[UOp | None]:
    """The gradient of each source of a HOST_CALL.

    :raises GradientError: if its function has no rule.
    """
    name: str = node.arg.function
    rule = HOST_CALL_VJPS.get(name)
    if rule is None:
        raise GradientError(
            f"the host function {name!r} has no derivative",
            asked=f"a gradient through {name}",
            try_="x.detach() where no gradient is needed",
        )
    return rule(node, upstream)
