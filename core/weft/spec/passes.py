"""Pass manager: run passes, time and trace them, and verify their results with WEFT_SPEC.

Source: LLVM's and MLIR's pass managers.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any, NamedTuple

from weft.base import trace
from weft.base.collector import uncollected
from weft.base.deferred_dataclass import dataclass
from weft.base.errors import WeftError
from weft.base.settings import settings
from weft.uop import UOp, to_text


class Pass(NamedTuple):
    """One step of a pipeline.

    run: from the subject and the context to the new subject. leaves: verifies the result, called
    if WEFT_SPEC is set.
    """

    name: str
    run: Callable[[Any, Any], Any]
    leaves: Callable[[Any], None] | None = None


@dataclass(frozen=True)
class Picture:
    """The displayed form of a subject that is not a graph: its graph, and notes on some nodes.

    A subject provides it by a method `picture()`, which is called before and after each pass if the
    trace is enabled.
    """

    graph: UOp
    marks: Mapping[UOp, str] = field(default_factory=dict[UOp, str])


def _picture(subject: Any) -> Any:
    draw = getattr(subject, "picture", None)
    return subject if draw is None else draw()


def run_passes(passes: Sequence[Pass], subject: Any, context: Any) -> Any:
    """`subject` after all passes. An error gets a note with the name of its pass.

    Each pass is a trace span "pass" with its name, and `before` and `after` if it succeeds. The
    cyclic garbage collector is off, because graphs have no cycles.
    """
    return uncollected(_one_by_one, passes, subject, context)


def _one_by_one(passes: Sequence[Pass], subject: Any, context: Any) -> Any:
    checking = settings.SPEC
    for number, step in enumerate(passes, 1):
        before = subject
        tracing = trace.enabled("pass")
        shown = _picture(subject) if tracing else None
        try:
            with trace.span("pass", name=step.name) as span:
                subject = step.run(subject, context)
                if tracing:
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
    """Print the result of a pass if it changed (WEFT_DEBUG=6), and its input (WEFT_DEBUG=7)."""
    if settings.DEBUG >= 7 and isinstance(before, UOp):
        print(f"--- before {name}: {to_text(before)}", file=sys.stderr)
    if after is before and not isinstance(after, UOp):
        print(f"--- {name}", file=sys.stderr)
    elif isinstance(after, UOp):
        print(f"--- {name}: {'unchanged' if after is before else to_text(after)}", file=sys.stderr)
