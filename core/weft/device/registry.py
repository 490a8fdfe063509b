"""Device registry: spell device names, open and close devices, choose the default device.

The functions of this module call the current registry, which ``use`` replaces for a while. A device
is a DeviceId or a device string; None is the default device.

Nothing is done at import. The first device string reads the metadata of the installed plugins and
imports the plugin that it names (see `plugin_table`).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from os import PathLike
from typing import Concatenate, ParamSpec, TypeAlias, TypeVar, cast

from weft.base.arguments import kind_of
from weft.base.errors import (
    ArgumentError,
    CapabilityError,
    DeviceError,
    DeviceUnavailable,
    OutOfMemory,
    PluginError,
    UnknownDevice,
    WeftError,
)
from weft.base.interrupts import let_through
from weft.base.settings import PREFIX, settings
from weft.base.text import failure_text
from weft.device.capabilities import Capabilities
from weft.device.discovery import (
    CORE_DISTRIBUTION,
    Plugin,
    PluginState,
    family_names,
    plugins_for,
)
from weft.device.identity import DeviceFamily, DeviceId, ordinal
from weft.device.open_device import OpenDevice, for_each_device
from weft.device.plugin_table import PluginTable
from weft.uop import note_sharding

P = ParamSpec("P")
R = TypeVar("R")
DeviceLike: TypeAlias = "DeviceId | str"


class Registry(PluginTable):
    """Plugins and opened devices. Safe to use from several threads.

    :param plugins: records to serve; None: those that are installed, read when first needed.
    """

    def __init__(self, plugins: Iterable[Plugin] | None = None) -> None:
        super().__init__(plugins)
        self._ids: dict[DeviceLike, DeviceId] = {}
        self._opened: dict[DeviceLike, OpenDevice] = {}
        self._default: DeviceId | None = None
        self._has_none = False

    def register(self, module: object, family: str = "", distribution: str = "") -> Plugin:
        """See ``PluginTable.register``. Devices of the family that are open are closed."""
        with self._lock:
            plugin = super().register(module, family, distribution)
            self._close_family(plugin.family)
            return plugin

    def unregister(self, family: str) -> None:
        """See ``PluginTable.unregister``. The family's devices are closed.

        Tensors on them can still be read. Programs compiled for them are dropped.
        """
        with self._lock:
            super().unregister(family)
            self._close_family(family.upper())

    # ---- names --------------------------------------------------------------------------------

    def resolve(self, device: DeviceLike | None = None) -> DeviceId:
        """The id of a device in its canonical spelling, without opening it.

        :raises UnknownDevice: if the family is not known or refuses the locator.
        """
        if device is None:
            return self.default()
        known = self._ids.get(device) if isinstance(device, (str, DeviceId)) else None
        if known is not None:
            return known
        with self._lock:
            asked = device if isinstance(device, DeviceId) else DeviceId.parse(device)
            family = self.family(asked.family)
            id = DeviceId(family.name, self._canonical_locator(family, asked.locator))
            self._ids[str(id)] = self._ids[id] = id
            if family.canonical is ordinal:  # others may depend on the working folder
                self._ids[device] = id
            return id

    def canonical(self, device: DeviceLike | None = None) -> str:
        """The device string of a device in its canonical spelling."""
        return str(self.resolve(device))

    def placement(
        self, device: DeviceLike | Sequence[DeviceLike] | None = None
    ) -> str | tuple[str, ...]:
        """The device string of a device, or of each of several that hold the shards of one value.

        A sequence of one is that device. :raises ArgumentError: for none, or one twice.
        """
        if not isinstance(device, (tuple, list)):
            return self.canonical(cast("DeviceLike | None", device))
        names = tuple(self.canonical(each) for each in device)
        if len(set(names)) != len(names) or not names:
            raise ArgumentError(
                "the devices that hold a value together are distinct",
                asked=f"a value on {tuple(str(each) for each in device)}",
                because=f"that is {len(set(names))} of them" if names else "there is none",
                try_='one name for each part, as in ("FAMILY:0", "FAMILY:1")',
            )
        if len(names) == 1:
            return names[0]
        note_sharding()
        return names

    def default(self) -> DeviceId:
        """``WEFT_DEVICE``; without it the computing family of highest priority that opens. Families
        of negative priority do not count. An invalid value of one of our environment variables
        (``asked`` begins with its name) is an error; any other failure to open tries the next.

        :raises DeviceUnavailable: if none opens, with the reason of each.
        """
        if settings.DEVICE:
            try:
                return self.resolve(settings.DEVICE)
            except DeviceError as error:
                error.asked = f"WEFT_DEVICE={settings.DEVICE}"
                raise
        if self._default is None:
            with self._lock:
                self._default = self._choose_default()
        return self._default

    def default_if_any(self) -> DeviceId | None:
        """``default``, or None where no device opens. None is kept until ``default`` is called or
        a plugin is registered."""
        if self._default is None and self._has_none and not settings.DEVICE:
            return None
        try:
            return self.default()
        except DeviceUnavailable:
            self._has_none = True
            return None

    def staging(self) -> DeviceId:
        """The device that wraps Python's own memory.

        :raises DeviceUnavailable: if no plugin offers one.
        """
        # The core has one, so its own plugins come first.
        for plugin in sorted(self.plugins, key=lambda plugin: not plugin.from_core):
            self._load(plugin)
            for family in plugin.families:
                if family.staging:
                    return self.resolve(DeviceId(family.name, ""))
        raise DeviceUnavailable(
            "no installed plugin wraps Python memory",
            asked="the staging device",
            because="the core's own host plugin was not found among the installed entry points",
            try_=f"pip install --force-reinstall {CORE_DISTRIBUTION}",
        )

    def locate(self, source: str | PathLike[str]) -> DeviceId:
        """The device that holds this file or URL. Opens nothing.

        Only plugins whose metadata names the scheme of the source are loaded, and where none of
        them holds it, those whose metadata names no scheme.

        :raises UnknownDevice: if no installed plugin claims it.
        """
        with self._lock:
            failed: list[str] = []
            asked = plugins_for(source, self.plugins)
            for plugin in asked:
                self._load(plugin)
                if plugin.state is PluginState.LOADED:
                    try:
                        found = self.calls.locate(plugin.module, source)
                    except Exception as error:  # another plugin may know
                        let_through(error)
                        failed.append(f"; {plugin.label} failed: {failure_text(error)}")
                        continue
                    if found is not None:
                        return self.resolve(found)
        names = ", ".join(family_names(asked)) or "no plugin, since none is installed for it"
        raise UnknownDevice(
            "no installed plugin knows where this is stored",
            asked=repr(source),
            because=f"asked: {names}{''.join(failed)}",
            try_='install a plugin that stores files, such as `pip install "weft[cpu]"`',
        )

    # ---- devices ------------------------------------------------------------------------------

    def open(self, device: DeviceLike | None = None) -> OpenDevice:
        """The opened device, opening it if it was not.

        :raises UnknownDevice: if there is no such family or locator.
        :raises DeviceUnavailable: if its driver or hardware is missing.
        :raises PluginError: if its plugin is broken.
        """
        if device is not None:
            known = isinstance(device, (str, DeviceId))
            opened = self._opened.get(device) if known else None
            if opened is not None:
                return opened
        with self._lock:
            id = self.resolve(device)
            opened = self._opened.get(id)
            if opened is None:
                opened = self._open(id)
            self._opened[id] = self._opened[str(id)] = opened
            return opened

    def offline(self, family: str, arch: str) -> OpenDevice:
        """A device of an architecture with no hardware behind it.

        :raises CapabilityError: if the family offers none of that name.
        """
        owners = [plugin.module for plugin in self.plugins_of(family)]
        device = self.calls.offline(owners, family.upper(), arch)
        if device is None:
            raise CapabilityError(
                f"family {family.upper()} offers no offline device of this architecture",
                asked=arch,
                because="weft_offline answered with None",
                try_="an architecture that its plugin documents",
            )
        return OpenDevice(device, self.family(family), self.calls, owners)

    def opened(self) -> Iterator[OpenDevice]:
        """The devices opened so far, each once."""
        yield from {id(device): device for device in list(self._opened.values())}.values()

    def close(self, device: DeviceLike | None = None) -> None:
        """Close one device, or all of them; the first error is raised when all are closed."""
        with self._lock:
            devices = list(self.opened())
            if device is not None:
                id = self.resolve(device)
                devices = [opened for opened in devices if opened.id == id]
            for opened in devices:
                for name in [n for n, other in self._opened.items() if other is opened]:
                    del self._opened[name]
                if self._default == opened.id:
                    self._default = None
                _begin_epoch()
            for_each_device(OpenDevice.close, devices)

    def _close_family(self, family: str) -> None:
        """Close a family's devices, with a warning where that fails, and call the listeners."""
        for opened in [opened for opened in self.opened() if opened.id.family == family]:
            try:
                self.close(opened.id)
            except Exception as error:
                let_through(error)
                message = f"{opened.name} was not closed: {failure_text(error)}"
                warnings.warn(message, RuntimeWarning, stacklevel=4)
        for spelling, id in list(self._ids.items()):
            if id.family == family:
                del self._ids[spelling]
        self._default, self._has_none = None, False
        _begin_epoch()
        for listener in _listeners:
            listener()

    def _canonical_locator(self, family: DeviceFamily, locator: str) -> str:
        """A locator in the canonical spelling of the family's plugin, which may refuse it."""
        cause = None
        try:
            found = family.canonical(locator)
            if isinstance(found, str):
                return found
            because = f"canonical gave {kind_of(found)}"
        except WeftError:
            raise
        except Exception as error:
            let_through(error)
            because, cause = f"canonical raised {failure_text(error)}", error
        label = " and ".join(plugin.label for plugin in self.plugins_of(family.name))
        raise PluginError(
            f"the plugin of device family {family.name} cannot tell how this device is spelt",
            asked=f"{family.name}:{locator}",
            because=f"{label}: {because}",
            try_=f"report it to the authors of {label}",
        ) from cause

    def _open(self, id: DeviceId) -> OpenDevice:
        plugins = self.plugins_of(id.family)
        modules = [plugin.module for plugin in plugins]
        try:
            device = self.calls.open(modules, id)
        except DeviceUnavailable as error:
            error.asked = error.asked or str(id)
            raise
        except WeftError as error:
            error.add_note(f"while {plugins[0].label} opened {id}")
            raise
        except MemoryError as error:
            raise OutOfMemory.during(f"opening {id}", error) from error
        except Exception as error:
            let_through(error)
            raise PluginError(
                f"opening {id} failed inside its plugin",
                asked=str(id),
                because=failure_text(error),
                try_=f"report it to the authors of {plugins[0].label}",
            ) from error
        if settings.DEBUG >= 1:
            print(f"opened device {id} {device.capabilities.name}".rstrip())
        return OpenDevice(device, self.family(id.family), self.calls, modules)

    def _choose_default(self) -> DeviceId:
        # The core's own families are for staging and tests. None is a default, so their modules are
        # not imported here.
        plugins = [plugin for plugin in self.plugins if not plugin.from_core]
        for plugin in plugins:
            self._load(plugin)
        families = {
            family.name: family
            for plugin in plugins
            if plugin.state is PluginState.LOADED
            for family in plugin.families
            if family.computes and not family.extends
        }
        refusals = [f"{p.family}: {failure_text(p.cause)}" for p in plugins if p.cause]
        for family in sorted(families.values(), key=lambda f: (-f.priority, f.name)):
            if family.priority < 0:
                refusals.append(f"{family.name}: its negative priority excludes it as a default")
                continue
            try:
                opened = self.open(DeviceId(family.name, ""))
                if opened.target:  # raises where a plugin declares it but cannot compute
                    return opened.id
            except Exception as error:  # one plugin must not affect the others
                let_through(error)
                if isinstance(error, WeftError) and str(error.asked).startswith(PREFIX):
                    raise  # an environment variable of ours is invalid: the user can correct it
                refusals.append(f"{family.name}: {failure_text(error)}")
        raise DeviceUnavailable(
            "no device that computes opens here",
            asked="the default device",
            because="; ".join(refusals) or "no installed plugin declares one",
            try_='pip install "weft[cpu]", or name a device in WEFT_DEVICE; '
            "`weft devices` shows the state of every plugin",
        )


