"""Capabilities of the processor, from the answers of its compiler."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

from weft.plugin import (
    COMMON_DTYPES,
    Capabilities,
    ComputeCaps,
    Feature,
    KernelLimits,
    MachineModel,
    MemoryCaps,
    PairDot,
    access_widths,
    dtypes,
    let_through,
)
from weft_cpu_clang.caches import last_cache, this_machine
from weft_cpu_clang.levels import NATIVE
from weft_cpu_clang.threads import wanted
from weft_cpu_clang.toolchain import Facts, Toolchain
from weft_cpu_clang.tuning import machine_model

MAX_BUFFERS = 1000
"""A foreign function takes 1024 arguments; some are left for variables."""

SCRATCH_BYTES = 1 << 20
"""On the stack of the launching thread: the smallest default stack of a thread is 8 MiB."""

ROW_BYTES = 1 << 18
"""On the stack as well. Reading a row of exponentials from the L2 cache takes a fraction of the
time of computing it again."""

READ_STREAMS = 8
"""Concurrent access streams: 8 streams are read a third faster than one, on processors whose
hardware prefetch ends at a page."""


_PAIR_DOTS = {
    "bfloat16": PairDot(dtypes.bfloat16, dtypes.float32, lanes=(16,)),
    "int16": PairDot(dtypes.int16, dtypes.int32, lanes=(16,)),
    "uint8": PairDot(dtypes.uint8, dtypes.int32, lanes=(4, 8, 16), dtype_other=dtypes.int8),
    # sums of two products in 16 bits, which saturate: 127 * 127 + 127 * 127 does not
    "uint7": PairDot(dtypes.uint8, dtypes.int32, lanes=(4, 8, 16), dtype_other=dtypes.int8, bits=7),
    "int8": PairDot(dtypes.int8, dtypes.int32, lanes=(4,)),
}


def describe(toolchain: Toolchain, measured: Mapping[str, float] | None = None) -> Capabilities:
    """Capabilities of this processor with this compiler. measured: fields of the machine model."""
    facts = toolchain.facts
    known = set(COMMON_DTYPES)
    if facts.half:
        known.add(dtypes.float16)
    if facts.bfloat16:
        known.add(dtypes.bfloat16)
    compute = ComputeCaps(
        dtypes=frozenset(known),
        limits=KernelLimits(
            max_buffers=MAX_BUFFERS,
            max_upcast=facts.vector_registers,
            row_bytes=ROW_BYTES,
            scratch_bytes=SCRATCH_BYTES,
        ),
        features=frozenset(
            {
                Feature.PARALLEL_COMPILE,
                Feature.THREADS,
                Feature.ANY_LANE,
                Feature.READY_KERNELS,
            }
        ),
        vector_widths={dtype: access_widths(dtype, facts.vector_bytes) for dtype in known},
        pair_dots=_pair_dots(facts),
        vector_bytes=facts.vector_bytes,
        wide_indices=True,
        cache_bytes=last_cache() if facts.flags else 0,
        machine=_machine(facts, measured or {}),
        vector_registers=facts.vector_registers,
        read_streams=1 if facts.cross_page_prefetch or not facts.vector_bytes else READ_STREAMS,
        graph_from=1,  # a table is quicker than a call with arguments
        graph_values=True,
    )
    return Capabilities(
        # Unaligned accesses cost nothing here, so a window may start at any byte.
        memory=MemoryCaps(alignment=1, cheap_windows=True, host_visible=True),
        compute=compute,
        name=f"{processor_name()}, {target_name(toolchain)}",
        fingerprint=toolchain.fingerprint,
        speed=f"{processor_name()}, {wanted()} of them, {toolchain.arch}",
    )


def _pair_dots(facts: Facts) -> tuple[PairDot, ...]:
    """The packed dot products, at most as wide as a register."""
    found: list[PairDot] = []
    for name in facts.pairs:
        unit = _PAIR_DOTS[name]
        lanes = tuple(width for width in unit.lanes if 4 * width <= facts.vector_bytes)
        found.append(replace(unit, lanes=lanes))
    return tuple(found)


def _machine(facts: Facts, measured: Mapping[str, float]) -> MachineModel:
    """The model of the processor that code is generated for: caches of this one where it is the
    same, throughputs by its registers and its name, and what was measured."""
    return machine_model(this_machine() if facts.flags else MachineModel(), facts, measured)


def target_name(toolchain: Toolchain) -> str:
    """The target of kernels, for people: the requested level, or ``native`` and the level that it
    contains."""
    level = toolchain.facts.level
    return f"{toolchain.arch} ({level})" if toolchain.arch == NATIVE and level else toolchain.arch


@cache
def processor_name() -> str:
    """For people."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return f"{line.partition(':')[2].strip()}, {os.cpu_count()} threads"
    except OSError as error:
        let_through(error)
    import platform  # where the system says it otherwise, this is not read

    return f"{platform.processor() or platform.machine()}, {os.cpu_count()} threads"
