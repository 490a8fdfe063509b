"""Tuned plans: kept by machine, used where they are legal, part of the key of generated code."""

from __future__ import annotations

import json

import pytest

from weft import Tensor
from weft.base.settings import settings
from weft.codegen.opt.opts import Opt, OptKind
from weft.codegen.opt.search_space import Plan
from weft.device import Tuning, registry
from weft.engine import forget_programs, kernel_cache, program_for, tuned_plans
from weft.engine.tuning_database import plan_data
from weft.uop import Ops

DEVICE = "REF"
PLAN = Plan((Opt(OptKind.UNROLL, 1, 8),))


@pytest.fixture
def device(tmp_path):
    tuned_plans.forget_tables()
    forget_programs()
    with settings.override(CACHE_DIR=str(tmp_path), BEAM=0):
        yield registry.open(DEVICE)
    tuned_plans.forget_tables()
    forget_programs()


def sums(columns=32):
    items, _ = Tensor.empty(6, columns, device=DEVICE).sum(1).schedule_with_vars()
    return [item for item in items if item.ast.op is Ops.SINK][-1].ast


def applied(ast):
    forget_programs()
    return program_for(ast, DEVICE).p.program.applied


def test_a_kept_plan_is_used_by_later_programs(device):
    before = applied(sums())
    assert before != PLAN.opts
    tuned_plans.keep({tuned_plans.digest(sums()): plan_data(PLAN)}, device)
    assert applied(sums()) == PLAN.opts  # although the heuristic's kernel is in the disk cache
    assert applied(sums(8)) != PLAN.opts or before == applied(sums(8))
    tuned_plans.forget_tables()
    assert applied(sums()) == PLAN.opts
    tuned_plans.keep({tuned_plans.digest(sums()): None}, device)
    assert applied(sums()) == before


def test_noopt_uses_no_plan(device):
    tuned_plans.keep({tuned_plans.digest(sums()): plan_data(PLAN)}, device)
    with settings.override(NOOPT=1):
        assert applied(sums()) == ()


def test_results_are_equal(device):
    x = Tensor([[1.0, 2.0, 3.0, 4.0]] * 6, device=DEVICE).realize()
    items, _ = x.sum(1).schedule_with_vars()
    tuned_plans.keep({tuned_plans.digest(items[-1].ast): plan_data(PLAN)}, device)
    assert x.sum(1).tolist() == [10.0] * 6


@pytest.mark.parametrize(
    "data",
    [
        [True, [["unroll", 7, 4]]], [True, [["no such kind", 0, 4]]], "text", [True, 5], None,
        [True, [["unroll"]]],
    ],
)  # fmt: skip
def test_plans_that_are_not_legal_are_ignored(device, data):
    before = applied(sums())
    table = json.dumps({tuned_plans.digest(sums()): data}).encode()
    tuned_plans.cache.put(tuned_plans._key_of(device), table)
    tuned_plans.forget_tables()
    assert applied(sums()) == before


@pytest.mark.parametrize("data", [b"not JSON", b"[]", b"3"])
def test_damaged_tables_are_ignored(device, data):
    tuned_plans.cache.put(tuned_plans._key_of(device), data)
    assert tuned_plans.plans_of(device) == {} and tuned_plans.stamp(device) == ""


def test_shipped_plans_are_used_unless_this_machine_has_others(device, monkeypatch):
    name = tuned_plans.digest(sums())
    shipped = Tuning(plans={name: [True, [["unroll", 1, 2]]]})
    monkeypatch.setattr(device.device, "tuning", shipped)
    tuned_plans.forget_tables()
    assert applied(sums()) == (Opt(OptKind.UNROLL, 1, 2),)
    tuned_plans.keep({name: plan_data(PLAN)}, device)
    assert applied(sums()) == PLAN.opts


def test_the_key_of_generated_code_depends_on_the_plans(device):
    before = kernel_cache.key_of(sums(), (), device)
    tuned_plans.keep({"another kernel": plan_data(PLAN)}, device)
    assert kernel_cache.key_of(sums(), (), device) != before


def test_a_digest_depends_on_settings(device):
    before = tuned_plans.digest(sums())
    with settings.override(MATMUL_PRECISION="high"):
        assert tuned_plans.digest(sums()) != before
