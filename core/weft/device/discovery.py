"""Plugin discovery: a record of each installed plugin, and loading one.

Listing reads package metadata and imports nothing. An error while a plugin is loaded becomes the
``cause`` of its record and does not affect other plugins.

Source: Python Packaging User Guide, entry points specification.
"""

from __future__ import annotations

import inspect
import re
import sys
import warnings
from collections.abc import Iterable
from contextlib import redirect_stdout
from dataclasses import field
from enum import StrEnum
from os import PathLike
from types import SimpleNamespace
from typing import Any, cast

import pluggy

from weft.base.deferred_dataclass import dataclass
from weft.base.errors import PluginError
from weft.base.settings import settings
from weft.device import hookspecs
from weft.device.entry_points import entry_points
from weft.device.hook_calls import HookCalls
from weft.device.hookspecs import API_VERSION, notes_on
from weft.device.identity import DeviceFamily

GROUP = "weft.devices"
"""The entry-point group; an entry's name is the family it serves."""

LOCATIONS = "weft.locations"
"""The entry-point group of storage: an entry's name is a URL scheme, or ``file`` for paths, and its
value the module of the plugin that stores such data (``weft_locate``)."""

CORE_DISTRIBUTION = "weft"


class PluginState(StrEnum):
    """The state of a plugin."""

    FOUND = "found"
    """Its metadata was read; it is not imported."""
    DISABLED = "disabled"
    """The user switched it off."""
    IMPORT_FAILED = "import failed"
    """Importing or registering it failed."""
    INCOMPATIBLE = "incompatible"
    """It was written for another version of the hooks."""
    LOADED = "loaded"
    """Its hooks are registered."""


@dataclass(eq=False)
class Plugin:
    """One entry point and its state.

    :ivar family: the entry's name, in upper case.
    :ivar distribution: the distribution that has it ("" if registered by hand).
    :ivar version: of the distribution.
    :ivar where: the module behind the entry, for people.
    :ivar entry: an object whose ``load()`` imports it.
    :ivar schemes: of the URLs that it holds, as its metadata says; none if it does not say.
    :ivar notes: warnings for its authors.
    """

    family: str
    distribution: str
    version: str
    where: str
    entry: Any = field(repr=False)
    state: PluginState = PluginState.FOUND
    cause: BaseException | None = None
    api: tuple[int, int] | None = None
    module: Any = field(default=None, repr=False)
    families: tuple[DeviceFamily, ...] = ()
    notes: tuple[str, ...] = ()
    schemes: frozenset[str] = frozenset()

    @property
    def label(self) -> str:
        """Its name in messages."""
        return f"{self.distribution} {self.version}".strip() or self.where

    @property
    def from_core(self) -> bool:
        """Whether the core itself ships it."""
        return self.distribution == CORE_DISTRIBUTION


def installed_plugins() -> list[Plugin]:
    """One record per installed entry point, the core's own last. Imports none of them."""
    entries = entry_points(GROUP, LOCATIONS)
    schemes: dict[tuple[str, str], set[str]] = {}
    for entry in entries:
        if entry.group == LOCATIONS:
            schemes.setdefault((entry.distribution, entry.value), set()).add(entry.name.lower())
    found = [
        Plugin(
            family=entry.name.strip().upper(),
            distribution=entry.distribution,
            version=entry.version,
            where=entry.value,
            entry=entry,
            schemes=frozenset(schemes.get((entry.distribution, entry.value), ())),
        )
        for entry in entries
        if entry.group == GROUP
    ]
    unique = {(p.family, p.distribution, p.where): p for p in found}
    return sorted(unique.values(), key=lambda p: (p.from_core, p.family, p.distribution))


def plugin_by_hand(
    module: object, family: str, distribution: str = "", version: str = ""
) -> Plugin:
    """A record for an object with hooks that no installed distribution has."""
    where = getattr(module, "__name__", None) or type(module).__name__
    entry = SimpleNamespace(load=lambda: module)
    return Plugin(family.upper(), distribution, version, where, entry)


def load(plugin: Plugin, calls: HookCalls) -> None:
    """Import a plugin, register its hooks and set its state. An error of the plugin is not raised:
    it becomes the cause of the record."""
    if plugin.state is not PluginState.FOUND:
        return
    if plugin.family in disabled_families():
        plugin.state = PluginState.DISABLED
        plugin.cause = PluginError(
            "this plugin is switched off",
            asked=plugin.family,
            because=f"WEFT_DISABLE_PLUGINS names it ({settings.DISABLE_PLUGINS!r})",
            try_="unset WEFT_DISABLE_PLUGINS",
        )
        return
    try:
        with redirect_stdout(sys.stderr):  # the output of the program stays as it is
            plugin.module = plugin.entry.load()
        plugin.api = _stated_api(plugin)
        if mismatch := _api_mismatch(plugin):
            plugin.state, plugin.cause = PluginState.INCOMPATIBLE, mismatch
            return
        _register(plugin.module, calls)
        plugin.families = tuple(calls.devices(plugin.module))
        if not plugin.family and len(plugin.families) == 1:
            plugin.family = plugin.families[0].name
        if all(family.name != plugin.family for family in plugin.families):
            raise PluginError(
                f"entry point {plugin.family} declares no family of that name",
                asked=f"weft_devices of {plugin.where}",
                because=f"it declares {[family.name for family in plugin.families]}",
                try_="name the entry point after the family",
            )
        plugin.state = PluginState.LOADED
        plugin.notes = tuple(notes_on(plugin.module))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a plugin may call sys.exit at import
        plugin.state, plugin.cause = PluginState.IMPORT_FAILED, error
        _unregister(plugin.module, calls)
    finally:
        calls.forget_routes()
    for note in plugin.notes:
        warnings.warn(f"{plugin.label}: {note}", DeprecationWarning, stacklevel=2)


