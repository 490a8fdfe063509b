"""Every threshold of the SIMD strategy with its formula or its reason.

The first part is computed from the machine's model: shares of its caches, pages and registers, and
functions of its latencies and throughputs. The rest does not depend on a machine: ratios of
instruction counts, bounds on the size of code, search orders, and a few coefficients of the cost
model that were fitted to measurements. Each comment says what the number is and why it is no other
one.

Source: Goto & van de Geijn, "Anatomy of high-performance matrix multiplication" (ACM TOMS 2008),
for panels as shares of a cache; Mowry, Lam & Gupta, "Design and evaluation of a compiler algorithm
for prefetching" (ASPLOS 1992), for distances; Hennessy & Patterson, "Computer Architecture: A
Quantitative Approach", for latency, throughput and caches.
"""

from __future__ import annotations

import math

from weft.plugin import MachineModel, ceildiv

# ---- shares of the first-level cache ---------------------------------------------------------

NEAREST = 1  # a strip that the next tile finds there
UNPACKED = 1 / 8  # an operand that it holds whatever the stride of its rows is
ROW_PANEL = 1  # a panel where the other factor is read across its rows
LONG_ROW = 1 / 2  # a row compared with which the latency at its end is short
STRIP = 1 / 4  # a run of sums in a local array, which leaves the rest for what is read
LEAST_ROW = 1 / 4  # a row that is prefetched during the one before
LEAST_ITERATION = 1 / 32  # what an iteration reads, likewise
REMAINDERS = 1 / 2  # what is read for one result, so that its remainders stay

# ---- shares of the second-level cache --------------------------------------------------------

STATIONARY = 1 / 2  # a strip that stays while the other operand streams past
PANEL = 1 / 4  # a packed panel, and likewise the partial sums that it needs
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
PREFETCHED = 1 / 4  # data prefetched ahead of its use; a smaller operand is in the cache anyway
FROM_MEMORY = 4  # what comes from memory, if the last-level cache is not known
SKINNY = 16  # a matrix of a skinny product, which comes from memory

# ---- shares of a page ------------------------------------------------------------------------

SKINNY_STRIDE = 1 / 2  # between rows, beyond which hardware does not prefetch the next one
LEAST_BLOCK = 1  # the smallest block of a transpose
SUMMED_RUN = 1 / 4  # a run of a row whose sums are in registers; a shorter row is one run
NARROWEST_RUN = 1 / 2  # a run whose sums are in a local array ...
NARROWER_RUN = 3 / 8  # ... and if several access streams are prefetched

# ---- shares of the vector registers --------------------------------------------------------------

HIDING = 3 / 8  # sums that hide the latency of the second-level cache, as far as it is waited for
BLOCK_REGISTERS = 1 / 4  # sums of products of blocks, besides the numbers that they share
RUNS = (1 / 2, 1 / 4)  # accumulators along the lanes of the output, in the order in which it tries

# ---- cycles: coefficients of the cost model, fitted to measurements ------------------------------

HIDDEN_LOAD = 0.05  # of a load that overlaps arithmetic, where two threads share a core
WAITING = 0.15  # that half as many sums as hide that latency wait for the second-level cache
OVERLAPPED = 0.1  # of the shorter of computing and waiting for that cache, which overlap
EVICTED_LINE = 4  # loads of a line that is evicted before all of it is stored: back and forth twice
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
STORED = 1 / 2  # vectors stored in the time of one that is loaded: there is one port for two

# ---- lengths of loops ----------------------------------------------------------------------------

LONG_SUM = 32  # terms that take so long that it does not matter how the rest is read
SHORT_ROW = 7  # terms that are too few for lanes along the sum
UNKNOWN_LONG = 1 << 20  # iterations of a loop that counts as long because its extent is a variable
BLOCK_ROWS = 8  # rows that share the unpacked numbers of a block, each with a sum in a register
BLOCK_STREAMS = (4, 2)  # rows of blocks at once, for one and for several rows of activations
BLOCK_SUMS = 4  # sums of a product of blocks: each takes some 12 instructions, an addition 4 cycles
SUB_BLOCKS = 16  # of a block, whose scales are read at known bits if they are unrolled
REUSED = 32  # iterations that read the same: packing it is paid for by half of them
THREAD_PARTS = 8  # equal parts: they come out even for 2, 4 and 8 threads
OVERLAP_WASTE = 1.03  # work that the last part may do twice because it overlaps the one before
SHARED_ITERATIONS = 64  # iterations that all threads there may be share almost evenly
THREAD_GRAIN = 1 << 12  # operations that make a division into two loop indices negligible
THREADED = 1 << 19  # operations below which one thread is done before another has started

# ---- vectors -------------------------------------------------------------------------------------

