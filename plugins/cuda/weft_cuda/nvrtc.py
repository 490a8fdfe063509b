"""NVRTC: NVIDIA's compiler as a library, called through its C interface. It needs no driver.

Looked for in this order: ``WEFT_NVRTC`` (a path); the wheel ``nvidia-cuda-nvrtc``; the system's
library by its name.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
from collections.abc import Iterator
from ctypes import POINTER, byref, c_char_p, c_int, c_size_t, c_void_p
from functools import cache
from pathlib import Path
from typing import NamedTuple

from weft.plugin import CompileError, DeviceUnavailable, let_through

NAMES = ("libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so")
_FUNCTIONS: dict[str, tuple[object, ...]] = {
    "nvrtcVersion": (POINTER(c_int), POINTER(c_int)),
    "nvrtcGetNumSupportedArchs": (POINTER(c_int),),
    "nvrtcGetSupportedArchs": (POINTER(c_int),),
    "nvrtcCreateProgram": (
        POINTER(c_void_p), c_char_p, c_char_p, c_int, POINTER(c_char_p), POINTER(c_char_p),
    ),
    "nvrtcDestroyProgram": (POINTER(c_void_p),),
    "nvrtcCompileProgram": (c_void_p, c_int, POINTER(c_char_p)),
    "nvrtcGetProgramLogSize": (c_void_p, POINTER(c_size_t)),
    "nvrtcGetProgramLog": (c_void_p, c_char_p),
    "nvrtcGetPTXSize": (c_void_p, POINTER(c_size_t)),
    "nvrtcGetPTX": (c_void_p, c_char_p),
    "nvrtcGetCUBINSize": (c_void_p, POINTER(c_size_t)),
    "nvrtcGetCUBIN": (c_void_p, c_char_p),
}  # fmt: skip


class Translation(NamedTuple):
    """What NVRTC makes of a source.

    :param cubin: the machine's code; empty for a virtual architecture.
    :param ptx: the text that the machine's code is made of.
    """

    cubin: bytes
    ptx: bytes


class Nvrtc:
    """The library, loaded.

    :param path: of it, or a name that the system's loader finds.
    :raises OSError: if it cannot be loaded.
    :raises AttributeError: if it lacks a function.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        # It opens a second library by its bare name, which is found if that is open already.
        self._builtins = [
            ctypes.CDLL(str(file)) for file in Path(path).parent.glob("libnvrtc-builtins.so.*")
        ]
        self._library = ctypes.CDLL(path)
        for name, kinds in _FUNCTIONS.items():
            function = getattr(self._library, name)
            function.argtypes, function.restype = kinds, c_int
        self._library.nvrtcGetErrorString.argtypes = (c_int,)
        self._library.nvrtcGetErrorString.restype = c_char_p
        major, minor = c_int(), c_int()
        self._check(self._library.nvrtcVersion(byref(major), byref(minor)), "nvrtcVersion")
        self.version = (major.value, minor.value)
        self.architectures = self._supported()

    def _supported(self) -> tuple[int, ...]:
        count = c_int()
        self._check(self._library.nvrtcGetNumSupportedArchs(byref(count)), "supported archs")
        numbers = (c_int * count.value)()
        self._check(self._library.nvrtcGetSupportedArchs(numbers), "supported archs")
        return tuple(numbers)

    def compile(self, source: str, name: str, options: tuple[str, ...]) -> Translation:
        """Both forms of a kernel.

        :raises CompileError: with `source` and the compiler's log.
        """
        program = c_void_p()
        created = self._library.nvrtcCreateProgram(
            byref(program), source.encode(), f"{name}.cu".encode(), 0, None, None
        )
        self._check(created, "nvrtcCreateProgram")
        try:
            words = (c_char_p * len(options))(*(option.encode() for option in options))
            result = self._library.nvrtcCompileProgram(program, len(options), words)
            if result:
                log = self._text(program, "ProgramLog").rstrip(b"\0").decode(errors="replace")
                raise CompileError(
                    "NVRTC refuses",
                    asked=f"kernel {name} with {' '.join(options)}",
                    because=log or self._said(result),
                    source=source,
                    log=log,
                )
            made = Translation(self._text(program, "CUBIN"), self._text(program, "PTX"))
            if not made.cubin.strip(b"\0") and not made.ptx.strip(b"\0"):
                raise CompileError(
                    "NVRTC gives nothing",
                    asked=f"kernel {name} with {' '.join(options)}",
                    because="it reports success, and its result is empty",
                    try_="another NVRTC: WEFT_NVRTC is the path of the library",
                    source=source,
                )
            return made
        finally:
            self._library.nvrtcDestroyProgram(byref(program))

    def _text(self, program: c_void_p, what: str) -> bytes:
        size = c_size_t()
        self._check(getattr(self._library, f"nvrtcGet{what}Size")(program, byref(size)), what)
        buffer = ctypes.create_string_buffer(max(size.value, 1))
        self._check(getattr(self._library, f"nvrtcGet{what}")(program, buffer), what)
        return buffer.raw[: size.value]

    def _said(self, result: int) -> str:
        return (self._library.nvrtcGetErrorString(result) or b"?").decode(errors="replace")

    def _check(self, result: int, doing: str) -> None:
        if result:
            raise CompileError(
                "NVRTC fails", asked=doing, because=f"{self._said(result)} ({self.path})"
            )


def candidates() -> Iterator[str]:
    """Where the library might be, best first."""
    chosen = os.environ.get("WEFT_NVRTC")
    if chosen:
        yield chosen
        return
    for package in ("nvidia.cu13", "nvidia.cuda_nvrtc"):
        for folder in _folders(package):
            for name in NAMES:
                path = Path(folder, "lib", name)
                if path.exists():
                    yield str(path)
    yield from NAMES


def _folders(package: str) -> list[str]:
    try:
        found = importlib.util.find_spec(package)
    except ModuleNotFoundError:
        return []
    return list(found.submodule_search_locations or ()) if found else []


@cache
def find_nvrtc() -> Nvrtc:
    """The first library that loads.

    :raises DeviceUnavailable: if there is none, with what was tried.
    """
    reasons = []
    for path in candidates():
        try:
            return Nvrtc(path)
        except (OSError, AttributeError, CompileError) as error:
            let_through(error)
            reasons.append(f"{path}: {error}")
    raise DeviceUnavailable(
        "there is no compiler for this device",
        asked="NVRTC",
        because="\n".join(reasons),
        try_="pip install 'weft-cuda[compiler]'     (the wheel nvidia-cuda-nvrtc)",
    )
