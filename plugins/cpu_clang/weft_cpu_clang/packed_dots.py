"""Packed dot products of a processor: builtins of clang, and probes of what a compiler has.

AVX-512 VNNI adds four products of 8 bits at once. Without it, products of 8 bits are added in
pairs to 16 bits, and these in pairs to 32. The sums of 16 bits saturate, so the first factor has at
most 7 bits. SDOT of aarch64 has two signed factors.

Source: Intel 64 and IA-32 Architectures Software Developer's Manual, VPDPBUSD and PMADDUBSW; Arm
Architecture Reference Manual, SDOT.
"""

from __future__ import annotations

from collections.abc import Set

_ALLOWED = "#pragma clang attribute push(__attribute__((target({target}))), apply_to = function)\n"
_PROBE_PAIRS = (
    _ALLOWED + "typedef {sum} s __attribute__((vector_size(64)));\n"
    "typedef {lane} v __attribute__((vector_size(64)));\n"
    "s f(s a, v b, v c) {{ return {builtin}(a, b, c); }}\n"
    "#pragma clang attribute pop\n"
)
BUILTINS = {
    "bfloat16": "__builtin_ia32_dpbf16ps_512",
    "int16": "__builtin_ia32_vpdpwssd512",
    "uint8": "__builtin_ia32_vpdpbusd512",
    "uint7": "__builtin_ia32_pmaddubsw512",
    "int8": "__builtin_neon_vdotq_s32",
}
"""Builtins of packed dot products, those of x86-64 for vectors of 512 bits. PMADDUBSW adds products
in pairs."""
PAIRS = {
    name: (f"__{target.upper()}__", _PROBE_PAIRS.format(
        target=f'"{target}"', sum=total, lane=lane, builtin=BUILTINS[name]
    ))
    for name, target, total, lane in (
        ("bfloat16", "avx512bf16", "float", "__bf16"),
        ("int16", "avx512vnni", "int", "int"),
        ("uint8", "avx512vnni", "int", "int"),
    )
}  # fmt: skip
"""By dtype of the first factor: the macro of processors that add several products at once, a probe
of the builtin. Of 8 bits the second factor has a sign, and the first has none."""
_SUMS_OF_PAIRS = {64: "__AVX512BW__", 32: "__AVX2__", 16: "__SSSE3__"}
_PROBE_BYTES = (
    "typedef char b __attribute__((vector_size({size})));\n"
    "typedef short w __attribute__((vector_size({size})));\n"
    "typedef int s __attribute__((vector_size({size})));\n"
    "s f(b x, b y, w z) {{ return __builtin_ia32_pmaddwd{bits}({builtin}(x, y), z); }}\n"
)
_PROBE_NEON = (
    "typedef signed char b __attribute__((neon_vector_type(16)));\n"
    "typedef int v __attribute__((ext_vector_type(4)));\n"
    "v f(v x, v y, v s) { return (v)__builtin_neon_vdotq_s32((b)s, (b)x, (b)y, 34); }\n"
)


def builtin(name: str, size: int) -> str:
    """The builtin of a packed dot product for vectors of `size` bytes."""
    return BUILTINS[name].replace("512", str(8 * size))


def probes(size: int, defined: Set[str]) -> dict[str, str]:
    """Sources that compile where the compiler has a packed dot product, by its name.

    size: of the widest registers in bytes. defined: the macros of the processor. The narrower forms
    are of extensions of their own.
    """
    if "__ARM_FEATURE_DOTPROD" in defined:
        return {"int8": _PROBE_NEON}
    return {d: text for d, (macro, text) in PAIRS.items() if size == 64 and macro in defined}


def probe_of_bytes(size: int, defined: Set[str]) -> str:
    """The source that compiles where products of bytes are added in pairs; "" if they are not."""
    if _SUMS_OF_PAIRS.get(size) not in defined:
        return ""
    return _PROBE_BYTES.format(size=size, bits=8 * size, builtin=builtin("uint7", size))
