"""From the AST of one kernel to the linear program that a renderer is given.

The contents page of this floor: the passes in their order. Code generation is handed a Target and
knows no device.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from weft.base.dtype import DType, dtypes
from weft.base.settings import settings
from weft.codegen.analysis import estimate, traversal
from weft.codegen.decomposition import run as decompose
from weft.codegen.indexing import (
    clamped_gather,
    images,
    index_widening,
    indexed_stores,
    keyed_prefix_count,
    one_hot_gather,
    predicate_simplification,
    scatter_add,
    table_column_blocking,
)
from weft.codegen.linearization import (
    any_lane_branches,
    iteration_skipping,
    late_decomposition,
    linear_order,
)
from weft.codegen.loops import delinearization, index_set_splitting, loop_coalescing, loop_peeling
from weft.codegen.lowering import lowerer, reduction_rows
from weft.codegen.memory import non_temporal_stores
from weft.codegen.memory.prefetch import panel_prefetch, stream_prefetch
from weft.codegen.opt.kernel import Kernel
from weft.codegen.opt.opts import Opt
from weft.codegen.simd import strategy
from weft.codegen.vectorization import expander, packed_words, rolled_tile_store
from weft.codegen.workgroups import group_reduction, launch_dims
from weft.device.capabilities import Feature, Target
from weft.device.program import LinearProgram
from weft.spec import kernel_ast, linear, lowered
from weft.spec.passes import Pass, run_passes
from weft.uop.node import UOp
from weft.uop.ops import Ops
from weft.uop.rewrite import graph_rewrite

Choose: TypeAlias = Callable[[Kernel], Sequence[Opt]]


@dataclass
class Context:
    """What the passes may ask: the target, and who chooses the optimisations.

    prepared: whether the heuristic's own rewrites come before the choice.
    """

    target: Target
    choose: Choose
    prepared: bool
    fused: frozenset[DType]
    widths: expander.Widths | None


def _epilogue(ast: UOp, ctx: Context) -> UOp:
    return reduction_rows.run(ast, ctx.target) if ctx.prepared else ast


def _lowerer(ast: UOp, ctx: Context) -> UOp:
    return lowerer.run(ast, together=ctx.target.compute.limits.global_size is not None)


def _lookups(sink: UOp, ctx: Context) -> UOp:
    return clamped_gather.run(sink) if _lanes(ctx) else sink


def _lanes(ctx: Context) -> int:
    """How many lanes of 32 bits one processor computes with; 0 for none, or for a grid."""
    compute = ctx.target.compute
    return 0 if compute.limits.global_size is not None else compute.vector_bytes // 4


def _words(sink: UOp, ctx: Context) -> UOp:
    return packed_words.run(sink, ctx.target) if ctx.prepared else sink


def _columns(sink: UOp, ctx: Context) -> UOp:
    return table_column_blocking.run(sink, ctx.target) if ctx.prepared else sink


def _tails(sink: UOp, ctx: Context) -> UOp:
    # part of the heuristic: whoever chooses otherwise is given the loops as they are
    return loop_peeling.run(sink, ctx.target) if ctx.prepared else sink


def _optimise(sink: UOp, ctx: Context) -> UOp:
    """Loop optimisations: apply the chosen splits, unrolls, vector lanes and loop orders."""
    kernel = Kernel(sink, ctx.target)
    tried = kernel.copy()
    chosen = ctx.choose(tried)
    if chosen is tried.applied:  # all that was tried is wanted: it is done
        return tried.finish()
    for opt in chosen:
        kernel.apply(opt)
    return kernel.finish()


def _expander(sink: UOp, ctx: Context) -> UOp:
    return expander.run(sink, ctx.fused, ctx.widths, ctx.target.compute.pair_dots)


def _groups(sink: UOp, ctx: Context) -> UOp:
    compute = ctx.target.compute
    return group_reduction.run(sink, compute.warp_size if compute.has(Feature.WARP_REDUCE) else 0)


def _linearize(sink: UOp, ctx: Context) -> tuple[object, list[UOp]]:
    nodes = linear_order.run(sink, ctx.fused)
    alone = ctx.target.compute.limits.global_size is None
    if ctx.target.compute.has(Feature.ANY_LANE):
        nodes = any_lane_branches.run(nodes)
    return sink.arg, late_decomposition.run(
        iteration_skipping.run(nodes) if alone else nodes, ctx.target
    )


def _last_rewrites(sink: UOp, ctx: Context) -> UOp:
    """Instruction selection: apply the rewrite rules of the target's renderer."""
    rules = ctx.target.rules
    return sink if rules is None else graph_rewrite(sink, rules, nodes=traversal.nodes_of(sink))


