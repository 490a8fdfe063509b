"""From the AST of one kernel to the linear program that a renderer is given.

The generic passes in their order, and the functions with which a strategy composes its own list.
Code generation is given a Target and knows no device. A target may have its own passes and its own
choice of optimisations (`Target.passes`, `Target.choose`).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from weft.base.dtype import DType, dtypes
from weft.base.errors import ArgumentError
from weft.base.settings import settings
from weft.base.suggestions import nearest
from weft.codegen.analysis import estimate, traversal
from weft.codegen.decomposition import run as decompose
from weft.codegen.generic_choice import Choose, choice_for
from weft.codegen.indexing import (
    images,
    index_widening,
    indexed_stores,
    keyed_prefix_count,
    one_hot_gather,
    predicate_simplification,
    scatter_add,
)
from weft.codegen.linearization import late_decomposition, linear_order
from weft.codegen.loops import loop_coalescing
from weft.codegen.lowering import lowerer
from weft.codegen.opt.kernel import Kernel
from weft.codegen.opt.opts import Opt
from weft.codegen.vectorization import expander
from weft.codegen.vectorization.vector_addresses import Widths
from weft.codegen.workgroups import group_reduction, launch_dims
from weft.device import Feature, Target
from weft.device.program import LinearProgram
from weft.spec import kernel_ast, linear, lowered
from weft.spec.passes import Pass, run_passes
from weft.uop import Ops, UOp, graph_rewrite

LinearStep: TypeAlias = Callable[[list[UOp], Target], list[UOp]]

OPTIMISATIONS = "optimisations"
"""The pass that applies the chosen Opts; every list of passes has it."""


@dataclass
class Context:
    """The context of passes: the target, and its choice of optimisations.

    prepared: whether passes that prepare loops for the target's strategy come before the choice.
    fused: the dtypes whose products and sums are one operation. widths: vectors of memory accesses
    where arithmetic is scalar.
    """

    target: Target
    choose: Choose
    prepared: bool
    fused: frozenset[DType]
    widths: Widths | None


def _lowerer(ast: UOp, ctx: Context) -> UOp:
    return lowerer.run(ast, always_fuse=ctx.target.compute.limits.global_size is not None)


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
    compute = ctx.target.compute
    return expander.run(
        sink, compute.machine, ctx.fused, ctx.widths, compute.pair_dots, compute.vector_bytes
    )


def _groups(sink: UOp, ctx: Context) -> UOp:
    compute = ctx.target.compute
    return group_reduction.run(sink, compute.warp_size if compute.has(Feature.WARP_REDUCE) else 0)


def _last_rewrites(sink: UOp, ctx: Context) -> UOp:
    """Instruction selection: apply the rewrite rules of the target's renderer."""
    rules = ctx.target.rules
    return sink if rules is None else graph_rewrite(sink, rules, nodes=traversal.nodes_of(sink))


def linearization(*steps: LinearStep) -> Pass:
    """The pass that orders a graph as a list. steps: what is done with the list before operations
    that the target lacks are decomposed, in their order."""

    def linearize(sink: UOp, ctx: Context) -> tuple[object, list[UOp]]:
        nodes = linear_order.run(sink, ctx.fused)
        for step in steps:
            nodes = step(nodes, ctx.target)
        return sink.arg, late_decomposition.run(nodes, ctx.target)

    linearize.__doc__ = linear_order.__doc__
    return Pass("linearization", linearize, _verify_listed)


def _verify_listed(listed: tuple[object, list[UOp]]) -> None:
    linear.verify(listed[1])


def _lowered_pass(name: str, run: Callable[[UOp, Context], UOp]) -> Pass:
    """A pass whose result is verified as a lowered kernel."""
    return Pass(name, run, lowered.verify)


PASSES = (
    _lowered_pass("lowerer", _lowerer),
    _lowered_pass("one_hot_gather", lambda sink, ctx: one_hot_gather.run(sink)),
    _lowered_pass("keyed_prefix_count", lambda sink, ctx: keyed_prefix_count.run(sink, ctx.target)),
    _lowered_pass("indexed_stores", lambda sink, ctx: indexed_stores.run(sink, ctx.target)),
    _lowered_pass("scatter_add", lambda sink, ctx: scatter_add.run(sink, ctx.target)),
    _lowered_pass("predicate_simplification", lambda sink, ctx: predicate_simplification.run(sink)),
    _lowered_pass("loop_coalescing", lambda sink, ctx: loop_coalescing.run(sink)),
    _lowered_pass("decomposition", lambda sink, ctx: decompose(sink, ctx.target)),
    _lowered_pass("image_channels", lambda sink, ctx: images.channels(sink)),
    _lowered_pass(OPTIMISATIONS, _optimise),
    _lowered_pass("launch_dims", lambda sink, ctx: launch_dims.run(sink, ctx.target)),
    _lowered_pass("index_widening", lambda sink, ctx: index_widening.run(sink, ctx.target)),
    _lowered_pass("expander", _expander),
    _lowered_pass("group_reduction", _groups),
    _lowered_pass("image_pixels", lambda sink, ctx: images.pixels(sink)),
    Pass("last_rewrites", _last_rewrites),
    linearization(),
)
"""The generic passes, which every target needs."""


