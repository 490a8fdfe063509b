"""weft.export: computations as files: programs that run without graphs, and C libraries.

See README.md in this folder.
"""

from __future__ import annotations

from weft.export.c_export import export_c, write
from weft.export.c_library import CLibrary, Value, c_library
from weft.export.program import Argument, Executable, Launch, Memory, Program, program_of
from weft.export.recording import fill, first_elements, memory_of, own_tensor, record, tensor_over
from weft.export.serialization import from_bytes, to_bytes
from weft.export.store_key import store_key

__all__ = [
    "Argument",
    "CLibrary",
    "Executable",
    "Launch",
    "Memory",
    "Program",
    "Value",
    "c_library",
    "export_c",
    "fill",
    "first_elements",
    "from_bytes",
    "memory_of",
    "own_tensor",
    "program_of",
    "record",
    "store_key",
    "tensor_over",
    "to_bytes",
    "write",
]
