"""Relocation interface: what a processor architecture adds to the object loader.

The architecture knows its relocations, and the instructions that jump to any address.

Source: J. Levine, "Linkers and Loaders" (Morgan Kaufmann 2000), chapter 7, Relocation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from weft_cpu_clang.elf_object import damaged

STUB_BYTES = 16
"""Bytes of a stub at most, and its alignment."""


class Place(NamedTuple):
    """Where a relocation writes.

    :param image: the loaded object.
    :param offset: in the image.
    :param address: in memory, of the same byte.
    """

    image: memoryview
    offset: int
    address: int


class Architecture(NamedTuple):
    """One processor architecture.

    :param name: for people, and as `os.uname` gives it.
    :param machine: `e_machine` of its objects.
    :param stub: instructions that jump to an address which a call may not reach.
    :param table_kinds: relocations that refer to an address in the global offset table.
    :param call_kinds: relocations of calls, which may go through a stub.
    :param long_kinds: relocations that write 8 bytes; all others write 4.
    :param relocate: writes the relocation of a kind at a place, for a target and an addend.
    """

    name: str
    machine: int
    stub: Callable[[int], bytes]
    table_kinds: frozenset[int]
    call_kinds: frozenset[int]
    long_kinds: frozenset[int]
    relocate: Callable[[Place, int, int, int], None]


def check_signed(value: int, bits: int, what: str) -> int:
    """`value`. :raises CompileError: if it does not fit in a signed field of so many bits."""
    if not -(1 << (bits - 1)) <= value < 1 << (bits - 1):
        raise damaged(f"{what} is {value:#x} bytes away, which is out of its reach")
    return value