BEFORE = (
    Pass("reduction_rows", _epilogue, kernel_ast.verify),
    Pass("lowerer", _lowerer, lowered.verify),
    Pass("one_hot_gather", lambda sink, ctx: one_hot_gather.run(sink), lowered.verify),
    Pass(
        "keyed_prefix_count",
        lambda sink, ctx: keyed_prefix_count.run(sink, ctx.target),
        lowered.verify,
    ),
    Pass("indexed_stores", lambda sink, ctx: indexed_stores.run(sink, ctx.target), lowered.verify),
    Pass("scatter_add", lambda sink, ctx: scatter_add.run(sink, ctx.target), lowered.verify),
    Pass(
        "predicate_simplification",
        lambda sink, ctx: predicate_simplification.run(sink),
        lowered.verify,
    ),
    Pass("clamped_gather", _lookups, lowered.verify),
    Pass(
        "delinearization", lambda sink, ctx: delinearization.run(sink, _lanes(ctx)), lowered.verify
    ),
    Pass(
        "index_set_splitting",
        lambda sink, ctx: index_set_splitting.run(sink, _lanes(ctx)),
        lowered.verify,
    ),
    Pass("loop_coalescing", lambda sink, ctx: loop_coalescing.run(sink), lowered.verify),
    Pass("decomposition", lambda sink, ctx: decompose(sink, ctx.target), lowered.verify),
    Pass("image_channels", lambda sink, ctx: images.channels(sink), lowered.verify),
)
AFTER = (
    Pass("packed_words", _words, lowered.verify),
    Pass("table_column_blocking", _columns, lowered.verify),
    Pass("loop_peeling", _tails, lowered.verify),
    Pass("optimisations", _optimise, lowered.verify),
    Pass(
        "rolled_tile_store",
        lambda sink, ctx: rolled_tile_store.run(sink, ctx.target),
        lowered.verify,
    ),
    Pass("launch_dims", lambda sink, ctx: launch_dims.run(sink, ctx.target), lowered.verify),
    Pass("index_widening", lambda sink, ctx: index_widening.run(sink, ctx.target), lowered.verify),
    Pass("expander", _expander, lowered.verify),
    Pass("group_reduction", _groups, lowered.verify),
    Pass("image_pixels", lambda sink, ctx: images.pixels(sink), lowered.verify),
    Pass(
        "stream_prefetch",
        lambda sink, ctx: stream_prefetch.run(sink, ctx.target.compute),
        lowered.verify,
    ),
    Pass(
        "panel_prefetch",
        lambda sink, ctx: panel_prefetch.run(sink, ctx.target.compute),
        lowered.verify,
    ),
    Pass(
        "non_temporal_stores",
        lambda sink, ctx: non_temporal_stores.run(sink, ctx.target.compute),
        lowered.verify,
    ),
    Pass("last_rewrites", _last_rewrites),
    Pass("linearization", _linearize, lambda result: linear.verify(result[1])),
)


def nothing(kernel: Kernel) -> Sequence[Opt]:
    """Choose no optimisation."""
    return ()


def lower(
    ast: UOp, target: Target, choose: Choose | None = None, prepared: bool | None = None
) -> LinearProgram:
    """The linear program of a kernel's AST for `target`.

    choose: gives the optimisations to apply, one after the other; it is handed a copy of the kernel
    that it may optimise to look at the outcome: where it gives that copy's own `applied`, they
    are not applied again. By default the heuristic, or nothing where WEFT_NOOPT is set. prepared:
    whether the choice is made over the loops as the heuristic wants them (`loops_for`); by default
    for the heuristic alone. Raises SpecError for an AST that is none, CapabilityError for what the
    target cannot compute, OptError for a choice that is not legal.
    """
    if settings.SPEC:
        kernel_ast.verify(ast)
    context = context_for(target, choose, prepared)
    try:
        info, nodes = run_passes(BEFORE + AFTER, ast, context)
    finally:
        traversal.clear_cache()
    return LinearProgram.of(
        info.name, nodes, estimates=estimate.run(nodes), source_ast=ast, applied=info.applied
    )


def loops_for(ast: UOp, target: Target, prepared: bool) -> Kernel:
    """The loops that a choice is made over: for whoever looks for one. Raises as `lower`."""
    context = context_for(target, nothing, prepared)
    passes = list(itertools.takewhile(lambda step: step.run is not _optimise, BEFORE + AFTER))
    return Kernel(run_passes(passes, ast, context), target)


def context_for(
    target: Target, choose: Choose | None = None, prepared: bool | None = None
) -> Context:
    """What the passes need to know to generate code for `target`: arguments as for `lower`."""
    if choose is None:
        choose = nothing if settings.NOOPT else strategy.choose
    if prepared is None:
        prepared = choose is strategy.choose
    fused = frozenset(d for d in dtypes.floats if d in target.compute.dtypes)
    if Ops.MULACC not in target.native_ops:
        fused = frozenset()
    # where arithmetic is scalar, vectors are for memory alone
    widths = None if target.compute.vector_bytes else target.compute.vector_widths
    return Context(target, choose, prepared, fused, widths)
