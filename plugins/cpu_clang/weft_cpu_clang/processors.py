"""Throughputs of processors: vector instructions that a core starts in a cycle, by clang's names.
Also: execution ports.

The default holds for every processor with registers of that size. Processors that do more, or less,
have an entry of their own.

Source: Agner Fog, "Instruction tables"; uops.info; AMD, "Software Optimization Guide for the AMD
Zen 4 Microarchitecture" (publication 57647) and Zen 5 (58455); Intel, "64 and IA-32 Architectures
Optimization Reference Manual".
"""

from __future__ import annotations

from weft.plugin import Ops, Throughput, dtypes

Pipes = dict[Ops, float]

_USUAL: dict[int, Pipes] = {
    16: {Ops.ADD: 1, Ops.MUL: 1, Ops.MULACC: 1, Ops.LOAD: 1, Ops.STORE: 1},
    32: {Ops.ADD: 1, Ops.MUL: 2, Ops.MULACC: 2, Ops.LOAD: 2, Ops.STORE: 1},
    64: {Ops.ADD: 1, Ops.MUL: 1, Ops.MULACC: 1, Ops.LOAD: 1, Ops.STORE: 1},
}
"""By bytes of a register."""

_TWO_UNITS: Pipes = {Ops.ADD: 2, Ops.MUL: 2, Ops.MULACC: 2, Ops.LOAD: 2}
_SERVERS = (
    "icelake-server", "sapphirerapids", "emeraldrapids", "graniterapids", "graniterapids-d",
)  # fmt: skip
"""With a second unit of 512 bits, which clients of the same generation lack. Some processors of the
generations before (``skylake-avx512``, ``cascadelake``) have it, and others do not."""

_OF: dict[tuple[str, int], Pipes] = {
    # both halves of a register take the 128-bit units
    ("znver1", 32): {Ops.MUL: 1, Ops.MULACC: 1, Ops.LOAD: 1, Ops.STORE: 0.5},
    **{(f"znver{number}", 32): {Ops.ADD: 2} for number in (2, 3, 4, 5)},
    # likewise the 256-bit units: one multiply-add, one load, half a store
    ("znver4", 64): {Ops.STORE: 0.5},
    ("znver5", 64): _TWO_UNITS,
    **{(name, 64): _TWO_UNITS for name in _SERVERS},
    # both of the additions; the units of Haswell and Broadwell add one
    **{(name, 32): {Ops.ADD: 2} for name in ("skylake", "alderlake", "raptorlake", *_SERVERS)},
    # four units of 128 bits, three loads
    **{
        (name, 16): {Ops.ADD: 4, Ops.MUL: 4, Ops.MULACC: 4, Ops.LOAD: 3, Ops.STORE: 2}
        for name in ("apple-m1", "apple-m2", "apple-m3", "apple-m4", "neoverse-v1", "neoverse-v2")
    },
    ("neoverse-n1", 16): {Ops.ADD: 2, Ops.MUL: 2, Ops.MULACC: 2, Ops.LOAD: 2},
    ("neoverse-n2", 16): {Ops.ADD: 2, Ops.MUL: 2, Ops.MULACC: 2, Ops.LOAD: 3, Ops.STORE: 2},
}
"""What differs from the usual, by clang's name of a processor and bytes of a register."""


def pipes_of(processor: str, vector_bytes: int) -> Pipes:
    """Vector instructions of each kind that a core starts in a cycle; {} for scalar arithmetic.

    :param processor: clang's name of it; "": unknown.
    """
    return {**_USUAL.get(vector_bytes, {}), **_OF.get((processor, vector_bytes), {})}


def throughputs(pipes: Pipes, vector_bytes: int, fused: bool) -> tuple[Throughput, ...]:
    """The same as results of each dtype in a cycle.

    :param fused: whether there is a fused multiply-add.
    """
    return tuple(
        Throughput(op, dtype, float(count * vector_bytes // dtype.itemsize))
        for dtype in (dtypes.float32, dtypes.float64)
        for op, count in pipes.items()
        if fused or op is not Ops.MULACC
    )
