"""Source to a library, by the framework's own compiler, with exact arithmetic unless fast math was
selected (`Gpu.compile_options`).

The framework gives no bytes of a library made from source, so a kernel's binary is its source, and
the library that was made to check it is kept for the runner. Across processes the system keeps
compiled shaders by itself.
"""

from __future__ import annotations

from typing import Any

from weft.plugin import CompileError
from weft_metal.gpu import Gpu, describe_error

KEPT = 256
"""Libraries between compiling and loading; the engine loads what it compiles."""


class MetalCompiler:
    """:param device: whose compiler."""

    def __init__(self, device: Gpu) -> None:
        self.device = device
        self.fingerprint = f"metal-1;{device.capabilities.fingerprint}"

    def compile(self, source: str, name: str) -> bytes:
        """:raises CompileError: with ``source`` and what the compiler said as ``log``."""
        library(self.device, source, name)
        return source.encode()


def library(device: Gpu, source: str, name: str) -> Any:
    """The library of a source: that made a moment ago, or a new one."""
    kept: dict[str, Any] = device.__dict__.setdefault("libraries", {})
    if source in kept:
        return kept[source]
    options = device.compile_options()
    made, error = device.driver.newLibraryWithSource_options_error_(source, options, None)
    if made is None:
        log = describe_error(error)
        raise CompileError(
            f"Metal refuses kernel {name}",
            asked=f"compiling {name} for {device.id}",
            because=log.strip().partition("\n")[0],
            try_="this is a fault of the renderer: report it with WEFT_DEBUG=4 output",
            source=source,
            log=log,
        )
    if len(kept) >= KEPT:
        kept.pop(next(iter(kept)))
    kept[source] = made
    return made