ADDRESS_BYTES = 8  # of a gathered lane: a register holds so many fewer of them
GATHERED_ROWS = 4  # gathered rows in one loop body, each an access stream
OVERLAPPED_VECTORS = 32  # wide vectors of a row from which the last one may overlap
REGISTER_PART = 4  # of a register that a vector fills at least: a quarter
LONG_VECTORS = (4, 2)  # registers of one vector of a long chain, in the order in which it tries
LEAST_BLOCK_LANES = 4  # of a square block of a transpose: smaller ones are no faster than elements
PEELED_ROW = 4  # vectors of a row from which its remainder is peeled without a cost model
PEELED_ITERATIONS = 4  # of the main loop, from which on it has several accumulators
PEELED_LANES = 4  # of a vector of a short row: fewer gain nothing

# ---- tiles of registers and unrolled bodies ------------------------------------------------------

MOST_INSTANCES = 8  # instances along one loop: more of them do not fit the registers
TILED_LOOPS = 3  # innermost loops that a tile may have, besides the one with lanes
LEAST_TILED_TERMS = 4  # of a sum, so that loads are used again
SPARE_REGISTERS = 2  # besides the sums and one side of a tile, for what is computed next ...
GATED_REGISTERS = 4  # ... and if elements have gates, which are in registers before their use
UNROLLED_TRIPS = 16  # iterations of a loop that is unrolled whole
BODY_VALUES = 128  # values in one unrolled body: more of them leave the decoded instructions' cache
GATHERED_BODY_VALUES = 32  # the same if each lane is inserted by itself
WINDOW_BODY_VALUES = 160  # the same for windows of which those of a tile share rows
LEAST_RUNS = 8  # such runs in a row, so that threads can share them
WIDENED = (4, 2, 3)  # vectors of accumulators of a shorter row, in the order in which it tries
WINDOWS, TESTED_WINDOWS = 4, 3  # windows in one body; if elements are gated or gathered
WINDOW_TERMS = 36  # unrolled terms of all windows in one body
SHORTEST_WINDOW = 3  # terms of a window: those of two share little
WINDOW_LOADS = 0.85  # loads that windows in one body may have, relative to those by themselves
ROLLED_TERMS = 256  # of a sum, which make another access to its local array negligible

# ---- rows in one loop body -----------------------------------------------------------------------

BATCHED_ROW, SHARED_REGISTERS = 3, 8  # of each row in one body, and of all rows together
LEAST_BATCHED_ROWS = 16  # so that enough is left for threads to share
SCALAR_TRIPS = 8  # iterations of a loop that needs no lanes
SCAN_LEVELS = 3  # of a prefix scan whose levels wait for each other ...
SCAN_TERMS, SCAN_OPERATIONS = 16, 5  # ... with so few terms and operations in each

# ---- packed panels -------------------------------------------------------------------------------

SMALL_OPERAND = 4  # such operands fit in the cache of a strip: it is not read in strips
SHORTEST_BLOCK = 16  # terms of a panel, for which partial sums are loaded and stored again
WHOLE_REUSED = 512  # rows that share a panel of a whole reduction, which is long to pack
MANY_TILES = 40  # tiles that read an operand, each a little faster if it is packed
TABLE_PANEL_LINES = 2  # cache lines of a panel row of a table: the pair that hardware fetches
TABLE_PANELS = 4  # least number of panels, so that threads can share them
TABLE_REUSE = 0.25  # least number of elements that are loaded for each one that is copied
ROW_OPERATIONS = 16  # of an epilogue, from which rows of results in a local array are profitable
LEAST_ROW_LENGTH = 8  # results in such a row

# ---- matrices that are read once -----------------------------------------------------------------

SKINNY_ROWS = 8  # rows of the matrix that are read together: as many as are unrolled
SKINNY_LEAST_TERMS = 64  # of the sums, which make partial sums in memory negligible
SKINNY_RUN, SKINNY_SHORTEST_RUN = 16, 8  # tiles of a run of columns
SKINNY_LEAST_ROWS = 12  # rows of the result: with fewer of them memory is the limit in any case
PAGE_RUNS = 4  # least number of runs of a page
LEAST_STREAM_ROWS = 4  # rows that are added to a sum at once, at least
OTHER_REGISTERS = 4  # registers for values that are no sums

# ---- loops that are split, and branches ----------------------------------------------------------

MOST_SEGMENTS = 24  # of index-set splitting: each is a copy of the loop ...
MOST_SEGMENT_NODES = 4096  # ... and all of them together have so many nodes
SEGMENTED_ROWS = 16  # iterations of outer loops from which threads share rows, not segments
SEGMENTED_LOOP = 1 << 16  # iterations of a loop that threads would share
SKIPPED_VALUES = 16  # accumulated values that one evaluated condition may skip

