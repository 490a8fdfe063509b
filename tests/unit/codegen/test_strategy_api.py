"""What `weft.plugin` offers to strategies: the names, and the lists of passes that they compose."""

from __future__ import annotations

import subprocess
import sys

import pytest

import weft.plugin
from weft.base.dtype import dtypes
from weft.base.errors import ArgumentError
from weft.codegen import strategy_api
from weft.codegen.opt.opts import Opt, OptKind
from weft.codegen.pipeline import (
    generic_passes,
    insert_before,
    linearization,
    loops_for,
    lower,
    replace_pass,
)
from weft.device.capabilities import ComputeCaps, Target
from weft.shape.tracker import ShapeTracker
from weft.spec.passes import Pass
from weft.uop import GroupOp, Ops, UOp


def names(passes):
    return [step.name for step in passes]


def doubled():
    """x + 1 of 64 elements."""
    st = ShapeTracker.from_shape((64,))
    out, x = (UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(64), (), slot) for slot in (0, 1))
    return UOp.sink(out.view(st).store(x.view(st).load() + 1.0))


def target(passes=None, choose=None):
    return Target(ComputeCaps(), GroupOp.ALU, None, "c", "plain", passes, choose)


def test_every_name_is_in_the_plugin_api():
    assert set(strategy_api.__all__) <= set(weft.plugin.__all__)
    for name in strategy_api.__all__:
        assert getattr(weft.plugin, name) is getattr(strategy_api, name)


def test_the_plugin_api_imports_the_code_generator_when_it_is_asked_for():
    code = (
        "import sys, weft.plugin; before = 'weft.codegen.pipeline' in sys.modules;"
        "from weft.plugin import Kernel; print(before, 'weft.codegen.pipeline' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]


def test_a_name_that_is_not_there_is_no_name():
    with pytest.raises(AttributeError, match="Kernels"):
        weft.plugin.Kernels


def test_passes_are_inserted_before_others():
    one, other = (Pass(name, lambda sink, ctx: sink) for name in ("one", "other"))
    found = names(insert_before(generic_passes(), "optimisations", one, other))
    at = found.index("optimisations")
    assert found[at - 2 : at] == ["one", "other"]
    assert [name for name in found if name not in ("one", "other")] == names(generic_passes())


def test_a_pass_is_replaced_in_its_place():
    mine = Pass("expander", lambda sink, ctx: sink)
    found = replace_pass(generic_passes(), mine)
    assert names(found) == names(generic_passes()) and mine in found


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda own: insert_before(generic_passes(), "expandr", own), "expander"),
        (lambda own: insert_before(generic_passes(), "lowerer", own, own), "of this name"),
        (lambda own: replace_pass(generic_passes(), own), "no such pass"),
    ],
)
def test_lists_that_are_none_are_refused(change, said):
    with pytest.raises(ArgumentError, match=said):
        change(Pass("mine", lambda sink, ctx: sink))


def test_a_target_brings_its_own_passes():
    seen = []

    def mine(sink, ctx):
        seen.append(ctx.prepared)
        return sink

    where = target(lambda: insert_before(generic_passes(), "optimisations", Pass("mine", mine)))
    lower(doubled(), where)
    lower(doubled(), where, lambda kernel: ())
    loops_for(doubled(), where, True)
    assert seen == [True, False, True], "prepared where the target's strategy chooses"


def test_a_target_brings_its_own_choice():
    def choose(kernel):
        kernel.apply(Opt(OptKind.UPCAST, 0, 8))
        return kernel.applied

    assert lower(doubled(), target(choose=choose)).applied == (Opt(OptKind.UPCAST, 0, 8),)


def test_steps_of_linearization_see_the_list():
    seen = []

    def step(nodes, where):
        seen.append((len(nodes), where))
        return nodes

    where = target(lambda: replace_pass(generic_passes(), linearization(step)))
    program = lower(doubled(), where)
    assert seen == [(len(program.uops), where)]
