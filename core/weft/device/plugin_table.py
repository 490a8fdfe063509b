"""Which plugins there are: found, loaded when first needed, registered by hand, and whose family
is whose.
"""

from __future__ import annotations

from collections.abc import Iterable

from weft.base.errors import UnknownDevice
from weft.base.locks import reentrant_lock
from weft.device.calls import HookCalls
from weft.device.discovery import (
    Plugin,
    PluginState,
    forget,
    installed_plugins,
    known_names,
    load,
    plugin_by_hand,
)
from weft.device.identity import DeviceFamily
from weft.device.plugin_errors import (
    belongs_to_the_core,
    not_usable,
    only_extended,
    taken_back,
    two_owners,
    unknown_family,
)


class PluginTable:
    """A record of each plugin. Safe to use from several threads.

    :param plugins: records to serve; None: those that are installed, read when first needed.
    """

    def __init__(self, plugins: Iterable[Plugin] | None = None) -> None:
        self.calls = HookCalls()
        self._plugins: list[Plugin] | None = None if plugins is None else list(plugins)
        self._by_hand: list[Plugin] = []
        self._unregistered: set[str] = set()
        self._lock = reentrant_lock()

    @property
    def plugins(self) -> list[Plugin]:
        """A record of every plugin, whatever became of it; those registered by hand first."""
        with self._lock:
            if self._plugins is None:
                self._plugins = installed_plugins()
            return [*self._by_hand, *self._plugins]

    @property
    def broken(self) -> list[Plugin]:
        """Those that were tried and cannot be used; each with its cause."""
        bad = (PluginState.IMPORT_FAILED, PluginState.INCOMPATIBLE)
        return [plugin for plugin in self.plugins if plugin.state in bad]

    def register(self, module: object, family: str = "", distribution: str = "") -> Plugin:
        """Serve a family by an object with hooks, as if it were installed.

        What was registered for the family before makes way, as when a notebook's cell is run again:
        see ``unregister``.

        :param family: one that the object declares; may be left out where it declares just one.
        :raises PluginError: if it cannot be used; nothing has changed then.
        """
        with self._lock:
            plugin = plugin_by_hand(module, family, distribution)
            for other in self._by_hand:
                if other.module is module:  # it may have been loaded anew: its hooks are other ones
                    forget(other, self.calls)
            load(plugin, self.calls)
            self._keep_the_cores(plugin)
            if plugin.state is not PluginState.LOADED:
                raise not_usable(plugin)
            replaced = [other for other in self._by_hand if _replaces(plugin, other)]
            self._by_hand.append(plugin)
            for other in replaced:
                self._take_back(other)
            return plugin

    def unregister(self, family: str) -> None:
        """Take back what was registered by hand for a family.

        :raises UnknownDevice: if nothing was registered for it.
        """
        family = family.upper()
        with self._lock:
            ours = [plugin for plugin in self._by_hand if plugin.family == family]
            if not ours:
                names = known_names(self._by_hand)
                raise UnknownDevice(
                    f"nothing was registered by hand for {family}",
                    asked=family,
                    because=f"what was: {', '.join(names) or 'nothing'}",
                    try_="an installed plugin is switched off by WEFT_DISABLE_PLUGINS",
                )
            for plugin in ours:
                self._take_back(plugin)
            self._unregistered.add(family)

    def is_installed(self, family: str) -> bool:
        """Whether another process would find this family too: it was not registered by hand."""
        return not any(plugin.family == family for plugin in self._by_hand)

    def load_all(self) -> None:
        """Import every plugin, each guarded."""
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
                    raise taken_back(family)
                raise unknown_family(family, self.plugins)
            for plugin in named:
                self._load(plugin)
            loaded = [plugin for plugin in named if plugin.state is PluginState.LOADED]
            owners = [plugin for plugin in loaded if not declared_by(plugin, family).extends]
            if len({id(plugin.module) for plugin in owners}) > 1:
                raise two_owners(family, owners)
            if not owners:
                failed = [plugin for plugin in named if plugin.cause is not None]
                raise not_usable(failed[0]) if failed else only_extended(family, loaded)
            return owners + [plugin for plugin in loaded if plugin not in owners]

    def family(self, name: str) -> DeviceFamily:
        """A family as its owner declares it; raises as ``plugins_of``."""
        return declared_by(self.plugins_of(name)[0], name.upper())

    # ---- behind the doors ---------------------------------------------------------------------

    def _load(self, plugin: Plugin) -> None:
        if plugin.state is PluginState.FOUND:
            load(plugin, self.calls)
            self._keep_the_cores(plugin)

    def _keep_the_cores(self, plugin: Plugin) -> None:
        """What the core ships is nobody else's: everything depends on it."""
        if plugin.state is not PluginState.LOADED or plugin.from_core:
            return
        if declared_by(plugin, plugin.family).extends:
            return
        if any(other.from_core and other.family == plugin.family for other in self.plugins):
            plugin.cause = belongs_to_the_core(plugin)
            plugin.state = PluginState.IMPORT_FAILED
            self._leave(plugin)

    def _take_back(self, plugin: Plugin) -> None:
        self._by_hand.remove(plugin)
        self._leave(plugin)

    def _leave(self, plugin: Plugin) -> None:
        if not any(p.module is plugin.module and p is not plugin for p in self.plugins):
            forget(plugin, self.calls)


def _replaces(plugin: Plugin, other: Plugin) -> bool:
    """Whether what was registered for a family makes way: an owner for an owner, and an extension
    for what is called the same."""
    if plugin.family != other.family:
        return False
    extends = [declared_by(each, each.family).extends for each in (plugin, other)]
    return extends == [False, False] or (all(extends) and plugin.where == other.where)


def declared_by(plugin: Plugin, family: str) -> DeviceFamily:
    """A family as one of its plugins declares it."""
    return next(declared for declared in plugin.families if declared.name == family)
