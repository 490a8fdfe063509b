"""Loaded code: the output of the compiler in this process, an object or a shared library."""

from __future__ import annotations

import ctypes
import os

from weft.plugin import CompileError, let_through
from weft_cpu_clang import elf

_RELOCATABLE = b"\x01\x00"  # the type of an ELF object that no linker has seen


class SharedLibrary:
    """A shared library by way of a file, which the system's loader asks for.

    :raises CompileError: if the loader refuses it.
    """

    def __init__(self, binary: bytes, kernel: str) -> None:
        import tempfile

        self._kernel = kernel
        handle, path = tempfile.mkstemp(prefix="weft-", suffix=".so")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(binary)
            self._library = ctypes.CDLL(path)
        except OSError as error:
            let_through(error)
            raise CompileError(
                "this library cannot be loaded",
                asked=f"kernel {kernel}",
                because=str(error),
                try_="clear the kernel cache (it may be damaged) and compile again",
            ) from error
        finally:
            os.unlink(path)

    def address(self, name: str) -> int:
        """Where a function starts. :raises CompileError: if the library has no such function."""
        try:
            address = ctypes.cast(self._library[name], ctypes.c_void_p).value
        except AttributeError:
            address = None
        if not address:
            raise CompileError(
                "this library has no such function",
                asked=f"kernel {self._kernel}",
                because=f"there is no {name}",
                try_="clear the kernel cache (it may be damaged) and compile again",
            )
        return address


def load(binary: bytes, kernel: str) -> elf.LoadedObject | SharedLibrary:
    """The code of a kernel in memory; it stays there as long as what this gives is kept.

    :raises CompileError: if it is damaged.
    """
    if binary[16:18] == _RELOCATABLE or not binary:
        return elf.LoadedObject(binary)
    return SharedLibrary(binary, kernel)
