"""``weft devices``: every installed device plugin, its state, and the cause of a failure.

Each plugin is imported and each family's first device opened; one that fails is a row with its
cause.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from weft.base.errors import DeviceUnavailable, PluginError, UnknownDevice, WeftError
from weft.base.interrupts import let_through
from weft.base.text import failure_text, human_size
from weft.device import Capabilities, OpenDevice, Plugin, PluginState, registry
from weft.tools.capabilities import plain

READY, UNAVAILABLE, BROKEN, BY_NAME = "ready", "unavailable", "broken", "by name"
"""States beyond those of plugins: it opens; what it needs is not here; it opens not, or not whole,
by its own fault; it opens once a locator is given."""


@dataclass(frozen=True)
class Row:
    """What is known of one plugin.

    :ivar family: it serves.
    :ivar distribution: that ships it, and its ``version``.
    :ivar api: version of the hooks it states, or None.
    :ivar state: a PluginState, or READY, UNAVAILABLE, BROKEN, BY_NAME.
    :ivar cause: why it is not ready, or how to name one; "" if there is nothing to say.
    :ivar device: the device string of the device that was opened, or "".
    :ivar default: whether it is the default device.
    :ivar capabilities: of that device.
    :ivar notes: what its authors should know, though it works.
    """

    family: str
    distribution: str
    version: str
    api: tuple[int, int] | None
    state: str
    cause: str
    about: str = ""
    device: str = ""
    default: bool = False
    capabilities: Capabilities | None = None
    notes: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The row in plain types."""
        fields = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return {name: plain(value) for name, value in fields.items()}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's options."""
    parser.add_argument("--json", action="store_true", help="for programs: everything, as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Print the table; 0 if there is a default device, else 1."""
    rows = collect()
    if arguments.json:
        print(json.dumps([row.as_json() for row in rows], indent=2))
    else:
        _table_printer()(rows)
    return 0 if any(row.default for row in rows) else 1


def collect() -> list[Row]:
    """A row per plugin of the registry in force. Opens what opens."""
    try:
        default = str(registry.default())
    except WeftError:
        default = ""
    return [_row(plugin, default) for plugin in _loaded_plugins()]


def _loaded_plugins() -> list[Plugin]:
    registry.current().load_all()
    return registry.current().plugins


def _row(plugin: Plugin, default: str) -> Row:
    known = Row(
        plugin.family,
        plugin.distribution,
        plugin.version,
        plugin.api,
        str(plugin.state),
        failure_text(plugin.cause) if plugin.cause is not None else "",
    )
    if plugin.state is not PluginState.LOADED:
        return known
    declared = next(family for family in plugin.families if family.name == plugin.family)
    known = dataclasses.replace(known, about=declared.about, notes=plugin.notes)
    try:
        opened = registry.open(plugin.family)
        _make_parts(opened)
    except UnknownDevice as error:
        return dataclasses.replace(known, state=BY_NAME, cause=f"named as {error.try_}")
    except DeviceUnavailable as error:
        return dataclasses.replace(known, state=UNAVAILABLE, cause=failure_text(error))
    except Exception as error:  # any error of a plugin becomes a line about that plugin
        let_through(error)
        return dataclasses.replace(known, state=BROKEN, cause=failure_text(error))
    return dataclasses.replace(
        known,
        state=READY,
        device=opened.name,
        default=opened.name == default,
        capabilities=opened.capabilities,
    )


def _make_parts(device: OpenDevice) -> None:
    """What the declaration promises must be there."""
    parts: list[object] = [device.allocator]
    if device.capabilities.compute is not None:
        parts += [device.target, device.compiler]
    elif device.family.computes:
        raise PluginError(
            f"{device.name} does not compute, though its family says so",
            because="it declares no ComputeCaps",
        )
    hash(device.capabilities)  # programs are kept by it


# ---- for people -------------------------------------------------------------------------------

COLUMNS = ("family", "state", "plugin", "api", "device", "what it can do, or why not")


def _cells(row: Row) -> tuple[str, ...]:
    api = f"{row.api[0]}.{row.api[1]}" if row.api else "-"
    plugin = f"{row.distribution} {row.version}".strip() or "registered by hand"
    device = row.capabilities.name if row.capabilities else ""
    family = f"{row.family} (default)" if row.default else row.family
    return (
        family,
        row.state,
        plugin,
        api,
        device,
        "; ".join((row.cause or _summary(row), *row.notes)),
    )


def _summary(row: Row) -> str:
    """The capability sheet in a line."""
    caps = row.capabilities
    if caps is None:
        return row.about
    compute = caps.compute
    if compute is None:
        return "stores, does not compute" + (", persistent" if caps.memory.persistent else "")
    said = [f"{len(compute.dtypes)} dtypes"]
    if compute.vector_bytes:
        said.append(f"vectors of {compute.vector_bytes} bytes")
    if compute.limits.max_buffers is not None:
        said.append(f"{compute.limits.max_buffers} buffers a kernel")
    if compute.limits.shared_bytes:
        said.append(f"{human_size(compute.limits.shared_bytes)} shared")
    if compute.tensor_cores:
        said.append(f"{len(compute.tensor_cores)} tensor cores")
    return ", ".join(said + sorted(str(feature) for feature in compute.features))


def _print_rich(rows: list[Row]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    colours = {READY: "green", BY_NAME: "green", UNAVAILABLE: "yellow", "disabled": "yellow"}
    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in COLUMNS:
        table.add_column(column, overflow="fold")
    for row in rows:
        family, state, *others = (Text(cell) for cell in _cells(row))
        state.stylize(colours.get(row.state, "red"))
        table.add_row(family, state, *others)
    Console().print(table)


def _print_plain(rows: list[Row]) -> None:
    lines = [COLUMNS, *map(_cells, rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(COLUMNS))]
    for line in lines:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip())


def _table_printer() -> Callable[[list[Row]], None]:
    if not sys.stdout.isatty():  # a pipe gets whole lines
        return _print_plain
    try:
        import rich.table  # noqa: F401 - asking whether it is there
    except ImportError:
        return _print_plain
    return _print_rich
