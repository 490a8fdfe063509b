"""What a pass is, and how it is run: timed, checked where asked for, told to who listens."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from weft.base import trace
from weft.base.errors import WeftError
from weft.base.settings import settings
from weft.uop import UOp, to_text


@dataclass(frozen=True, slots=True)
class Pass:
    """One step of a pipeline.

    run: from what it is given and the context to what it leaves. leaves: verifies the result;
    called where WEFT_SPEC is set.
    """

    name: str
    run: Callable[[Any, Any], Any]
    leaves: Callable[[Any], None] | None = None


def run_passes(passes: Sequence[Pass], subject: Any, context: Any) -> Any:
    """`subject` after all passes. What a pass raises is given a note that names it."""
    checking = settings.SPEC
    for number, step in enumerate(passes, 1):
        before = subject
        try:
            with trace.span("pass", name=step.name):
                subject = step.run(subject, context)
            if checking and step.leaves is not None:
                step.leaves(subject)
        except WeftError as error:
            error.add_note(f"while running pass {step.name!r} ({number} of {len(passes)})")
            raise
        if settings.DEBUG >= 6:
            _show(step.name, before, subject)
        if trace.enabled():
            trace.point("pass", name=step.name, before=before, after=subject)
    return subject


def _show(name: str, before: Any, after: Any) -> None:
    """WEFT_DEBUG=6: what a pass left, where it changed anything; 7: what it was given, too."""
    if settings.DEBUG >= 7 and isinstance(before, UOp):
        print(f"--- before {name}: {to_text(before)}", file=sys.stderr)
    if after is before and not isinstance(after, UOp):
        print(f"--- {name}", file=sys.stderr)
    elif isinstance(after, UOp):
        print(f"--- {name}: {'unchanged' if after is before else to_text(after)}", file=sys.stderr)
