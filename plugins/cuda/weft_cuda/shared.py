"""Dynamic shared memory: place the arrays of a kernel in memory that its launch provides.

A kernel may declare 48 KiB; most chips have more, for launches that request it. Where a kernel
needs more, its arrays are consecutive parts of one array whose length the launch gives.

Source: NVIDIA, "CUDA C++ Programming Guide", dynamic shared memory.
"""

from __future__ import annotations

from collections.abc import Sequence

from weft.plugin import LinearProgram, Ops, PtrDType, UOp
from weft_cuda.dialect import SHARED

DECLARED = 48 << 10
"""Bytes that a source may declare: CUDA C++ Programming Guide, compute capability 7.x."""
ALIGNMENT = 16
WHOLE = "weft_shared"


def _arrays(program: LinearProgram) -> dict[UOp, int]:
    """The arrays in shared memory, with their bytes including padding."""
    return {
        u: -(-u.dtype.nbytes // ALIGNMENT) * ALIGNMENT
        for u in program.uops
        if u.op is Ops.DEFINE_LOCAL and isinstance(u.dtype, PtrDType)
    }


def dynamic_bytes(program: LinearProgram) -> int:
    """Bytes that a launch must request; 0 where the kernel declares all that it needs."""
    size = sum(_arrays(program).values())
    return size if size > DECLARED else 0


def dynamic_array(program: LinearProgram, array: UOp, element: str) -> Sequence[str]:
    """Lines that declare an array as a part of the memory of the launch; none where the kernel
    declares all that it needs."""
    if not dynamic_bytes(program):
        return ()
    sizes = _arrays(program)
    start = sum(list(sizes.values())[: list(sizes).index(array)])
    whole = () if start else (f"extern {SHARED}unsigned char {WHOLE}[];",)
    return (*whole, f"{element}* {array.arg} = ({element}*)({WHOLE} + {start});")
