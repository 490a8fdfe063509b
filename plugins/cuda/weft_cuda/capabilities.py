"""What a GPU can do, in the core's words."""

from __future__ import annotations

from collections.abc import Callable

from weft.plugin import (
    COMMON_DTYPES,
    Capabilities,
    ComputeCaps,
    DType,
    Feature,
    KernelLimits,
    MemoryCaps,
    Pass,
    access_widths,
    dtypes,
)
from weft_cuda.chip import Chip
from weft_cuda.copies import SINCE as COPIES_SINCE
from weft_cuda.machine import machine_model
from weft_cuda.matrix_units import units_of

MAX_BUFFERS = 480
"""Parameters have 4096 bytes, 8 for a pointer; some are left for variables."""
ACCESS_BYTES = 16
"""The widest single access to memory; wider vectors are several."""
ALIGNMENT = 16
"""Windows of an allocation start at multiples of this, so that vector accesses stay aligned."""
MAX_UPCAST = 64
"""Accumulators of one thread: with 255 registers more would still fit, but fewer threads would."""
ROW_BYTES = 16384
TILES = 3
"""Of an operand at once, where copies need no registers on their way."""
LINK_GROUP = "CUDA"
WARPGROUPS = "sm_90a"
"""The architecture whose matrix units multiply for four warps at once."""


def computed_dtypes(chip: Chip) -> frozenset[DType]:
    """Those with a type in the source: short floats are types of our own (see `preamble`).

    Without matrix units for them 8-bit floats are left to the core, which stores them as bytes.
    """
    short = {dtypes.float16, dtypes.bfloat16}
    return COMMON_DTYPES | short | {core.dtype_in for core in units_of(chip.capability)}


def describe(chip: Chip, compiler: str) -> Capabilities:
    """Capabilities of `chip` with the compiler of this fingerprint."""
    known = computed_dtypes(chip)
    features = {
        Feature.BARRIER, Feature.SHARED, Feature.WARP_REDUCE, Feature.PARALLEL_COMPILE,
    }  # fmt: skip
    if chip.capability >= COPIES_SINCE:
        features.add(Feature.ASYNC_COPY)
    compute = ComputeCaps(
        dtypes=known,
        limits=KernelLimits(
            max_buffers=MAX_BUFFERS,
            global_size=chip.grid,
            local_size=chip.block,
            local_threads=chip.block_threads,
            shared_bytes=max(chip.shared_bytes, chip.most_shared_bytes),
            max_upcast=MAX_UPCAST,
            row_bytes=ROW_BYTES,
        ),
        features=frozenset(features),
        # Booleans are compared lane by lane, so there is nothing to gain from reading them at once.
        vector_widths={d: access_widths(d, ACCESS_BYTES) for d in known if d is not dtypes.bool},
        vector_bytes=0,
        tensor_cores=units_of(chip.capability),
        tiles=TILES if Feature.ASYNC_COPY in features else 2,
        warp_size=chip.warp,
        machine=machine_model(chip),
    )
    return Capabilities(
        memory=MemoryCaps(
            alignment=ALIGNMENT, link_group=LINK_GROUP, max_allocation=chip.memory_bytes
        ),
        compute=compute,
        name=chip.name,
        fingerprint=f"{chip.arch};{compiler}",
        speed=chip.name,
    )


def passes_of(chip: Chip) -> Callable[[], tuple[Pass, ...]] | None:
    """The passes of a chip with warpgroups; None: the generic ones."""
    return passes if chip.arch == WARPGROUPS else None


def passes() -> tuple[Pass, ...]:
    """The generic passes, with products by warpgroups."""
    from weft_cuda import warpgroup_products

    return warpgroup_products.passes()
