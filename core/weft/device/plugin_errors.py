"""Why a family cannot be served, said to whoever asked for it: all errors about plugins.

Each names the plugin at fault by its distribution, and what to do about it.
"""

from __future__ import annotations

from collections.abc import Sequence

from weft.base.errors import PluginError, UnknownDevice
from weft.device.calls import failure_text
from weft.device.discovery import CORE_DISTRIBUTION, Plugin, PluginState, known_names


def unknown_family(family: str, plugins: Sequence[Plugin]) -> UnknownDevice:
    """Nobody serves it; the nearest name that somebody does, and how to install it."""
    known = known_names(plugins)
    import difflib

    close = difflib.get_close_matches(family, known, n=1)
    advice = f"did you mean {close[0]}? Otherwise: " if close else ""
    return UnknownDevice(
        f"there is no device family {family}",
        asked=family,
        because=f"installed plugins serve {', '.join(known) or 'nothing'}",
        try_=f"{advice}{install_line(family)}",
    )


def taken_back(family: str) -> UnknownDevice:
    """It was registered by hand once, and is served by nobody else."""
    return UnknownDevice(
        f"there is no device family {family}",
        asked=family,
        because="it was registered by hand and has been unregistered since: its tensors can be "
        "read, and nothing else",
        try_="weft.plugin.register(...) again, or Tensor(x.numpy()) to have x somewhere else",
    )


def not_usable(plugin: Plugin) -> PluginError:
    """Its plugin was tried and failed; the cause is attached."""
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
        else f"mend the plugin: {advice}; the cause is attached"
        if (advice := getattr(plugin.cause, "try_", None))
        else "mend the plugin; the cause is attached",
    )
    error.__cause__ = plugin.cause
    return error


def only_extended(family: str, extenders: Sequence[Plugin]) -> PluginError:
    """It is extended, and nobody owns it."""
    return PluginError(
        f"family {family} is extended, but nobody owns it",
        asked=family,
        because=f"{', '.join(p.label for p in extenders)} only adds parts to it",
        try_=install_line(family),
    )


def two_owners(family: str, owners: Sequence[Plugin]) -> PluginError:
    """Two plugins own it, so that neither is asked."""
    return PluginError(
        f"two plugins own the device family {family}",
        asked=family,
        because=" and ".join(plugin.label for plugin in owners) + " both declare it",
        try_="uninstall one of them, or let one extend the other (extends=True)",
    )


def belongs_to_the_core(plugin: Plugin) -> PluginError:
    """A plugin declares a family that the core ships itself."""
    return PluginError(
        f"the device family {plugin.family} belongs to {CORE_DISTRIBUTION} itself",
        asked=plugin.family,
        because=f"{plugin.label} declares it as its own",
        try_="another name, or DeviceFamily(..., extends=True)",
    )


def install_line(family: str) -> str:
    """How to get a family: through an extra of the core where there is one, else by convention."""
    from importlib.metadata import PackageNotFoundError, metadata

    name = family.lower().replace("_", "-")
    try:
        extras = metadata(CORE_DISTRIBUTION).get_all("Provides-Extra") or []
    except PackageNotFoundError:
        extras = []
    if name in extras:
        return f'pip install "{CORE_DISTRIBUTION}[{name}]"'
    return f"pip install {CORE_DISTRIBUTION}-{name}"
