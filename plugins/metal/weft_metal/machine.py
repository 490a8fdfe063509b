"""Machine model of Apple's GPUs: cores, and throughputs of one.

The framework does not say how many cores a GPU has: they are known by its name, in the largest
configuration that is sold. A core has 128 lanes for floats.

Source: Apple, "Tech Specs" of the Macs of each chip; Dougall Johnson, "Apple G13 GPU Architecture
Reference", and Philip Turner, "metal-benchmarks", for the lanes of a core.
"""

from __future__ import annotations

from weft.plugin import MachineModel, Ops, Throughput, dtypes

CORES = {
    "Apple M1": 8, "Apple M1 Pro": 16, "Apple M1 Max": 32, "Apple M1 Ultra": 64,
    "Apple M2": 10, "Apple M2 Pro": 19, "Apple M2 Max": 38, "Apple M2 Ultra": 76,
    "Apple M3": 10, "Apple M3 Pro": 18, "Apple M3 Max": 40, "Apple M3 Ultra": 80,
    "Apple M4": 10, "Apple M4 Pro": 20, "Apple M4 Max": 40,
}  # fmt: skip
_FLOATS = 128
"""Sums, products and multiply-adds of float32 or float16 in a cycle."""


def machine_model(name: str) -> MachineModel:
    """The model of the GPU of this name; one that is not known has no number of cores."""
    return MachineModel(
        cores=CORES.get(name, 0),
        throughputs=tuple(
            Throughput(op, dtype, float(_FLOATS))
            for dtype in (dtypes.float32, dtypes.float16)
            for op in (Ops.ADD, Ops.MUL, Ops.MULACC)
        ),
    )
