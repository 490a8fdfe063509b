"""Tuning tables: what was measured and found for a processor, as a JSON file that can be shipped.

    {"format": 1, "processor": NAME,
     "machine": {LEVEL: {FIELD: NUMBER, ...}, ...},
     "kernels": {TARGET: {DIGEST: [PREPARED, [[KIND, AXIS, AMOUNT], ...]], ...}, ...}}

Names of processors, levels and targets are the plugin's (`Device.tuning`). FIELD is a field of
`MachineModel`. DIGEST is that of `weft.engine.tuned_plans.digest`. An export to a file that exists
adds to it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from weft.base.errors import ArgumentError, CapabilityError, FileError
from weft.base.interrupts import let_through
from weft.device import OpenDevice
from weft.engine import tuned_plans

FORMAT = 1


def merged(table: dict[str, Any], device: OpenDevice) -> dict[str, Any]:
    """A table with what is known of the processor of a device.

    :raises CapabilityError: if its plugin ships no tables.
    :raises ArgumentError: if the table is for another processor, or has another format.
    """
    tuning = device.device.tuning
    if tuning is None or not tuning.processor:
        raise CapabilityError(
            "no table can be exported for this device",
            asked=f"a table of {device.name}",
            because="its plugin names no processor (Device.tuning)",
            try_="weft tune without --export: the results stay on this machine",
        )
    head = {"format": FORMAT, "processor": tuning.processor}
    if table and any(table.get(name) != value for name, value in head.items()):
        raise ArgumentError(
            "this table is for another processor",
            asked=f"a table of {tuning.processor}",
            because=f"it has format {table.get('format')} and processor {table.get('processor')!r}",
            try_="another file",
        )
    machine, kernels = dict(table.get("machine", {})), dict(table.get("kernels", {}))
    if tuning.machine:
        machine[tuning.level] = dict(tuning.machine)
    if plans := tuned_plans.plans_of(device):
        kernels[tuning.target] = {**kernels.get(tuning.target, {}), **plans}
    return {**head, "machine": machine, "kernels": kernels}


def export(path: Path, device: OpenDevice) -> dict[str, Any]:
    """Write the table of a device to a file, or add to the one that is there.

    :raises FileError: if the file cannot be read or written.
    :raises ArgumentError: if it is no table, or one for another processor.
    """
    try:
        table = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    except OSError as error:
        let_through(error)
        raise _file_error(error, path) from error
    except ValueError as error:
        let_through(error)
        raise ArgumentError(
            "this file is no table", asked=str(path), because=str(error), try_="another file"
        ) from error
    made = merged(table, device)
    try:
        path.write_text(_text(made), encoding="utf-8")
    except OSError as error:
        let_through(error)
        raise _file_error(error, path) from error
    return made


def _file_error(error: OSError, path: Path) -> FileError:
    what = "the table cannot be read or written"
    return FileError.of(error, what, path=path, asked=str(path))


def _text(table: dict[str, Any]) -> str:
    """JSON with a line for each number and each plan."""
    lines = json.dumps(table, indent=1, sort_keys=True).splitlines()
    found: list[str] = []
    depth = 0
    for line in lines:
        word = line.strip()
        if depth:
            found[-1] += word + (" " if word.endswith(",") else "")
        else:
            found.append(line)
        depth += (word.endswith("[")) - (word.startswith("]"))
    return "\n".join(line.rstrip() for line in found) + "\n"
