"""C as clang speaks it: plain C, vectors of any length, fused multiply-add where there is one."""

from __future__ import annotations

from weft.plugin import CDialect, CStyleRenderer, LinearProgram, Ops, UOp, VectorStyle, dtypes
from weft_cpu_clang.toolchain import PAIRS, Facts

_HALVED = "/* in halves */"
_BEFORE = """\
#pragma clang attribute push(__attribute__((target("{targets}"))), apply_to = function)
"""
_PAIRS = "typedef __bf16 pairs16 __attribute__((vector_size(64)));\n"
_STREAM = (
    "if ((unsigned long long)({pointer}) % {bytes} == 0) "
    "__builtin_nontemporal_store({value}, ({type}*)({pointer})); else {plain}"
)
# Code of which nothing is known, which does nothing: only stores of one turn are compared.
_CROWDED = '__asm__ volatile("");'
_AHEAD = "__builtin_prefetch((void*)((unsigned long long)({pointer}) + 4096));"  # a page further on
_COMING = "__builtin_prefetch((void*)({pointer}));"
_LATER = "__builtin_prefetch((void*)({pointer}), 0, 2);"  # into the second-level cache
# Places before or behind the buffer are only counted with, in integers.
_PICKED = (
    "__builtin_masked_load(__builtin_bit_cast(_Bool __attribute__((ext_vector_type({count}))), "
    "(unsigned {word})({bits})), "
    "(const {scalar}*)((unsigned long long){name} + ((long long)({at}) + ({start})) * {itemsize}), "
    "{other})"
)
_AFTER = "#pragma clang attribute pop\n"
_SPELT = {
    dtypes.bfloat16: "({kind}){name}({2}, (pairs16)({0}), (pairs16)({1}))",
    dtypes.int16: "({kind}){name}({2}, {0}, {1})",
    dtypes.uint8: "({kind}){name}({2}, {0}, {1})",
}
_NAMES = {dtypes.bfloat16: "bfloat16", dtypes.int16: "int16", dtypes.uint8: "uint8"}


def clang_dialect(
    fused: bool = True, vectors: bool = True, ahead: bool = True, masked: bool = False
) -> CDialect:
    """The dialect; without `fused`, MULACC is decomposed into two operations; without `ahead`,
    nothing asks for what will be read later, but long walks read half a register at a time;
    `masked`: lanes are read under masks."""
    plain = CDialect()
    native = plain.native_ops | {Ops.MULACC} if fused else plain.native_ops
    return CDialect(
        vectors=VectorStyle(real_quotients=True) if vectors else None,
        native_ops=native,
        parts=True,
        called="__attribute__((noinline)) ",
        stream=_STREAM,
        ahead=_AHEAD if ahead else _HALVED,
        coming=_COMING,
        later=_LATER,
        picked=_PICKED if masked else "",
        crowded=_CROWDED,
        turns="#pragma clang loop unroll_count({turns})",
        whole="#pragma clang loop unroll(disable)",
        apart="{head} __attribute__((noinline));",
        streamed="__atomic_thread_fence(__ATOMIC_SEQ_CST);",
    )


class ClangRenderer(CStyleRenderer):
    """The dialect, and the instructions that have no operator.

    The extensions for bfloat16 and small integers are switched on in kernels that multiply with
    them, and only there: conversions by the one would lose subnormal numbers, and what clang makes
    of other sums with the other is wrong (see `toolchain`). Long walks through memory have
    registers of half the length on processors that split the long ones anyway: they are then about
    4 % faster.
    """

    def render(self, program: LinearProgram) -> str:
        """See `CStyleRenderer`."""
        text = super().render(program)
        dots = {u.arg.dtype_in for u in program.uops if u.op is Ops.DOT}
        targets = ["avx512bf16"] if dtypes.bfloat16 in dots else []
        targets += ["avx512vnni"] if dots - {dtypes.bfloat16} else []
        before = _PAIRS if dtypes.bfloat16 in dots else ""
        if _HALVED in text and not before:
            targets.append("prefer-256-bit")
        if not targets:
            return text
        return f"{_BEFORE.format(targets=','.join(targets))}{before}{text}{_AFTER}"

    def dot(self, call: UOp, sources: tuple[str, ...]) -> str:
        """One instruction of AVX-512; the sum comes last among the sources, first in it."""
        lanes = call.dtype.count
        kind = f"{'f' if dtypes.is_float(call.dtype.scalar()) else 'i'}32x{lanes}"
        given = call.arg.dtype_in
        operands = [*sources, f"({kind})(0)"][:3]
        _, name, _ = PAIRS[_NAMES[given]]
        return _SPELT[given].format(*operands, kind=kind, name=name)


def clang_renderer(facts: Facts) -> ClangRenderer:
    """The renderer for what this compiler and processor have."""
    return ClangRenderer(
        clang_dialect(facts.fused, facts.vector_bytes > 0, not facts.far, facts.masked)
    )
