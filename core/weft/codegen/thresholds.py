"""Thresholds of the passes that every device shares, each with its reason.

What depends on the machine is computed from its model (`MachineModel`). Those of the launch-grid
strategy are in `launch_grid/thresholds.py`, those of a plugin's strategy beside it.

Source: none known; sound because no threshold changes what a kernel computes.
"""

from __future__ import annotations

from weft.device import ComputeCaps

# ---- scatter-add: estimated operations, before and after --------------------------------------

VECTOR_ADDITION = 16  # contiguous elements of one addition: the registers of the usual processor
MIN_SPEEDUP = 2  # an estimate is not better than this
BLOCKS = 8  # for threads; fixed, so that kernels are the same for any number of threads
LONG_ROW = 16  # elements of a row, from which on the index test in each block is negligible
MIN_TERMS = 4  # fewer do not amortize the initialization of the local array

# ---- work-groups -------------------------------------------------------------------------------

ONE_STEP = 16  # partial results that every work item adds up; more are added up in two steps
PRIVATE_ELEMENTS = 32  # of a row that one work item keeps in registers, beside its accumulators
ACCESS_BYTES = 16  # of the widest access where a device declares no vector widths
ASYNC_BYTES = 8  # of an asynchronous copy of several elements, at least: shorter ones are too many


def widest_access(compute: ComputeCaps) -> int:
    """Bytes of the widest load or store that a device declares."""
    return max(
        (width * dtype.itemsize for dtype, all in compute.vector_widths.items() for width in all),
        default=ACCESS_BYTES,
    )
