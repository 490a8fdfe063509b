"""Parts of pages that come from the program: passes, hooks, commands.

A mark such as `<!-- commands -->` in a page is replaced by this text when the page is read.
"""

import contextlib
import inspect
import io
import os
import re
from collections.abc import Callable
from unittest import mock

from sphinx.application import Sphinx

MARK = re.compile(r"^<!-- ([\w ]+) -->$", re.M)


def expand_source(app: Sphinx, docname: str, content: list[str]) -> None:
    """Handle `source-read`: replace the marks of a page; other comments stay."""
    content[0] = MARK.sub(
        lambda found: TEXTS[found[1]]() if found[1] in TEXTS else found[0], content[0]
    )


def output_of(*words: str) -> str:
    """What the command `weft` prints."""
    from weft.tools import cli

    out = io.StringIO()
    with (
        mock.patch.dict(os.environ, {"COLUMNS": "80", "NO_COLOR": "1"}),
        contextlib.redirect_stdout(out),
        contextlib.suppress(SystemExit),
    ):
        cli.main(words)
    return out.getvalue()


def commands() -> str:
    from weft.tools import cli

    parts = [f"```text\n{output_of('--help')}```\n"]
    for name in cli.COMMANDS:
        parts.append(f"## weft {name}\n\n```text\n{output_of(name, '--help')}```\n")
    return "\n".join(parts)


def _passes(of_scheduler: bool) -> str:
    from weft.schedule.pipeline import PASSES

    first = {step.name for step in PASSES}
    rows = ["| pass | technique |", "|---|---|"]
    for line in output_of("opt", "--list").splitlines():
        name, _, about = line.partition(" ")
        if (name in first) is of_scheduler:
            rows.append(f"| `{name}` | {about.strip().replace('|', chr(92) + '|')} |")
    return "\n".join(rows)


def hooks() -> str:
    from weft.device import hookspecs

    rows = ["| hook | arguments | what it does |", "|---|---|---|"]
    for name, hook in vars(hookspecs).items():
        if name.startswith("weft_") and callable(hook):
            arguments = ", ".join(f"`{one}`" for one in inspect.signature(hook).parameters)
            about = " ".join((inspect.getdoc(hook) or "").split())
            rows.append(f"| `{name}` | {arguments} | {about} |")
    return "\n".join(rows)


TEXTS: dict[str, Callable[[], str]] = {
    "commands": commands,
    "hooks": hooks,
    "passes of the scheduler": lambda: _passes(True),
    "passes of the code generator": lambda: _passes(False),
}
