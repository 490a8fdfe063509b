"""Render chat templates: a program that reads requests and writes answers, a JSON line each.

It imports jinja2 alone, and limits its own memory before it renders anything.
"""

from __future__ import annotations

import datetime
import json
import sys
from typing import Any

_MEMORY = 1 << 30


def limit_memory() -> None:
    """Limit the address space of this process, where the system can."""
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def make_environment() -> Any:
    """jinja2's sandbox with what chat templates expect."""
    from jinja2.ext import loopcontrols
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols]
    )

    def raise_exception(message: str) -> None:
        raise ValueError(message)

    def to_json(value: Any, indent: int | None = None, **_: Any) -> str:
        return json.dumps(value, ensure_ascii=False, indent=indent)

    environment.globals["raise_exception"] = raise_exception
    environment.globals["strftime_now"] = lambda form: datetime.datetime.now().strftime(form)
    environment.filters["tojson"] = to_json
    return environment


def answer(environment: Any, request: dict[str, Any]) -> dict[str, Any]:
    """The rendered text, or why there is none."""
    try:
        template = environment.from_string(request["template"])
        return {"text": template.render(**request["values"])}
    except (Exception, RecursionError) as error:
        return {"error": f"{type(error).__name__}: {error}"[:1000]}


def main() -> None:
    """Answer the lines of the standard input until it ends."""
    environment = make_environment()
    limit_memory()
    for line in sys.stdin.buffer:
        text = json.dumps(answer(environment, json.loads(line)))
        sys.stdout.write(text + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
