"""REF: a device that runs linear programs in plain Python, exactly as ``weft.base.scalars`` says.

It is slow and right, so that everything above the devices can be tested without any plugin. It
enters by the same hooks as everybody. ``REF`` has only loops; ``REF:vector`` also has vector
arithmetic, and ``REF:grid`` a launch grid with work groups, shared memory, barriers and images.
"""

from __future__ import annotations

from weft.base.dtype import dtypes
from weft.base.errors import UnknownDevice
from weft.device import (
    FIRST,
    Allocator,
    Capabilities,
    CompiledProgram,
    Compiler,
    ComputeCaps,
    Device,
    DeviceFamily,
    DeviceId,
    Feature,
    KernelLimits,
    MemoryCaps,
    Renderer,
    Runner,
    ordinal,
)
from weft.device.hookspecs import hookimpl
from weft.testing.reference.memory import PoisonedAllocator
from weft.testing.reference.renderer import PythonRenderer
from weft.testing.reference.runner import PythonCompiler, PythonRunner

weft_api = (1, 0)

ALL_DTYPES = frozenset(dtypes.all) - {dtypes.void}

KINDS: dict[str, ComputeCaps] = {
    FIRST: ComputeCaps(dtypes=ALL_DTYPES),
    "vector": ComputeCaps(
        dtypes=ALL_DTYPES,
        vector_widths=dict.fromkeys(ALL_DTYPES, (4, 2)),
        vector_bytes=16,
        features=frozenset({Feature.ANY_LANE}),
    ),
    "grid": ComputeCaps(
        dtypes=ALL_DTYPES,
        limits=KernelLimits(
            global_size=(1 << 31, 65535, 65535),
            local_size=(64, 64, 64),
            local_threads=64,
            shared_bytes=1 << 15,
            image_size=(256, 256),
        ),
        features=frozenset(
            {Feature.BARRIER, Feature.SHARED, Feature.WARP_REDUCE, Feature.ASYNC_COPY}
        ),
        vector_widths=dict.fromkeys(ALL_DTYPES, (4, 2)),
        tiles=2,
        warp_size=4,
    ),
}
"""What each locator can do."""


def kind(locator: str) -> str:
    """The one spelling of a locator. :raises UnknownDevice: if there is no such kind."""
    spelt = locator.lower() or FIRST
    if spelt.isascii() and spelt.isdigit():
        return ordinal(spelt)
    if spelt not in KINDS:
        raise UnknownDevice(
            "the reference device has no such kind",
            asked=f"REF:{locator}",
            because=f"its kinds are {', '.join(KINDS)}, or a number for one more of the first",
        )
    return spelt


@hookimpl
def weft_devices() -> list[DeviceFamily]:
    """One family, the last that would be chosen as default."""
    about = "runs kernels in Python: slow, exact, needs nothing"
    return [DeviceFamily("REF", priority=-900, canonical=kind, about=about)]


@hookimpl
def weft_open(id: DeviceId) -> Device:
    """Always there."""
    plain = id.locator.isdigit()
    name = "Python interpreter" if plain else f"Python interpreter, {id.locator}"
    can = FIRST if plain else id.locator
    caps = Capabilities(MemoryCaps(), KINDS[can], name, fingerprint=f"ref-1;{can}")
    return Device(id, caps)


@hookimpl
def weft_allocator() -> Allocator[memoryview]:
    """Host memory, poisoned."""
    return PoisonedAllocator()


@hookimpl
def weft_renderer() -> Renderer:
    """Python is the language."""
    return PythonRenderer()


@hookimpl
def weft_compiler() -> Compiler:
    """Checks the syntax."""
    return PythonCompiler()


@hookimpl
def weft_runner(program: CompiledProgram) -> Runner:
    """Defines the function."""
    return PythonRunner(program)
