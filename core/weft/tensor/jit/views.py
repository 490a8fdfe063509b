"""View relations of a captured function: which tensors share a base.

A replay creates its results and makes those views again that were views in the trace. A write is
seen by all views of its base, so a trace is valid only for arguments that alias one another in the
same way.

in:  the tensors of a call      out: a `ResultView` per result that is a view; alias groups
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.base.deferred_dataclass import dataclass
from weft.engine.recorded_steps import Unreplayable
from weft.tensor.alias import base_of, is_view, repeats_elements
from weft.tensor.jit.signature import unbound_arg
from weft.tensor.jit.state import State
from weft.tensor.live_tensors import is_recomputed, memory_of
from weft.tensor.protocol import TensorBase
from weft.tensor.realize import realize_tensors
from weft.uop import Ops


@dataclass(frozen=True, slots=True)
class ResultView:
    """The new tensor `number` is a view of the known tensor `known`, or else of the new one `of`.

    steps: from that tensor to the view, see `weft.tensor.alias`.
    """

    number: int
    known: int | None
    of: int
    steps: Any


def realize_with_bases(tensors: Sequence[TensorBase]) -> None:
    """Realize tensors together with the bases of views, so that both have the same memory."""
    bases = {id(base): base for base in map(base_of, tensors)}
    realize_tensors(list(bases.values()))
    realize_tensors(tensors)


def realize_memory(tensors: Sequence[TensorBase]) -> None:
    """Realize tensors; of those that their readers recompute, the memory below them only."""
    recomputed = [t for t in tensors if is_recomputed(t._uop)]
    realize_with_bases([t for t in tensors if not is_recomputed(t._uop)])
    memory = {
        leaf: t for t in recomputed for leaf in memory_of(t._uop) if leaf.op is not Ops.BUFFER
    }
    realize_tensors([t._wrap(leaf) for leaf, t in memory.items()])


def add_bases(known: Sequence[TensorBase], new: dict[int, TensorBase]) -> None:
    """Add to the new tensors the bases that views among them need, unless a known tensor has them.

    Views that share a base need it. So does a view that repeats elements: a write to it is an
    error, as long as it is a view.
    """
    seen: set[int] = set()
    there = {id(base_of(tensor)) for tensor in known}
    for tensor in list(new.values()):
        if is_view(tensor):
            base = base_of(tensor)
            if (id(base) in seen or repeats_elements(tensor)) and id(base) not in there:
                new.setdefault(id(base), base)
            seen.add(id(base))


def result_views(known: Sequence[TensorBase], new: Sequence[TensorBase]) -> list[ResultView]:
    """The new tensors that are views of known ones, or of other new ones."""
    numbers = {id(t): number for number, t in enumerate(known)}
    fresh = {id(t): number for number, t in enumerate(new)}
    found = []
    for number, tensor in enumerate(new):
        if not is_view(tensor):
            continue
        base, steps = tensor._alias
        if id(base) in numbers:
            found.append(ResultView(number, numbers[id(base)], 0, steps))
        elif id(base) in fresh:
            found.append(ResultView(number, None, fresh[id(base)], steps))
        else:
            beside = [t for t in known if is_view(t) and base_of(t) is base]
            if not beside:
                continue
            for other in beside:
                own = other._alias[1]
                if steps[: len(own)] == own:
                    found.append(ResultView(number, numbers[id(other)], 0, steps[len(own) :]))
                    break
            else:
                raise Unreplayable(
                    "it returns a view of a tensor that is neither argument nor state"
                )
    return found


def unbound_views(views: Sequence[ResultView]) -> list[Any]:
    """View relations without the values of variables, to compare two traces."""
    return [(v.number, v.known, v.of, unbound_arg(v.steps, {})) for v in views]


def alias_groups(tensors: Sequence[TensorBase], state: State) -> Any:
    """Alias groups: which of these tensors share a base with one another or with the state.

    One (number, number of the first tensor with the same base, whether it is part of the state) per
    tensor that shares one. Tensors of the state are numbered first.
    """
    if not tensors:
        return ()
    first: dict[int, int] = {}
    own = set(map(id, state.tensors))
    for number, tensor in enumerate(state.tensors):
        first.setdefault(id(base_of(tensor)), number)
    found = []
    for number, tensor in enumerate(tensors, len(state.tensors)):
        place = first.setdefault(id(base_of(tensor)), number)
        if place != number:
            found.append((number, place, id(tensor) in own))
    return tuple(found)
