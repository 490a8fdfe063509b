"""Loading a relocatable object (ELF, x86-64) into this process, without a linker or a file.

The format is that of the System V ABI and its AMD64 supplement. Every offset is checked against the
bytes there are: a damaged object is a CompileError, never a crash while loading. Code is mapped
writable, filled, and then made executable and read-only; it is never both.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import struct
import sys
from dataclasses import dataclass
from functools import cache

from weft.plugin import CompileError
from weft_cpu_clang.mapped import private

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_RELOCATION = struct.Struct("<QQq")
_PROGRESS, _SYMBOLS, _RELA, _NOBITS = 1, 2, 4, 8
_WRITE, _ALLOCATE = 1, 2
_ABSOLUTE, _COMMON = 0xFFF1, 0xFFF2
_LARGEST = 1 << 28
"""Bytes: no kernel is that large, but a damaged header may say so."""
# Jump to the address in the next eight bytes: calls reach 2 GiB, the C library may be farther.
_STUB = b"\xff\x25\x00\x00\x00\x00"
_R_64, _R_PC32, _R_PLT32, _R_GOTPCREL, _R_32, _R_32S = 1, 2, 4, 9, 10, 11
_R_PC64, _R_GOTPCRELX, _R_REX_GOTPCRELX = 24, 41, 42


@cache
def loads_here() -> bool:
    """Whether this process runs the kind of object this file loads."""
    return sys.platform.startswith("linux") and os.uname().machine == "x86_64"


def _damaged(what: str) -> CompileError:
    return CompileError(
        "this object file cannot be loaded",
        because=what,
        try_="clear the kernel cache (it may be damaged) and compile again",
    )


@dataclass
class _Section:
    kind: int
    flags: int
    offset: int
    size: int
    link: int
    info: int
    align: int
    place: int = -1  # where it stands in the image


class LoadedObject:
    """An object in memory; its functions live as long as it does.

    :param binary: the object file.
    :raises CompileError: if it is damaged, for another machine, or names a symbol nobody has.
    """

    def __init__(self, binary: bytes) -> None:
        self._binary = binary
        try:
            self._sections = self._read_sections()
            self._symbols = self._read_symbols()
            self._lay_out()
            self._map()
        except (struct.error, IndexError, OverflowError) as error:
            raise _damaged(f"it is cut short or inconsistent ({error})") from error

    def address(self, name: str) -> int:
        """Where a function starts. :raises CompileError: if the object has no such function."""
        for symbol, section, value in self._symbols:
            if symbol == name and 0 < section < len(self._sections):
                return self._base + self._inside(section, value)
        raise _damaged(f"it has no function {name!r}")

    # ---- reading ----------------------------------------------------------------------------

    def _part(self, offset: int, size: int) -> memoryview:
        if offset < 0 or size < 0 or offset + size > len(self._binary):
            raise _damaged(f"{size} bytes at {offset} are outside of its {len(self._binary)}")
        return memoryview(self._binary)[offset : offset + size]

    def _read_sections(self) -> list[_Section]:
        header = _HEADER.unpack(self._part(0, _HEADER.size))
        magic, kind, machine = header[:3]
        if magic[:6] != b"\x7fELF\x02\x01" or kind != 1 or machine != 62:
            raise _damaged("it is no relocatable ELF object for x86-64")
        start, entry, count = header[6], header[11], header[12]
        if entry != _SECTION.size:
            raise _damaged(f"its section headers are {entry} bytes long")
        sections = []
        for row in _SECTION.iter_unpack(self._part(start, entry * count)):
            _name, kind, flags, _address, offset, size, link, info, align, _each = row
            if kind != _NOBITS:
                self._part(offset, size)
            if align & (align - 1) or align > 4096:
                raise _damaged(f"a section is aligned to {align}")
            sections.append(_Section(kind, flags, offset, size, link, info, align or 1))
        return sections

    def _read_symbols(self) -> list[tuple[str, int, int]]:
        tables = [s for s in self._sections if s.kind == _SYMBOLS]
        if len(tables) != 1:
            raise _damaged(f"it has {len(tables)} symbol tables")
        strings = self._sections[tables[0].link]
        names = bytes(self._part(strings.offset, strings.size))
        found = []
        for name, _info, _other, section, value, _size in _SYMBOL.iter_unpack(
            self._part(tables[0].offset, tables[0].size)
        ):
            end = names.find(b"\0", name)
            if end < 0:
                raise _damaged("a name is outside of its table")
            found.append((names[name:end].decode(errors="replace"), section, value))
        return found

    def _relocations(self) -> list[tuple[_Section, int, int, int, int]]:
        """(section, offset in it, kind, symbol, addend) of everything that is loaded."""
        found = []
        for table in self._sections:
            if table.kind != _RELA:
                continue
            target = self._sections[table.info]
            if target.place < 0:
                continue
            for offset, info, addend in _RELOCATION.iter_unpack(
                self._part(table.offset, table.size)
            ):
                symbol = info >> 32
                if symbol >= len(self._symbols):
                    raise _damaged(f"it refers to symbol {symbol} of {len(self._symbols)}")
                found.append((target, offset, info & 0xFFFFFFFF, symbol, addend))
        return found

    # ---- placing ----------------------------------------------------------------------------

    def _lay_out(self) -> None:
        """Code and constants, then stubs and a table of addresses; data on pages of its own."""
        self._stubs: dict[int, int] = {}
        self._table: dict[int, int] = {}
        loaded = [
            s for s in self._sections if s.flags & _ALLOCATE and s.kind in (_PROGRESS, _NOBITS)
        ]
        for section in loaded:
            section.place = 0  # known to be loaded, for the relocations that are counted below
        top = 0
        for writable in (False, True):
            for section in (s for s in loaded if bool(s.flags & _WRITE) is writable):
                top = -(-top // section.align) * section.align
                section.place = top
                top += section.size
                if top > _LARGEST:
                    raise _damaged("it claims to be larger than any kernel")
            if not writable:
                top = -(-top // 16) * 16
                for _target, _offset, kind, symbol, _addend in self._relocations():
                    if kind in (_R_GOTPCREL, _R_GOTPCRELX, _R_REX_GOTPCRELX):
                        if symbol not in self._table:
                            self._table[symbol], top = top, top + 16
                    elif self._symbols[symbol][1] == 0 and symbol not in self._stubs:
                        self._stubs[symbol], top = top, top + 16
                top = -(-top // mmap.PAGESIZE) * mmap.PAGESIZE
                self._fixed = top
        self._size = max(top, 1)

    def _inside(self, section: int, value: int) -> int:
        place = self._sections[section].place
        if place < 0 or value > self._sections[section].size:
            raise _damaged("a symbol is outside of what is loaded")
        return place + value

    def _value(self, symbol: int) -> int:
        name, section, value = self._symbols[symbol]
        if section == _ABSOLUTE:
            return value
        if section == 0:
            return _outside(name)
        if section >= len(self._sections):
            raise _damaged(f"symbol {name!r} is in section {section} of {len(self._sections)}")
        return self._base + self._inside(section, value)

    def _map(self) -> None:
        self._memory = private(self._size)
        start = ctypes.c_char.from_buffer(self._memory)
        self._base = ctypes.addressof(start)
        del start  # the export; the mapping itself is kept by self
        image = memoryview(self._memory)
        for section in self._sections:
            if section.place >= 0 and section.kind != _NOBITS:
                end = section.place + section.size
                image[section.place : end] = self._part(section.offset, section.size)
        for symbol, place in self._stubs.items():
            image[place : place + 14] = _STUB + struct.pack("<Q", self._value(symbol))
        for symbol, place in self._table.items():
            image[place : place + 8] = struct.pack("<Q", self._value(symbol))
        for relocation in self._relocations():
            self._patch(image, *relocation)
        image.release()
        if self._fixed:
            _protect(self._base, self._fixed)

    def _patch(
        self, image: memoryview, target: _Section, offset: int, kind: int, symbol: int, addend: int
    ) -> None:
        width = 8 if kind in (_R_64, _R_PC64) else 4
        if offset + width > target.size:
            raise _damaged("a relocation is outside of its section")
        here = target.place + offset
        if kind in (_R_GOTPCREL, _R_GOTPCRELX, _R_REX_GOTPCRELX):
            value = self._base + self._table[symbol]
        elif symbol in self._stubs and kind in (_R_PC32, _R_PLT32):
            value = self._base + self._stubs[symbol]
        else:
            value = self._value(symbol)
        value += addend
        if kind in (_R_PC32, _R_PLT32, _R_PC64, _R_GOTPCREL, _R_GOTPCRELX, _R_REX_GOTPCRELX):
            value -= self._base + here
        elif kind not in (_R_64, _R_32, _R_32S):
            raise _damaged(f"it has a relocation of kind {kind}, which kernels do not need")
        code = {_R_64: "<Q", _R_PC64: "<q", _R_32: "<I"}.get(kind, "<i")
        if kind == _R_64:
            value &= (1 << 64) - 1
        image[here : here + width] = struct.pack(code, value)


@cache
def _libraries() -> tuple[ctypes.CDLL, ...]:
    """Where compilers expect memcpy and the like, and the arithmetic that has no instruction."""
    found = [ctypes.CDLL(None)]
    for name in ("libm.so.6", "libgcc_s.so.1"):
        try:
            found.append(ctypes.CDLL(name))
        except OSError:
            continue
    return tuple(found)


@cache
def _outside(name: str) -> int:
    """The address of a function that the compiler took for granted.

    :raises CompileError: if no library has it.
    """
    for library in _libraries():
        try:
            address = ctypes.cast(getattr(library, name), ctypes.c_void_p).value
        except (AttributeError, ValueError):
            continue
        if address:
            return address
    raise CompileError(
        "a kernel calls a function that is not there",
        asked=f"{name}",
        because="neither the C library nor the compiler's own has it",
        try_="another compiler (WEFT_CLANG), or report it with the kernel's source",
    )


def _protect(address: int, size: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mprotect(ctypes.c_void_p(address), ctypes.c_size_t(size), 1 | 4):  # read, execute
        raise CompileError(
            "the system refuses to make memory executable",
            because=f"mprotect failed with errno {ctypes.get_errno()}",
            try_="allow it for this process, or use another device",
        )
