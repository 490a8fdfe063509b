"""Declarations of just those built-in functions that a kernel calls.

PoCL 3 has clang read a header of 18,000 lines before every kernel, which takes eight times as long
as the rest of the compilation. It does not where the header's guard is defined; the source declares
what it calls then, as in the OpenCL C specification. Only names and types matter: the functions are
PoCL's own, found when the program is linked.

Source: Khronos, "The OpenCL C Specification", built-in functions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from weft.plugin import AddrSpace, DType, ImageDType, LinearProgram, Ops, SourceUsage, dtypes

GUARD = "-D_OPENCL_H_"
"""The option that makes PoCL skip the header."""

SPACES = {
    AddrSpace.GLOBAL: "__global",
    AddrSpace.LOCAL: "__local",
    AddrSpace.REG: "__private",
}
PURE = "__attribute__((overloadable, pure))"
CONST = "__attribute__((overloadable, const))"
PLAIN = "__attribute__((overloadable))"
BARRIER = "void __attribute__((overloadable, convergent)) barrier(uint);"
READ_IMAGE = f"float4 {PURE} read_imagef(read_only image2d_t, int2);"
WRITE_IMAGE = f"void {PLAIN} write_imagef(write_only image2d_t, int2, float4);"
FUNCTIONS = {Ops.SQRT: ("sqrt", 1), Ops.TRUNC: ("trunc", 1), Ops.MULACC: ("fma", 3)}
"""By operation, the name of the function and its number of parameters."""


def declarations(
    program: LinearProgram, usage: SourceUsage, types: Mapping[DType, str], launch: Iterable[str]
) -> str:
    """The declarations of all built-in functions that a kernel calls, on one line.

    types: names of scalar dtypes. launch: the functions that give its launch indices.
    """
    return " ".join(sorted({*_of_nodes(program), *_of_values(usage, types), *map(_index, launch)}))


def _index(name: str) -> str:
    return f"size_t {CONST} {name}(uint);"


def _of_nodes(program: LinearProgram) -> Iterator[str]:
    for u in program.uops:
        if u.op is Ops.BARRIER:
            yield BARRIER
        elif u.op is Ops.DEFINE_GLOBAL and isinstance(u.dtype, ImageDType):
            yield WRITE_IMAGE if u.arg in program.outs else READ_IMAGE


def _of_values(usage: SourceUsage, types: Mapping[DType, str]) -> Iterator[str]:
    def name(dtype: DType) -> str:
        return types[dtype.scalar()] + (str(dtype.count) if dtype.count > 1 else "")

    for op, dtype in usage.functions:
        function, count = FUNCTIONS[op]
        yield f"{name(dtype)} {CONST} {function}({', '.join([name(dtype)] * count)});"
    for dtype, space in usage.vector_loads:
        pointer = f"const {SPACES[space]} {types[dtype.scalar()]}*"
        yield f"{name(dtype)} {PURE} vload{dtype.count}(size_t, {pointer});"
    for dtype, space in usage.vector_stores:
        pointer = f"{SPACES[space]} {types[dtype.scalar()]}*"
        yield f"void {PLAIN} vstore{dtype.count}({name(dtype)}, size_t, {pointer});"
    for target in usage.conversions:
        for scalar in usage.dtypes:
            if scalar.count == 1 and scalar not in (dtypes.void, dtypes.bool):
                source = name(scalar.vec(target.count))
                yield f"{name(target)} {CONST} convert_{name(target)}({source});"
