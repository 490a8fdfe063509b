"""Shared memory of a kernel: what it declares itself, and what its launch must ask for.

A kernel may declare 48 KiB; most chips have more, for launches that ask for it. Where a kernel
needs more, its arrays lie behind each other in one whose length the launch gives.
"""

from __future__ import annotations

import re

from weft.plugin import LinearProgram, Ops, PtrDType
from weft_cuda.dialect import SHARED

DECLARED = 48 << 10
"""What a source may say: CUDA C++ Programming Guide, "Shared Memory" of compute capability 7.x."""
ALIGNMENT = 16
WHOLE = "weft_shared"


def _arrays(program: LinearProgram) -> list[int]:
    return [
        -(-u.dtype.nbytes // ALIGNMENT) * ALIGNMENT
        for u in program.uops
        if u.op is Ops.DEFINE_LOCAL and isinstance(u.dtype, PtrDType)
    ]


def asked_of_launch(program: LinearProgram) -> int:
    """Bytes that a launch must ask for; 0 where the kernel declares all that it needs."""
    size = sum(_arrays(program))
    return size if size > DECLARED else 0


def placed(program: LinearProgram, written: str) -> str:
    """The text of a kernel with its arrays in the one that its launch gives; where they fit into
    what may be declared, as it was."""
    if not asked_of_launch(program):
        return written
    starts, end = [], 0
    for size in _arrays(program):
        starts.append(end)
        end += size
    declared = re.compile(rf"^( *){re.escape(SHARED)}(.*?) *\b(\w+)\[\d+\];$", re.MULTILINE)
    waiting = iter(starts)

    def one(found: re.Match[str]) -> str:
        indent, kind, name = found.groups()
        start = next(waiting)
        line = f"{indent}{kind}* {name} = ({kind}*)({WHOLE} + {start});"
        whole = f"{indent}extern {SHARED}unsigned char {WHOLE}[];\n"
        return (whole if start == 0 else "") + line

    return declared.sub(one, written)
