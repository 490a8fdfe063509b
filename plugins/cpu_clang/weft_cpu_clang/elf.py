"""Object loading: load a relocatable ELF object without a linker or a file.
Also: JIT linking.

Every offset is checked against the size of the object: a damaged object is a CompileError, never a
crash. Code is mapped writable, filled, and then made executable and read-only. It is never both.

Processors of aarch64 fetch instructions past the data cache: what was written is cleaned from it,
and the instruction cache is invalidated. Linux does so for pages that become executable, but
documents no such promise of `mprotect`; `__clear_cache` of the compiler's library is the documented
way. Without it objects are not loaded here, and the system's linker loads libraries.

Source: LLVM, JITLink and sys::Memory::InvalidateInstructionCache; Arm Architecture Reference Manual
for A-profile, B2.4, "Caches and memory hierarchy".
"""

from __future__ import annotations

import ctypes
import os
import sys
from functools import cache

from weft.plugin import CompileError, let_through
from weft_cpu_clang.elf_architecture import Architecture
from weft_cpu_clang.elf_image import ARCHITECTURES, LinkedImage
from weft_cpu_clang.elf_object import AARCH64, ObjectFile, damaged
from weft_cpu_clang.mmap_allocator import private

_FLUSH = "__clear_cache"


@cache
def loads_here() -> bool:
    """Whether this process runs the kind of object this file loads."""
    own = own_architecture()
    return own is not None and (own.machine != AARCH64 or bool(_address(_FLUSH)))


@cache
def own_architecture() -> Architecture | None:
    """The one of this process, on Linux; None where objects of ELF cannot be loaded."""
    if not sys.platform.startswith("linux") or sys.maxsize < 1 << 32:
        return None
    name = os.uname().machine
    return next((each for each in ARCHITECTURES.values() if each.name == name), None)


def check_object(binary: bytes) -> None:
    """:raises CompileError: if this is no object that this process can execute."""
    _check_machine(ARCHITECTURES[ObjectFile(binary).machine])


def _check_machine(found: Architecture) -> None:
    own = own_architecture()
    if found is not own:
        here = "no objects of ELF" if own is None else own.name
        raise damaged(f"it is for {found.name}, and this process executes {here}")


class LoadedObject:
    """An object in memory; its functions live as long as it does.

    :param binary: the object file.
    :raises CompileError: if it is damaged, for another machine, or has an undefined symbol.
    """

    def __init__(self, binary: bytes) -> None:
        self._linked = LinkedImage(binary)
        _check_machine(self._linked.architecture)
        self._memory = private(self._linked.size)
        start = ctypes.c_char.from_buffer(self._memory)
        self._base = ctypes.addressof(start)
        del start  # the export; the mapping itself is kept by self
        with memoryview(self._memory) as image:
            self._linked.write(image, self._base, _outside)
        if self._linked.constant:
            _make_executable(self._base, self._linked.constant)

    def address(self, name: str) -> int:
        """Where a function starts. :raises CompileError: if the object has no such function."""
        return self._base + self._linked.offset(name)


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
def _address(name: str) -> int:
    """The address of a function of these libraries; 0: none has it."""
    for library in _libraries():
        try:
            address = ctypes.cast(getattr(library, name), ctypes.c_void_p).value
        except (AttributeError, ValueError):
            continue
        if address:
            return address
    return 0


def _outside(name: str) -> int:
    """The address of a function that the compiler took for granted.

    :raises CompileError: if no library has it.
    """
    address = _address(name)
    if not address:
        raise CompileError(
            "a kernel calls a function that is not there",
            asked=f"{name}",
            because="neither the C library nor the compiler's own has it",
            try_="another compiler (WEFT_CLANG), or report it with the kernel's source",
        )
    return address


def _make_executable(address: int, size: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mprotect(ctypes.c_void_p(address), ctypes.c_size_t(size), 1 | 4):  # read, execute
        raise CompileError(
            "the system refuses to make memory executable",
            because=f"mprotect failed with errno {ctypes.get_errno()}",
            try_="allow it for this process, or use another device",
        )
    own = own_architecture()
    if own is not None and own.machine == AARCH64:
        flush = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(_address(_FLUSH))
        flush(address, address + size)
