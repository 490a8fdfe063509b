"""The door for plugin authors: everything a device plugin needs, and the only module it may import.

A plugin is a module that states ``weft_api = (1, 0)``, implements hooks of
``weft.device.hookspecs`` marked with ``@hookimpl``, and is listed under the entry-point group
``weft.devices`` by its family::

    [project.entry-points."weft.devices"]
    MINE = "weft_mine"

`docs/howto/write-a-device.md` builds one in a page; ``weft new-device MINE`` writes the package.
"""

import warnings
from typing import TYPE_CHECKING, Any

from weft.base.disk_cache import DiskCache
from weft.base.dtype import AddrSpace, DType, ImageDType, PtrDType, dtypes
from weft.base.errors import (
    ArgumentError,
    CapabilityError,
    CompileError,
    DeviceError,
    DeviceUnavailable,
    FileError,
    OutOfMemory,
    UnknownDevice,
    WeftError,
)
from weft.base.interrupts import let_through
from weft.base.settings import settings
from weft.device.capabilities import (
    COMMON_DTYPES,
    Capabilities,
    ComputeCaps,
    Feature,
    KernelLimits,
    MemoryCaps,
    Target,
)
from weft.device.hookspecs import API_VERSION, hookimpl, successor_of
from weft.device.identity import DeviceFamily, DeviceId
from weft.device.packed_dot import PairDot
from weft.device.parts import (
    Allocator,
    BufferHints,
    Compiler,
    Device,
    Dims,
    GraphRunner,
    Renderer,
    Runner,
    SettableGraph,
)
from weft.device.program import CompiledProgram, Estimates, Launch, LinearProgram
from weft.device.registry import register, unregister
from weft.device.tensor_core import FragmentLayout, TensorCore
from weft.render import CDialect, CStyleRenderer, Function, LoopText, MaskedLoad, VectorStyle
from weft.uop import GroupOp, Ops, PatternMatcher, UOp, UPat
from weft.uop.args import ASYNC, PREFETCH_L2, PREFETCH_STREAM, PREFETCHES, AxisKind

__all__ = [
    "API_VERSION",
    "ASYNC",
    "COMMON_DTYPES",
    "PREFETCHES",
    "PREFETCH_L2",
    "PREFETCH_STREAM",
    "AddrSpace",
    "Allocator",
    "ArgumentError",
    "AxisKind",
    "BufferHints",
    "CDialect",
    "CStyleRenderer",
    "Capabilities",
    "CapabilityError",
    "CompileError",
    "CompiledProgram",
    "Compiler",
    "ComputeCaps",
    "DType",
    "Device",
    "DeviceError",
    "DeviceFamily",
    "DeviceId",
    "DeviceUnavailable",
    "Dims",
    "DiskCache",
    "Estimates",
    "Feature",
    "FileError",
    "FragmentLayout",
    "Function",
    "GraphRunner",
    "GroupOp",
    "ImageDType",
    "KernelLimits",
    "Launch",
    "LinearProgram",
    "LoopText",
    "MaskedLoad",
    "MemoryCaps",
    "Ops",
    "OutOfMemory",
    "PairDot",
    "PatternMatcher",
    "PtrDType",
    "Renderer",
    "Runner",
    "SettableGraph",
    "Target",
    "TensorCore",
    "UOp",
    "UPat",
    "UnknownDevice",
    "VectorStyle",
    "WeftError",
    "dtypes",
    "hookimpl",
    "let_through",
    "register",
    "settings",
    "unregister",
]


if not TYPE_CHECKING:  # a checker reports a name that is not there

    def __getattr__(name: str) -> Any:
        """A name that was here in an earlier version of the hooks, where it has a successor."""
        listed = successor_of(name)
        if listed is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        warnings.warn(str(listed), DeprecationWarning, stacklevel=2)
        return globals()[listed.successor]
