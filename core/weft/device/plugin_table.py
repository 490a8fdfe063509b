"""Plugin table: which plugins exist, which one owns a device family, and why a family has none.

The table has a record of each plugin, from `discovery`. A plugin is loaded at the first use of its
family. Objects with hooks can be registered by hand. Every error names the distribution of the
plugin that caused it, and what to do.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from weft.base.errors import PluginError, UnknownDevice
from weft.base.locks import reentrant_lock
from weft.base.text import failure_text
from weft.device.discovery import (
    CORE_DISTRIBUTION,
    Plugin,
    PluginState,
    family_names,
    installed_plugins,
    load,
    plugin_by_hand,
    unload,
)
from weft.device.hook_calls import HookCalls
from weft.device.identity import DeviceFamily


class PluginTable:
    """A record of each plugin. Safe to use from several threads.

    :param plugins: the records; None: the installed plugins, read at first use.
    """

    def __init__(self, plugins: Iterable[Plugin] | None = None) -> None:
        self.calls = HookCalls()
        self._plugins: list[Plugin] | None = None if plugins is None else list(plugins)
        self._by_hand: list[Plugin] = []
        self._unregistered: set[str] = set()
        self._lock = reentrant_lock()

    @property
    def plugins(self) -> list[Plugin]:
        """A record of every plugin in any state; those registered by hand first."""
        with self._lock:
            if self._plugins is None:
                self._plugins = installed_plugins()
            return [*self._by_hand, *self._plugins]

    @property
    def broken(self) -> list[Plugin]:
        """Plugins that were loaded and cannot be used; each has its cause."""
        bad = (PluginState.IMPORT_FAILED, PluginState.INCOMPATIBLE)
        return [plugin for plugin in self.plugins if plugin.state in bad]

    def register(self, module: object, family: str = "", distribution: str = "") -> Plugin:
        """Serve a family by an object with hooks, as if it were installed.

        It replaces what was registered for the family before, for example by an earlier run of a
        notebook's cell: see ``unregister``.

        :param family: one that the object declares; may be left out where it declares just one.
        :raises PluginError: if it cannot be used; nothing has changed then.
        """
        with self._lock:
            plugin = plugin_by_hand(module, family, distribution)
            for other in self._by_hand:
                if other.module is module:  # it may have been reloaded, with other hooks
                    unload(other, self.calls)
            load(plugin, self.calls)
            self._reject_core_family(plugin)
            if plugin.state is not PluginState.LOADED:
                raise unusable_plugin(plugin)
            replaced = [other for other in self._by_hand if _replaces(plugin, other)]
            self._by_hand.append(plugin)
            for other in replaced:
                self._remove(other)
            return plugin

    def unregister(self, family: str) -> None:
        """Remove what was registered by hand for a family.

        :raises UnknownDevice: if nothing was registered for it.
        """
        family = family.upper()
        with self._lock:
            ours = [plugin for plugin in self._by_hand if plugin.family == family]
            if not ours:
                names = family_names(self._by_hand)
                raise UnknownDevice(
                    f"nothing was registered by hand for {family}",
                    asked=family,
                    because=f"what was: {', '.join(names) or 'nothing'}",
                    try_="an installed plugin is switched off by WEFT_DISABLE_PLUGINS",
                )
            for plugin in ours:
                self._remove(plugin)
            self._unregistered.add(family)

    def is_installed(self, family: str) -> bool:
        """Whether other processes have this family too: it was not registered by hand."""
        return not any(plugin.family == family for plugin in self._by_hand)

    def load_all(self) -> None:
        """Load every plugin. An error in one does not affect the others."""
        with self._lock:
            for plugin in self.plugins:
                self._load(plugin)

    def plugins_of(self, family: str) -> list[Plugin]:
        """The loaded plugins of a family, its owner first.

        :raises UnknownDevice: if no plugin has an entry of that name.
        :raises PluginError: if its plugin cannot be used, or if two plugins own it.
        """
        family = family.upper()
        with self._lock:
            named = [plugin for plugin in self.plugins if plugin.family == family]
            if not named:
                if family in self._unregistered:
                    raise unregistered_family(family)
                raise unknown_family(family, self.plugins)
            for plugin in named:
                self._load(plugin)
            loaded = [plugin for plugin in named if plugin.state is PluginState.LOADED]
            owners = [plugin for plugin in loaded if not declaration_of(plugin, family).extends]
            if len({id(plugin.module) for plugin in owners}) > 1:
                raise several_owners(family, owners)
            if not owners:
                failed = [plugin for plugin in named if plugin.cause is not None]
                raise (
                    unusable_plugin(failed[0])
                    if failed
                    else extension_without_owner(family, loaded)
                )
            return owners + [plugin for plugin in loaded if plugin not in owners]

    def family(self, name: str) -> DeviceFamily:
        """A family as its owner declares it; raises as ``plugins_of``."""
        return declaration_of(self.plugins_of(name)[0], name.upper())

    def _load(self, plugin: Plugin) -> None:
        if plugin.state is PluginState.FOUND:
            load(plugin, self.calls)
            self._reject_core_family(plugin)

    def _reject_core_family(self, plugin: Plugin) -> None:
        """Refuse a plugin that declares a family of the core as its own: all devices need it."""
        if plugin.state is not PluginState.LOADED or plugin.from_core:
            return
        if declaration_of(plugin, plugin.family).extends:
            return
        if any(other.from_core and other.family == plugin.family for other in self.plugins):
            plugin.cause = core_family(plugin)
            plugin.state = PluginState.IMPORT_FAILED
            self._unregister_hooks(plugin)

    def _remove(self, plugin: Plugin) -> None:
        self._by_hand.remove(plugin)
        self._unregister_hooks(plugin)

    def _unregister_hooks(self, plugin: Plugin) -> None:
        if not any(p.module is plugin.module and p is not plugin for p in self.plugins):
            unload(plugin, self.calls)


def _replaces(plugin: Plugin, other: Plugin) -> bool:
    """Whether a plugin replaces another: an owner the owner of its family, an extension the
    extension of the same name."""
    if plugin.family != other.family:
        return False
    extends = [declaration_of(each, each.family).extends for each in (plugin, other)]
    return extends == [False, False] or (all(extends) and plugin.where == other.where)


def declaration_of(plugin: Plugin, family: str) -> DeviceFamily:
    """A family as one of its plugins declares it."""
    return next(declared for declared in plugin.families if declared.name == family)


# ---- errors --------------------------------------------------------------------------------------


def unknown_family(family: str, plugins: Sequence[Plugin]) -> UnknownDevice:
    """No plugin serves this family: the nearest name that one serves, and how to install it."""
    known = family_names(plugins)
    import difflib

    close = difflib.get_close_matches(family, known, n=1)
    advice = f"did you mean {close[0]}? Otherwise: " if close else ""
    return UnknownDevice(
        f"there is no device family {family}",
        asked=family,
        because=f"installed plugins serve {', '.join(known) or 'nothing'}",
        try_=f"{advice}{install_command(family)}",
    )


def unregistered_family(family: str) -> UnknownDevice:
    """The family was registered by hand, unregistered, and no other plugin serves it."""
    return UnknownDevice(
        f"there is no device family {family}",
        asked=family,
        because="it was registered by hand and has been unregistered since: its tensors can be "
        "read, and nothing else",
        try_="weft.plugin.register(...) again, or Tensor(x.numpy()) to have x somewhere else",
    )


def unusable_plugin(plugin: Plugin) -> PluginError:
    """The error for a plugin that failed to load, with its cause attached."""
    if plugin.state is not PluginState.IMPORT_FAILED and isinstance(plugin.cause, PluginError):
        return plugin.cause
    error = PluginError(
        f"the plugin of device family {plugin.family} cannot be used"
        if plugin.family
        else "this plugin cannot be used",
        asked=plugin.family or None,
        because=f"{plugin.label}: {failure_text(plugin.cause or RuntimeError('not loaded'))}",
        try_=f"pip install --upgrade {plugin.distribution}; "
        "`weft devices` shows the state of every plugin"
        if plugin.distribution
        else f"fix the plugin: {advice}; the cause is attached"
        if (advice := getattr(plugin.cause, "try_", None))
        else "fix the plugin; the cause is attached",
    )
    error.__cause__ = plugin.cause
    return error


def extension_without_owner(family: str, extenders: Sequence[Plugin]) -> PluginError:
    """The error for a family that plugins extend and none owns."""
    return PluginError(
        f"family {family} is extended, but no plugin owns it",
        asked=family,
        because=f"{', '.join(p.label for p in extenders)} only adds parts to it",
        try_=install_command(family),
    )


def several_owners(family: str, owners: Sequence[Plugin]) -> PluginError:
    """The error for a family that two plugins own."""
    return PluginError(
        f"two plugins own the device family {family}",
        asked=family,
        because=" and ".join(plugin.label for plugin in owners) + " both declare it",
        try_="uninstall one of them, or let one extend the other (extends=True)",
    )


def core_family(plugin: Plugin) -> PluginError:
    """The error for a plugin that declares a family of the core as its own."""
    return PluginError(
        f"the device family {plugin.family} belongs to {CORE_DISTRIBUTION} itself",
        asked=plugin.family,
        because=f"{plugin.label} declares it as its own",
        try_="another name, or DeviceFamily(..., extends=True)",
    )


def install_command(family: str) -> str:
    """The command that installs a family: an extra of the core, or a package named so."""
    from importlib.metadata import PackageNotFoundError, metadata

    name = family.lower().replace("_", "-")
    try:
        extras = metadata(CORE_DISTRIBUTION).get_all("Provides-Extra") or []
    except PackageNotFoundError:
        extras = []
    if name in extras:
        return f'pip install "{CORE_DISTRIBUTION}[{name}]"'
    return f"pip install {CORE_DISTRIBUTION}-{name}"
