"""Object writing: write a relocatable ELF object from sections of another one.

Source: System V Application Binary Interface, generic ABI, chapter 4, Object Files.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

from weft_cpu_clang.elf_object import (
    HEADER,
    LOCAL,
    MAGIC,
    NOBITS,
    RELA,
    RELOCATABLE,
    RELOCATION,
    SECTION,
    STRINGS,
    SYMBOL,
    SYMBOLS,
    Relocation,
    Section,
    Symbol,
)

_VERSION = 1


class ObjectWriter:
    """An object file that grows. Symbols are added after the sections that they are in, local ones
    first.

    :param machine: the processors that it is for, `e_machine`.
    """

    def __init__(self, machine: int) -> None:
        self._machine = machine
        self._strings = bytearray(1)
        self._parts = [b"\0" * HEADER.size]
        self._size = HEADER.size
        self._sections = [Section(0, 0, 0, 0, 0, 0, 0, 0, 0)]
        self._symbols = [SYMBOL.pack(0, 0, 0, 0, 0, 0)]
        self._locals = 1
        self._tables: list[tuple[int, bytes]] = []  # section, its relocations

    def add(self, name: str, section: Section, content: bytes) -> int:
        """The number of a new section, of the kind of `section`."""
        self._append(b"\0" * (-self._size % max(section.align, 1)))
        size = section.size if section.kind == NOBITS else len(content)
        self._sections.append(section._replace(name=self._text(name), offset=self._size, size=size))
        self._append(b"" if section.kind == NOBITS else content)
        return len(self._sections) - 1

    def symbol(self, symbol: Symbol) -> int:
        """The number of a new symbol."""
        self._symbols.append(SYMBOL.pack(self._text(symbol.name), *symbol[1:]))
        self._locals += symbol.binding == LOCAL
        return len(self._symbols) - 1

    def relocate(self, section: int, rows: Sequence[Relocation]) -> None:
        """Have these addresses filled in, in a section."""
        if rows:
            packed = (RELOCATION.pack(r.offset, r.symbol << 32 | r.kind, r.addend) for r in rows)
            self._tables.append((section, b"".join(packed)))

    def finished(self) -> bytes:
        """The file."""
        symbols = len(self._sections) + len(self._tables)
        for section, rows in self._tables:
            self._table(".rela", RELA, symbols, section, RELOCATION, rows)
        rows = b"".join(self._symbols)
        self._table(".symtab", SYMBOLS, symbols + 1, self._locals, SYMBOL, rows)
        name = self._text(".strtab")
        self._append(bytes(self._strings))
        start = self._size - len(self._strings)
        self._sections.append(Section(name, STRINGS, 0, start, len(self._strings), 0, 0, 1, 0))
        self._append(b"\0" * (-self._size % 8))
        header = HEADER.pack(
            MAGIC + bytes([_VERSION]), RELOCATABLE, self._machine, _VERSION, 0, 0, self._size, 0,
            HEADER.size, 0, 0, SECTION.size, len(self._sections), len(self._sections) - 1,
        )  # fmt: skip
        rows = b"".join(SECTION.pack(*s[:3], 0, *s[3:]) for s in self._sections)
        return b"".join((header, *self._parts[1:], rows))

    def _table(
        self, name: str, kind: int, link: int, info: int, row: struct.Struct, content: bytes
    ) -> None:
        self.add(name, Section(0, kind, 0, 0, 0, link, info, 8, row.size), content)

    def _append(self, content: bytes) -> None:
        self._parts.append(content)
        self._size += len(content)

    def _text(self, name: str) -> int:
        """Where a name is in the table of them."""
        if not name:
            return 0
        place = len(self._strings)
        self._strings += name.encode() + b"\0"
        return place
