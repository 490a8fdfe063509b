"""Relocations of x86-64: data, and addresses relative to the next instruction.

Source: System V Application Binary Interface, AMD64 Architecture Processor Supplement, section 4.4.
"""

from __future__ import annotations

import struct

from weft_cpu_clang.elf_architecture import Architecture, Place
from weft_cpu_clang.elf_object import X86_64, damaged

_R_64, _R_PC32, _R_PLT32, _R_GOTPCREL, _R_32, _R_32S = 1, 2, 4, 9, 10, 11
_R_PC64, _R_GOTPCRELX, _R_REX_GOTPCRELX = 24, 41, 42
_TABLE = frozenset({_R_GOTPCREL, _R_GOTPCRELX, _R_REX_GOTPCRELX})
_RELATIVE = _TABLE | {_R_PC32, _R_PLT32, _R_PC64}
# jmp *0(%rip): to the address in the next eight bytes. Calls reach 2 GiB.
_STUB = b"\xff\x25\x00\x00\x00\x00"


def _relocate(place: Place, kind: int, target: int, addend: int) -> None:
    value = target + addend
    if kind in _RELATIVE:
        value -= place.address
    elif kind not in (_R_64, _R_32, _R_32S):
        raise damaged(f"it has a relocation of kind {kind}, which kernels do not need")
    code = {_R_64: "<Q", _R_PC64: "<q", _R_32: "<I"}.get(kind, "<i")
    if kind == _R_64:
        value &= (1 << 64) - 1
    struct.pack_into(code, place.image, place.offset, value)


ARCHITECTURE = Architecture(
    name="x86_64",
    machine=X86_64,
    stub=lambda address: _STUB + struct.pack("<Q", address),
    table_kinds=_TABLE,
    call_kinds=frozenset({_R_PC32, _R_PLT32}),
    long_kinds=frozenset({_R_64, _R_PC64}),
    relocate=_relocate,
)
