"""Thresholds of the passes that every device shares, each with its reason.

What depends on the machine is computed from its model (`MachineModel`), by functions. The rest
bounds the size of code and the time of compilation, or follows from the form of a technique. Those
of the launch-grid strategy are in `launch_grid/thresholds.py`, those of a plugin's strategy in
the plugin.

Source: Allen & Kennedy, "Optimizing Compilers for Modern Architectures" (2001), for register
blocking; sound because no threshold changes what a kernel computes.
"""

from __future__ import annotations

from weft.base.dtype import dtypes
from weft.device import ComputeCaps, MachineModel

# ---- scatter-add: estimated operations, before and after --------------------------------------

MIN_SPEEDUP = 2  # an estimate is not better than this
BLOCKS = 8  # for threads; fixed, so that kernels are the same for any number of threads
LONG_ROW = 16  # elements of a row, from which on the index test in each block is negligible
MIN_TERMS = 4  # fewer do not amortize the initialization of the local array

# ---- work-groups -------------------------------------------------------------------------------

ONE_STEP = 16  # partial results that every work item adds up; more are added up in two steps
PRIVATE_ELEMENTS = 32  # of a row that one work item keeps in registers, besides its accumulators
ACCESS_BYTES = 16  # of the widest access where a device declares no vector widths
ASYNC_BYTES = 8  # of an asynchronous copy of several elements, at least: shorter ones are too many

# ---- unrolling and vectors ---------------------------------------------------------------------

MOST_OPERATIONS = 128  # operations of a kernel, beyond which unrolling only makes code long
MOST_INSTANCES = 1024  # values of one node in a loop body, to bound the time of compilation ...
MOST_LANES = 4096  # ... and the lanes of all of them
LOCAL_ARRAY = 1 / 8  # of the second-level cache: all copies of one local array
FEWEST_COLUMNS = 4  # of a part of a matrix that is transposed: with two, a row is half a load
FEWEST_SCANNED = 4  # lanes of a prefix scan, whose steps cost as much as additions of fewer
SHUFFLE_BYTES = 16  # of a register, within which interleaving is one instruction without a table
PERMUTED_LANES = 16  # of 32 bits, from which on one instruction selects from two registers
FEWEST_SELECTED = 4  # scalars that two loads and a permutation take the place of
COVERING_LOAD = 32  # bytes of each of two loads from which scalars a few apart are selected
SHIFT_COST = 4  # instructions of a shift of bytes by different numbers, which few targets have
IMAGE_LOOPS = 3  # loops that are strip-mined for the channels of images: 64 unrolled instances
DIVISION_ROUNDS = 4  # of simplifying the divisions of one index: each uses what the last one found

# ---- structural zeros --------------------------------------------------------------------------

ZERO_EXTENT = 8  # of a loop that is unrolled to eliminate zeros, to bound the size of code
ZERO_POINTS = 1 << 10  # iterations that are evaluated, to bound the time of compilation
ZERO_SHARE = 0.85  # of products that remain: fewer savings do not pay for longer code

# ---- search ------------------------------------------------------------------------------------

MOST_BODY = 256  # values in one loop body: more of them would only take the compiler long
MOST_TEXT = 8192  # operations of an unrolled loop body: a compiler takes minutes for more ...
FEW_VALUES = 16  # ... but a body may have so many values in any case
SHORT_LOOP = 16  # iterations of a loop that may be unrolled whole


def local_array_bytes(machine: MachineModel) -> int:
    """Return the most bytes of all copies of one local array, so that they stay in the L2 cache."""
    return int(LOCAL_ARRAY * machine.l2_bytes)


def tile_side(machine: MachineModel) -> int:
    """Outputs along each side of a square register tile: the largest power of two whose square
    fits in the registers."""
    return 1 << (machine.registers.bit_length() - 1) // 2


def vector_lanes(machine: MachineModel) -> int:
    """Words of one vector addition; those of a cache line where arithmetic has no vectors."""
    return machine.lanes(dtypes.int32) or machine.line_bytes // dtypes.int32.itemsize


def widest_access(compute: ComputeCaps) -> int:
    """Bytes of the widest load or store that a device declares."""
    return max(
        (width * dtype.itemsize for dtype, all in compute.vector_widths.items() for width in all),
        default=ACCESS_BYTES,
    )
