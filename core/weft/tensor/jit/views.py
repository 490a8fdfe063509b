"""Views in a captured function: which tensors share their value with which others.

A replay makes its results anew, and has to say of which others they are views. What it writes is
seen by the views of what it writes, so a recording is for calls whose arguments share as much.

in:  the tensors of a call      out: `ViewOf` for each result that is a view, a pattern to compare
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from weft.engine.recorded_steps import Unreplayable
from weft.tensor.alias import base_of, is_view, repeats_elements
from weft.tensor.jit.arguments import variables_free
from weft.tensor.jit.state import State
from weft.tensor.protocol import TensorBase
from weft.tensor.realize import realize_tensors


@dataclass(frozen=True, slots=True)
class ViewOf:
    """The new tensor `number` is a view of the known tensor `known`, or else of the new one `of`.

    steps: from there, see `weft.tensor.alias`.
    """

    number: int
    known: int | None
    of: int
    steps: Any


def realize_with_bases(tensors: Sequence[TensorBase]) -> None:
    """Compute tensors, and the bases of views: both stand in the same memory then."""
    bases = {id(base): base for base in map(base_of, tensors)}
    realize_tensors(list(bases.values()))
    realize_tensors(tensors)


def with_bases(known: Sequence[TensorBase], new: dict[int, TensorBase]) -> None:
    """Add to the new tensors the bases that views among them need, unless a known tensor has them.

    Several views share a base. A view that repeats elements has to stay one: a write to it is
    refused.
    """
    seen: set[int] = set()
    there = {id(base_of(tensor)) for tensor in known}
    for tensor in list(new.values()):
        if is_view(tensor):
            base = base_of(tensor)
            if (id(base) in seen or repeats_elements(tensor)) and id(base) not in there:
                new.setdefault(id(base), base)
            seen.add(id(base))


def views_among(known: Sequence[TensorBase], new: Sequence[TensorBase]) -> list[ViewOf]:
    """Which new tensors are views of known ones, or of other new ones."""
    numbers = {id(t): number for number, t in enumerate(known)}
    fresh = {id(t): number for number, t in enumerate(new)}
    found = []
    for number, tensor in enumerate(new):
        if not is_view(tensor):
            continue
        base, steps = tensor._alias
        if id(base) in numbers:
            found.append(ViewOf(number, numbers[id(base)], 0, steps))
        elif id(base) in fresh:
            found.append(ViewOf(number, None, fresh[id(base)], steps))
        else:
            beside = [t for t in known if is_view(t) and base_of(t) is base]
            if not beside:
                continue
            for other in beside:
                own = other._alias[1]
                if steps[: len(own)] == own:
                    found.append(ViewOf(number, numbers[id(other)], 0, steps[len(own) :]))
                    break
            else:
                raise Unreplayable("it gives a view of a tensor that is neither argument nor state")
    return found


def without_values(views: Sequence[ViewOf]) -> list[Any]:
    """What is the same at every call, whatever variables are bound to."""
    return [(v.number, v.known, v.of, variables_free(v.steps, {})) for v in views]


def shared_bases(tensors: Sequence[TensorBase], state: State) -> Any:
    """Which of these tensors share their value with others of them, or with the state; () for none.

    (number, number of the first tensor that has the same base, whether it is in the state itself),
    counted in the state first and then here.
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
