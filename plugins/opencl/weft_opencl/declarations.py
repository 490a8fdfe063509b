"""Declarations of just those built-in functions that a kernel calls.

PoCL 3 has clang read a header of 18,000 lines before every kernel, which takes eight times as long
as all the rest of compiling. It does not where the header's guard is defined; what the kernel calls
is declared here then, as the OpenCL C specification has it. Only names and types matter: the
functions are PoCL's own, found when the program is linked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

GUARD = "-D_OPENCL_H_"
"""The option that makes PoCL pass the header by."""

INTEGERS = ("char", "uchar", "short", "ushort", "int", "uint", "long", "ulong")
FLOATS = ("float", "double")
TYPES = INTEGERS + FLOATS
SPACES = ("__global", "__local", "__private")
PURE = "__attribute__((overloadable, pure))"
CONST = "__attribute__((overloadable, const))"
PLAIN = "__attribute__((overloadable))"

SINGLE = {
    "get_global_id": f"size_t {CONST} get_global_id(uint);",
    "get_group_id": f"size_t {CONST} get_group_id(uint);",
    "get_local_id": f"size_t {CONST} get_local_id(uint);",
    "barrier": "void __attribute__((overloadable, convergent)) barrier(uint);",
    "read_imagef": f"float4 {PURE} read_imagef(read_only image2d_t, int2);",
    "write_imagef": f"void {PLAIN} write_imagef(write_only image2d_t, int2, float4);",
}
ARGUMENTS = {"sqrt": 1, "trunc": 1, "fma": 3}

_CALLED = re.compile(
    rf"\b(?:({'|'.join(SINGLE)})|({'|'.join(ARGUMENTS)})|v(load|store)(\d+)|convert_([a-z]+)(\d+))\("
)


def declared(source: str) -> str:
    """The declarations of all built-in functions that are known here and called in `source`, one
    line altogether."""
    found: dict[str, None] = {}
    for called in _CALLED.finditer(source):
        found.update(dict.fromkeys(_of(*called.groups())))
    return " ".join(found)


def _of(
    single: str | None, of_floats: str | None, access: str | None, lanes: str | None,
    converted: str | None, converted_lanes: str | None,
) -> Iterator[str]:  # fmt: skip
    if single:
        yield SINGLE[single]
    elif of_floats:
        for kind in FLOATS:
            for width in ("", "2", "4", "8", "16"):
                given = ", ".join([f"{kind}{width}"] * ARGUMENTS[of_floats])
                yield f"{kind}{width} {CONST} {of_floats}({given});"
    elif access == "load":
        for kind in TYPES:
            for space in SPACES:
                yield f"{kind}{lanes} {PURE} vload{lanes}(size_t, const {space} {kind}*);"
    elif access:
        for kind in TYPES:
            for space in SPACES:
                yield f"void {PLAIN} vstore{lanes}({kind}{lanes}, size_t, {space} {kind}*);"
    else:
        for kind in TYPES:
            name = f"{converted}{converted_lanes}"
            yield f"{name} {CONST} convert_{name}({kind}{converted_lanes});"
