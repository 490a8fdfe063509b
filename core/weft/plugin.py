"""The door for plugin authors: everything a device plugin needs, and the only module it may import.

A plugin is a module that states ``weft_api = (1, 0)``, implements hooks of
``weft.device.hookspecs`` marked with ``@hookimpl``, and is listed under the entry-point group
``weft.devices`` by its family::

    [project.entry-points."weft.devices"]
    MINE = "weft_mine"

`docs/howto/write-a-device.md` builds one in a page; ``weft new-device MINE`` writes the package.

Names that only a strategy needs (`Kernel`, `Opt`, `Pass` and others of
`weft.codegen.strategy_api`) are imported when they are first asked for.
"""

import warnings
from importlib import import_module
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
from weft.device import (
    COMMON_DTYPES,
    Allocator,
    BufferHints,
    Capabilities,
    CompiledProgram,
    Compiler,
    ComputeCaps,
    Device,
    DeviceFamily,
    DeviceId,
    Dims,
    Estimates,
    Feature,
    FragmentLayout,
    GraphRunner,
    KernelLimits,
    Launch,
    LinearProgram,
    MachineModel,
    MemoryCaps,
    Renderer,
    Runner,
    SettableGraph,
    Target,
    TensorCore,
    Throughput,
)
from weft.device.hookspecs import API_VERSION, hookimpl, successor_of
from weft.device.packed_dot import PairDot
from weft.device.registry import register, unregister
from weft.render import (
    CDialect,
    CStyleRenderer,
    Function,
    LoopText,
    MaskedLoad,
    SourceUsage,
    VectorStyle,
)
from weft.uop import AxisKind, GroupOp, Ops, PatternMatcher, UOp, UPat
from weft.uop.args import ASYNC, PREFETCH_L2, PREFETCH_STREAM, PREFETCHES

if TYPE_CHECKING:
    from weft.codegen.strategy_api import (
        AFTER_LOOPS,
        CLOSING,
        NON_TEMPORAL,
        PREFETCH_L1,
        Access,
        Accumulate,
        Axis,
        Context,
        Fill,
        Kernel,
        Opt,
        OptError,
        OptKind,
        Pass,
        RangeArg,
        Row,
        accumulator_array,
        accumulator_axes,
        affine,
        affine_through_casts,
        alternative_of,
        ceildiv,
        conjunction,
        conjuncts,
        extent_of,
        fill_of,
        find_zero_products,
        fold_conditions,
        folded,
        from_affine,
        generic_passes,
        graph_rewrite,
        insert_before,
        is_computed_index,
        is_in_place,
        is_one,
        iteration_count,
        linearization,
        loop_order,
        loops_first,
        loops_of,
        max_trip_count,
        may_pack,
        nodes_of,
        opens_loops,
        prod,
        ranges_of,
        replace_nodes,
        replace_pass,
        rewrite_once,
        round_up,
        shape_of,
        shifted_left,
        sint,
        substitute_ranges,
        trip_count,
        values_of,
        verify_kernel_ast,
        verify_lowered,
        word_of,
    )

__all__ = [
    "AFTER_LOOPS",
    "API_VERSION",
    "ASYNC",
    "CLOSING",
    "COMMON_DTYPES",
    "NON_TEMPORAL",
    "PREFETCHES",
    "PREFETCH_L1",
    "PREFETCH_L2",
    "PREFETCH_STREAM",
    "Access",
    "Accumulate",
    "AddrSpace",
    "Allocator",
    "ArgumentError",
    "Axis",
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
    "Context",
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
    "Fill",
    "FragmentLayout",
    "Function",
    "GraphRunner",
    "GroupOp",
    "ImageDType",
    "Kernel",
    "KernelLimits",
    "Launch",
    "LinearProgram",
    "LoopText",
    "MachineModel",
    "MaskedLoad",
    "MemoryCaps",
    "Ops",
    "Opt",
    "OptError",
    "OptKind",
    "OutOfMemory",
    "PairDot",
    "Pass",
    "PatternMatcher",
    "PtrDType",
    "RangeArg",
    "Renderer",
    "Row",
    "Runner",
    "SettableGraph",
    "SourceUsage",
    "Target",
    "TensorCore",
    "Throughput",
    "UOp",
    "UPat",
    "UnknownDevice",
    "VectorStyle",
    "WeftError",
    "accumulator_array",
    "accumulator_axes",
    "affine",
    "affine_through_casts",
    "alternative_of",
    "ceildiv",
    "conjunction",
    "conjuncts",
    "dtypes",
    "extent_of",
    "fill_of",
    "find_zero_products",
    "fold_conditions",
    "folded",
    "from_affine",
    "generic_passes",
    "graph_rewrite",
    "hookimpl",
    "insert_before",
    "is_computed_index",
    "is_in_place",
    "is_one",
    "iteration_count",
    "let_through",
    "linearization",
    "loop_order",
    "loops_first",
    "loops_of",
    "max_trip_count",
    "may_pack",
    "nodes_of",
    "opens_loops",
    "prod",
    "ranges_of",
    "register",
    "replace_nodes",
    "replace_pass",
    "rewrite_once",
    "round_up",
    "settings",
    "shape_of",
    "shifted_left",
    "sint",
    "substitute_ranges",
    "trip_count",
    "unregister",
    "values_of",
    "verify_kernel_ast",
    "verify_lowered",
    "word_of",
]


if not TYPE_CHECKING:  # a checker reports a name that is not there

    def __getattr__(name: str) -> Any:
        """A name that a strategy needs, which imports the code generator, or one that was here in
        an earlier version of the hooks, where it has a successor."""
        if name in __all__:
            value = globals()[name] = getattr(import_module("weft.codegen.strategy_api"), name)
            return value
        listed = successor_of(name)
        if listed is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        warnings.warn(str(listed), DeprecationWarning, stacklevel=2)
        return globals()[listed.successor]