def generic_passes() -> tuple[Pass, ...]:
    """Return the passes of a target without its own, in their order."""
    return PASSES


def insert_before(passes: Sequence[Pass], name: str, *steps: Pass) -> tuple[Pass, ...]:
    """A list of passes with further ones before that of a name.

    Raises ArgumentError where there is no pass of that name, or a new one has the name of another.
    """
    at = _place_of(passes, name)
    known = {step.name for step in passes}
    for step in steps:
        if step.name in known:
            raise ArgumentError(
                "a pass of this name is in the list",
                asked=f"insert_before(..., {step.name})",
                because="passes are found by their names",
                try_="another name, or replace_pass",
            )
        known.add(step.name)
    return (*passes[:at], *steps, *passes[at:])


def replace_pass(passes: Sequence[Pass], step: Pass) -> tuple[Pass, ...]:
    """A list of passes with another one of the same name. Raises ArgumentError where there is none
    of that name."""
    at = _place_of(passes, step.name)
    return (*passes[:at], step, *passes[at + 1 :])


def _place_of(passes: Sequence[Pass], name: str) -> int:
    names = [step.name for step in passes]
    if name not in names:
        near = nearest(name, names)
        raise ArgumentError(
            "there is no such pass in the list",
            asked=name,
            because=f"its passes are {', '.join(names)}",
            try_=" or ".join(near) if near else "one of these",
        )
    return names.index(name)


def passes_for(target: Target) -> Sequence[Pass]:
    """The passes of a target: its own, or the generic ones."""
    return PASSES if target.passes is None else target.passes()


def nothing(kernel: Kernel) -> Sequence[Opt]:
    """Choose no optimisation."""
    return ()


def lower(
    ast: UOp, target: Target, choose: Choose | None = None, prepared: bool | None = None
) -> LinearProgram:
    """The linear program of a kernel's AST for `target`.

    choose: gives the optimisations to apply, one after the other; it is handed a copy of the kernel
    that it may optimise to look at the outcome: where it gives that copy's own `applied`, they
    are not applied again. By default the target's strategy, or nothing where WEFT_NOOPT is set.
    prepared: whether the choice is made over the loops as the strategy wants them (`loops_for`); by
    default for the strategy alone. Raises SpecError for an AST that is none, CapabilityError for
    what the target cannot compute, OptError for a choice that is not legal.
    """
    if settings.SPEC:
        kernel_ast.verify(ast)
    context = context_for(target, choose, prepared)
    try:
        info, nodes = run_passes(passes_for(target), ast, context)
    finally:
        traversal.clear_cache()
    return LinearProgram.of(
        info.name, nodes, estimates=estimate.run(nodes), source_ast=ast, applied=info.applied
    )


def loops_for(ast: UOp, target: Target, prepared: bool) -> Kernel:
    """The loop nest of a kernel, on which a strategy or a search operates. Raises as `lower`."""
    context = context_for(target, nothing, prepared)
    passes = list(itertools.takewhile(lambda s: s.name != OPTIMISATIONS, passes_for(target)))
    return Kernel(run_passes(passes, ast, context), target)


def context_for(
    target: Target, choose: Choose | None = None, prepared: bool | None = None
) -> Context:
    """The context of the passes for `target`; arguments as for `lower`."""
    own = choice_for(target)
    if choose is None:
        choose = nothing if settings.NOOPT else own
    if prepared is None:
        prepared = choose is own
    fused = frozenset(d for d in dtypes.floats if d in target.compute.dtypes)
    if Ops.MULACC not in target.native_ops:
        fused = frozenset[DType]()
    # where arithmetic is scalar, vectors are for memory alone
    widths = None if target.compute.vector_bytes else target.compute.vector_widths
    return Context(target, choose, prepared, fused, widths)
