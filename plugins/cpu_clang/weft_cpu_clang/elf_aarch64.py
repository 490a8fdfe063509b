"""Relocations of aarch64: data, addresses relative to pages, branches, and wide moves.

Instructions hold addresses in fields of their words. A field is replaced, and checked against its
range where the relocation asks for that.

Source: Arm, "ELF for the Arm 64-bit Architecture (AArch64)", section Relocation; "Procedure Call
Standard for the Arm 64-bit Architecture": veneers may change x16 and x17.
"""

from __future__ import annotations

import struct

from weft_cpu_clang.elf_architecture import Architecture, Place, check_signed
from weft_cpu_clang.elf_object import AARCH64, damaged

_ABS64, _ABS32, _PREL64, _PREL32 = 257, 258, 260, 261
_ADR_LO21, _ADR_PAGE, _ADR_PAGE_NC, _ADD_LO12 = 274, 275, 276, 277
_JUMP26, _CALL26 = 282, 283
_GOT_PAGE, _GOT_LO12, _PLT32, _GOT_PREL32 = 311, 312, 314, 315
_TABLE = frozenset({_GOT_PAGE, _GOT_LO12, _GOT_PREL32})

_MOVES = {263: (0, True), 264: (0, False), 265: (16, True), 266: (16, False),
          267: (32, True), 268: (32, False), 269: (48, False)}  # fmt: skip
"""MOVW_UABS_G0 to G3: the lowest of 16 bits, and whether higher ones must be zero."""
_SCALES = {278: 0, 284: 1, 285: 2, 286: 3, 299: 4, _GOT_LO12: 3}
"""Loads and stores, by the logarithm of their bytes: offsets count accesses of this size."""
_BRANCHES = {273: (19, 5), 279: (14, 5), 280: (19, 5), _JUMP26: (26, 0), _CALL26: (26, 0)}
"""LD_PREL_LO19, TSTBR14, CONDBR19, JUMP26, CALL26: bits and place of a distance in words."""
_PAGE = 0xFFF
"""ADRP counts pages of 4 KiB, whatever the pages of the system are."""


def _relocate(place: Place, kind: int, target: int, addend: int) -> None:
    if kind in _TABLE and addend:
        raise damaged(f"a relocation adds {addend} to an address in the global offset table")
    value = target + addend
    if kind in _DATA:
        _write_data(place, kind, value)
    elif kind in _MOVES:
        shift, checked = _MOVES[kind]
        if checked and value >> shift + 16:
            raise damaged(f"the address {value:#x} does not fit in {shift + 16} bits")
        _set_field(place, value >> shift & 0xFFFF, 16, 5)
    elif kind in _BRANCHES:
        bits, low = _BRANCHES[kind]
        distance = check_signed(value - place.address, bits + 2, "a branch")
        _set_field(place, _scaled(distance, 2), bits, low)
    elif kind in _SCALES:
        _set_field(place, _scaled(value & _PAGE, _SCALES[kind]), 12, 10)
    elif kind == _ADD_LO12:
        _set_field(place, value & _PAGE, 12, 10)
    elif kind == _ADR_LO21:
        _set_split(place, check_signed(value - place.address, 21, "an address"))
    elif kind in (_ADR_PAGE, _ADR_PAGE_NC, _GOT_PAGE):
        distance = (value & ~_PAGE) - (place.address & ~_PAGE)
        if kind != _ADR_PAGE_NC:
            check_signed(distance, 33, "a page")
        _set_split(place, distance >> 12)
    else:
        raise damaged(f"it has a relocation of kind {kind}, which kernels do not need")


_DATA = {_ABS64: "<Q", _ABS32: "<I", _PREL64: "<q", _PREL32: "<i", _PLT32: "<i", _GOT_PREL32: "<i"}


def _write_data(place: Place, kind: int, value: int) -> None:
    if kind == _ABS64:
        value &= (1 << 64) - 1
    elif kind != _ABS32:
        value -= place.address
    struct.pack_into(_DATA[kind], place.image, place.offset, value)


def _scaled(value: int, scale: int) -> int:
    """:raises CompileError: if `value` is no multiple of 1 << scale."""
    if value & ((1 << scale) - 1):
        raise damaged(f"{value:#x} is no multiple of {1 << scale}, which an instruction asks for")
    return value >> scale


def _set_field(place: Place, value: int, bits: int, low: int) -> None:
    """Replace a field of an instruction."""
    (word,) = struct.unpack_from("<I", place.image, place.offset)
    mask = (1 << bits) - 1
    word = word & ~(mask << low) | (value & mask) << low
    struct.pack_into("<I", place.image, place.offset, word)


def _set_split(place: Place, value: int) -> None:
    """The 21 bits of ADR and ADRP: two low ones at bit 29, the others at bit 5."""
    _set_field(place, value, 2, 29)
    _set_field(place, value >> 2, 19, 5)


def _stub(address: int) -> bytes:
    """ldr x16, 8; br x16; the address."""
    return struct.pack("<IIQ", 0x58000050, 0xD61F0200, address)


ARCHITECTURE = Architecture(
    name="aarch64",
    machine=AARCH64,
    stub=_stub,
    table_kinds=_TABLE,
    call_kinds=frozenset({_JUMP26, _CALL26, _PLT32}),
    long_kinds=frozenset({_ABS64, _PREL64}),
    relocate=_relocate,
)
