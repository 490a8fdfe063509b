"""The typed face of the hooks: one method per hook, asked of the right plugins only.

A hook that names a device goes to the plugins that declared its family, extenders and owner alike;
which one answers first is pluggy's order (``tryfirst``, then the last registered).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

import pluggy

from weft.base.arguments import kind_of
from weft.base.errors import OutOfMemory, PluginError, WeftError
from weft.base.interrupts import let_through
from weft.base.settings import settings
from weft.device import hookspecs
from weft.device.capabilities import Capabilities
from weft.device.identity import DeviceFamily, DeviceId
from weft.device.parts import Allocator, Compiler, Device, GraphRunner, Renderer, Runner
from weft.uop import Ops, PatternMatcher

if TYPE_CHECKING:
    from weft.device.program import CompiledProgram, Launch


class HookCalls:
    """Calls hooks of the plugins registered with one plugin manager."""

    def __init__(self) -> None:
        self.manager = pluggy.PluginManager(hookspecs.PROJECT)
        self.manager.add_hookspecs(hookspecs)
        self._routes: dict[tuple[str, tuple[int, ...]], Any] = {}

    # ---- asked of one plugin ------------------------------------------------------------------

    def devices(self, plugin: object) -> list[DeviceFamily]:
        """The families that one plugin declares, in its order."""
        answers = self._ask("weft_devices", [plugin])
        for answer in answers:
            if not isinstance(answer, Iterable):
                raise PluginError(
                    "a plugin's weft_devices must give a list of families",
                    asked="weft_devices",
                    because=f"it gave {kind_of(answer)}",
                    try_="return [DeviceFamily(...)]",
                )
        families = [family for answer in answers for family in answer]
        for family in families:
            self._check("weft_devices", family, DeviceFamily)
        return families

    def locate(self, plugin: object, source: str | PathLike[str]) -> DeviceId | None:
        """Which device already holds this file, if this plugin knows."""
        found = self._ask("weft_locate", [plugin], source=source)
        return None if found is None else self._check("weft_locate", found, DeviceId)

    # ---- asked of the plugins of one family ---------------------------------------------------

    def open(self, plugins: Sequence[object], id: DeviceId) -> Device:
        """Open one device."""
        device = self._check("weft_open", self._ask("weft_open", plugins, id=id), Device)
        self._check("weft_open", device.capabilities, Capabilities)
        if device.id != id:
            raise PluginError(
                "a plugin's weft_open must give the device that was asked for",
                asked=str(id),
                because=f"it gave {device.id}",
                try_="report it to the plugin's authors; `weft devices` names the distribution",
            )
        return device

    def offline(self, plugins: Sequence[object], family: str, arch: str) -> Device | None:
        """A device of an architecture, without hardware."""
        named = f"{family} for {arch}"
        device = self._made("weft_offline", named, plugins, family=family, arch=arch)
        return None if device is None else self._check("weft_offline", device, Device)

    def allocator(self, plugins: Sequence[object], device: Device) -> Allocator[Any]:
        """Who gives and copies the device's bytes."""
        answer = self._part("weft_allocator", plugins, device=device)
        return self._check("weft_allocator", answer, Allocator)

    def renderer(self, plugins: Sequence[object], device: Device) -> Renderer | None:
        """Who writes source for the device."""
        answer = self._part("weft_renderer", plugins, device=device)
        return self._checked("weft_renderer", answer, RENDERER)

    def compiler(self, plugins: Sequence[object], device: Device) -> Compiler | None:
        """Who compiles for the device."""
        answer = self._part("weft_compiler", plugins, device=device)
        return self._checked("weft_compiler", answer, COMPILER)

    def runner(
        self, plugins: Sequence[object], device: Device, program: CompiledProgram
    ) -> Runner | None:
        """What launches one program on the device."""
        answer = self._part("weft_runner", plugins, device=device, program=program)
        return self._checked("weft_runner", answer, RUNNER)

    def graph(
        self, plugins: Sequence[object], device: Device, launches: Sequence[Launch]
    ) -> GraphRunner | None:
        """Many launches bound into one submission, if the device can."""
        answer = self._part("weft_graph", plugins, device=device, launches=launches)
        return self._checked("weft_graph", answer, RUNNER)

    # ---- how a question reaches them ----------------------------------------------------------

    def forget_routes(self) -> None:
        """Routes depend on who is registered: call this whenever that changes."""
        self._routes.clear()

    def _part(self, hook: str, plugins: Sequence[object], device: Device, **arguments: Any) -> Any:
        """What makes a part of a device; a crash in it is told as the plugin's."""
        return self._made(hook, str(device.id), plugins, device=device, **arguments)

    def _made(self, hook: str, named: str, plugins: Sequence[object], **arguments: Any) -> Any:
        try:
            return self._ask(hook, plugins, **arguments)
        except WeftError:
            raise
        except MemoryError as error:
            raise OutOfMemory.during(f"{hook} of {named}", error) from error
        except Exception as error:
            let_through(error)
            raise PluginError(
                f"{hook} failed inside its plugin",
                asked=f"{hook} of {named}",
                because=failure_text(error),
                try_="report it to the plugin's authors; `weft devices` names the distribution",
            ) from error

    def _ask(self, hook: str, plugins: Iterable[object], **arguments: Any) -> Any:
        chosen = list(plugins)
        route = (hook, tuple(id(plugin) for plugin in chosen))
        caller = self._routes.get(route)
        if caller is None:
            others = [
                other
                for other in self.manager.get_plugins()
                if all(other is not plugin for plugin in chosen)
            ]
            caller = self._routes[route] = self.manager.subset_hook_caller(hook, others)
        if not settings.TRACE_PLUGINS:
            return caller(**arguments)
        told = ", ".join(f"{name}={_told(value)}" for name, value in arguments.items())
        try:
            answer = caller(**arguments)
        except BaseException as error:
            print(f"{hook}({told}) raised {failure_text(error)}", file=sys.stderr)
            raise
        print(f"{hook}({told}) -> {_told(answer)}", file=sys.stderr)
        return answer

    def _check(self, hook: str, answer: Any, kind: type) -> Any:
        if isinstance(answer, kind):
            return answer
        given = "nothing" if answer is None else f"{type(answer).__name__} {_told(answer)}"
        raise PluginError(
            f"a plugin's {hook} must give {kind.__name__}",
            asked=hook,
            because=f"it gave {given}",
            try_="report it to the plugin's authors; `weft devices` names the distribution",
        )

    def _checked(self, hook: str, answer: Any, needs: Mapping[str, Callable[[Any], bool]]) -> Any:
        """An answer that is a protocol's, or None where nobody has one."""
        if answer is None:
            return None
        for name, fits in needs.items():
            try:
                there = hasattr(answer, name)
                if there and fits(getattr(answer, name)):
                    continue
            except Exception as error:  # a property may do anything
                let_through(error)
                missing, cause = f"something that raises {failure_text(error)}", error
            else:
                missing, cause = "something else there" if there else "no such thing", None
            raise PluginError(
                f"what a plugin's {hook} gives needs {', '.join(needs)}",
                asked=hook,
                because=f"{name}: {type(answer).__name__} has {missing}",
                try_="weft.plugin has the protocol, with every name explained",
            ) from cause
        return answer


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


