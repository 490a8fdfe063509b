"""Thresholds of the launch-grid strategy, all of them, each with its reason.

What depends on the machine is computed from its model. A model that does not say it is taken for a
large GPU: its processors, and warps of 32 work items.

Source: Volkov, "Better performance at lower occupancy" (GTC 2010), for the work that hides latency.
"""

from __future__ import annotations

from weft.device.machine import MachineModel

UNKNOWN = 64  # taken for an extent that is a variable
GROUP = 256  # work items of a group, at most: more of them wait longer at a barrier
FEWEST = 8  # work items that are worth a group
FARTHEST = 1.3  # how many times as many iterations as are real are worth rounding up to

SIDE = 16  # work items along each side of a square group: a half-warp reads whole cache lines
RUN = 4  # elements of one work item where reads and writes go along different axes

OWN = 256  # bytes of rows that a work item may well keep to itself, in registers
STACKED = 4  # rows of a group, a warp each
SHORT = 16  # iterations of a reduction that are not worth sharing among warps

DEPTH = 16  # terms of a sum that are brought to shared memory at once: half a cache line of floats
UNIT_DEPTH = 4  # the same in fragments of a matrix unit
UPCASTS = (1, 2, 4, 8)  # outputs of a work item along one axis
GROUPS = (1, 2, 4, 8, 16, 32)  # work items of a group along one axis
WARPS = (1, 2, 4)  # warps of a group along one axis, where each computes on a matrix unit
RESIDENT = 8  # warps of a processor that hide what each of them waits for
NARROW = 4  # a side of so few outputs is no side of a tile
UNSTAGED = 3.0  # cost of a term whose operands come from memory, relative to shared memory

_LARGE = 128  # processors of a large device
_EMULATED = 4  # of one that emulates its groups: those of a usual computer
_WARP = 32  # work items
_ITEMS = 1 << 10  # work items that a processor runs at once
_SHARED = 1 << 18  # bytes of shared memory of a processor, for all of its groups


def warp_of(machine: MachineModel) -> int:
    """Work items that run in step."""
    return machine.warp_size or _WARP


def processors_of(machine: MachineModel, emulated: bool = False) -> int:
    """Processors, each of which runs several groups at once; emulated: one after the other."""
    return machine.cores or (_EMULATED if emulated else _LARGE)


def work_items_of(machine: MachineModel) -> int:
    """Work items that all processors run at once."""
    return processors_of(machine) * _ITEMS


def shared_bytes_of(machine: MachineModel) -> int:
    """Shared memory of all processors together."""
    return processors_of(machine) * _SHARED
