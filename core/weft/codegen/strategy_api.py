"""Strategy API: the names that `weft.plugin` exports for strategies.

Kernels and their loop transformations, affine forms of addresses, ranges, substitution and
traversal of graphs, dot products over words, passes and their composition. Nothing is defined here.
"""

from __future__ import annotations

from weft.base.intmath import ceildiv, round_up
from weft.base.sequences import prod
from weft.codegen.analysis.affine import affine, affine_through_casts, from_affine, loops_first
from weft.codegen.analysis.axes import Access, Axis, is_computed_index, is_in_place
from weft.codegen.analysis.folding import conjunction, folded
from weft.codegen.analysis.ranges import (
    CLOSING,
    Accumulate,
    Fill,
    alternative_of,
    extent_of,
    fill_of,
    iteration_count,
    loop_order,
    loops_of,
    max_trip_count,
    ranges_of,
    trip_count,
    values_of,
)
from weft.codegen.analysis.substitution import fold_conditions, replace_nodes, substitute_ranges
from weft.codegen.analysis.traversal import nodes_of, rewrite_once
from weft.codegen.linearization.accumulators import AFTER as AFTER_LOOPS
from weft.codegen.loops.loop_interchange import accumulator_array, accumulator_axes
from weft.codegen.loops.loop_padding import run as pad_loops
from weft.codegen.loops.zero_elimination import find_zero_products
from weft.codegen.lowering.loop_fusion import is_one, opens_loops
from weft.codegen.opt.kernel import Kernel
from weft.codegen.opt.opts import Opt, OptError, OptKind
from weft.codegen.pipeline import (
    Context,
    generic_passes,
    insert_before,
    linearization,
    replace_pass,
)
from weft.codegen.vectorization.packed_dot import may_pack, shifted_left, word_of
from weft.shape import shape_of
from weft.spec.kernel_ast import verify as verify_kernel_ast
from weft.spec.lowered import verify as verify_lowered
from weft.spec.passes import Pass
from weft.uop import KernelInfo, RangeArg, Row, conjuncts, graph_rewrite, sint
from weft.uop.args import NON_TEMPORAL, PREFETCH_L1

__all__ = [
    "AFTER_LOOPS",
    "CLOSING",
    "NON_TEMPORAL",
    "PREFETCH_L1",
    "Access",
    "Accumulate",
    "Axis",
    "Context",
    "Fill",
    "Kernel",
    "KernelInfo",
    "Opt",
    "OptError",
    "OptKind",
    "Pass",
    "RangeArg",
    "Row",
    "accumulator_array",
    "accumulator_axes",
    "affine",
    "affine_through_casts",
    "alternative_of",
    "ceildiv",
    "conjunction",
    "conjuncts",
    "extent_of",
    "fill_of",
    "find_zero_products",
    "fold_conditions",
    "folded",
    "from_affine",
    "generic_passes",
    "graph_rewrite",
    "insert_before",
    "is_computed_index",
    "is_in_place",
    "is_one",
    "iteration_count",
    "linearization",
    "loop_order",
    "loops_first",
    "loops_of",
    "max_trip_count",
    "may_pack",
    "nodes_of",
    "opens_loops",
    "pad_loops",
    "prod",
    "ranges_of",
    "replace_nodes",
    "replace_pass",
    "rewrite_once",
    "round_up",
    "shape_of",
    "shifted_left",
    "sint",
    "substitute_ranges",
    "trip_count",
    "values_of",
    "verify_kernel_ast",
    "verify_lowered",
    "word_of",
]
