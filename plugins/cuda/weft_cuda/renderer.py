"""CUDA C++ renderer: print linear programs with aligned accesses, launch bounds and own types.

in: spec.linear, the renderer's rules applied    out: self-contained CUDA C++
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from weft.plugin import (
    AddrSpace,
    CStyleRenderer,
    LinearProgram,
    Ops,
    PtrDType,
    SourceText,
    SourceUsage,
    UOp,
)
from weft_cuda.alignment import aligned
from weft_cuda.copies import in_flight
from weft_cuda.dialect import CUDA_CXX
from weft_cuda.preamble import preamble
from weft_cuda.shared import dynamic_array

MANY_SUMS = 16
"""Accumulators of a thread, so many that the compiler would spill some for a second block."""


class CudaRenderer(CStyleRenderer):
    """The C of the core in CUDA's dialect."""

    function_prefix = "__device__ inline"

    def __init__(self) -> None:
        super().__init__(CUDA_CXX)

    def render(self, program: LinearProgram) -> SourceText:
        """The source of one kernel.

        :raises CapabilityError: if CUDA C++ lacks a dtype or another thing that the program uses.
        :raises SpecError: if the program is not spec.linear, or holds an op that is not native.
        """
        return super().render(replace(program, uops=in_flight(aligned(program.uops))))

    def preamble(self, program: LinearProgram, usage: SourceUsage) -> str:
        """Definitions of the types and functions that the kernel uses."""
        return preamble(program, usage)

    def shared_array(self, program: LinearProgram, array: UOp, element: str) -> Sequence[str]:
        """In the memory that the launch provides, where a kernel may not declare as much."""
        return dynamic_array(program, array, element) or super().shared_array(
            program, array, element
        )

    def kernel_prefix(self, program: LinearProgram) -> str:
        """With the launch bounds."""
        return f"{self.dialect.kernel_prefix} __launch_bounds__({_bounds(program)})"

    def pointer_qualifier(self, space: AddrSpace) -> str:
        """None: a declaration names its memory, the type of a pointer does not."""
        return ""

    def wmma(self, call: UOp, sources: tuple[str, ...]) -> str:
        """A matrix unit is a function of the preamble (see `matrix_units`)."""
        return f"{call.arg.name}({', '.join(sources)})"

    def shuffle(self, call: UOp, source: str) -> str:
        """All lanes of a warp execute it: the core guarantees that."""
        return f"other_lane({source}, {call.arg})"


def _bounds(program: LinearProgram) -> str:
    """Threads of a block, which limit the registers that the compiler gives each.

    If a block has tiles in shared memory and a thread many sums, one resident block is enough:
    otherwise the compiler spills sums to allow more blocks.
    """
    sizes = program.local_size or ()
    threads = prod(size if isinstance(size, int) else int(size.vmax) for size in sizes)
    sums = sum(
        u.dtype.base.count
        for u in program.uops
        if u.op is Ops.DEFINE_REG and isinstance(u.dtype, PtrDType) and u.dtype.size == 1
    )
    tiles = any(u.op is Ops.DEFINE_LOCAL for u in program.uops)
    return f"{threads},1" if tiles and sums >= MANY_SUMS else str(threads)
