"""C for clang: plain C, vectors of any length, fused multiply-add where the processor has it.

Source: Clang documentation, "Clang Language Extensions", vectors and extended vectors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from weft.plugin import (
    PREFETCH_L2,
    PREFETCH_STREAM,
    CDialect,
    CStyleRenderer,
    Function,
    LinearProgram,
    LoopText,
    MaskedLoad,
    Ops,
    PairDot,
    SourceText,
    UOp,
    VectorStyle,
    dtypes,
)
from weft_cpu_clang import thread_loop
from weft_cpu_clang.alias_checks import store_heavy_loops
from weft_cpu_clang.outlining import outline
from weft_cpu_clang.packed_dots import builtin
from weft_cpu_clang.toolchain import Facts
from weft_cpu_clang.unroll_pragmas import UNROLL_FACTOR, outer_loops, tile_loops

_BEFORE = """\
#pragma clang attribute push(__attribute__((target("{targets}"))), apply_to = function)
"""
_PAIRS = "typedef __bf16 pairs16 __attribute__((vector_size(64)));\n"
# Unknown code that does nothing: clang compares only the stores of one iteration.
_ALIAS_BARRIER = '__asm__ volatile("");'
_UNROLL = f"#pragma clang loop unroll_count({UNROLL_FACTOR})"
_NO_UNROLL = "#pragma clang loop unroll(disable)"
_PAGE = 4096
_AFTER = "#pragma clang attribute pop\n"
_BYTES, _SHORTS = (f"({t} __attribute__((vector_size({{size}}))))" for t in ("char", "short"))
_NEON = "(signed char __attribute__((neon_vector_type(16))))"
_SPELT = {
    "bfloat16": "({kind}){name}({2}, (pairs16)({0}), (pairs16)({1}))",
    "int16": "({kind}){name}({2}, {0}, {1})",
    "uint8": "({kind}){name}({2}, {0}, {1})",
    # products in pairs, and their sums in pairs: each word of the last factor is two ones
    "uint7": (
        f"({{2}} + ({{kind}})__builtin_ia32_pmaddwd{{bits}}({{name}}({_BYTES}({{0}}),"
        f" {_BYTES}({{1}})), {_SHORTS}({{kind}})(65537)))"
    ),
    "int8": f"({{kind}}){{name}}({_NEON}({{2}}), {_NEON}({{0}}), {_NEON}({{1}}), 34)",
}
_NAMES = {
    dtypes.bfloat16: "bfloat16", dtypes.int16: "int16", dtypes.uint8: "uint8", dtypes.int8: "int8",
}  # fmt: skip
# A shift and a mask of bytes as one affine transform would wait for the unit of products.
_TARGETS = {
    "bfloat16": "avx512bf16",
    "int16": "avx512vnni",
    "uint8": "avx512vnni,no-gfni",
    "uint7": "no-gfni",
}


def clang_dialect(fused: bool = True, vectors: bool = True) -> CDialect:
    """The dialect; without `fused`, MULACC is decomposed into two operations."""
    plain = CDialect()
    return CDialect(
        vectors=VectorStyle() if vectors else None,
        native_ops=plain.native_ops | {Ops.MULACC} if fused else plain.native_ops,
    )


class ClangRenderer(CStyleRenderer):
    """The dialect, and the instructions that have no operator.

    The extensions for bfloat16 and small integers are switched on in kernels that multiply with
    them, and only there: the one makes conversions lose subnormal numbers, with the other clang
    compiles other sums wrongly (see `toolchain`). Streams use registers of half the length on
    processors that split the long ones: they are then about 4 % faster.

    :param prefetches: streams are prefetched; otherwise the processor does so by itself.
    :param masked_loads: the processor loads lanes under masks.
    """

    float_quotients = True
    selects_addresses = True
    signed_wraps = True  # by -fwrapv (see `toolchain`)
    store_fence = "__atomic_thread_fence(__ATOMIC_SEQ_CST);"

    def __init__(
        self, dialect: CDialect, prefetches: bool = True, masked_loads: bool = False
    ) -> None:
        super().__init__(dialect)
        self.prefetches = prefetches
        self.masked_loads = masked_loads

    def render(self, program: LinearProgram) -> SourceText:
        """See `CStyleRenderer`."""
        text = super().render(program)
        names = {_unit_name(u.arg) for u in program.uops if u.op is Ops.DOT}
        targets = [target for name, target in _TARGETS.items() if name in names]
        before = _PAIRS if "bfloat16" in names else ""
        if not self.prefetches and not before and _has_streams(program):
            targets.append("prefer-256-bit")
        if not targets:
            return text
        whole = f"{_BEFORE.format(targets=','.join(targets))}{before}{text}{_AFTER}"
        return SourceText(whole, text.functions, text.entries)

    # ---- loops -----------------------------------------------------------------------------------

    def prepare(self, uops: Sequence[UOp]) -> tuple[Sequence[UOp], Sequence[Function]]:
        """The launch index first, since it is a loop; repeated arithmetic as calls."""
        return outline(thread_loop.index_first(uops))

    def loop_text(self, uops: Sequence[UOp]) -> Mapping[UOp, LoopText]:
        """Pragmas for unrolling, and barriers against alias checks."""
        found = {loop: LoopText(_NO_UNROLL) for loop in outer_loops(uops)}
        found |= {loop: LoopText(_UNROLL) for loop in tile_loops(uops)}
        for loop in store_heavy_loops(uops):
            found[loop] = found.get(loop, LoopText())._replace(inside=_ALIAS_BARRIER)
        return found

    def launch_loop(self, index: UOp, kind: str, end: str) -> Sequence[str]:
        """The thread loop over gidx0."""
        return thread_loop.loop(index.arg, kind, end) if index.arg == "gidx0" else ()

    def kernel_prefix(self, program: LinearProgram) -> str:
        """Clang would inline a short kernel in the entry point, and compile it twice."""
        inlined = "__attribute__((noinline)) " if _is_threaded(program) else ""
        return inlined + super().kernel_prefix(program)

    def extra_parameters(self, program: LinearProgram) -> Sequence[str]:
        """The part of the launch grid that a call computes."""
        return thread_loop.PARAMETERS if _is_threaded(program) else ()

    def after_kernel(self, program: LinearProgram, types: Sequence[str]) -> Sequence[str]:
        """The entry point that threads call."""
        return thread_loop.entry(program.name, types) if _is_threaded(program) else ()

    def entries(self, program: LinearProgram) -> Sequence[str]:
        """The kernel, and the entry point that threads call."""
        threaded = (program.name + thread_loop.SUFFIX,) if _is_threaded(program) else ()
        return (program.name, *threaded)

    def function_declaration(self, head: str) -> str:
        """Functions are made to be called."""
        return f"{head} __attribute__((noinline));"

    # ---- memory ----------------------------------------------------------------------------------

    def non_temporal_store(
        self, pointer: str, kind: str, nbytes: int, value: str, plain: str
    ) -> str:
        """Clang's builtin, for aligned addresses."""
        store = f"__builtin_nontemporal_store({value}, ({kind}*)({pointer}));"
        return f"if ((unsigned long long)({pointer}) % {nbytes} == 0) {store} else {plain}"

    def prefetch(self, mark: object, pointer: str) -> str:
        """A stream is prefetched one page ahead, what is read much later into the L2 cache."""
        if mark == PREFETCH_STREAM:
            ahead = f"((unsigned long long)({pointer}) + {_PAGE})"
            return f"__builtin_prefetch((void*){ahead});" if self.prefetches else ""
        level = ", 0, 2" if mark == PREFETCH_L2 else ""
        return f"__builtin_prefetch((void*)({pointer}){level});"

    def masked_load(self, load: MaskedLoad) -> str:
        """Clang's builtin. Addresses outside of the buffer are computed as integers."""
        lanes = f"_Bool __attribute__((ext_vector_type({load.count})))"
        mask = f"__builtin_bit_cast({lanes}, (unsigned {load.word})({load.bits}))"
        element = f"((long long)({load.at}) + ({load.start}))"
        address = f"((unsigned long long){load.name} + {element} * {load.itemsize})"
        return f"__builtin_masked_load({mask}, (const {load.scalar}*){address}, {load.other})"

    # ---- instructions ----------------------------------------------------------------------------

    def dot(self, call: UOp, sources: tuple[str, ...]) -> str:
        """One instruction, or two of products in pairs. The sum is the last source."""
        lanes = call.dtype.count
        kind = f"{'f' if dtypes.is_float(call.dtype.scalar()) else 'i'}32x{lanes}"
        given = _unit_name(call.arg)
        operands = [*sources, f"({kind})(0)"][:3]
        size = 4 * lanes
        name = builtin(given, size)
        return _SPELT[given].format(*operands, kind=kind, name=name, size=size, bits=8 * size)


def _unit_name(unit: PairDot) -> str:
    """The name of a packed dot product in `packed_dots`."""
    return _NAMES[unit.dtype_in] if unit.bits is None else f"uint{unit.bits}"


def _is_threaded(program: LinearProgram) -> bool:
    return program.global_size is not None


def _has_streams(program: LinearProgram) -> bool:
    return any(u.op is Ops.LOAD and u.arg == PREFETCH_STREAM for u in program.uops)


def clang_renderer(facts: Facts) -> ClangRenderer:
    """The renderer for what this compiler and processor have."""
    dialect = clang_dialect(facts.fused, facts.vector_bytes > 0)
    return ClangRenderer(
        dialect, prefetches=not facts.cross_page_prefetch, masked_loads=facts.masked
    )
