"""What a pass is, and how it is run: timed, checked where asked for, told to who listens."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from weft.base import trace
from weft.base.collector import uncollected
from weft.base.errors import WeftError
from weft.base.settings import settings
from weft.uop import UOp, to_text


class Pass(NamedTuple):
    """One step of a pipeline.

    run: from what it is given and the context to what it leaves. leaves: verifies the result;
    called where WEFT_SPEC is set.
    """

    name: str
    run: Callable[[Any, Any], Any]
    leaves: Callable[[Any], None] | None = None


@dataclass(frozen=True)
class Picture:
    """What whoever watches is shown of a subject that is no graph itself.

    graph: as it stands. marks: a word about some of its nodes. A subject offers it by a method
    `picture()`, which is asked before and after each pass where somebody listens.
    """

    graph: UOp
    marks: Mapping[UOp, str] = field(default_factory=dict[UOp, str])


def _picture(subject: Any) -> Any:
    draw = getattr(subject, "picture", None)
    return subject if draw is None else draw()


def run_passes(passes: Sequence[Pass], subject: Any, context: Any) -> Any:
    """`subject` after all passes. What a pass raises is given a note that names it.

    Each is published as a span "pass" with its name; with `before` and `after`, where it came to an
    end. Graphs have no cycles, so that searching them for garbage finds none: a sixth of the time.
    """
    return uncollected(_one_by_one, passes, subject, context)


def _one_by_one(passes: Sequence[Pass], subject: Any, context: Any) -> Any:
    checking = settings.SPEC
    for number, step in enumerate(passes, 1):
        before = subject
        telling = trace.enabled("pass")
        shown = _picture(subject) if telling else None
        try:
            with trace.span("pass", name=step.name) as span:
                subject = step.run(subject, context)
                if telling:
                    span.note(before=shown, after=_picture(subject))
            if checking and step.leaves is not None:
                step.leaves(subject)
        except WeftError as error:
            error.add_note(f"while running pass {step.name!r} ({number} of {len(passes)})")
            raise
        if settings.DEBUG >= 6:
            _show(step.name, before, subject)
    return subject


def _show(name: str, before: Any, after: Any) -> None:
    """WEFT_DEBUG=6: what a pass left, where it changed anything; 7: what it was given, too."""
    if settings.DEBUG >= 7 and isinstance(before, UOp):
        print(f"--- before {name}: {to_text(before)}", file=sys.stderr)
    if after is before and not isinstance(after, UOp):
        print(f"--- {name}", file=sys.stderr)
    elif isinstance(after, UOp):
        print(f"--- {name}: {'unchanged' if after is before else to_text(after)}", file=sys.stderr)
