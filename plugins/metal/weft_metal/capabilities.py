"""What Apple's GPU families can do.

Source of the numbers: Apple, "Metal Feature Set Tables", and "Metal Shading Language
Specification", sections on address spaces, scalar types and argument attributes.
"""

from __future__ import annotations

from weft.plugin import (
    Capabilities,
    ComputeCaps,
    DType,
    Feature,
    KernelLimits,
    MemoryCaps,
    access_widths,
    dtypes,
)
from weft_metal.machine import machine_model
from weft_metal.matrix_units import LANES, units_of

ARCHITECTURES = ("apple7", "apple8", "apple9")
"""M1, M2, M3 and later: from the oldest to the newest."""
BFLOAT_SINCE = "apple8"

ARGUMENTS = 31
"""Entries of a kernel's buffer argument table. One is kept for the kernel's variables."""
ALIGNMENT = 16
"""Bytes; where windows of a buffer may begin."""
LINK_GROUP = "METAL"
VECTOR_BYTES = 16
VECTOR_LANES = 4
MAX_UPCAST = 32
"""Accumulators of one work item: a simdgroup's tile of 32 x 32 outputs."""

INTEGERS = (
    dtypes.int8, dtypes.uint8, dtypes.int16, dtypes.uint16,
    dtypes.int32, dtypes.uint32, dtypes.int64, dtypes.uint64,
)  # fmt: skip


def since(arch: str, first: str) -> bool:
    """Whether a family is `first` or a newer one."""
    return ARCHITECTURES.index(arch) >= ARCHITECTURES.index(first)


def describe(
    arch: str,
    name: str,
    fingerprint: str,
    shared_bytes: int = 32768,
    local_size: tuple[int, int, int] = (1024, 1024, 1024),
    max_allocation: int | None = None,
    matrices: bool = True,
    bfloat: bool = True,
    lanes: int = LANES,
) -> Capabilities:
    """Capabilities of a GPU of this family. No family has float64.

    matrices: whether simdgroups hold them as `matrix_units` has it. bfloat: whether the language of
    the system has it, for GPUs that do. lanes: of a simdgroup, 0 where that is not known.
    """
    known: set[DType] = {dtypes.bool, *INTEGERS, dtypes.float16, dtypes.float32}
    if bfloat and since(arch, BFLOAT_SINCE):
        known.add(dtypes.bfloat16)
    largest = (1 << 31) - 1
    features = {Feature.BARRIER, Feature.SHARED}
    if lanes:
        features.add(Feature.WARP_REDUCE)
    compute = ComputeCaps(
        dtypes=frozenset(known),
        limits=KernelLimits(
            max_buffers=ARGUMENTS - 1,
            global_size=(largest, largest, largest),
            local_size=local_size,
            local_threads=max(local_size),
            shared_bytes=shared_bytes,
            max_upcast=MAX_UPCAST,
            # What does not fit the registers spills to the device's memory.
            row_bytes=256,
        ),
        features=frozenset(features),
        vector_widths={dtype: _widths(dtype) for dtype in known if _widths(dtype)},
        vector_bytes=0,  # one lane is one work item: arithmetic on vectors buys nothing
        tensor_cores=units_of(known) if matrices else (),
        warp_size=lanes,
        machine=machine_model(name),
    )
    return Capabilities(
        memory=MemoryCaps(
            alignment=ALIGNMENT,
            max_allocation=max_allocation,
            link_group=LINK_GROUP,
            host_visible=True,
        ),
        compute=compute,
        name=name,
        fingerprint=fingerprint,
    )


def _widths(dtype: DType) -> tuple[int, ...]:
    """Profitable loads and stores: up to 16 bytes, and up to the language's four lanes."""
    if dtype is dtypes.bool or dtype.itemsize == 8:
        return ()
    return tuple(n for n in access_widths(dtype, VECTOR_BYTES) if n <= VECTOR_LANES)
