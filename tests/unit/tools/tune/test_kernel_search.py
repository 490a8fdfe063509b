"""The kernels of most time are searched first, within a time, and faster plans are kept."""

from __future__ import annotations

import pytest

from weft import Tensor
from weft.base.settings import settings
from weft.codegen.opt.opts import Opt, OptKind
from weft.codegen.opt.search_space import Plan
from weft.device import registry
from weft.engine import tuned_plans
from weft.engine.tuning_database import SearchResult, Try
from weft.tools.tune import kernel_search
from weft.tools.tune.kernel_search import Candidate, tuned
from weft.uop import Ops

DEVICE = "REF"
FAST, SLOW = Plan((Opt(OptKind.UNROLL, 1, 4),)), Plan()


def candidate(columns, seconds):
    items, _ = Tensor.empty(6, columns, device=DEVICE).sum(1).schedule_with_vars()
    ast = [item for item in items if item.ast.op is Ops.SINK][-1].ast
    return Candidate(f"r_{columns}", ast, DEVICE, seconds)


@pytest.fixture
def budgets(monkeypatch, tmp_path):
    """The budgets of searches, which find a faster plan for all kernels but those of 8 columns."""
    found = []

    def search(ast, device, width, refresh):
        found.append(settings.BEAM_SECONDS)
        best = SLOW if ast is candidate(8, 0).ast else FAST
        tries = [Try(SLOW, 2e-3), Try(FAST, 1e-3)]
        return SearchResult(best, SLOW, tries)

    monkeypatch.setattr(kernel_search, "search", search)
    tuned_plans.forget_tables()
    with settings.override(CACHE_DIR=str(tmp_path)):
        yield found
    tuned_plans.forget_tables()


def test_most_time_first_and_faster_plans_are_kept(budgets):
    kernels = [candidate(8, 1.0), candidate(16, 3.0), candidate(32, 2.0)]
    noted = []
    results = list(tuned(kernels, 2, 1000.0, note=lambda n, kernel: noted.append((n, kernel.name))))
    assert noted == [(0, "r_16"), (1, "r_32"), (2, "r_8")]
    assert [one.gain for one in results] == [2.0, 2.0, 1.0]
    assert budgets == [kernel_search.MOST_SECONDS] * 3
    plans = tuned_plans.plans_of(registry.open(DEVICE))
    assert plans.keys() == {tuned_plans.digest(kernel.ast) for kernel in kernels[1:]}


def test_what_is_left_is_divided(budgets):
    list(tuned([candidate(16 + n, 1.0) for n in range(4)], 2, 40.0))
    assert budgets[0] in (19, 20)


def test_without_time_nothing_is_searched(budgets):
    assert not list(tuned([candidate(16, 1.0)], 2, 0.0))


def test_what_cannot_be_measured_gains_nothing():
    one = kernel_search.Tuned(candidate(16, 1.0), SearchResult(SLOW, SLOW), None, None)
    assert one.gain == 1.0
