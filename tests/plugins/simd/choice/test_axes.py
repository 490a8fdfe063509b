"""Axes of loops that are left while transformations are applied."""

from __future__ import annotations

import pytest

from helpers.simd import simd_target
from weft import Tensor
from weft.base.dtype import dtypes
from weft.codegen.opt.opts import OptKind
from weft.codegen.pipeline import loops_for
from weft.device.capabilities import ComputeCaps
from weft.plugin import Kernel
from weft_simd.choice import axes

TARGET = simd_target(ComputeCaps(vector_widths={dtypes.float: (4,)}, vector_bytes=16))


@pytest.fixture
def kernel() -> Kernel:
    x = Tensor.empty(6, 8, device="REF").permute(1, 0).contiguous()
    (item,) = x.schedule()
    return loops_for(item.ast, TARGET, False)


def test_an_axis_is_the_remainder_of_a_loop(kernel):
    (_, outer), (_, inner) = [(a.extent, a.loop) for a in kernel.axes]
    assert axes.loop_axis(kernel, inner) == (1, 6)
    assert kernel.attempt(OptKind.UPCAST, 1, 3)
    assert axes.loop_axis(kernel, inner) == (1, 2) and axes.instances_of(kernel, inner) == 3
    assert kernel.attempt(OptKind.UPCAST, 1, 0)
    assert axes.loop_axis(kernel, inner) is None and axes.instances_of(kernel, inner) == 6
    assert axes.loop_axis(kernel, outer, axes.REDUCE) is None


def test_several_opts_are_applied_or_none(kernel):
    def transform(trial, last):
        return trial.attempt(OptKind.UPCAST, 1, 3) and trial.attempt(OptKind.UPCAST, 0, last)

    assert not axes.all_or_nothing(kernel, lambda trial: transform(trial, 99))
    assert kernel.applied == []
    assert axes.all_or_nothing(kernel, lambda trial: transform(trial, 2))
    assert [opt.amount for opt in kernel.applied] == [3, 2]


def test_the_bytes_of_an_output(kernel):
    assert axes.output_bytes(kernel) == 6 * 8 * 4
