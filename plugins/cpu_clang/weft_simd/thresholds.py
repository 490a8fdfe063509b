"""Every threshold of the SIMD strategy with its reason. These are the only tuned numbers.

Sizes are shares of a cache or a page of the machine's model. They were measured with a first-level
cache of 32 KiB and a second-level cache of 1 MiB, which a model has that does not say. Numbers that
no model holds follow: cycles, ratios of instruction counts, distances of prefetches, and how much
code a loop body may have. Each comment says what the number is and why it is no other one.

Source: Goto & van de Geijn, "Anatomy of high-performance matrix multiplication" (ACM TOMS 2008),
for panels as shares of a cache.
"""

from __future__ import annotations

from weft.plugin import MachineModel, ceildiv

# ---- shares of the first-level cache ---------------------------------------------------------

NEAREST = 1  # a strip that the next tile finds there
UNPACKED = 1 / 8  # an operand that it holds whatever the stride of its rows is
ROW_PANEL = 1  # a panel where the other factor is read across its rows
LONG_ROW = 1 / 2  # a row beside which the wait at its end is short
STRIP = 1 / 4  # a run of sums in a local array, beside what is read
LEAST_ROW = 1 / 4  # a row that is prefetched during the one before
LEAST_ITERATION = 1 / 32  # what an iteration reads, likewise
REMAINDERS = 1 / 2  # what is read for one result, so that its remainders stay

# ---- shares of the second-level cache --------------------------------------------------------

STATIONARY = 1 / 2  # a strip that stays while the other operand streams past
PANEL = 1 / 4  # a packed panel, and the partial sums beside it
WHOLE_PANEL = 3 / 8  # one that saves a sum its blocks, whose partial sums cost as well
NEAR = 7 / 8  # an operand that it holds without packing
FAR = 1  # an operand that it has evicted one strip later
BATCHED_ROWS = 7 / 16  # all rows, which are read again
STREAMED_ROWS = 9 / 64  # rows in one loop body that come from further away
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

# ---- cycles --------------------------------------------------------------------------------------

SAME_SET = 2048  # bytes apart at which lines of a first-level cache conflict: half of a way
ISSUE = 0.5  # cycles of a multiply-add, or of a load: two start in each
HIDDEN_LOAD = 0.05  # cycles of a load beside arithmetic, where two threads share a core
FETCHED_BYTE = 0.025  # cycles for a byte of a vector from the second-level cache
REGISTERS_HIDING = 3 / 8  # of all registers: so many sums hide that latency ...
WAITING = 0.15  # ... and cycles that half as many wait
HIDDEN_COMPUTE = 0.1  # of what a tile computes while it waits for that cache: ranks such tiles
LINE_AGAIN = 30.0  # cycles for a line that was evicted before all of it was stored
EQUAL_COST = 1e-9  # cycles by which rounding may change a cost

# ---- instructions, relative to one contiguous access ---------------------------------------------

UNKNOWN_TRIPS = 64  # iterations of a loop whose extent is a variable: it is neither short nor long
LANE_ACCESS = 1.5  # one lane that is gathered or scattered: its address, and half of an insertion
SCATTERED_STORE = 1.5  # factor of a scattered store whose cache line is fetched once
CONFLICTING_STORE = 6.0  # factor of one whose lines conflict in a cache set, and are fetched again
TESTED_ELEMENT = 3.0  # one element with a gate of its own: the test, the load, the select
TESTED_LANE = 2.0  # one lane with a gate, in vectors of which most lanes are known to pass
TESTED_VECTOR = 4.0  # a contiguous vector with gates that may differ from lane to lane ...
TESTED_NEIGHBOUR = 0.75  # ... and for each of its lanes
TESTED_TERMS = 16  # terms of a sum from which such gates are profitable
UNPACKED_VECTOR = 0.5  # a vector that comes from further away than a packed panel would
UNPACKED_PRODUCT = 1.5  # factor of a long product whose operands cannot be packed
PROFITABLE = 0.7  # largest cost of vectors relative to scalar code: the model may be wrong by that
TRANSCENDENTAL_OPERATIONS = 20  # of an exponential, logarithm or sine: its polynomial
DIVISION_OPERATIONS = 8  # of a division or a square root, which are not pipelined

