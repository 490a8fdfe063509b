"""Thresholds of the launch-grid strategy, all of them, each with its reason.

What depends on the machine is computed from its model: processors, and work items of a warp. A
model that does not say them is taken for a large GPU, with warps of 32 work items. The rest are
bounds on the search of a tile, ratios of costs, and what all GPUs that weft knows have alike: four
warp schedulers in a processor, and groups of up to 1024 work items.

Source: Volkov, "Better performance at lower occupancy" (GTC 2010), for the work that hides latency.
"""

from __future__ import annotations

from weft.device.machine import MachineModel

UNKNOWN = 64  # taken for an extent that is a variable: two warps share it, no tile is cut for it
GROUP = 256  # work items of a group, at most: more of them wait longer at a barrier
FEWEST = 8  # work items of a group, at least: fewer leave most of a warp idle
WARPS_OF_GROUP = 2  # from which on a group is not extended along another axis
FARTHEST = 1.3  # times the iterations that there are, to which rounding up is profitable

SIDE = 16  # work items along each side of a square group: a half-warp reads whole cache lines
RUN = 4  # elements of one work item where reads and writes have different contiguous axes

OWN = 256  # bytes of rows that a work item may keep in its registers: a quarter of them
STACKED = 4  # rows of a group, a warp each: one for each scheduler
SHORT = 16  # iterations of a reduction, fewer of which are not shared among warps

UNROLLED = 4  # terms of a sum that are unrolled: the loads of one are under way during another
DEPTH = 16  # terms of a sum that are copied to shared memory at once: half a cache line of floats
MIN_BLOCKS = 3  # from which on rounding a sum up to whole blocks adds less than a third
UNIT_DEPTH = 4  # the same in fragments of a matrix unit
UPCASTS = (1, 2, 4, 8)  # outputs of a work item along one axis
GROUPS = (1, 2, 4, 8, 16, 32)  # work items of a group along one axis
DIVISORS = range(5, 16)  # the same, where they divide the axis: nothing is rounded up
WARPS = (1, 2, 4)  # warps of a group along one axis, where each computes on a matrix unit
RESIDENT = 8  # warps of a processor that hide what each of them waits for: two for a scheduler
NARROW = 4  # a side of so few outputs is no side of a tile
LONG_SIDE = 64  # outputs along a side, more of which make no better tile
ROUNDED = 4  # times the rows of a product that a tile of matrix units may have
WASTE = 1.2  # times the products that there are, for units to be along memory

# Cycles of a processor for one term of a tile (`tiles`), as far as they decide between tiles.
WARPS_AT_ONCE = 4  # warps whose multiply-adds, or whose loads of one word for all, start in a cycle
FRAGMENT_LOAD = 0.6  # of a fragment, relative to a multiply-add of a matrix unit
BARRIERS = 8  # of the barriers of a block
UNSTAGED = 3.0  # factor for operands that are read from global instead of shared memory

# Iterations until all outputs are done, as far as they decide between groups (`cooperative_loops`).
BUSY = 1 / 2  # share of the work items at once, from which on a device counts as busy
FEW_OUTPUTS = 1 / 32  # the same, below which it is profitable to share any loop
WAVES = 4  # groups for each processor, from which on several warps of one group take a row each
SCATTERED = 2  # factor if adjacent work items read distant addresses
ROW_ACCESSES = 3  # for an element of a row in shared memory: a store, a barrier, a load
COMBINE = 4  # for the barriers of a combination in shared memory
STEP = 2  # for one step of a combination: an exchange and an operation

ITEMS = 1 << 10  # work items that a processor runs at once: each has 64 of its 65,536 registers
_LARGE = 128  # processors of a large device
_EMULATED = 4  # of one that emulates its groups: those of a usual computer
_WARP = 32  # work items
_SHARED = 1 << 18  # bytes of shared memory of a large processor, for all of its groups


def warp_of(machine: MachineModel) -> int:
    """Work items that run in step."""
    return machine.warp_size or _WARP


def processors_of(machine: MachineModel, emulated: bool = False) -> int:
    """Processors, each of which runs several groups at once; emulated: one after the other."""
    return machine.cores or (_EMULATED if emulated else _LARGE)


def work_items_of(machine: MachineModel) -> int:
    """Work items that all processors run at once."""
    return processors_of(machine) * ITEMS


def shared_bytes_of(machine: MachineModel) -> int:
    """Shared memory of all processors together."""
    return processors_of(machine) * _SHARED
