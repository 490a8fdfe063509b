"""The standard set has kernels of every kind, and builds them without computing."""

from __future__ import annotations

from weft.device import registry
from weft.engine import stats
from weft.tools.tune.standard_set import works
from weft.uop import Ops


def test_every_work_has_a_kernel_and_nothing_runs():
    before = stats.kernels
    asts = []
    for work in works(registry.open("REF")):
        items, _ = work().schedule_with_vars()
        kernels = [item.ast for item in items if item.ast.op is Ops.SINK]
        assert kernels
        asts += kernels
    assert len(set(asts)) >= 12
    assert stats.kernels == before
