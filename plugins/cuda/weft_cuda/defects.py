"""Defects of NVIDIA's compilers: find the kernels that they compile wrongly, and avoid them.

The assembler of CUDA 13.0 to 13.3 joins two signed maxima or minima to one instruction
(``VIMNMX3``, from compute capability 9.0 on) and loses a negation of their operands: it computes
``max(max(x, -y), z)`` as ``max(x, y, z)``. CUDA 13.4 compiles it correctly.

- A maximum of weft is a function that compares and selects, which the assembler joins later, with
  its negations (see `MAXIMUM`).
- NVVM makes maxima of comparisons and selections of the source as well. If there are two of them
  beside a negation, the kernel is assembled without optimization.
"""

from __future__ import annotations

import re

FIXED_IN = (13, 4)
SINCE = 90
"""The compute capability, times ten, of the first processors with this instruction."""
NO_OPTIMIZATION = "--ptxas-options=-O0"
_SIGNED_EXTREME = re.compile(rb"\b(?:max|min)\.s(?:32|16|16x2)\b")
_NEGATION = re.compile(
    rb"\bneg\.s(?:32|16)\b|\bsub\.s(?:32|16)\s+%\w+, 0,|\bmul\.lo\.s(?:32|16)\b.*, -1;"
)

MAXIMUM = """\
__device__ inline int larger(int a, int b) {
  int larger;
  asm("{.reg .pred p; setp.lt.s32 p, %1, %2; selp.s32 %0, %2, %1, p;}"
      : "=r"(larger) : "r"(a), "r"(b));
  return larger;
}"""


def has_maxima_of_three(capability: int, version: tuple[int, int]) -> bool:
    """Whether the assembler of this NVRTC has the defect for this compute capability."""
    return capability >= SINCE and version < FIXED_IN


def loses_a_negation(ptx: bytes) -> bool:
    """Whether the assembler may lose a negation in this text."""
    return len(_SIGNED_EXTREME.findall(ptx)) > 1 and _NEGATION.search(ptx) is not None
