"""Thresholds of the SIMD strategy that depend on the machine, each with its reason.

Sizes are shares of a cache or a page of the machine's model. They were measured with a first-level
cache of 32 KiB and a second-level cache of 1 MiB, which a model has that does not say. Numbers that
no model holds are constants in the second part. What does not depend on the machine, such as how
many values a loop body may have, stands in the module that uses it.

Source: Goto & van de Geijn, "Anatomy of high-performance matrix multiplication" (ACM TOMS 2008),
for panels as shares of a cache.
"""

from __future__ import annotations

from weft.plugin import MachineModel

# ---- shares of the first-level cache ---------------------------------------------------------

NEAREST = 1  # a strip that the next tile finds there
UNPACKED = 1 / 8  # an operand that it holds however its rows lie
ROW_PANEL = 1  # a panel where the other factor is read across its rows
LONG_ROW = 1 / 2  # a row at whose end little is waited for
STRIP = 1 / 4  # a run of sums in a local array, beside what is read
LEAST_ROW = 1 / 4  # a row that is worth prefetching during the one before
LEAST_ITERATION = 1 / 32  # what an iteration reads, likewise
REMAINDERS = 1 / 2  # what is read for one result, so that its remainders stay

# ---- shares of the second-level cache --------------------------------------------------------

STATIONARY = 1 / 2  # a strip that stays while the other operand streams past
PANEL = 1 / 4  # a packed panel, and the partial sums beside it
WHOLE_PANEL = 3 / 8  # one that saves a sum its blocks, whose partial sums cost as well
NEAR = 7 / 8  # an operand that it holds as it lies
FAR = 1  # an operand that is gone one strip later
BATCHED_ROWS = 7 / 16  # all rows, which are read again
STREAMED_ROWS = 9 / 64  # rows side by side that come from further away
KEPT_SUMS = 1 / 8  # partial sums of a skinny product
MATRIX = 1 / 4  # elements of a matrix that does not stay in a cache
STREAMS = 1  # a matrix that is read as several streams, whatever cache it is in
BLOCK = 1 / 16  # the largest block of a transpose, of which it holds several
TABLE = 1  # a table that it serves without panels
UNALIGNED_TABLE = 8  # the same if rows are not whole cache lines, which are copied twice
PREFETCHED = 1 / 4  # what a prefetch may bring before it is read; a smaller operand is there anyway
FROM_MEMORY = 4  # what comes from memory, if the last-level cache is not known
SKINNY = 16  # a matrix of a skinny product, which comes from memory

# ---- shares of a page ------------------------------------------------------------------------

SKINNY_STRIDE = 1 / 2  # between rows, beyond which hardware does not prefetch the next one
LEAST_BLOCK = 1  # the smallest block of a transpose

# ---- prefetches ------------------------------------------------------------------------------

TERM_DISTANCE = 16  # iterations of a product, in which memory answers
WINDOW_DISTANCE = 8  # channels of an image, likewise
BLOCK_DISTANCE = 4  # blocks of a transpose, likewise
LEAST_SQUARE = 8  # rows of a square, so that a block has as many cache lines to load
MOST_TILE_ROWS = 16  # rows of a tile: more of them are more streams than there are buffers for
MOST_WINDOW_LINES = 4  # cache lines of a window, which the loop over it loads one by one
LINE_OPERATIONS = 10  # operations for each line that is on its way meanwhile
STORE_OPERATIONS = 8  # operations that take as long as a store to memory

# ---- what no model holds ---------------------------------------------------------------------

SAME_SET = 2048  # bytes apart at which lines of a first-level cache conflict: half of a way
HIDDEN_LOAD = 0.05  # cycles of a load beside arithmetic, where two threads share a core
FETCHED_BYTE = 0.025  # cycles for a byte of a vector from the second-level cache
REGISTERS_HIDING = 3 / 8  # of all registers: so many sums hide that latency ...
WAITING = 0.15  # ... and cycles that half as many wait
LINE_AGAIN = 30.0  # cycles for a line that was evicted before all of it was stored
THREADED = 1 << 19  # operations below which one thread is done before another has started


def l1_share(machine: MachineModel, part: float) -> int:
    """Bytes of a part of the first-level cache."""
    return int(part * machine.l1_bytes)


def l2_share(machine: MachineModel, part: float) -> int:
    """Bytes of a part of the second-level cache."""
    return int(part * machine.l2_bytes)


def page_share(machine: MachineModel, part: float) -> int:
    """Bytes of a part of a page."""
    return int(part * machine.page_bytes)


def last_level_bytes(machine: MachineModel) -> int:
    """What the last-level cache holds, or may hold where that is not known."""
    return machine.last_level_bytes or l2_share(machine, FROM_MEMORY)
