"""Test doubles: capabilities and targets of no device, and plugins made of a few functions."""

from __future__ import annotations

from typing import Any

from weft.base.dtype import DType, dtypes
from weft.device import (
    COMMON_DTYPES,
    Allocator,
    BufferHints,
    Capabilities,
    ComputeCaps,
    Device,
    DeviceFamily,
    DeviceId,
    Feature,
    KernelLimits,
    MemoryCaps,
    Renderer,
    Target,
)
from weft.device.hookspecs import API_VERSION, hookimpl
from weft.host import HostAllocator
from weft.render import CStyleRenderer
from weft.uop import GroupOp, Ops


def fake_compute(
    *,
    max_buffers: int | None = None,
    features: frozenset[Feature] = frozenset(),
    extra_dtypes: frozenset[DType] = frozenset(),
    **fields: Any,
) -> ComputeCaps:
    """ComputeCaps of a plain C-like device, changed where asked."""
    limits = fields.pop("limits", KernelLimits(max_buffers=max_buffers))
    return ComputeCaps(
        dtypes=COMMON_DTYPES | extra_dtypes, limits=limits, features=features, **fields
    )


def fake_capabilities(*, stores_only: bool = False, **fields: Any) -> Capabilities:
    """Capabilities of a device that computes, or of one that only stores."""
    if stores_only:
        return Capabilities(MemoryCaps(persistent=True, resident=False), fingerprint="fake")
    return Capabilities(MemoryCaps(), fake_compute(**fields), fingerprint="fake")


def fake_target(*, native_ops: frozenset[Ops] = GroupOp.ALU, **fields: Any) -> Target:
    """A Target for code generation, of a plain C-like device unless changed."""
    return Target(fake_compute(**fields), native_ops, None, "fake", "fake")


class RecordingAllocator(HostAllocator):
    """Host memory that records what was asked of it, in ``log``."""

    def __init__(self, window: bool = True) -> None:
        self.log: list[tuple[Any, ...]] = []
        self.window = window
        self.live = 0

    def allocate(self, nbytes: int, hints: BufferHints) -> memoryview:
        self.log.append(("allocate", nbytes))
        self.live += nbytes
        return memoryview(bytearray(nbytes))

    def free(self, handle: memoryview, nbytes: int) -> None:
        self.log.append(("free", nbytes))
        self.live -= nbytes

    def map_host(self, handle: memoryview) -> memoryview | None:  # type: ignore[override]
        return handle if self.window else None

    def wrap(self, memory: memoryview) -> memoryview | None:  # type: ignore[override]
        return None


class CrashingAllocator(RecordingAllocator):
    """Raises ``error`` wherever it is asked one of the methods ``crashing``; a class, to be raised
    with a word, or an error."""

    def __init__(self, *crashing: str, error: Any = KeyError) -> None:
        super().__init__()
        self.crashing = crashing
        self.error = error

    def __getattribute__(self, name: str) -> Any:
        find = super().__getattribute__
        if name.startswith("_") or name in ("crashing", "error") or name not in find("crashing"):
            return find(name)

        def crash(*arguments: Any, **named: Any) -> Any:
            raise find("error")("crashed") if isinstance(find("error"), type) else find("error")

        return crash


class FakePlugin:
    """An object to hang hooks on, as if it were a plugin's module."""

    weft_devices: Any
    weft_open: Any
    weft_allocator: Any
    weft_renderer: Any
    weft_api: Any

    def __init__(self, name: str) -> None:
        self.__name__ = name


def fake_plugin(
    family: str = "FAKE",
    *,
    allocator: Allocator[Any] | None = None,
    capabilities: Capabilities | None = None,
    api: tuple[int, int] | None = API_VERSION,
    **family_fields: Any,
) -> FakePlugin:
    """An object with the three hooks of a storage device, for ``registry.register``."""
    gives = allocator or RecordingAllocator()
    can = capabilities or Capabilities(name="fake")

    @hookimpl
    def weft_devices() -> list[DeviceFamily]:
        return [DeviceFamily(family, **family_fields)]

    @hookimpl
    def weft_open(id: DeviceId) -> Device:
        return Device(id, can)

    @hookimpl
    def weft_allocator() -> Allocator[Any]:
        return gives

    plugin = FakePlugin(f"fake plugin {family}")
    plugin.weft_devices, plugin.weft_open = weft_devices, weft_open
    plugin.weft_allocator = weft_allocator
    if api is not None:
        plugin.weft_api = api
    return plugin


def fake_computer(family: str = "FAKE", *, max_buffers: int = 31, **fields: Any) -> FakePlugin:
    """A plugin whose device says that it computes, and renders C; nothing launches it."""
    plugin = fake_plugin(family, capabilities=fake_capabilities(max_buffers=max_buffers), **fields)

    @hookimpl
    def weft_renderer() -> Renderer:
        return CStyleRenderer()

    plugin.weft_renderer = weft_renderer
    return plugin


def half_and_all() -> tuple[DType, ...]:
    """Every dtype that a tensor may have."""
    return tuple(dtype for dtype in dtypes.all if dtype is not dtypes.void)
