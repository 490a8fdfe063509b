"""CUDA C++ as a dialect: what it spells differently from C."""

from __future__ import annotations

from weft.plugin import CDialect, Ops, VectorStyle, dtypes

SHARED = "__shared__ __align__(16) "

_FUNCTIONS = {
    (Ops.SQRT, dtypes.float32): "sqrtf({0})",
    (Ops.SQRT, dtypes.float64): "sqrt({0})",
    (Ops.TRUNC, dtypes.float32): "truncf({0})",
    (Ops.TRUNC, dtypes.float64): "trunc({0})",
    (Ops.MULACC, dtypes.float32): "fmaf({0}, {1}, {2})",
    (Ops.MULACC, dtypes.float64): "fma({0}, {1}, {2})",
    # A function of the preamble (see `defects`).
    (Ops.MAX, dtypes.int32): "larger({0}, {1})",
    (Ops.MAX, dtypes.int16): "(short)larger({0}, {1})",
    (Ops.MAX, dtypes.int8): "(signed char)larger({0}, {1})",
}


def _vectors() -> VectorStyle:
    """Arrays of lanes: for memory only, arithmetic is on scalars."""
    return VectorStyle(
        typedef="typedef vec<{scalar}, {count}> {name};",
        # Accesses are aligned by the time they get here (see `alignment`).
        memory_name="{name}",
        memory_typedef="",
        literal="{type}({lanes})",
        splat="",
        shuffle="",
        convert="convert<{type}>({value})",
        bitcast="reinterpret<{type}>({value})",
        functions={},
    )


def _dialect() -> CDialect:
    plain = CDialect()
    types = {
        **plain.type_names,
        dtypes.bool: "bool",
        dtypes.float16: "f16",
        dtypes.bfloat16: "bf16",
        dtypes.fp8e4m3: "f8e4m3",
        dtypes.fp8e5m2: "f8e5m2",
    }
    return CDialect(
        language="cu",
        kernel_prefix='extern "C" __global__ void',
        restrict="__restrict__",
        shared_qualifier=SHARED,
        barrier="__syncthreads();",
        index={
            "gidx": ("blockIdx.x", "blockIdx.y", "blockIdx.z"),
            "lidx": ("threadIdx.x", "threadIdx.y", "threadIdx.z"),
        },
        type_names=types,
        vectors=_vectors(),
        functions=_FUNCTIONS,
        infinities={
            dtypes.float32: "__int_as_float(0x7f800000)",
            dtypes.float64: "__longlong_as_double(0x7ff0000000000000ll)",
        },
        nans={
            dtypes.float32: "__int_as_float(0x7fc00000)",
            dtypes.float64: "__longlong_as_double(0x7ff8000000000000ll)",
        },
        narrow_floats=plain.narrow_floats | {dtypes.fp8e4m3, dtypes.fp8e5m2},
        # The compiler fuses nothing by itself (see `nvrtc`); this is the one fused operation.
        native_ops=plain.native_ops | {Ops.MULACC},
    )


CUDA_CXX = _dialect()
