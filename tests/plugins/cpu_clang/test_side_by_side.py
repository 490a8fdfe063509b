"""Which kernels clang is asked to search for numbers side by side."""

from __future__ import annotations

import numpy as np
import pytest

from weft import Device, Tensor
from weft.plugin import LinearProgram, dtypes
from weft.uop import Ops, UOp
from weft_cpu_clang.side_by_side import MARK, has_side_by_side


def pointer(slot: int) -> UOp:
    return UOp(Ops.DEFINE_GLOBAL, dtypes.float32.ptr(1 << 16), arg=slot)


def at(memory: UOp, place: int | UOp) -> UOp:
    where = UOp.const(dtypes.int64, place) if isinstance(place, int) else place
    return UOp(Ops.INDEX, memory.dtype, (memory, where))


def load(memory: UOp, place: int | UOp) -> UOp:
    return UOp(Ops.LOAD, dtypes.float32, (at(memory, place),))


def program(*stores: UOp) -> LinearProgram:
    return LinearProgram.of("kernel", list(UOp.sink(*stores).toposort())[:-1])


def picked(step: int, lanes: int = 4, base: UOp | None = None) -> LinearProgram:
    """One vector of numbers that are read `step` places apart."""
    given = pointer(1)
    places = [step * n if base is None else base + step * n for n in range(lanes)]
    vector = UOp(
        Ops.VECTORIZE, dtypes.float32.vec(lanes), tuple(load(given, place) for place in places)
    )
    return program(UOp(Ops.STORE, dtypes.void, (at(pointer(0), 0), vector)))


@pytest.mark.parametrize("step, near", [(2, True), (9, True), (10, False), (768, False)])
@pytest.mark.parametrize("moved", [False, True])
def test_lanes_that_are_read_near_one_another_may_be_found(step, near, moved):
    base = UOp.variable("start", 0, 100).cast(dtypes.int64) * 3 if moved else None
    assert has_side_by_side(picked(step, base=base)) is near


def test_numbers_that_are_stored_one_by_one_may_be_found():
    out, given = pointer(0), pointer(1)
    one, other = (
        UOp(Ops.STORE, dtypes.void, (at(out, n), load(given, 5 * n) * 2.0)) for n in range(2)
    )
    assert not has_side_by_side(program(one))
    assert has_side_by_side(program(one, other))


def test_addresses_that_are_computed_of_lanes_may_be_found():
    lanes = UOp(
        Ops.LOAD, dtypes.int32.vec(4),
        (UOp(Ops.INDEX, dtypes.int32.ptr(64), (
            UOp(Ops.DEFINE_GLOBAL, dtypes.int32.ptr(64), arg=2), UOp.const(dtypes.int64, 0))),),
    )  # fmt: skip
    taken = [lanes.gep(n).cast(dtypes.int64) for n in range(4)]

    def gathered(places):
        loads = tuple(load(pointer(1), place) for place in places)
        vector = UOp(Ops.VECTORIZE, dtypes.float32.vec(4), loads)
        return program(UOp(Ops.STORE, dtypes.void, (at(pointer(0), 0), vector)))

    assert has_side_by_side(gathered([lane * 4096 for lane in taken]))
    assert not has_side_by_side(gathered(taken))
    assert not has_side_by_side(gathered([taken[0]] * 4))  # one number in every lane


@pytest.mark.skipif(
    Device["CPU"].compute.vector_bytes != 64, reason="rows are summed otherwise in short registers"
)
def test_sums_of_rows_are_marked_and_products_are_not(sources_of):
    q, k = (Tensor.empty(1, 4, 16, 32, device="CPU") for _ in range(2))
    product = sources_of(Tensor.empty(64, 64, device="CPU") @ Tensor.empty(64, 64, device="CPU"))
    assert not any(text.startswith(MARK) for text in product)
    attended = sources_of(q.scaled_dot_product_attention(k, k))
    assert any(text.startswith(MARK) for text in attended)


@pytest.fixture
def sources_of():
    from weft.engine import lower_schedule_item

    return lambda tensor: [lower_schedule_item(item).prg.p.src for item in tensor.schedule()]


def test_marked_kernels_compute_what_others_do():
    rng = np.random.default_rng(3)
    q, k, v = (rng.standard_normal((1, 2, 16, 32), dtype=np.float32) for _ in range(3))
    found = Tensor(q, device="CPU").scaled_dot_product_attention(
        Tensor(k, device="CPU"), Tensor(v, device="CPU")
    )
    scores = q.astype(np.float64) @ k.transpose(0, 1, 3, 2) / np.sqrt(32)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    wanted = weights / weights.sum(-1, keepdims=True) @ v
    np.testing.assert_allclose(found.numpy(), wanted, rtol=2e-5, atol=2e-6)