# ---- prefetches ----------------------------------------------------------------------------------

WINDOW_LINES = 2  # cache lines of a row of a window, which begins anywhere in a line
LEAST_SQUARE = 8  # rows of a square, so that a block has as many cache lines to load
MOST_WINDOW_LINES = 4  # cache lines of a window, which the loop over it loads one by one
STORE_OPERATIONS = 8  # operations that take as long as a store to memory

# ---- functions of the machine's model ------------------------------------------------------------


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
    """The size of the last-level cache, or a usual one if it is unknown."""
    return machine.last_level_bytes or l2_share(machine, FROM_MEMORY)


def even_part(extent: int, most: int, least: int, waste: float = OVERLAP_WASTE) -> int:
    """The largest part of `least` to `most` iterations of which the last one wastes little by
    overlapping the one before it; 0 if there is none. waste: the work relative to the extent."""
    parts = range(most, least - 1, -1)
    return next((n for n in parts if ceildiv(extent, n) * n <= waste * extent), 0)


def registers_share(machine: MachineModel, part: float) -> int:
    """The number of registers in a part of the vector registers; at least one."""
    return max(1, int(part * machine.registers))


def l1_way_bytes(machine: MachineModel) -> int:
    """Bytes after which addresses fall into the same set of the first-level cache.

    Where its ways are not known, a way is a page: a larger one has aliases of virtual addresses.
    """
    known = machine.l1_bytes // machine.l1_ways if machine.l1_ways else machine.page_bytes
    return min(known, machine.l1_bytes)


def conflict_bytes(machine: MachineModel) -> int:
    """Bytes after which lines share few sets of the first-level cache: half a way, so two sets."""
    return l1_way_bytes(machine) // 2


def long_product(machine: MachineModel, itemsize: int) -> int:
    """Terms from which a row is a way of the first-level cache: more rows than ways conflict."""
    return l1_way_bytes(machine) // itemsize


def issue_cycles(machine: MachineModel) -> float:
    """Cycles of a multiply-add, or of a load, whose latency is hidden: the reciprocal of what
    starts in a cycle."""
    return 1.0 / machine.vector_pipes


def streaming_accumulators(machine: MachineModel) -> int:
    """Accumulators that hide the latency of a sum of products from memory (Little's law). Each
    multiply-add waits for two loads, so half as many start in a cycle."""
    return ceildiv(machine.independent_operations, 2)


def batched_rows(machine: MachineModel) -> int:
    """Rows in one body whose sums and values fit in the registers."""
    return max(1, (machine.registers - SHARED_REGISTERS) // BATCHED_ROW)


def long_chain(machine: MachineModel) -> int:
    """Dependent operations of an element from which out-of-order execution does not hold as many
    elements as there are independent operations to find."""
    return max(1, machine.results_in_flight // machine.independent_operations)


def evicted_line_cycles(machine: MachineModel) -> float:
    """Cycles for a line that is evicted before all of it is stored."""
    return EVICTED_LINE * machine.load_latency


def fetched_byte_cycles(machine: MachineModel) -> float:
    """Cycles for a byte from the second-level cache: the reciprocal of its bandwidth."""
    return 1.0 / machine.l2_bytes_per_cycle


def branch_operations(machine: MachineModel) -> int:
    """Operations of an alternative that take as long as a branch that is mispredicted."""
    return math.ceil(machine.branch_latency * machine.vector_pipes)


def line_operations(machine: MachineModel) -> float:
    """Operations during which memory delivers a cache line: the balance of the roofline model."""
    return machine.line_bytes / machine.memory_bytes_per_cycle * machine.vector_pipes


def term_distance(machine: MachineModel) -> int:
    """Iterations of a product, in which memory answers: its latency by the cycles of an iteration,
    which has one multiply-add for each register of a tile."""
    return max(1, round(machine.memory_latency * machine.vector_pipes / machine.registers))


def window_distance(machine: MachineModel) -> int:
    """Channels of an image, of which a core waits for all lines at once."""
    return max(1, machine.fill_buffers // WINDOW_LINES)


def block_distance(machine: MachineModel) -> int:
    """Blocks of a transpose: as many of the largest as may be prefetched ahead of their use."""
    return l2_share(machine, PREFETCHED) // l2_share(machine, BLOCK)


def strided_block(machine: MachineModel) -> int:
    """Rows of a block of strided loads of words: it uses half of each cache line."""
    return machine.line_bytes // 8


def summed_run(machine: MachineModel) -> int:
    """Vectors of the longest run whose sums are in registers."""
    return page_share(machine, SUMMED_RUN) // max(1, machine.register_bytes)