# ---- lengths of loops ----------------------------------------------------------------------------

LONG_PRODUCT = 1024  # terms from which rows are longer than a cache is associative
LONG_CHAIN = 20  # dependent operations of an element: several vectors hide their latency
LONG_SUM = 32  # terms beside which it does not matter how the rest is read
SHORT_ROW = 7  # terms that are too few for lanes along the sum
UNKNOWN_LONG = 1 << 20  # iterations of a loop that counts as long because its extent is a variable
REUSED = 32  # iterations that read the same: packing it is paid for by half of them
THREAD_PARTS = 8  # equal parts: they come out even for 2, 4 and 8 threads
OVERLAP_WASTE = 1.03  # work that the last part may do twice because it overlaps the one before
SHARED_ITERATIONS = 64  # iterations that all threads there may be share almost evenly
THREAD_GRAIN = 1 << 12  # operations beside which a division into two loop indices costs nothing
THREADED = 1 << 19  # operations below which one thread is done before another has started

# ---- vectors -------------------------------------------------------------------------------------

ADDRESS_BYTES = 8  # of a gathered lane: a register holds so many fewer of them
GATHERED_ROWS = 4  # gathered rows in one loop body, each an access stream
OVERLAPPED_VECTORS = 32  # wide vectors of a row from which the last one may overlap
STRIDED_BLOCK = 8  # rows of a block of strided loads: it uses half of each cache line
REGISTER_PART = 4  # of a register that a vector fills at least: a quarter
LONG_VECTORS = (4, 2)  # registers of one vector of a long chain, in the order in which it tries
PEELED_ROW = 4  # vectors of a row from which its remainder is peeled without a cost model ...
PEELED_LONG_ROW = 16  # ... and from which the main loop has several accumulators
PEELED_VECTORS = 4  # accumulators of a long sum: an addition takes four cycles
PEELED_LANES = 4  # of a vector of a short row: fewer gain nothing

# ---- tiles of registers and unrolled bodies ------------------------------------------------------

MOST_INSTANCES = 8  # instances along one loop: more of them do not fit the registers
TILED_LOOPS = 3  # innermost loops that a tile may have, beside the one with lanes
LEAST_TILED_TERMS = 4  # of a sum, so that loads are used again
SPARE_REGISTERS = 2  # beside the sums and one side of a tile, for what is computed next ...
GATED_REGISTERS = 4  # ... and if elements have gates, which are in registers before their use
ACCUMULATORS = 8  # independent sums: a multiply-add takes four cycles, and two start in each
UNROLLED = 4  # iterations of a reduction that is too long to be unrolled whole
UNROLLED_TRIPS = 16  # iterations of a loop that is unrolled whole
BODY_VALUES = 128  # values in one unrolled body: more of them leave the decoded instructions' cache
GATHERED_BODY_VALUES = 32  # the same if each lane is inserted by itself
WINDOW_BODY_VALUES = 160  # the same for windows of which those of a tile share rows
LONG_CHAINS = 8  # long chains in one body: what more of them hold does not fit the registers
LONG_RUN, SHORT_RUN = 16, 8  # vectors of accumulators along the lanes of the output
LEAST_RUNS = 8  # such runs in a row, so that threads can share them
WIDENED = (4, 2, 3)  # vectors of accumulators of a shorter row, in the order in which it tries
GATHERED_TERMS = (8, 16)  # unrolled terms that hide the latency of gathered lanes: from, to
WINDOWS, TESTED_WINDOWS = 4, 3  # windows in one body; if elements are gated or gathered
WINDOW_TERMS = 36  # unrolled terms of all windows in one body
SHORTEST_WINDOW = 3  # terms of a window: those of two share little
WINDOW_LOADS = 0.85  # loads that windows in one body may have, relative to those by themselves
ROLLED_TERMS = 256  # of a sum, beside which another visit to its local array costs nothing

# ---- rows in one loop body -----------------------------------------------------------------------

