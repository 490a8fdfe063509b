"""Machine model: caches, registers, latencies, throughputs and cores of a device.

Frozen data that a plugin fills in as far as it knows, in `ComputeCaps.machine`. A strategy computes
its thresholds from it. What a plugin does not say is that of a usual processor: the strategies were
tuned with these defaults.

Source: Williams, Waterman & Patterson, "Roofline: an insightful visual performance model for
multicore architectures" (CACM 2009), for a machine as a few numbers; Hennessy & Patterson,
"Computer Architecture: A Quantitative Approach", for Little's law on pipelines.
"""

from __future__ import annotations

import math
from dataclasses import field, fields

from weft.base.deferred_dataclass import dataclass
from weft.base.dtype import DType, dtypes
from weft.device.validation import check, each, freeze, number, one, whole
from weft.uop import Ops

_USUAL_PIPES = 2.0
"""Of every core that executes out of order and is not built for low power alone."""


@dataclass(frozen=True)
class Throughput:
    """The peak throughput of one operation on a core.

    :param op: the operation, such as `Ops.MULACC`, a fused multiply-add.
    :param dtype: of one result.
    :param per_cycle: results in a cycle of one core: every lane of a vector instruction counts, and
        every work item of a warp.
    """

    op: Ops
    dtype: DType
    per_cycle: float

    def __post_init__(self) -> None:
        check(self, op=one(Ops), dtype=one(DType), per_cycle=number())


@dataclass(frozen=True)
class MachineFact:
    """One measured value of a machine.

    :param name: for people, such as "L2: loads".
    :param value: what was measured.
    :param unit: of the value.
    :param field: the field of `MachineModel` that it sets; "": none.
    """

    name: str
    value: float
    unit: str
    field: str = ""

    def __post_init__(self) -> None:
        check(self, name=one(str), value=number(), unit=one(str), field=one(str))

    def __str__(self) -> str:
        return f"{self.name}: {self.value:.4g} {self.unit}"


@dataclass(frozen=True)
class MachineModel:
    """The properties of a machine for strategies. Sizes are in bytes, latencies in cycles.

    :param l1_bytes: first-level data cache of one core.
    :param l1_ways: lines of one set of that cache; 0: unknown.
    :param l2_bytes: second-level cache of one core.
    :param l2_bytes_per_cycle: what that cache delivers to the core, sustained.
    :param line_bytes: a cache line.
    :param page_bytes: a page, beyond which a hardware prefetcher does not look.
    :param multiply_add_latency: from the operands of a multiply-add to its result.
    :param load_latency: of a cache line that the first-level cache does not hold.
    :param memory_latency: of a cache line that no cache holds.
    :param memory_bytes_per_cycle: what memory delivers to one core at best: strategies compare it
        with arithmetic.
    :param memory_load_bytes_per_cycle: what loads of one core reach, sustained.
    :param memory_store_bytes_per_cycle: what it takes from one core, sustained: a store that
        misses all caches loads its line before.
    :param last_level_bytes_per_cycle: what the last-level cache delivers to one core.
    :param last_level_store_bytes_per_cycle: what it takes from one core.
    :param fill_buffers: cache lines for which a core waits at once.
    :param branch_latency: of a branch that was mispredicted.
    :param results_in_flight: vector results of instructions that a core executes out of order.
    :param throughputs: of the operations that matter; what is not here is unknown.
    :param cores: that compute in parallel: of a GPU its multiprocessors; 0: unknown.
    :param banks: of shared memory, each of which serves one word in a cycle.
    :param bank_bytes: the word of a bank.

    The other fields are not given here. `ComputeCaps` fills them in from its own:

    :ivar last_level_bytes: the last-level cache (`cache_bytes`); 0: unknown.
    :ivar register_bytes: one vector register (`vector_bytes`); 0: arithmetic is scalar.
    :ivar registers: vector registers of one work item (`vector_registers`).
    :ivar streams: access streams of one thread that read long memory fastest (`read_streams`).
    :ivar warp_size: work items that run in step (`warp_size`); 0: unknown.
    :ivar shared_bytes: shared memory of one group (`limits.shared_bytes`).
    """

    l1_bytes: int = 1 << 15
    l1_ways: int = 0
    l2_bytes: int = 1 << 20
    l2_bytes_per_cycle: float = 40.0
    line_bytes: int = 64
    page_bytes: int = 1 << 12
    multiply_add_latency: float = 4.0
    load_latency: float = 8.0
    memory_latency: float = 256.0
    memory_bytes_per_cycle: float = 12.8
    memory_load_bytes_per_cycle: float = 12.8
    memory_store_bytes_per_cycle: float = 6.4
    last_level_bytes_per_cycle: float = 16.0
    last_level_store_bytes_per_cycle: float = 12.0
    fill_buffers: int = 16
    branch_latency: float = 12.0
    results_in_flight: int = 160
    cores: int = 0
    banks: int = 32
    bank_bytes: int = 4
    throughputs: tuple[Throughput, ...] = ()
    last_level_bytes: int = field(default=0, init=False)
    register_bytes: int = field(default=0, init=False)
    registers: int = field(default=16, init=False)
    streams: int = field(default=1, init=False)
    warp_size: int = field(default=0, init=False)
    shared_bytes: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        freeze(self, throughputs=tuple)
        check(
            self, l1_bytes=whole(1), l1_ways=whole(), l2_bytes=whole(1),
            l2_bytes_per_cycle=number(), line_bytes=whole(1), page_bytes=whole(1),
            multiply_add_latency=number(), load_latency=number(), memory_latency=number(),
            memory_bytes_per_cycle=number(), memory_load_bytes_per_cycle=number(),
            memory_store_bytes_per_cycle=number(),
            last_level_bytes_per_cycle=number(), last_level_store_bytes_per_cycle=number(),
            fill_buffers=whole(1), branch_latency=number(),
            results_in_flight=whole(1), cores=whole(), banks=whole(1), bank_bytes=whole(1),
            throughputs=each(lambda value: isinstance(value, Throughput), "Throughputs"),
        )  # fmt: skip

    def lanes(self, dtype: DType) -> int:
        """Elements of a dtype in one vector register; 0 where arithmetic is scalar."""
        return self.register_bytes // dtype.itemsize

    def throughput(self, op: Ops, dtype: DType) -> float:
        """Results of an operation that one core completes in a cycle; 0.0: unknown."""
        found = (one.per_cycle for one in self.throughputs if (one.op, one.dtype) == (op, dtype))
        return next(found, 0.0)

    @property
    def vector_pipes(self) -> float:
        """Vector multiply-adds, or vector loads, that the fastest core of the target starts in a
        cycle: by the throughputs, or two where these say less, because they hold for every core of
        a family."""
        lanes = self.lanes(dtypes.float32)
        known = self.throughput(Ops.MULACC, dtypes.float32) / lanes if lanes else 0.0
        return max(_USUAL_PIPES, known)

    @property
    def independent_operations(self) -> int:
        """Operations that do not wait for each other, so many that all pipelines are busy: latency
        times throughput (Little's law)."""
        return math.ceil(self.multiply_add_latency * self.vector_pipes)

    def with_facts(self, **facts: int) -> MachineModel:
        """A copy with the fields that are not given to the constructor."""
        given = {one.name: getattr(self, one.name) for one in fields(self) if one.init}
        filled = MachineModel(**given)
        for name, value in facts.items():
            object.__setattr__(filled, name, value)
        return filled
