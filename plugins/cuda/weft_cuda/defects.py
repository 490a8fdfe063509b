"""Defects of NVIDIA's compilers: find the kernels that they compile wrongly, and avoid them.

The assembler of CUDA 13.0 has two defects; that of CUDA 13.4 has neither.

- It joins two signed maxima or minima to one instruction (``VIMNMX3``, from compute capability 9.0
  on) and loses a negation of their operands: it computes ``max(max(x, -y), z)`` as
  ``max(x, y, z)``. A maximum of weft is one of unsigned numbers with the sign bit inverted, which
  keeps its negations (see `MAXIMUM`). But NVVM makes maxima of comparisons and selections of the
  source as well.
- It does not wrap a negation of 16 bits before a comparison: ``-x`` of the least number is greater
  than 0.

Kernels that may show a defect are assembled without optimization.
"""

from __future__ import annotations

import re

FIXED_IN = (13, 4)
SINCE = 90
"""The compute capability, times ten, of the first processors with maxima of three."""
NO_OPTIMIZATION = "--ptxas-options=-O0"
_EXTREME = re.compile(rb"\b(?:max|min)\.s(?:32|16|16x2)\b")
_NEGATION = re.compile(
    rb"\bneg\.s(?:32|16)\b|\bsub\.s(?:32|16)\s+%\w+, 0,|\bmul\.lo\.s(?:32|16)\b.*, -1;"
)
_SHORT_NEGATION = re.compile(rb"\bneg\.s16\b|\bsub\.s16\s+%\w+, 0,")

MAXIMUM = """\
__device__ inline int larger(int a, int b) {
  int larger;
  asm("{.reg .u32 x, y; xor.b32 x, %1, 0x80000000; xor.b32 y, %2, 0x80000000; "
      "max.u32 x, x, y; xor.b32 %0, x, 0x80000000;}" : "=r"(larger) : "r"(a), "r"(b));
  return larger;
}"""


def is_compiled_wrongly(ptx: bytes, capability: int, version: tuple[int, int]) -> bool:
    """Whether the assembler of this NVRTC may show a defect.

    :param capability: the compute capability, times ten.
    """
    if version >= FIXED_IN:
        return False
    if _SHORT_NEGATION.search(ptx) is not None:
        return True
    if capability < SINCE or len(_EXTREME.findall(ptx)) < 2:
        return False
    return _NEGATION.search(ptx) is not None
