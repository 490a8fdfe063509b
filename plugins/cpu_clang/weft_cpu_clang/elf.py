"""Object loading: load a relocatable ELF object for x86-64 without a linker or a file.
Also: JIT linking, relocation.

Every offset is checked against the size of the object: a damaged object is a CompileError, never a
crash. Code is mapped writable, filled, and then made executable and read-only. It is never both.

Source: System V Application Binary Interface, AMD64 Architecture Processor Supplement; LLVM,
JITLink.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import struct
import sys
from functools import cache

from weft.plugin import CompileError, let_through
from weft_cpu_clang.elf_object import (
    ALLOCATE,
    NOBITS,
    PROGRESS,
    RELA,
    WRITE,
    ObjectFile,
    Relocation,
    damaged,
)
from weft_cpu_clang.mmap_allocator import private

_ABSOLUTE = 0xFFF1
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


class LoadedObject:
    """An object in memory; its functions live as long as it does.

    :param binary: the object file.
    :raises CompileError: if it is damaged, for another machine, or names a symbol nobody has.
    """

    def __init__(self, binary: bytes) -> None:
        self._file = ObjectFile(binary)
        self._sections, self._symbols = self._file.sections, self._file.symbols
        self._places: dict[int, int] = {}  # where sections stand in memory
        try:
            self._lay_out()
            self._map()
        except (struct.error, IndexError, OverflowError) as error:
            raise damaged(f"it is inconsistent ({error})") from error

    def address(self, name: str) -> int:
        """Where a function starts. :raises CompileError: if the object has no such function."""
        for symbol in self._symbols:
            if symbol.name == name and 0 < symbol.section < len(self._sections):
                return self._base + self._inside(symbol.section, symbol.value)
        raise damaged(f"it has no function {name!r}")

    def _relocations(self) -> list[tuple[int, Relocation]]:
        """Those of everything that is loaded, each with the section that it is in."""
        return [
            (table.info, one)
            for table in self._sections
            if table.kind == RELA and table.info in self._places
            for one in self._file.relocations(table)
        ]

    # ---- placing ----------------------------------------------------------------------------

    def _lay_out(self) -> None:
        """Code and constants, then stubs and a table of addresses; data on pages of its own."""
        self._stubs: dict[int, int] = {}
        self._table: dict[int, int] = {}
        loaded = {
            index: section
            for index, section in enumerate(self._sections)
            if section.flags & ALLOCATE and section.kind in (PROGRESS, NOBITS)
        }
        # That they are loaded is known to the relocations that are counted below.
        self._places = dict.fromkeys(loaded, 0)
        top = 0
        for writable in (False, True):
            for index, section in loaded.items():
                if bool(section.flags & WRITE) is not writable:
                    continue
                top = -(-top // section.align) * section.align
                self._places[index] = top
                top += section.size
                if top > _LARGEST:
                    raise damaged("it claims to be larger than any kernel")
            if not writable:
                top = -(-top // 16) * 16
                for _target, one in self._relocations():
                    symbol = one.symbol
                    if one.kind in (_R_GOTPCREL, _R_GOTPCRELX, _R_REX_GOTPCRELX):
                        if symbol not in self._table:
                            self._table[symbol], top = top, top + 16
                    elif self._symbols[symbol].section == 0 and symbol not in self._stubs:
                        self._stubs[symbol], top = top, top + 16
                top = -(-top // mmap.PAGESIZE) * mmap.PAGESIZE
                self._fixed = top
        self._size = max(top, 1)

    def _inside(self, section: int, value: int) -> int:
        place = self._places.get(section)
        if place is None or value > self._sections[section].size:
            raise damaged("a symbol is outside of what is loaded")
        return place + value

    def _value(self, symbol: int) -> int:
        name, _info, _other, section, value, _size = self._symbols[symbol]
        if section == _ABSOLUTE:
            return value
        if section == 0:
            return _outside(name)
        if section >= len(self._sections):
            raise damaged(f"symbol {name!r} is in section {section} of {len(self._sections)}")
        return self._base + self._inside(section, value)

    def _map(self) -> None:
        self._memory = private(self._size)
        start = ctypes.c_char.from_buffer(self._memory)
        self._base = ctypes.addressof(start)
        del start  # the export; the mapping itself is kept by self
        image = memoryview(self._memory)
        for index, place in self._places.items():
            content = self._file.content(self._sections[index])
            image[place : place + len(content)] = content
        for symbol, place in self._stubs.items():
            image[place : place + 14] = _STUB + struct.pack("<Q", self._value(symbol))
        for symbol, place in self._table.items():
            image[place : place + 8] = struct.pack("<Q", self._value(symbol))
        for target, relocation in self._relocations():
            self._patch(image, target, relocation)
        image.release()
        if self._fixed:
            _protect(self._base, self._fixed)

    def _patch(self, image: memoryview, target: int, wanted: Relocation) -> None:
        offset, kind, symbol, addend = wanted
        width = 8 if kind in (_R_64, _R_PC64) else 4
        if offset + width > self._sections[target].size:
            raise damaged("a relocation is outside of its section")
        here = self._places[target] + offset
        if kind in (_R_GOTPCREL, _R_GOTPCRELX, _R_REX_GOTPCRELX):
            value = self._base + self._table[symbol]
        elif symbol in self._stubs and kind in (_R_PC32, _R_PLT32):
            value = self._base + self._stubs[symbol]
        else:
            value = self._value(symbol)
        value += addend
        if kind in (
            _R_PC32,
            _R_PLT32,
            _R_PC64,
            _R_GOTPCREL,
            _R_GOTPCRELX,
            _R_REX_GOTPCRELX,
        ):
            value -= self._base + here
        elif kind not in (_R_64, _R_32, _R_32S):
            raise damaged(f"it has a relocation of kind {kind}, which kernels do not need")
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
        except OSError as error:
            let_through(error)
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
