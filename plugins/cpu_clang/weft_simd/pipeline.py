"""The passes of the SIMD strategy: the generic ones with those for one processor among them.

Passes that only prepare loops for the strategy do nothing where somebody else chooses the loop
transformations (`Context.prepared`).
"""

from __future__ import annotations

from weft.plugin import (
    Context,
    Feature,
    Pass,
    Target,
    UOp,
    generic_passes,
    insert_before,
    linearization,
    replace_pass,
    verify_kernel_ast,
    verify_lowered,
)
from weft_simd.prefetch import software_prefetch
from weft_simd.transforms import (
    any_lane_branches,
    clamped_gather,
    delinearization,
    index_set_splitting,
    iteration_skipping,
    loop_peeling,
    non_temporal_stores,
    packed_words,
    range_check_elimination,
    reduction_rows,
    rolled_tile_store,
    table_column_blocking,
)


def _lanes(ctx: Context) -> int:
    """Lanes of 32 bits in one vector register; 0 where arithmetic is scalar."""
    return ctx.target.compute.vector_bytes // 4


def _reduction_rows(ast: UOp, ctx: Context) -> UOp:
    return reduction_rows.run(ast, ctx.target) if ctx.prepared else ast


def _clamped_gather(sink: UOp, ctx: Context) -> UOp:
    return clamped_gather.run(sink) if _lanes(ctx) else sink


def _packed_words(sink: UOp, ctx: Context) -> UOp:
    return packed_words.run(sink, ctx.target) if ctx.prepared else sink


def _table_column_blocking(sink: UOp, ctx: Context) -> UOp:
    return table_column_blocking.run(sink, ctx.target) if ctx.prepared else sink


def _loop_peeling(sink: UOp, ctx: Context) -> UOp:
    return loop_peeling.run(sink, ctx.target) if ctx.prepared else sink


def _any_lane_branches(nodes: list[UOp], target: Target) -> list[UOp]:
    compute = target.compute
    has_branches = compute.has(Feature.ANY_LANE)
    return any_lane_branches.run(nodes, compute.machine) if has_branches else nodes


def _without_range_checks(nodes: list[UOp], target: Target) -> list[UOp]:
    return range_check_elimination.run(nodes, target.compute.machine)


BEFORE = {
    "lowerer": (Pass("reduction_rows", _reduction_rows, verify_kernel_ast),),
    "loop_coalescing": (
        Pass("clamped_gather", _clamped_gather, verify_lowered),
        Pass(
            "delinearization",
            lambda sink, ctx: delinearization.run(sink, _lanes(ctx)),
            verify_lowered,
        ),
        Pass(
            "index_set_splitting",
            lambda sink, ctx: index_set_splitting.run(sink, _lanes(ctx)),
            verify_lowered,
        ),
    ),
    "optimisations": (
        Pass("packed_words", _packed_words, verify_lowered),
        Pass("table_column_blocking", _table_column_blocking, verify_lowered),
        Pass("loop_peeling", _loop_peeling, verify_lowered),
    ),
    "launch_dims": (
        Pass(
            "rolled_tile_store",
            lambda sink, ctx: rolled_tile_store.run(sink, ctx.target),
            verify_lowered,
        ),
    ),
    "last_rewrites": (
        Pass(
            "software_prefetch",
            lambda sink, ctx: software_prefetch.run(sink, ctx.target.compute),
            verify_lowered,
        ),
        Pass(
            "non_temporal_stores",
            lambda sink, ctx: non_temporal_stores.run(sink, ctx.target.compute),
            verify_lowered,
        ),
    ),
}
"""The passes of this package, by the generic pass that they come before."""


def _composed() -> tuple[Pass, ...]:
    steps = generic_passes()
    for name, own in BEFORE.items():
        steps = insert_before(steps, name, *own)
    skipping = linearization(
        _any_lane_branches,
        lambda nodes, target: iteration_skipping.run(nodes),
        _without_range_checks,
    )
    return replace_pass(steps, skipping)


PASSES = _composed()
