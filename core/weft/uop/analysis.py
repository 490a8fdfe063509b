"""Memoised analyses: functions of a node, cached on the node, computed without recursion.

    @analysis("_bounds")
    def bounds(node): ...      # may call bounds(source) for any source, whose result is cached

A cached result must not refer to a user of the node; otherwise nodes would never be freed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from weft.uop.node import UOp, memo_slot

T = TypeVar("T")


def analysis(
    slot: str, needs: Callable[[UOp], Iterable[UOp]] = lambda node: node.src
) -> Callable[[Callable[[UOp], T]], Callable[[UOp], T]]:
    """Memoise a function of a node in `slot`; its value for all `needs` is computed first."""
    get = getattr(UOp, slot).__get__
    put = memo_slot(slot)

    def decorate(compute: Callable[[UOp], T]) -> Callable[[UOp], T]:
        def fact(node: UOp) -> T:
            try:
                return get(node)
            except AttributeError:
                pass
            for source in needs(node):
                if not hasattr(source, slot):
                    break
            else:  # the common case: graphs grow node by node
                put(node, compute(node))
                return get(node)
            path, pending = [node], [iter(needs(node))]
            while path:
                for source in pending[-1]:
                    if not hasattr(source, slot):
                        path.append(source)
                        pending.append(iter(needs(source)))
                        break
                else:
                    current = path.pop()
                    pending.pop()
                    put(current, compute(current))
            return get(node)

        fact.__name__ = compute.__name__
        fact.__doc__ = compute.__doc__
        return fact

    return decorate
