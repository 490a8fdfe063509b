"""The matrix units that warps share: what each takes, where its elements sit, how it is called.

Layouts are those of ``mma.sync`` in the PTX ISA (chapter "Matrix multiply-accumulate operation
using mma instruction"): of a lane's number the two lowest bits are its place in a group of four,
the others the number of the group.
"""

from __future__ import annotations

from weft.plugin import DType, FragmentLayout, TensorCore, dtypes

SINCE = 80
"""The compute capability, times ten, of the first chips that have those below."""

_IN_GROUP_ALONG_COLUMNS = ((0, 2), (0, 4))
_GROUP_ALONG_ROWS = ((1, 0), (2, 0), (4, 0))
_C = FragmentLayout((*_IN_GROUP_ALONG_COLUMNS, *_GROUP_ALONG_ROWS), ((0, 1), (8, 0)))


def _sixteen_bits(dtype: DType, name: str) -> TensorCore:
    """16 x 8 results of 16 products each, of 16-bit floats, added up in float32."""
    return TensorCore(
        f"mma_m16n8k16_{name}",
        (16, 8, 16),
        32,
        dtype,
        dtypes.float32,
        a=FragmentLayout((*_IN_GROUP_ALONG_COLUMNS, *_GROUP_ALONG_ROWS), ((0, 1), (8, 0), (0, 8))),
        b=FragmentLayout(((2, 0), (4, 0), (0, 1), (0, 2), (0, 4)), ((1, 0), (8, 0))),
        c=_C,
    )


UNITS = (_sixteen_bits(dtypes.float16, "f16"), _sixteen_bits(dtypes.bfloat16, "bf16"))


def units_of(compute_capability: int) -> tuple[TensorCore, ...]:
    """Those of a chip; its compute capability times ten."""
    return UNITS if compute_capability >= SINCE else ()


_CALL = """\
__device__ inline vec<float, 4> mma_m16n8k16_{t}(vec<{t}, 8> a, vec<{t}, 4> b, vec<float, 4> c) {{
  const unsigned *x = (const unsigned*)a.lane, *y = (const unsigned*)b.lane;
  asm("mma.sync.aligned.m16n8k16.row.col.f32.{t}.{t}.f32 "
      "{{%0, %1, %2, %3}}, {{%4, %5, %6, %7}}, {{%8, %9}}, {{%0, %1, %2, %3}};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
  return c;
}}"""

CALLS = {unit.name: _CALL.format(t=unit.name.rpartition("_")[2]) for unit in UNITS}
"""By name of a unit, the function that a kernel calls."""
