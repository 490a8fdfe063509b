"""Object reading: the sections, symbols and relocations of a relocatable ELF object.

Every offset is checked against the size of the object: a damaged object is a CompileError.

Source: System V Application Binary Interface, generic ABI, chapter 4, Object Files.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

from weft.plugin import CompileError

HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
SECTION = struct.Struct("<IIQQQQIIQQ")
SYMBOL = struct.Struct("<IBBHQQ")
RELOCATION = struct.Struct("<QQq")
PROGRESS, SYMBOLS, STRINGS, RELA, NOBITS = 1, 2, 3, 4, 8
WRITE, ALLOCATE, MERGE, OF_STRINGS = 1, 2, 16, 32
MAGIC = b"\x7fELF\x02\x01"
RELOCATABLE = 1
X86_64, AARCH64 = 62, 183
MACHINES = (X86_64, AARCH64)
LOCAL = 0  # of symbols: other files do not see them
OF_SECTION = 3  # of symbols: a section's start


def damaged(what: str) -> CompileError:
    """The error of an object of which `what` is wrong."""
    return CompileError(
        "this object file cannot be loaded",
        because=what,
        try_="set WEFT_CLANG to another clang: this one gives objects that are damaged",
    )


class Section(NamedTuple):
    """A row of the table of sections."""

    name: int
    kind: int
    flags: int
    offset: int
    size: int
    link: int
    info: int
    align: int
    each: int


class Symbol(NamedTuple):
    """A row of the symbol table. `section` 0: undefined in this object."""

    name: str
    info: int
    other: int
    section: int
    value: int
    size: int

    @property
    def binding(self) -> int:
        """Who sees it."""
        return self.info >> 4

    @property
    def kind(self) -> int:
        """Of what it is the place."""
        return self.info & 15


class Relocation(NamedTuple):
    """Where in its section an address is wanted, of which symbol, and how it is written."""

    offset: int
    kind: int
    symbol: int
    addend: int


class ObjectFile:
    """What an object file says.

    :param binary: the object file.
    :ivar machine: the processors that it is for, one of MACHINES.
    :raises CompileError: if it is damaged, or for another machine.
    """

    def __init__(self, binary: bytes) -> None:
        self.binary = binary
        self.machine = 0
        try:
            self.sections = self._read_sections()
            self.symbols = self._read_symbols()
            self._names = self._strings(HEADER.unpack(self.part(0, HEADER.size))[-1])
        except (struct.error, IndexError, OverflowError) as error:
            raise damaged(f"it is cut short or inconsistent ({error})") from error

    def part(self, offset: int, size: int) -> memoryview:
        """Some of its bytes. :raises CompileError: where it has none."""
        if offset < 0 or size < 0 or offset + size > len(self.binary):
            raise damaged(f"{size} bytes at {offset} are outside of its {len(self.binary)}")
        return memoryview(self.binary)[offset : offset + size]

    def relocations(self, table: Section) -> Iterator[Relocation]:
        """Those of one table of them (RELA)."""
        count = len(self.symbols)
        for offset, info, addend in RELOCATION.iter_unpack(self.part(table.offset, table.size)):
            if info >> 32 >= count:
                raise damaged(f"it refers to symbol {info >> 32} of {count}")
            yield Relocation(offset, info & 0xFFFFFFFF, info >> 32, addend)

    def _read_sections(self) -> list[Section]:
        header = HEADER.unpack(self.part(0, HEADER.size))
        magic, kind, self.machine = header[:3]
        if magic[:6] != MAGIC or kind != RELOCATABLE or self.machine not in MACHINES:
            raise damaged("it is no relocatable ELF object for x86-64 or aarch64")
        start, entry, count = header[6], header[11], header[12]
        if entry != SECTION.size:
            raise damaged(f"its section headers are {entry} bytes long")
        sections = []
        for row in SECTION.iter_unpack(self.part(start, entry * count)):
            name, kind, flags, _address, offset, size, link, info, align, each = row
            if kind != NOBITS:
                self.part(offset, size)
            if align & (align - 1) or align > 4096:
                raise damaged(f"a section is aligned to {align}")
            sections.append(Section(name, kind, flags, offset, size, link, info, align or 1, each))
        return sections

    def _read_symbols(self) -> list[Symbol]:
        tables = [s for s in self.sections if s.kind == SYMBOLS]
        if len(tables) != 1:
            raise damaged(f"it has {len(tables)} symbol tables")
        names = self._strings(tables[0].link)
        found = []
        for name, *rest in SYMBOL.iter_unpack(self.part(tables[0].offset, tables[0].size)):
            found.append(Symbol(_text(names, name), *rest))
        return found

    def content(self, section: Section) -> memoryview:
        """What is in a section; nothing in one that begins as zeros."""
        return self.part(section.offset, 0 if section.kind == NOBITS else section.size)

    def section_name(self, index: int) -> str:
        """What a section is called."""
        return _text(self._names, self.sections[index].name)

    def _strings(self, index: int) -> bytes:
        strings = self.sections[index]
        return bytes(self.part(strings.offset, strings.size))


def _text(names: bytes, start: int) -> str:
    end = names.find(b"\0", start)
    if end < 0:
        raise damaged("a name is outside of its table")
    return names[start:end].decode(errors="replace")