LEAST_BATCHED_ROWS = 16  # so that enough is left for threads to share
BATCHED_ROWS_TOGETHER = 4  # rows in one body: they hide the latency of a reduction across lanes
BATCHING_REGISTERS = 32  # registers that this takes; half of the rows if there are fewer
SCALAR_TRIPS = 8  # iterations of a loop that needs no lanes
SCAN_LEVELS = 3  # of a prefix scan whose levels wait for each other ...
SCAN_TERMS, SCAN_OPERATIONS = 16, 5  # ... with so few terms and operations in each

# ---- packed panels -------------------------------------------------------------------------------

SMALL_OPERAND = 4  # such operands fit in the cache of a strip: it is not read in strips
SHORTEST_BLOCK = 16  # terms of a panel, for which partial sums are loaded and stored again
WHOLE_REUSED = 128  # iterations that share a panel of a whole reduction, which is long to pack
MANY_TILES = 40  # tiles that read an operand, each a little faster if it is packed
TABLE_PANEL_BYTES = 128  # of a panel row of a table: two cache lines
TABLE_PANELS = 4  # least number of panels, so that threads can share them
TABLE_REUSE = 0.25  # least number of elements that are loaded for each one that is copied
ROW_OPERATIONS = 16  # of an epilogue, from which rows of results in a local array are profitable
LEAST_ROW_LENGTH = 8  # results in such a row

# ---- matrices that are read once -----------------------------------------------------------------

SKINNY_ROWS = 8  # rows of the matrix that are read together: as many as are unrolled
SKINNY_LEAST_TERMS = 64  # of the sums, beside which partial sums in memory cost little
SKINNY_RUN, SKINNY_SHORTEST_RUN = 16, 8  # tiles of a run of columns
SKINNY_LEAST_ROWS = 12  # rows of the result: with fewer of them memory is the limit in any case
LONGEST_RUN, SHORTEST_RUN = 16, 10  # vectors of a run whose sums are in registers
STREAMED_ROW = 1 << 10  # bytes of a row, below which registers hold the sums of one
NARROWEST_RUN = 1 << 11  # bytes of a run whose sums are in a local array: half of a page ...
NARROWER_RUN = 3 << 9  # ... and less if several access streams are prefetched
PAGE_RUNS = 4  # least number of runs of a page
STREAM_ROWS, LEAST_STREAM_ROWS = 16, 4  # rows that are added to a sum at once: access streams
BESIDE_SUMS = 4  # registers for what is no sum

# ---- loops that are split, and branches ----------------------------------------------------------

MOST_SEGMENTS = 24  # of index-set splitting: each is a copy of the loop ...
MOST_SEGMENT_NODES = 4096  # ... and all of them together have so many nodes
SEGMENTED_ROWS = 16  # iterations of outer loops from which threads share rows, not segments
SEGMENTED_LOOP = 1 << 16  # iterations of a loop that threads would share
BRANCH_OPERATIONS = 24  # of an alternative: skipping it pays for a branch that is mispredicted
SKIPPED_VALUES = 16  # accumulated values that one evaluated condition may skip

# ---- prefetches ----------------------------------------------------------------------------------

TERM_DISTANCE = 16  # iterations of a product, in which memory answers
WINDOW_DISTANCE = 8  # channels of an image, likewise
BLOCK_DISTANCE = 4  # blocks of a transpose, likewise
LEAST_SQUARE = 8  # rows of a square, so that a block has as many cache lines to load
MOST_TILE_ROWS = 16  # rows of a tile: more of them are more streams than there are fill buffers
MOST_WINDOW_LINES = 4  # cache lines of a window, which the loop over it loads one by one
LINE_OPERATIONS = 10  # operations for each line that is on its way meanwhile
STORE_OPERATIONS = 8  # operations that take as long as a store to memory


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


def even_part(extent: int, most: int, least: int, waste: float = OVERLAP_WASTE) -> int:
    """The largest part of `least` to `most` iterations of which the last one wastes little by
    overlapping the one before it; 0 if there is none. waste: the work relative to the extent."""
    parts = range(most, least - 1, -1)
    return next((n for n in parts if ceildiv(extent, n) * n <= waste * extent), 0)
