"""Matrix units of simdgroups: the operands, the fragment layout and the call of each instruction.

A simdgroup multiplies matrices of 8 x 8 elements, with two elements in each of its 32 lanes. The
specification of the language does not say which two. All of Apple's GPUs so far have the same
layout (`LAYOUT`), and a GPU is probed (`probe`) before the units are declared. By the
specification, products of 16-bit floats are added in float32.

Source: "Metal Shading Language Specification", SIMD-group matrix functions.
"""

from __future__ import annotations

from collections.abc import Iterable

from weft.plugin import DType, FragmentLayout, TensorCore, dtypes

LANES = 32
SIDE = 8

LAYOUT = FragmentLayout(((0, 2), (1, 0), (2, 0), (0, 4), (4, 0)), ((0, 1),))
"""Bits 0 and 3 of a lane's number go along a row, the others from row to row; a lane's two elements
are neighbours in a row."""

TYPES = {
    dtypes.float16: ("f16", "half"),
    dtypes.float32: ("f32", "float"),
    dtypes.bfloat16: ("bf16", "bfloat"),
}


def _unit(dtype: DType) -> TensorCore:
    name = f"multiply_8x8_{TYPES[dtype][0]}"
    return TensorCore(
        name, (SIDE, SIDE, SIDE), LANES, dtype, dtypes.float32, LAYOUT, LAYOUT, LAYOUT
    )


UNITS = tuple(_unit(dtype) for dtype in TYPES)


def units_of(known: Iterable[DType]) -> tuple[TensorCore, ...]:
    """Those for the dtypes that a GPU has."""
    among = set(known)
    return tuple(unit for unit in UNITS if unit.dtype_in in among)


_CALL = """\
static inline float2 {name}({t}2 a, {t}2 b, float2 c) {{
  simdgroup_{t}8x8 left, right;
  simdgroup_float8x8 sum;
  left.thread_elements()[0] = a.x;
  left.thread_elements()[1] = a.y;
  right.thread_elements()[0] = b.x;
  right.thread_elements()[1] = b.y;
  sum.thread_elements()[0] = c.x;
  sum.thread_elements()[1] = c.y;
  simdgroup_multiply_accumulate(sum, left, right, sum);
  return float2(sum.thread_elements()[0], sum.thread_elements()[1]);
}}"""

CALLS = {unit.name: _CALL.format(name=unit.name, t=TYPES[unit.dtype_in][1]) for unit in UNITS}
"""By name of a unit, the function that a kernel calls."""

PROBE = "which_elements"
PROBE_SOURCE = f"""\
#include <metal_stdlib>
using namespace metal;
kernel void {PROBE}(device float* data0 [[buffer(0)]],
    uint3 item [[thread_position_in_threadgroup]]) {{
  threadgroup float numbers[64];
  int lane = int(item.x);
  numbers[lane] = float(lane);
  numbers[lane + 32] = float(lane + 32);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  simdgroup_float8x8 all;
  simdgroup_load(all, numbers, 8);
  data0[lane * 2] = all.thread_elements()[0];
  data0[lane * 2 + 1] = all.thread_elements()[1];
}}
"""
"""Each lane of one simdgroup says which of the numbers 0 to 63, row by row, it holds."""

EXPECTED = tuple(
    float(row * SIDE + column)
    for lane in range(LANES)
    for row, column in (LAYOUT.coordinate(lane, element) for element in range(2))
)
"""What `PROBE` says where `LAYOUT` holds."""
