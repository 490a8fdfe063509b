"""C as clang speaks it: plain C, vectors of any length, fused multiply-add where there is one."""

from __future__ import annotations

from weft.plugin import CDialect, CStyleRenderer, Ops, VectorStyle
from weft_cpu_clang.toolchain import Facts


def clang_dialect(fused: bool = True, vectors: bool = True) -> CDialect:
    """The dialect; without `fused`, MULACC is decomposed into two operations."""
    plain = CDialect()
    native = plain.native_ops | {Ops.MULACC} if fused else plain.native_ops
    return CDialect(vectors=VectorStyle() if vectors else None, native_ops=native, parts=True)


def clang_renderer(facts: Facts) -> CStyleRenderer:
    """The renderer for what this compiler and processor have."""
    return CStyleRenderer(clang_dialect(facts.fused, facts.vector_bytes > 0))
