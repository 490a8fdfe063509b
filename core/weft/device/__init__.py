"""Device layer: names, capabilities, plugins, the registry, buffers and copies.

The names here are the public names of the layer; ``registry``, ``binding``, ``storage`` and
``transfer`` are modules whose functions are called by their full name. The package can be called as
well, like PyTorch's class: ``weft.device("NAME")`` is the canonical spelling of a device string.
"""

import sys
from types import ModuleType
from typing import Any

from weft.device import binding, registry, storage, transfer
from weft.device.buffer import Buffer, flat_memory, numpy_dtype
from weft.device.capabilities import (
    COMMON_DTYPES,
    Capabilities,
    ComputeCaps,
    Feature,
    FrozenMap,
    KernelLimits,
    MemoryCaps,
    Target,
    access_widths,
)
from weft.device.catalogue import catalogue
from weft.device.discovery import Plugin, PluginState, family_names, installed_plugins
from weft.device.identity import FIRST, DeviceFamily, DeviceId, Placement, ordinal
from weft.device.machine import MachineFact, MachineModel, Throughput
from weft.device.mesh import Mesh, MeshCut, P, set_mesh_devices
from weft.device.open_device import OpenDevice
from weft.device.parts import (
    NO_HINTS,
    Allocator,
    AsyncCollective,
    BufferHints,
    CollectiveRunner,
    Compiler,
    Device,
    Dims,
    Exchanging,
    GraphRunner,
    Renderer,
    Runner,
    SettableGraph,
    Tuning,
    ValueGraph,
)
from weft.device.program import CompiledProgram, Estimates, Launch, LinearProgram, SourceText
from weft.device.registry import Registry
from weft.device.tensor_core import FragmentLayout, TensorCore
from weft.device.usage import usage

__all__ = [
    "COMMON_DTYPES",
    "FIRST",
    "NO_HINTS",
    "Allocator",
    "AsyncCollective",
    "Buffer",
    "BufferHints",
    "Capabilities",
    "CollectiveRunner",
    "CompiledProgram",
    "Compiler",
    "ComputeCaps",
    "Device",
    "DeviceFamily",
    "DeviceId",
    "Dims",
    "Estimates",
    "Exchanging",
    "Feature",
    "FragmentLayout",
    "FrozenMap",
    "GraphRunner",
    "KernelLimits",
    "Launch",
    "LinearProgram",
    "MachineFact",
    "MachineModel",
    "MemoryCaps",
    "Mesh",
    "MeshCut",
    "OpenDevice",
    "P",
    "Placement",
    "Plugin",
    "PluginState",
    "Registry",
    "Renderer",
    "Runner",
    "SettableGraph",
    "SourceText",
    "Target",
    "TensorCore",
    "Throughput",
    "Tuning",
    "ValueGraph",
    "access_widths",
    "binding",
    "catalogue",
    "family_names",
    "flat_memory",
    "installed_plugins",
    "numpy_dtype",
    "ordinal",
    "registry",
    "set_mesh_devices",
    "storage",
    "transfer",
    "usage",
]


class _Package(ModuleType):
    """This package can be called."""

    def __call__(self, type: Any = None, index: int | None = None) -> str:
        """The device string of a device, in its one spelling; of the default device for None."""
        return registry.canonical(type if index is None else f"{type}:{index}")


sys.modules[__name__].__class__ = _Package