RENDERER = {
    "render": callable,
    "language": _is_text,
    "native_ops": lambda ops: isinstance(ops, Collection) and all(isinstance(o, Ops) for o in ops),
    "rules": lambda rules: rules is None or isinstance(rules, PatternMatcher),
}
COMPILER = {"compile": callable, "fingerprint": _is_text}
RUNNER = {"__call__": callable}
"""What a part needs, and what that must be."""


_LONGEST = 500
"""Characters of what a plugin says that are shown: an error is read by people."""


def _clipped(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}... ({len(text)} characters)"


def _told(value: Any) -> str:
    """A plugin's answer in a line: not even its ``repr`` is to be trusted."""
    try:
        return _clipped(repr(value))
    except Exception as error:
        let_through(error)
        return f"a {type(value).__name__} whose repr raises {type(error).__name__}"


def failure_text(error: BaseException) -> str:
    """One line for a table: what kind of error, and what it says first. Nor is its text to be
    trusted: it may be long, or raise."""
    try:
        summary = error.summary if isinstance(error, WeftError) else str(error)
        because = error.because if isinstance(error, WeftError) else None
        lines = f"{summary}: {because}" if because and summary else (summary or because or "")
        first = _clipped(str(lines).strip().partition("\n")[0])
    except Exception as second:
        let_through(second)
        first = f"its text raises {type(second).__name__}"
    return f"{type(error).__name__}: {first}" if first else type(error).__name__
