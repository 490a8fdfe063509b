"""Loaded code: the output of the compiler in this process, an object or a shared library.

Windows deletes no file while its library is loaded: such files are deleted at the end.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import sys

from weft.plugin import CompileError, let_through
from weft_cpu_clang import elf

_RELOCATABLE = b"\x01\x00"  # the type of an ELF object that no linker has seen
SUFFIX = {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")
"""Of shared libraries, on this system."""


class SharedLibrary:
    """A shared library, loaded from a temporary file, since the loader of the system needs one.

    :raises CompileError: if the loader refuses it.
    """

    def __init__(self, binary: bytes, kernel: str) -> None:
        import tempfile

        self._kernel = kernel
        handle, path = tempfile.mkstemp(prefix="weft-", suffix=SUFFIX)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(binary)
            self._library = ctypes.CDLL(path)
        except OSError as error:
            os.unlink(path)
            let_through(error)
            raise CompileError(
                "this library cannot be loaded",
                asked=f"kernel {kernel}",
                because=str(error),
                try_="clear the kernel cache (it may be damaged) and compile again",
            ) from error
        try:
            os.unlink(path)
        except PermissionError:
            atexit.register(_free, self._library, path)

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


def _free(library: ctypes.CDLL, path: str) -> None:
    """Unload a library of Windows at the end of the process, and delete its file."""
    free = ctypes.WinDLL("kernel32").FreeLibrary  # type: ignore[attr-defined]
    free(ctypes.c_void_p(library._handle))
    try:
        os.unlink(path)
    except OSError as error:
        let_through(error)  # another process has it open: it stays in the temporary folder


def load(binary: bytes, kernel: str) -> elf.LoadedObject | SharedLibrary:
    """The code of a kernel in memory; it stays there as long as what this gives is kept.

    :raises CompileError: if it is damaged.
    """
    if not binary or (binary[:4] == b"\x7fELF" and binary[16:18] == _RELOCATABLE):
        return elf.LoadedObject(binary)
    return SharedLibrary(binary, kernel)
