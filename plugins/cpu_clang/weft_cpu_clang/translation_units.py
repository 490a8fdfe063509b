"""Unity build: compile several sources as one translation unit, and split its object.
Also: jumbo build.

A compiler takes some 5 ms for every source file, whatever its contents, and a fraction of that for
a further function of the same file. Functions of different sources may have the same name: the
preprocessor appends the number of the source. Every function of the object has its own section. The
object of one kernel is what its functions reach by relocations.

The code of a kernel does not depend on the other sources, and mostly the whole object does not:
sections are ordered by name, constants by place, and local symbols have no names. Constants as long
as the longest registers are an exception: clang puts them into one section for all functions, and
this section is copied whole.

Source: CMake manual, property UNITY_BUILD.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

from weft.plugin import SourceText
from weft_cpu_clang.elf_object import (
    AARCH64,
    LOCAL,
    MERGE,
    OF_SECTION,
    OF_STRINGS,
    RELA,
    ObjectFile,
    Relocation,
    Section,
    Symbol,
    damaged,
)
from weft_cpu_clang.elf_writer import ObjectWriter

FLAGS = ("-ffunction-sections", "-fdata-sections")


def joined(sources: Sequence[SourceText]) -> str:
    """One source of several, each with the ending of its number."""
    return "".join(map(_renamed, sources, endings(sources)))


def endings(sources: Sequence[SourceText]) -> list[str]:
    """What names of functions end with in `joined`, by source."""
    return [f"_of_source_{number}" for number in range(len(sources))]


def _renamed(source: SourceText, ending: str) -> str:
    names = (*source.functions, *source.entries)
    before = "".join(f"#define {name} {name}{ending}\n" for name in names)
    after = "".join(f"#undef {name}\n" for name in names)
    return f"{before}{source}\n{after}"


def separated(binary: bytes, endings: Sequence[str] = ("",)) -> list[bytes]:
    """Of an object, for each ending an object of the functions that are called so, and what these
    need. Their names are without it.

    :raises CompileError: if it is damaged, or has no such function.
    """
    whole = ObjectFile(binary)
    tables = {section.info: section for section in whole.sections if section.kind == RELA}
    try:
        return [_Part(whole, tables, ending).written() for ending in endings]
    except (struct.error, LookupError) as error:
        raise damaged(f"it is inconsistent ({error})") from error


class _Part:
    """What the functions of one source reach: sections, in their new order, and symbols."""

    def __init__(self, whole: ObjectFile, tables: dict[int, Section], ending: str) -> None:
        self._whole, self._ending = whole, ending
        found = {
            number: symbol
            for number, symbol in enumerate(whole.symbols)
            if symbol.binding != LOCAL
            and 0 < symbol.section < len(whole.sections)
            and symbol.name.endswith(ending)
        }
        if not found:
            raise damaged(f"it has no function whose name ends with {ending!r}")
        reached = dict.fromkeys(symbol.section for symbol in found.values())
        waiting = list(reached)
        self._relocations: dict[int, list[Relocation]] = {}
        # by symbol of a section: the new distances of constants from its start, by the old ones
        self._distances: dict[int, dict[int, int]] = {}
        while waiting:
            index = waiting.pop()
            if index not in tables:
                continue
            self._relocations[index] = list(whole.relocations(tables[index]))
            for one in self._relocations[index]:
                symbol = found[one.symbol] = whole.symbols[one.symbol]
                if 0 < symbol.section < len(whole.sections) and symbol.section not in reached:
                    reached[symbol.section] = None
                    waiting.append(symbol.section)
        names = {index: self._plain(whole.section_name(index)) for index in reached}
        self._names = dict(sorted(names.items(), key=lambda one: one[1]))
        self._symbols = dict(sorted(found.items(), key=lambda one: self._order(one[1])))

    def _plain(self, name: str) -> str:
        return name.replace(self._ending, "")

    def _order(self, symbol: Symbol) -> tuple[bool, str, str, int]:
        """Local ones come first, as the format wants it."""
        is_seen = symbol.binding != LOCAL
        where = self._names.get(symbol.section, "")
        return is_seen, where, self._plain(symbol.name) if is_seen else "", symbol.value

    def written(self) -> bytes:
        """This part as an object file of its own."""
        file, places = ObjectWriter(self._whole.machine), {}
        values = {number: symbol.value for number, symbol in self._symbols.items()}
        for index, name in self._names.items():
            section = self._whole.sections[index]
            content = bytes(self._whole.content(section))
            if section.flags & MERGE and not section.flags & OF_STRINGS:
                content = self._constants(index, content, values)
            places[index] = file.add(name, section, content)
        numbers = {0: 0}
        for number, symbol in self._symbols.items():
            name = self._plain(symbol.name) if symbol.binding != LOCAL else ""
            place = places.get(symbol.section, symbol.section)
            numbers[number] = file.symbol(
                symbol._replace(name=name, section=place, value=values[number])
            )
        for index in self._names:
            rows = self._relocations.get(index, ())
            found = [self._moved(one)._replace(symbol=numbers[one.symbol]) for one in rows]
            file.relocate(places[index], found)
        return file.finished()

    def _constants(self, index: int, content: bytes, values: dict[int, int]) -> bytes:
        """Those that this part names, of a section of constants that all parts share; `values`
        learns where they are now."""
        named = {n: s for n, s in self._symbols.items() if s.section == index}
        distances = [
            named[one.symbol].value + one.addend
            for rows in self._relocations.values()
            for one in rows
            if one.symbol in named and named[one.symbol].kind == OF_SECTION
        ]
        if distances and self._whole.machine != AARCH64:
            return content  # an addend is counted from the end of its instruction
        size = self._whole.sections[index].each
        kept = {s.value for s in named.values() if s.kind != OF_SECTION} | {*distances}
        if not size or any(at % size or not 0 <= at < len(content) for at in kept):
            return content
        places = {value: place * size for place, value in enumerate(sorted(kept))}
        for number, symbol in named.items():
            if symbol.kind == OF_SECTION:
                self._distances[number] = places
            else:
                values[number] = places[symbol.value]
        return b"".join(content[at : at + size] for at in sorted(kept))

    def _moved(self, one: Relocation) -> Relocation:
        """A relocation that names a constant by its distance from the start of a section."""
        places = self._distances.get(one.symbol)
        if places is None:
            return one
        value = self._symbols[one.symbol].value
        return one._replace(addend=places[value + one.addend] - value)
