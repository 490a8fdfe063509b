"""One way to lower a kernel, tried: on memory of its own, compared and timed."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from weft import Tensor, Variable
from weft.base.dtype import dtypes
from weft.base.errors import CapabilityError
from weft.codegen.opt.opts import Opt, OptError, OptKind
from weft.codegen.opt.search_space import Plan
from weft.device import registry
from weft.engine.candidate_measurement import (
    UNOPTIMIZED,
    Measurement,
    as_floats,
    build,
    contents,
    mismatch,
)
from weft.uop import Ops

DEVICE = "REF"


def kernel_of(tensor):
    items, _ = tensor.schedule_with_vars()
    return [item for item in items if item.ast.op is Ops.SINK][-1].ast


def product():
    return kernel_of(Tensor.empty(4, 6, device=DEVICE) @ Tensor.empty(6, 5, device=DEVICE))


def test_correct_candidates_are_timed_several_times():
    device = registry.open(DEVICE)
    ast = product()
    trial = Measurement(ast, device)
    trial.expect(build(ast, UNOPTIMIZED, device))
    outcome = trial.time(build(ast, Plan((Opt(OptKind.UPCAST, 0, 2),), False), device), 0.0, None)
    assert outcome.equal and len(outcome.seconds) == 3
    assert outcome.shortest == min(outcome.seconds)


def test_several_are_run_in_turn():
    device = registry.open(DEVICE)
    ast = product()
    trial = Measurement(ast, device)
    right = build(ast, UNOPTIMIZED, device)
    trial.expect(right)
    twice = kernel_of(Tensor.empty(4, 6, device=DEVICE) @ Tensor.empty(6, 5, device=DEVICE) * 2.0)
    wrong = build(twice, UNOPTIMIZED, device)
    first, second, third = trial.time_interleaved([right, wrong, right], 0.0)
    assert 0 < first < 1 and second == float("inf") and 0 < third < 1


def test_slow_candidates_run_once():
    device = registry.open(DEVICE)
    ast = product()
    trial = Measurement(ast, device)
    built = build(ast, UNOPTIMIZED, device)
    trial.expect(built)
    assert len(trial.time(built, 1.0, 1e-9).seconds) == 1


def test_wrong_results_are_reported():
    device = registry.open(DEVICE)
    ast = product()
    trial = Measurement(ast, device)
    trial.expect(build(ast, UNOPTIMIZED, device))
    other = kernel_of(Tensor.empty(4, 6, device=DEVICE) @ Tensor.empty(6, 5, device=DEVICE) * 2.0)
    outcome = trial.time(build(other, UNOPTIMIZED, device), 0.0, None)
    assert not outcome.equal and "element" in outcome.because


def floats(dtype, *values):
    return np.array(values, dtype).tobytes()


def test_rounding_of_reordered_sums_is_no_difference():
    many = np.linspace(-3, 3, 200_000).astype(np.float32)
    assert mismatch(dtypes.float32, (many * (1 + 1e-5)).tobytes(), many.tobytes()) == ""
    wrong = many.copy()
    wrong[150_000] += 0.1
    assert "element 150000 is" in mismatch(dtypes.float32, wrong.tobytes(), many.tobytes())
    small = floats("f4", 1e-9, 4.0)
    assert mismatch(dtypes.float32, floats("f4", 0.0, 4.0), small) == ""
    assert mismatch(dtypes.float64, floats("f8", 1.001), floats("f8", 1.0))
    assert not mismatch(dtypes.float16, floats("f2", 1.001), floats("f2", 1.0))


def test_infinities_and_nans_are_equal_to_themselves_only():
    odd = floats("f4", np.nan, np.inf, -np.inf, 1.0)
    assert mismatch(dtypes.float32, odd, odd) == ""
    for place in range(3):
        other = np.frombuffer(odd, "f4").copy()
        other[place] = 7.0
        assert f"element {place} is 7" in mismatch(dtypes.float32, other.tobytes(), odd)
    assert mismatch(dtypes.float32, floats("f4", np.inf), floats("f4", -np.inf))


def test_integers_are_equal_or_not():
    assert mismatch(dtypes.int32, floats("i4", 1), floats("i4", 2))


def test_a_second_result_may_be_right_too():
    device = registry.open(DEVICE)
    ast = product()
    trial = Measurement(ast, device)
    twice = kernel_of(Tensor.empty(4, 6, device=DEVICE) @ Tensor.empty(6, 5, device=DEVICE) * 2.0)
    trial.expect(build(ast, UNOPTIMIZED, device))
    trial.expect(build(twice, UNOPTIMIZED, device))
    for each in (ast, twice):
        assert trial.time(build(each, UNOPTIMIZED, device), 0.0, None).equal


def test_in_place_buffers_are_restored():
    device = registry.open(DEVICE)
    x = Tensor([1.0, 2.0, 3.0], device=DEVICE).realize()
    x.assign(x * 2.0 + 1.0)
    ast = kernel_of(x)
    trial = Measurement(ast, device)
    built = build(ast, UNOPTIMIZED, device)
    assert set(built.program.outs) & set(built.program.ins)
    trial.expect(built)
    for _ in range(3):
        assert trial.time(built, 0.0, None).equal


def test_variables_are_as_large_as_they_may_be():
    device = registry.open(DEVICE)
    n = Variable("n", 1, 7).bind(3)
    ast = kernel_of(Tensor.empty(7, 2, device=DEVICE)[:n].sum(0))
    trial = Measurement(ast, device)
    built = build(ast, UNOPTIMIZED, device)
    trial.expect(built)
    assert trial.time(built, 0.0, None).equal
    (wanted,) = trial.wanted
    (slot,) = wanted
    given = trial.content[1 - slot].view(np.float32).reshape(7, 2)
    np.testing.assert_array_equal(np.frombuffer(wanted[slot], np.float32), given.sum(0))


def test_candidates_are_checked_for_several_variable_values():
    device = registry.open(DEVICE)
    n = Variable("n", 1, 7).bind(3)
    x = Tensor.empty(7, 2, device=DEVICE)
    ast, other = kernel_of(x[:n].sum(0)), kernel_of(x[: (n + 7) // 2].sum(0))
    trial = Measurement(ast, device)
    trial.expect(build(ast, UNOPTIMIZED, device))
    outcome = trial.time(build(other, UNOPTIMIZED, device), 0.0, None)
    assert not outcome.equal and "element" in outcome.because


def test_memory_of_unknown_size_is_refused():
    device = registry.open(DEVICE)
    ast = product()
    pointers = [node for node in ast.toposort() if node.op is Ops.DEFINE_GLOBAL]
    endless = {node: node.replace(dtype=dtypes.float.ptr(-1)) for node in pointers}
    with pytest.raises(CapabilityError, match="made up"):
        Measurement(ast.substitute(endless), device)


def test_illegal_plans_are_not_built():
    with pytest.raises(OptError):
        build(product(), Plan((Opt(OptKind.LOCAL, 0, 4),)), registry.open(DEVICE))


def test_equal_sources_have_equal_digests():
    device = registry.open(DEVICE)
    ast = product()
    first = build(ast, Plan((Opt(OptKind.UPCAST, 0, 2),)), device)
    assert first.digest == build(ast, Plan((Opt(OptKind.UPCAST, 0, 2),)), device).digest
    assert first.digest != build(ast, UNOPTIMIZED, device).digest
    assert first.digest != dataclasses.replace(first, source=first.source + "\n").digest


@pytest.mark.parametrize("dtype", sorted(set(dtypes.all) - {dtypes.void}, key=repr), ids=repr)
def test_contents(dtype):
    data = contents(dtype, 100, 1)
    assert data.nbytes == 100 * dtype.itemsize
    assert bytes(contents(dtype, 100, 1)) == bytes(data) != bytes(contents(dtype, 100, 2))
    assert contents(dtype, 0, 1).nbytes == 0
    if dtypes.is_float(dtype):
        values = as_floats(dtype, bytes(data))
        assert np.isfinite(values).all() and np.abs(values).max() <= 2 and len(set(values)) > 3
        assert (values * 8 == np.round(values * 8)).all()
    elif dtype is not dtypes.bool:
        assert bytes(contents(dtype, 5, 1, divides=True)).count(0) < 5 * dtype.itemsize
