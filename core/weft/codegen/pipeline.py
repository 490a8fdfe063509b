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
from weft.codegen import (
    ahead,
    by_rows,
    columns,
    coming,
    digits,
    epilogue,
    estimate,
    expander,
    gates,
    gather,
    groups,
    images,
    launch_dims,
    lookups,
    lowerer,
    merge,
    puts,
    ranks,
    scatter,
    segments,
    stream,
    tails,
    walk,
    wide,
    words,
)
from weft.codegen.decompose import run as decompose
from weft.codegen.linearize import branches, late, order, skip
from weft.codegen.opt import heuristic
from weft.codegen.opt.kernel import Kernel
from weft.codegen.opt.opts import Opt
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
    return epilogue.run(ast, ctx.target) if ctx.prepared else ast


def _lowerer(ast: UOp, ctx: Context) -> UOp:
    return lowerer.run(ast, together=ctx.target.compute.limits.global_size is not None)


def _lookups(sink: UOp, ctx: Context) -> UOp:
    return lookups.run(sink) if _lanes(ctx) else sink


def _lanes(ctx: Context) -> int:
    """How many lanes of 32 bits one processor computes with; 0 for none, or for a grid."""
    compute = ctx.target.compute
    return 0 if compute.limits.global_size is not None else compute.vector_bytes // 4


def _words(sink: UOp, ctx: Context) -> UOp:
    return words.run(sink, ctx.target) if ctx.prepared else sink


def _columns(sink: UOp, ctx: Context) -> UOp:
    return columns.run(sink, ctx.target) if ctx.prepared else sink


def _tails(sink: UOp, ctx: Context) -> UOp:
    # part of the heuristic: whoever chooses otherwise is given the loops as they are
    return tails.run(sink, ctx.target) if ctx.prepared else sink


def _optimise(sink: UOp, ctx: Context) -> UOp:
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
    return groups.run(sink, compute.warp_size if compute.has(Feature.WARP_REDUCE) else 0)


def _linearize(sink: UOp, ctx: Context) -> tuple[object, list[UOp]]:
    nodes = order.run(sink, ctx.fused)
    alone = ctx.target.compute.limits.global_size is None
    if ctx.target.compute.has(Feature.ANY_LANE):
        nodes = branches.run(nodes)
    return sink.arg, late.run(skip.run(nodes) if alone else nodes, ctx.target)


def _last_rewrites(sink: UOp, ctx: Context) -> UOp:
    rules = ctx.target.rules
    return sink if rules is None else graph_rewrite(sink, rules, nodes=walk.nodes_of(sink))


BEFORE = (
    Pass("epilogue", _epilogue, kernel_ast.verify),
    Pass("lowerer", _lowerer, lowered.verify),
    Pass("gather", lambda sink, ctx: gather.run(sink), lowered.verify),
    Pass("ranks", lambda sink, ctx: ranks.run(sink, ctx.target), lowered.verify),
    Pass("puts", lambda sink, ctx: puts.run(sink, ctx.target), lowered.verify),
    Pass("scatter", lambda sink, ctx: scatter.run(sink, ctx.target), lowered.verify),
    Pass("gates", lambda sink, ctx: gates.run(sink), lowered.verify),
    Pass("lookups", _lookups, lowered.verify),
    Pass("digits", lambda sink, ctx: digits.run(sink, _lanes(ctx)), lowered.verify),
    Pass("segments", lambda sink, ctx: segments.run(sink, _lanes(ctx)), lowered.verify),
    Pass("merge", lambda sink, ctx: merge.run(sink), lowered.verify),
    Pass("decompose", lambda sink, ctx: decompose(sink, ctx.target), lowered.verify),
    Pass("channels", lambda sink, ctx: images.channels(sink), lowered.verify),
)
AFTER = (
    Pass("words", _words, lowered.verify),
    Pass("columns", _columns, lowered.verify),
    Pass("tails", _tails, lowered.verify),
    Pass("optimise", _optimise, lowered.verify),
    Pass("by_rows", lambda sink, ctx: by_rows.run(sink, ctx.target), lowered.verify),
    Pass("launch_dims", lambda sink, ctx: launch_dims.run(sink, ctx.target), lowered.verify),
    Pass("wide", lambda sink, ctx: wide.run(sink, ctx.target), lowered.verify),
    Pass("expander", _expander, lowered.verify),
    Pass("groups", _groups, lowered.verify),
    Pass("pixels", lambda sink, ctx: images.pixels(sink), lowered.verify),
    Pass("ahead", lambda sink, ctx: ahead.run(sink, ctx.target.compute), lowered.verify),
    Pass("coming", lambda sink, ctx: coming.run(sink, ctx.target.compute), lowered.verify),
    Pass("stream", lambda sink, ctx: stream.run(sink, ctx.target.compute), lowered.verify),
    Pass("last_rewrites", _last_rewrites),
    Pass("linearize", _linearize, lambda result: linear.verify(result[1])),
)  # fmt: skip


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
    if choose is None:
        choose = nothing if settings.NOOPT else heuristic.choose
    if settings.SPEC:
        kernel_ast.verify(ast)
    context = _context(target, choose, prepared)
    try:
        info, nodes = run_passes(BEFORE + AFTER, ast, context)
    finally:
        walk.forget()
    return LinearProgram.of(
        info.name, nodes, estimates=estimate.run(nodes), source_ast=ast, applied=info.applied
    )


def loops_for(ast: UOp, target: Target, prepared: bool) -> Kernel:
    """The loops that a choice is made over: for whoever looks for one. Raises as `lower`."""
    context = _context(target, nothing, prepared)
    passes = list(itertools.takewhile(lambda step: step.run is not _optimise, BEFORE + AFTER))
    return Kernel(run_passes(passes, ast, context), target)


def _context(target: Target, choose: Choose, prepared: bool | None) -> Context:
    if prepared is None:
        prepared = choose is heuristic.choose
    fused = frozenset(d for d in dtypes.floats if d in target.compute.dtypes)
    if Ops.MULACC not in target.native_ops:
        fused = frozenset()
    # where arithmetic is scalar, vectors are for memory alone
    widths = None if target.compute.vector_bytes else target.compute.vector_widths
    return Context(target, choose, prepared, fused, widths)
