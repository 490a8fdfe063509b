"""Object linking: lay out the sections of a relocatable ELF object, and apply its relocations.
Also: relocation.

Code and constants come first, then stubs and the global offset table; data that kernels write is on
pages of its own. The image may be for another processor than this one: nothing is executed here.

Source: J. Levine, "Linkers and Loaders" (Morgan Kaufmann 2000); LLVM, JITLink.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Callable

from weft_cpu_clang import elf_aarch64, elf_x86_64
from weft_cpu_clang.elf_architecture import STUB_BYTES, Architecture, Place
from weft_cpu_clang.elf_object import (
    ALLOCATE,
    NOBITS,
    PROGRESS,
    RELA,
    WRITE,
    ObjectFile,
    Relocation,
    Section,
    damaged,
)

ARCHITECTURES = {each.machine: each for each in (elf_x86_64.ARCHITECTURE, elf_aarch64.ARCHITECTURE)}
"""By `e_machine`: those whose objects can be linked."""

_ABSOLUTE = 0xFFF1
_LARGEST = 1 << 27
"""Bytes: no kernel is that large, but a damaged header may say so. Branches of aarch64 reach it."""


class LinkedImage:
    """The layout of an object in memory.

    :param binary: the object file.
    :ivar architecture: which processors execute it.
    :ivar size: bytes of the image.
    :ivar constant: bytes at its start that are code and constants, a number of pages.
    :raises CompileError: if it is damaged, or for an architecture that is not known.
    """

    def __init__(self, binary: bytes) -> None:
        self._file = ObjectFile(binary)
        self.architecture: Architecture = ARCHITECTURES[self._file.machine]
        self._sections, self._symbols = self._file.sections, self._file.symbols
        self._places: dict[int, int] = {}  # offsets of sections
        self._stubs: dict[int, int] = {}
        self._table: dict[int, int] = {}
        try:
            self._lay_out()
        except (struct.error, IndexError, OverflowError) as error:
            raise damaged(f"it is inconsistent ({error})") from error

    def offset(self, name: str) -> int:
        """Where a function starts. :raises CompileError: if the object has no such function."""
        for symbol in self._symbols:
            if symbol.name == name and 0 < symbol.section < len(self._sections):
                return self._inside(symbol.section, symbol.value)
        raise damaged(f"it has no function {name!r}")

    def write(self, image: memoryview, base: int, outside: Callable[[str], int]) -> None:
        """Fill memory with the object, relocated.

        :param image: `size` bytes of zeros.
        :param base: the address of its first byte where it will be executed, aligned to a page.
        :param outside: gives the address of a symbol that the object does not define.
        :raises CompileError: if it is damaged, or has an undefined symbol.
        """
        values = _Values(self, base, outside)
        for index, offset in self._places.items():
            content = self._file.content(self._sections[index])
            image[offset : offset + len(content)] = content
        try:
            for symbol, offset in self._stubs.items():
                code = self.architecture.stub(values.of(symbol))
                image[offset : offset + len(code)] = code
            for symbol, offset in self._table.items():
                struct.pack_into("<Q", image, offset, values.of(symbol))
            for section, relocation in self._relocations():
                self._apply(image, base, values, section, relocation)
        except (struct.error, IndexError, OverflowError) as error:
            raise damaged(f"it is inconsistent ({error})") from error

    def _relocations(self) -> list[tuple[int, Relocation]]:
        """Those of everything that is loaded, each with the section that it is in."""
        return [
            (table.info, one)
            for table in self._sections
            if table.kind == RELA and table.info in self._places
            for one in self._file.relocations(table)
        ]

    def _lay_out(self) -> None:
        loaded = {
            index: section
            for index, section in enumerate(self._sections)
            if section.flags & ALLOCATE and section.kind in (PROGRESS, NOBITS)
        }
        # That they are loaded is known to the relocations that are counted below.
        self._places = dict.fromkeys(loaded, 0)
        top = self._put(loaded, 0, writable=False)
        top = self._put_stubs(_aligned(top, STUB_BYTES))
        self.constant = _aligned(top, mmap.PAGESIZE)
        self.size = max(self._put(loaded, self.constant, writable=True), 1)

    def _put(self, loaded: dict[int, Section], top: int, writable: bool) -> int:
        """Give the sections of one kind their offsets, from `top` on; the end of the last."""
        for index, section in loaded.items():
            if bool(section.flags & WRITE) is writable:
                self._places[index] = top = _aligned(top, section.align)
                top += section.size
                if top > _LARGEST:
                    raise damaged("it claims to be larger than any kernel")
        return top

    def _put_stubs(self, top: int) -> int:
        for _section, one in self._relocations():
            symbol = one.symbol
            if one.kind in self.architecture.table_kinds:
                if symbol not in self._table:
                    self._table[symbol], top = top, top + STUB_BYTES
            elif self._symbols[symbol].section == 0 and symbol not in self._stubs:
                self._stubs[symbol], top = top, top + STUB_BYTES
        return top

    def _inside(self, section: int, value: int) -> int:
        offset = self._places.get(section)
        if offset is None or value > self._sections[section].size:
            raise damaged("a symbol is outside of what is loaded")
        return offset + value

    def _apply(
        self, image: memoryview, base: int, values: _Values, section: int, wanted: Relocation
    ) -> None:
        offset, kind, symbol, addend = wanted
        width = 8 if kind in self.architecture.long_kinds else 4
        if offset + width > self._sections[section].size:
            raise damaged("a relocation is outside of its section")
        if kind in self.architecture.table_kinds:
            target = base + self._table[symbol]
        elif symbol in self._stubs and kind in self.architecture.call_kinds:
            target = base + self._stubs[symbol]
        else:
            target = values.of(symbol)
        at = self._places[section] + offset
        self.architecture.relocate(Place(image, at, base + at), kind, target, addend)


class _Values:
    """Addresses of symbols of an image that starts at `base`."""

    def __init__(self, image: LinkedImage, base: int, outside: Callable[[str], int]) -> None:
        self._image, self._base, self._outside = image, base, outside

    def of(self, number: int) -> int:
        """:raises CompileError: for a symbol outside of the loaded sections, or an undefined
        one."""
        symbol, sections = self._image._symbols[number], self._image._sections
        if symbol.section == _ABSOLUTE:
            return symbol.value
        if symbol.section == 0:
            return self._outside(symbol.name)
        if symbol.section >= len(sections):
            raise damaged(
                f"symbol {symbol.name!r} is in section {symbol.section} of {len(sections)}"
            )
        return self._base + self._image._inside(symbol.section, symbol.value)


def _aligned(offset: int, alignment: int) -> int:
    return -(-offset // alignment) * alignment
