"""Places that come from memory are made safe and compared for a vector at once."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.simd import simd_target
from weft import Tensor
from weft.base.dtype import dtypes
from weft.base.settings import settings
from weft.codegen.opt.kernel import Kernel
from weft.codegen.opt.opts import Opt, OptKind
from weft.codegen.pipeline import loops_for, lower
from weft.device.capabilities import ComputeCaps, Target
from weft.uop import Ops, UOp
from weft_simd.transforms import clamped_gather

FOUR = ComputeCaps(vector_widths={dtypes.float: (4,), dtypes.int: (4,)}, vector_bytes=16)


def target() -> Target:
    return simd_target(FOUR)


def ast_of(found: Tensor) -> UOp:
    return found.schedule()[-1].ast


def gathered() -> UOp:
    table, places = Tensor.empty(4, 16), Tensor.empty(4, 8, dtype=dtypes.int)
    return ast_of(table.gather(1, places))


def gated_loads(sink: UOp) -> list[UOp]:
    nodes = sink.toposort()
    return [u for u in nodes if u.op is Ops.LOAD and len(u.src[0].src) > 2]


def test_no_gate_is_left_and_every_place_is_there() -> None:
    sink = loops_for(gathered(), target(), False).sink
    assert not gated_loads(sink)
    (chosen,) = [u for u in sink.toposort() if u.op is Ops.WHERE and u.dtype is dtypes.float]
    assert chosen.src[1].op is Ops.LOAD and chosen.src[2].arg == 0
    assert clamped_gather.run(sink) is sink, "there is nothing left to do"


def test_lanes_compare_at_once_and_load_one_by_one() -> None:
    def choose(kernel: Kernel) -> list[Opt]:
        kernel.apply(Opt(OptKind.VECTOR, 1, 4))
        return kernel.applied

    with settings.override(SPEC=1):
        nodes = lower(gathered(), target(), choose).uops
    compared = [u for u in nodes if u.op is Ops.CMPLT and u.src[0].dtype.scalar() is dtypes.int]
    assert compared and all(u.dtype.count == 4 for u in compared)
    assert sum(u.op is Ops.LOAD and u.dtype is dtypes.float for u in nodes) == 4
    assert sum(u.op is Ops.LOAD and u.dtype is dtypes.int.vec(4) for u in nodes) == 1


@pytest.mark.parametrize("pad", [0, 2])
def test_a_gate_of_loops_alone_stays(pad: int) -> None:
    """Of a table that is padded, indices beyond its ends read nothing."""
    table, places = Tensor.empty(16).pad(((pad, pad),)), Tensor.empty(8, dtype=dtypes.int)
    sink = loops_for(ast_of(table.gather(0, places)), target(), False).sink
    assert bool(gated_loads(sink)) == bool(pad)


def test_gathered_values() -> None:
    random = np.random.default_rng(0)
    table = random.random((5, 40), np.float32)
    table[0, 0] = np.nan  # the element that masked lanes read
    places = random.integers(-60, 60, (5, 37)).astype(np.int32)
    inside = (places >= -40) & (places < 40)
    wanted = np.take_along_axis(table, np.where(inside, places, 0) % 40, 1) * inside
    index = Tensor(places) + Tensor(np.zeros_like(places))  # computed, so not checked
    found = Tensor(table).gather(1, index).numpy()
    np.testing.assert_array_equal(np.where(inside, found, 0), np.where(inside, wanted, 0))
    assert not found[~inside].any()
