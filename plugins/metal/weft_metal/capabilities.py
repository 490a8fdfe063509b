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
    dtypes,
)

ARCHITECTURES = ("apple7", "apple8", "apple9")
BFLOAT_SINCE = "apple8"

ARGUMENTS = 31
"""Entries of a kernel's buffer argument table. One is kept for the kernel's variables."""
VECTOR_BYTES = 16
VECTOR_LANES = 4

INTEGERS = (
    dtypes.int8, dtypes.uint8, dtypes.int16, dtypes.uint16,
    dtypes.int32, dtypes.uint32, dtypes.int64, dtypes.uint64,
)  # fmt: skip


def describe(
    arch: str,
    name: str,
    fingerprint: str,
    shared_bytes: int = 32768,
    local_size: tuple[int, int, int] = (1024, 1024, 1024),
    max_allocation: int | None = None,
) -> Capabilities:
    """Capabilities of a GPU of this family. There is no float64, whatever the family."""
    known: set[DType] = {dtypes.bool, *INTEGERS, dtypes.float16, dtypes.float32}
    if arch >= BFLOAT_SINCE:
        known.add(dtypes.bfloat16)
    largest = (1 << 31) - 1
    compute = ComputeCaps(
        dtypes=frozenset(known),
        limits=KernelLimits(
            max_buffers=ARGUMENTS - 1,
            global_size=(largest, largest, largest),
            local_size=local_size,
            local_threads=max(local_size),
            shared_bytes=shared_bytes,
            # What does not fit the registers spills to the device's memory.
            row_bytes=256,
        ),
        features=frozenset({Feature.BARRIER, Feature.SHARED, Feature.GRAPHS}),
        vector_widths={dtype: _widths(dtype) for dtype in known if _widths(dtype)},
        vector_bytes=0,  # one lane is one work item: arithmetic on vectors buys nothing
    )
    return Capabilities(
        memory=MemoryCaps(alignment=16, max_allocation=max_allocation),
        compute=compute,
        name=name,
        fingerprint=fingerprint,
    )


def _widths(dtype: DType) -> tuple[int, ...]:
    """Loads and stores worth using: up to 16 bytes, and up to the language's four lanes."""
    if dtype is dtypes.bool or dtype.itemsize == 8:
        return ()
    return tuple(n for n in (4, 2) if n <= VECTOR_LANES and n * dtype.itemsize <= VECTOR_BYTES)
