"""Hook calls: call a hook of the right plugins, and check what it returns.

A hook that names a device goes to the plugins that declared its family, extensions and owner alike.
The order is pluggy's (``tryfirst``, then the last registered); the first that does not return None
decides.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike
from typing import Any, cast

import pluggy

from weft.base.arguments import kind_of
from weft.base.errors import OutOfMemory, PluginError, WeftError
from weft.base.interrupts import let_through
from weft.base.settings import settings
from weft.base.text import clipped, failure_text
from weft.device import hookspecs
from weft.device.capabilities import Capabilities
from weft.device.identity import DeviceFamily, DeviceId
from weft.device.machine import MachineFact
from weft.device.parts import Allocator, Device
from weft.uop import Ops, PatternMatcher

_REPORT = "report it to the plugin's authors; `weft devices` names the distribution"


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _are_ops(value: Any) -> bool:
    if not isinstance(value, Collection):
        return False
    elements = cast("Collection[Any]", value)
    return all(isinstance(element, Ops) for element in elements)


_RUNNER: dict[str, Callable[[Any], bool]] = {"__call__": callable}
PARTS: dict[str, Mapping[str, Callable[[Any], bool]]] = {
    "weft_renderer": {
        "render": callable,
        "language": _is_text,
        "native_ops": _are_ops,
        "rules": lambda rules: rules is None or isinstance(rules, PatternMatcher),
    },
    "weft_compiler": {"compile": callable, "fingerprint": _is_text},
    "weft_runner": _RUNNER,
    "weft_graph": _RUNNER,
    "weft_collective": _RUNNER,
}
"""By hook, the attributes that the part it returns must have, and what each must be."""


class HookCalls:
    """Calls hooks of the plugins registered with one plugin manager."""

    def __init__(self) -> None:
        self.manager = pluggy.PluginManager(hookspecs.PROJECT)
        self.manager.add_hookspecs(hookspecs)
        self._routes: dict[tuple[str, tuple[int, ...]], Any] = {}

    def devices(self, plugin: object) -> list[DeviceFamily]:
        """The families that one plugin declares, in its order."""
        answers = self._call("weft_devices", [plugin])
        for answer in answers:
            if not isinstance(answer, Iterable):
                raise PluginError(
                    "a plugin's weft_devices must give a list of families",
                    asked="weft_devices",
                    because=f"it gave {kind_of(answer)}",
                    try_="return [DeviceFamily(...)]",
                )
        families = [family for answer in answers for family in answer]
        return [_of_kind("weft_devices", family, DeviceFamily) for family in families]

    def locate(self, plugin: object, source: str | PathLike[str]) -> DeviceId | None:
        """The device that holds this file, if this plugin knows it."""
        found = self._call("weft_locate", [plugin], source=source)
        return None if found is None else _of_kind("weft_locate", found, DeviceId)

    def open(self, plugins: Sequence[object], id: DeviceId) -> Device:
        """Open one device."""
        device: Device = _of_kind("weft_open", self._call("weft_open", plugins, id=id), Device)
        _of_kind("weft_open", device.capabilities, Capabilities)
        if device.id != id:
            raise PluginError(
                "a plugin's weft_open must return the requested device",
                asked=str(id),
                because=f"it returned {device.id}",
                try_=_REPORT,
            )
        return device

    def offline(self, plugins: Sequence[object], family: str, arch: str) -> Device | None:
        """A device of an architecture, without hardware; None where the family has no such one."""
        named = f"{family} for {arch}"
        device = self._guarded("weft_offline", named, plugins, family=family, arch=arch)
        return None if device is None else _of_kind("weft_offline", device, Device)

    def part(self, hook: str, plugins: Sequence[object], device: Device, **arguments: Any) -> Any:
        """The part of a device that a hook makes: an Allocator for weft_allocator, else an object
        with the attributes in `PARTS`, or None if no plugin has one.

        :raises PluginError: if the hook raises, or returns another kind of object.
        """
        answer = self._guarded(hook, str(device.id), plugins, device=device, **arguments)
        if hook == "weft_allocator":
            return _of_kind(hook, answer, Allocator)
        return None if answer is None else _with_attributes(hook, answer)

    def collective(self, plugins: Sequence[object], devices: Sequence[Device], **of: Any) -> Any:
        """What carries out a collective; None if no plugin does."""
        hook = "weft_collective"
        answer = self._guarded(hook, str(devices[0].id), plugins, devices=devices, **of)
        return None if answer is None else _with_attributes(hook, answer)

    def schedule(
        self, plugins: Sequence[object], devices: Sequence[Device], items: Sequence[str]
    ) -> None:
        """Have the plugins check a schedule."""
        named = str(devices[0].id)
        self._guarded("weft_schedule", named, plugins, devices=devices, items=items)

    def measure(self, plugins: Sequence[object], device: Device) -> Iterator[MachineFact]:
        """What a plugin measures of the machine of a device, one after the other."""
        hook, named = "weft_measure", str(device.id)
        facts = self._guarded(hook, named, plugins, device=device)
        if facts is None:
            return
        found = iter(_of_kind(hook, facts, Iterable))
        while True:
            with self._failures(hook, named):
                try:
                    fact = next(found)
                except StopIteration:
                    return
            yield _of_kind(hook, fact, MachineFact)

    def forget_routes(self) -> None:
        """Clear the cache of routes; called after every change of the registered plugins."""
        self._routes.clear()

    def _guarded(self, hook: str, named: str, plugins: Sequence[object], **arguments: Any) -> Any:
        """Call a hook; an exception in it becomes a PluginError."""
        with self._failures(hook, named):
            return self._call(hook, plugins, **arguments)

    @staticmethod
    @contextmanager
    def _failures(hook: str, named: str) -> Generator[None, None, None]:
        """Exceptions of a plugin become a PluginError."""
        try:
            yield
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
                try_=_REPORT,
            ) from error

    def _call(self, hook: str, plugins: Iterable[object], **arguments: Any) -> Any:
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
        given = ", ".join(f"{name}={_repr(value)}" for name, value in arguments.items())
        try:
            answer = caller(**arguments)
        except BaseException as error:
            print(f"{hook}({given}) raised {failure_text(error)}", file=sys.stderr)
            raise
        print(f"{hook}({given}) -> {_repr(answer)}", file=sys.stderr)
        return answer


def _of_kind(hook: str, answer: Any, kind: type) -> Any:
    if isinstance(answer, kind):
        return answer
    given = "nothing" if answer is None else f"{type(answer).__name__} {_repr(answer)}"
    raise PluginError(
        f"a plugin's {hook} must return {kind.__name__}",
        asked=hook,
        because=f"it returned {given}",
        try_=_REPORT,
    )


def _with_attributes(hook: str, answer: Any) -> Any:
    for name, fits in PARTS[hook].items():
        try:
            exists = hasattr(answer, name)
            if exists and fits(getattr(answer, name)):
                continue
        except Exception as error:  # a property may do anything
            let_through(error)
            wrong, cause = f"an attribute that raises {failure_text(error)}", error
        else:
            wrong, cause = "another value there" if exists else "no such attribute", None
        raise PluginError(
            f"the result of a plugin's {hook} needs {', '.join(PARTS[hook])}",
            asked=hook,
            because=f"{name}: {type(answer).__name__} has {wrong}",
            try_="weft.plugin has the protocol, with every name explained",
        ) from cause
    return answer


def _repr(value: Any) -> str:
    """A plugin's answer in a line; its ``repr`` may raise."""
    try:
        return clipped(repr(value))
    except Exception as error:
        let_through(error)
        return f"a {type(value).__name__} whose repr raises {type(error).__name__}"
