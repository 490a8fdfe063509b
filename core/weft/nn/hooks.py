"""Hooks of modules: functions called before or after a forward."""

from __future__ import annotations

from typing import Any

from weft.base.arguments import kind_of, shown
from weft.base.errors import WrongKind


class Hook:
    """What `register_forward_hook` gives: `remove()` takes the hook away."""

    def __init__(self, hooks: list[Any], hook: Any) -> None:
        if not callable(hook):
            raise WrongKind(
                "a hook is a function",
                asked=f"a hook {shown(hook)}",
                because=f"that is {kind_of(hook)}",
                try_="lambda module, args, result: ...",
            )
        hooks.append(hook)
        self._hooks, self._hook = hooks, hook

    def remove(self) -> None:
        """Take the hook away."""
        if self._hook in self._hooks:
            self._hooks.remove(self._hook)
