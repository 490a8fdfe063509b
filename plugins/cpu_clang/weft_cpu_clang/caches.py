"""Cache sizes of the processor, as Linux describes them in sysfs.

Where the system gives no value, the machine model keeps its default. Only caches of one core count:
the number of cores is not in the model, because kernels are the same for any number of threads.

Source: Linux kernel documentation, ABI/testing/sysfs-devices-system-cpu, cache attributes.
"""

from __future__ import annotations

import mmap
from functools import cache
from pathlib import Path
from typing import NamedTuple

from weft.plugin import MachineModel, let_through

FOLDER = Path("/sys/devices/system/cpu/cpu0/cache")
_UNITS = {"K": 10, "M": 20, "G": 30}


class Cache(NamedTuple):
    """One cache that holds data. line: bytes of a line; 0: not said."""

    level: int
    nbytes: int
    line: int


def caches(folder: Path = FOLDER) -> list[Cache]:
    """The data caches of a core, as far as the system says."""
    found = []
    for index in sorted(folder.glob("index*")):
        try:
            if (index / "type").read_text().strip() == "Instruction":
                continue
            size = (index / "size").read_text().strip()
            nbytes = int(size.rstrip("KMG")) << _UNITS.get(size[-1:], 0)
            level = int((index / "level").read_text())
        except (OSError, ValueError) as error:
            let_through(error)
            continue
        if nbytes > 0:
            found.append(Cache(level, nbytes, _line(index)))
    return found


def _line(index: Path) -> int:
    try:
        return max(0, int((index / "coherency_line_size").read_text()))
    except (OSError, ValueError) as error:
        let_through(error)
        return 0


@cache
def last_cache() -> int:
    """Bytes of the largest cache of a processor; 0 where the system does not say."""
    return max((one.nbytes for one in caches()), default=0)


def machine_model(known: list[Cache]) -> MachineModel:
    """The model of a processor with these caches."""
    usual = MachineModel()
    sizes = {one.level: one.nbytes for one in known}
    lines = [one.line for one in known if one.line]
    return MachineModel(
        l1_bytes=sizes.get(1, usual.l1_bytes),
        l2_bytes=sizes.get(2, usual.l2_bytes),
        line_bytes=min(lines, default=usual.line_bytes),
        page_bytes=mmap.PAGESIZE,
    )


@cache
def this_machine() -> MachineModel:
    """The model of the processor that this process runs on."""
    return machine_model(caches())
