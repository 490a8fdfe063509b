"""Launching: one call of the loaded function, pointers first, then the variables.

A launch is a foreign call with prebuilt conversions; the interpreter's lock is released during it.
"""

from __future__ import annotations

import ctypes
import os
import tempfile
from collections.abc import Sequence
from time import perf_counter

from weft.plugin import CompiledProgram, CompileError, Dims, dtypes
from weft_cpu_clang import elf
from weft_cpu_clang.allocator import Memory

_RELOCATABLE = b"\x01\x00"  # the type of an ELF object that no linker has seen


class FunctionRunner:
    """One loaded kernel.

    :param program: a kernel and what the compiler made of it.
    :ivar address: of the function.
    :raises CompileError: if the object is damaged.
    """

    def __init__(self, program: CompiledProgram) -> None:
        linear = program.program
        self.name = program.name
        kinds = [ctypes.c_void_p] * len(linear.globals)
        kinds += [
            ctypes.c_int64 if u.dtype is dtypes.int64 else ctypes.c_int for u in linear.variables
        ]
        if program.binary[16:18] == _RELOCATABLE or not program.binary:
            self._loaded: object = elf.LoadedObject(program.binary)
            address = self._loaded.address(program.name)
        else:
            self._loaded, address = _open_library(program)
        self.address = address
        self._call = ctypes.CFUNCTYPE(None, *kinds)(address)

    def __call__(
        self,
        handles: Sequence[Memory],
        *,
        global_size: Dims | None = None,
        local_size: Dims | None = None,
        values: Sequence[int] = (),
        wait: bool = False,
    ) -> float | None:
        """Run it; it is done when this returns. Seconds if `wait`."""
        addresses = [handle.address for handle in handles]
        if not wait:
            self._call(*addresses, *values)
            return None
        started = perf_counter()
        self._call(*addresses, *values)
        return perf_counter() - started


def _open_library(program: CompiledProgram) -> tuple[object, int]:
    """A shared library by way of a file, which the system's loader asks for."""
    handle, path = tempfile.mkstemp(prefix="weft-", suffix=".so")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(program.binary)
        library = ctypes.CDLL(path)
        address = ctypes.cast(library[program.name], ctypes.c_void_p).value
    except (OSError, AttributeError) as error:
        raise CompileError(
            "this library cannot be loaded",
            asked=f"kernel {program.name}",
            because=str(error),
            try_="clear the kernel cache (it may be damaged) and compile again",
        ) from error
    finally:
        os.unlink(path)
    if not address:
        raise CompileError("this library has no such function", asked=f"kernel {program.name}")
    return library, address
