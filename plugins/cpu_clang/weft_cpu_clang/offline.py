"""Cross-compilation: generate sources for processors that are not here. Nothing runs.

The names are the micro-architecture levels of the x86-64 psABI, and `aarch64` for 128-bit NEON.
"""

from __future__ import annotations

from weft_cpu_clang.toolchain import Facts, Toolchain

_LEVELS = {
    # vector bytes, vector registers, fused multiply-add
    "x86-64": (16, 16, False),
    "x86-64-v3": (32, 16, True),
    "x86-64-v4": (64, 32, True),
    "aarch64": (16, 32, True),
}


def offline_toolchain(arch: str) -> Toolchain | None:
    """A compiler for `arch` of which only the answers exist; None for a name that is not known."""
    if arch not in _LEVELS:
        return None
    vector_bytes, registers, fused = _LEVELS[arch]
    facts = Facts(
        version="offline",
        half=True,
        bfloat16=False,
        vector_bytes=vector_bytes,
        vector_registers=registers,
        fused=fused,
        flags=(),
    )
    return Toolchain(command=(), link=(), facts=facts, fingerprint=f"offline {arch}")