# ---- the current registry ---------------------------------------------------------------------

_current = Registry()
_listeners: list[Callable[[], None]] = []
_epoch = object()


def epoch() -> object:
    """An object that is replaced whenever device names, open devices or the default may change."""
    return _epoch


def _begin_epoch() -> None:
    global _epoch
    _epoch = object()


def when_changed(listener: Callable[[], None]) -> None:
    """Call `listener` whenever another plugin begins to serve a family."""
    _listeners.append(listener)


def current() -> Registry:
    """The current registry."""
    return _current


@contextmanager
def use(registry: Registry) -> Generator[Registry]:
    """Use another registry inside a `with` block, for tests. Its devices are closed at the end."""
    global _current
    before, _current = _current, registry
    _begin_epoch()
    try:
        yield registry
    finally:
        _current = before
        _begin_epoch()
        registry.close()


def _on_current(method: Callable[Concatenate[Registry, P], R]) -> Callable[P, R]:
    """A function that calls a method of the current registry."""

    @wraps(method)
    def call(*arguments: P.args, **named: P.kwargs) -> R:
        return method(_current, *arguments, **named)

    return call


register = _on_current(Registry.register)
unregister = _on_current(Registry.unregister)
resolve = _on_current(Registry.resolve)
placement = _on_current(Registry.placement)
default = _on_current(Registry.default)
default_if_any = _on_current(Registry.default_if_any)
staging = _on_current(Registry.staging)
locate = _on_current(Registry.locate)
offline = _on_current(Registry.offline)
close = _on_current(Registry.close)


def canonical(device: DeviceLike | None = None) -> str:
    """See ``Registry.canonical``."""
    return _current.canonical(device)


def open(device: DeviceLike | None = None) -> OpenDevice:
    """See ``Registry.open``."""
    return _current.open(device)


def capabilities(device: DeviceLike | None = None) -> Capabilities:
    """The capabilities of a device; opens it."""
    return _current.open(device).capabilities


def synchronize() -> None:
    """Wait for all work on all opened devices; then raise the first error."""
    for_each_device(OpenDevice.synchronize, _current.opened())