def disabled_families() -> frozenset[str]:
    """Families that the user switched off, upper case."""
    listed: str = settings.DISABLE_PLUGINS or ""
    return frozenset(name.strip().upper() for name in listed.split(",") if name.strip())


def _stated_api(plugin: Plugin) -> tuple[int, int]:
    if isinstance(plugin.module, type):
        raise PluginError(
            "a plugin is a module or an object, and this is a class",
            asked=f"the hooks of {plugin.where}",
            because="no object of it was made",
            try_=f"{plugin.module.__name__}()",
        )
    stated = getattr(plugin.module, "weft_api", None)
    if isinstance(stated, tuple):
        numbers = cast("tuple[Any, ...]", stated)
        if len(numbers) == 2 and all(isinstance(number, int) for number in numbers):
            return numbers[0], numbers[1]
    raise PluginError(
        "a plugin must state the version of the hooks it was written for",
        asked=f"{plugin.where}.weft_api",
        because=f"it is {stated!r}",
        try_=f"weft_api = {API_VERSION} in the plugin's module",
    )


def _api_mismatch(plugin: Plugin) -> PluginError | None:
    if plugin.api is None or (plugin.api[0] == API_VERSION[0] and plugin.api[1] <= API_VERSION[1]):
        return None
    core_is_older = plugin.api > API_VERSION
    upgrade = CORE_DISTRIBUTION if core_is_older else plugin.distribution or plugin.where
    return PluginError(
        f"plugin {plugin.label} is not compatible with this weft",
        asked=f"weft_api {plugin.api[0]}.{plugin.api[1]}",
        because=f"this weft has version {API_VERSION[0]}.{API_VERSION[1]}, so "
        f"{'weft' if core_is_older else 'the plugin'} is the older side",
        try_=f"pip install --upgrade {upgrade}",
    )


def _register(module: object, calls: HookCalls) -> None:
    if calls.manager.is_registered(module):  # one module may serve several families
        return
    try:
        # By identity, since two distributions may ship modules of one name.
        calls.manager.register(module, name=str(id(module)))
        # Unknown hook names are found only here. All earlier plugins passed this check, so what is
        # pending belongs to this one.
        calls.manager.check_pending()
    except pluggy.PluginValidationError as error:
        raise _invalid_hook(str(error)) from error
    _check_marked(module, calls)


def _check_marked(module: object, calls: HookCalls) -> None:
    """Raise PluginError for a function with a hook's name that is not marked as a hook."""
    marked = {hook.name for hook in calls.manager.get_hookcallers(module) or ()}
    for name in vars(hookspecs):
        if (
            name.startswith("weft_")
            and name not in marked
            and callable(getattr(module, name, None))
        ):
            raise PluginError(
                f"{name} is not marked as a hook",
                because="a function that is not marked is never called",
                try_=f"@hookimpl above it, or hookimpl(..., specname={name!r}) around a lambda",
            )


def _invalid_hook(message: str) -> PluginError:
    """The error for a function that is no valid hook, from pluggy's message of several lines."""
    import difflib

    if unknown := re.search(r"unknown hook '(\w+)'", message):
        known = [name for name in vars(hookspecs) if name.startswith("weft_")]
        close = difflib.get_close_matches(unknown[1], known, n=1)
        return PluginError(
            f"there is no hook {unknown[1]}",
            because=f"the hooks are {', '.join(known)}",
            try_=f"did you mean {close[0]}?" if close else None,
        )
    hook = re.search(r"for hook '(weft_\w+)'", message)
    wrong = re.search(r"Argument\(s\) \{(.*?)\}", message)
    if hook is None or wrong is None:
        return PluginError("its hooks cannot be registered", because=" ".join(message.split()))
    names = ", ".join(inspect.signature(getattr(hookspecs, hook[1])).parameters)
    return PluginError(
        f"{hook[1]} has no argument {wrong[1]}",
        because=f"its arguments are ({names}), each of which may be left out",
    )


def unload(plugin: Plugin, calls: HookCalls) -> None:
    """Remove a plugin's hooks."""
    _unregister(plugin.module, calls)
    calls.forget_routes()


def _unregister(module: object, calls: HookCalls) -> None:
    if module is None or not calls.manager.is_registered(module):
        return
    try:
        calls.manager.unregister(module)
    except (pluggy.PluginValidationError, AssertionError, ValueError):
        # pluggy cannot always remove a plugin whose registration failed. It serves no family, so
        # no hook of it is called.
        return


def scheme_of(source: str | PathLike[str]) -> str:
    """The scheme of a URL in lower case; ``file`` for a path."""
    found = re.match(r"([A-Za-z][\w+.-]*)://", source) if isinstance(source, str) else None
    return found[1].lower() if found else "file"


def plugins_for(source: str | PathLike[str], plugins: Iterable[Plugin]) -> list[Plugin]:
    """The plugins that may hold a path or URL: those whose metadata names its scheme, then those
    whose metadata names none. Imports none of them."""
    scheme = scheme_of(source)
    asked = [plugin for plugin in plugins if not plugin.schemes or scheme in plugin.schemes]
    return sorted(asked, key=lambda plugin: not plugin.schemes)


def family_names(plugins: Iterable[Plugin]) -> list[str]:
    """The families of these plugins, sorted, for messages."""
    return sorted({plugin.family for plugin in plugins})
