"""Launch-plan files: write a dry run so that it can be executed without weft.

in:  the steps of a `DryRun`
out: a folder with one source for each kernel, ``data/*.bin`` for what the program wrote, and
     ``plan.json``, all of it in plain types; ``docs/howto/compile-for-other-machines.md`` says
     what each word means
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from weft.base.dtype import DType, ImageDType
from weft.base.errors import FileError
from weft.base.interrupts import let_through
from weft.device import CompiledProgram
from weft.tools.dry_run import (
    Allocation,
    DeviceCopy,
    DryRun,
    HostRead,
    HostWrite,
    KernelLaunch,
    MemoryRange,
    Step,
)
from weft.uop import Ops

PLAN = "plan.json"
DATA = "data"
FORMAT = 1
"""Counts up when a word of the plan changes its meaning."""

_LONGEST_NAME = 200  # file systems take 255 bytes; a number and a suffix follow


def write(folder: Path, target: str, plan: DryRun, with_data: bool = True) -> int:
    """Write sources, data and the plan; how many kernels there are.

    with_data: False leaves out the bytes that the program wrote, which the plan still names.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        let_through(error)
        raise FileError.of(
            error,
            "the kernels cannot be written",
            path=folder,
            asked=f"write to {folder}",
            because="a file has this name, and a folder is needed"
            if isinstance(error, FileExistsError)
            else None,
            try_="--out with the name of a new folder, or of one that can be written",
        ) from error
    suffix = plan.offline.renderer.language
    called = getattr(plan.offline.renderer, "entry_point", str)
    files: dict[str, str] = {}
    kernels: list[dict[str, Any]] = []
    for launch in plan.launches:
        source = launch.program.source
        if source not in files:
            files[source] = _file_name(launch.program, suffix, files)
            (folder / files[source]).write_text(source, encoding="utf-8")
            kernels.append(_kernel(launch.program, files[source], called(launch.program.name)))
    numbers = {source: number for number, source in enumerate(files)}
    if with_data and plan.data:
        (folder / DATA).mkdir(exist_ok=True)
        for digest, data in plan.data.items():
            (folder / _data_file(digest)).write_bytes(data)
    compute = plan.offline.capabilities.compute
    grid = compute is not None and compute.limits.local_size is not None
    memory = [_allocation(one) for one in plan.allocations]
    facts = (("format", FORMAT), ("target", target), ("language", suffix))
    lines = [f" {json.dumps(name)}: {json.dumps(value)}" for name, value in facts]
    steps = [_step(step, numbers, grid) for step in plan.steps]
    for name, entries in (("kernels", kernels), ("memory", memory), ("steps", steps)):
        inside = ",\n  ".join(map(json.dumps, entries))
        lines.append(f' "{name}": [\n  {inside}\n ]' if entries else f' "{name}": []')
    (folder / PLAN).write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    return len(kernels)


def _allocation(memory: Allocation) -> dict[str, Any]:
    entry: dict[str, Any] = {"device": memory.device, "nbytes": memory.nbytes}
    if isinstance(image := memory.image, ImageDType):
        height, width, _ = image.shape
        channel = "half" if image.itemsize == 2 else "float"
        entry["image"] = {"width": width, "height": height, "channel": channel}
    return entry


def _step(step: Step, numbers: Mapping[str, int], grid: bool) -> dict[str, Any]:
    if isinstance(step, HostWrite):
        return {"do": "write", "to": _location(step.target), "data": _data_file(step.data)}
    if isinstance(step, HostRead):
        return {"do": "read", "from": _location(step.source)}
    if isinstance(step, DeviceCopy):
        return {"do": "copy", "to": _location(step.target), "from": _location(step.source)}
    assert isinstance(step, KernelLaunch)
    sizes = (step.global_size, step.local_size)
    if grid:
        sizes = tuple(size or (1, 1, 1) for size in sizes)
    return {
        "do": "launch",
        "kernel": numbers[step.program.source],
        "global_size": sizes[0],
        "local_size": sizes[1],
        "buffers": [_location(buffer) for buffer in step.buffers],
        "values": list(step.values),
    }


def _location(memory: MemoryRange) -> dict[str, int]:
    return {"memory": memory.allocation, "offset": memory.offset, "nbytes": memory.nbytes}


def _kernel(program: CompiledProgram, file: str, name: str) -> dict[str, Any]:
    linear = program.program
    costs = linear.estimates
    pointers: dict[int, DType] = {
        u.arg: u.dtype.base for u in linear.uops if u.op is Ops.DEFINE_GLOBAL
    }
    return {
        "source": file,
        "name": name,
        "buffers": [
            {"dtype": pointers[slot].name, "access": _access(slot, linear.outs, linear.ins)}
            for slot in linear.globals
        ],
        "variables": [
            {"name": name, "dtype": u.dtype.name}
            for u, name in zip(linear.variables, linear.variable_names)
        ],
        "operations": _number(costs.ops),
        "bytes": _number(costs.bytes),
        "optimisations": [str(option) for option in linear.applied],
    }


def _access(slot: int, outs: tuple[int, ...], ins: tuple[int, ...]) -> str:
    if slot in outs:
        return "read and write" if slot in ins else "write"
    return "read"


def _number(value: Any) -> int | str:
    """Costs may depend on variables."""
    return value if isinstance(value, int) else value.render()


def _data_file(digest: str) -> str:
    return f"{DATA}/{digest}.bin"


def _file_name(program: CompiledProgram, suffix: str, taken: Mapping[str, str]) -> str:
    name = program.name[:_LONGEST_NAME]
    plain = f"{name}.{suffix}"
    return plain if plain not in taken.values() else f"{name}-{len(taken)}.{suffix}"
