"""What a device has beyond plain arithmetic: lanes that show each other what they hold, and
instructions that add products in pairs. (Matrix units are in ``test_generated``.)"""

from __future__ import annotations

import pytest

from weft.base.dtype import dtypes
from weft.base.scalars import pack, truncate, unpack
from weft.device import Feature
from weft.testing.conformance.programs import Builder, run
from weft.uop import Ops, UOp

pytestmark = pytest.mark.usefixtures("weft_compute", "weft_bytes")


@pytest.mark.parametrize("dtype", [dtypes.int32, dtypes.float32, dtypes.int64], ids=str)
def test_lanes_of_a_warp_show_each_other_what_they_hold(
    weft_compute, weft_needs, weft_device, dtype
):
    """By every distance within a warp, in a group of several warps."""
    weft_needs(Feature.WARP_REDUCE)
    if dtype not in weft_compute.dtypes:
        pytest.skip(f"{dtype} is not declared")
    lanes = weft_compute.warp_size
    assert lanes > 1 and lanes & (lanes - 1) == 0, f"warps of {lanes} lanes exchange nothing"
    threads = min(4 * lanes, weft_compute.limits.local_threads or lanes)
    steps = [step for step in (1, 2, 4, 8, 16, 32) if step < lanes]
    b = Builder()
    out, data = b.argument(0, dtype, len(steps) * threads), b.argument(1, dtype, threads)
    me = b.special("lidx0", threads)
    held = b.load(data, me)
    for number, step in enumerate(steps):
        other = b.add(UOp(Ops.SHUFFLE, dtype, (held,), step))
        b.store(out, me + number * threads, other)
    given = [truncate(n * n - 7, dtype) for n in range(threads)]
    (found,) = run(weft_device, b, [(dtype, len(steps) * threads)], [(dtype, given)])
    assert found == [given[lane ^ step] for step in steps for lane in range(threads)]


def test_products_that_are_added_several_at_once(weft_device, weft_compute):
    """Every instruction that is declared, with every number of lanes; the numbers are small and
    whole, so that no order of adding rounds."""
    if not weft_compute.pair_dots:
        pytest.skip("this device declares no pair_dots")
    for unit in weft_compute.pair_dots:
        for lanes in unit.lanes:
            kind = unit.dtype_out
            word = dtypes.uint32
            b = Builder()
            out, sums = b.argument(0, kind, lanes), b.argument(1, kind, lanes)
            left, right = b.argument(2, word, lanes), b.argument(3, word, lanes)
            factors = [
                b.load(pointer, 0, dtype=word.vec(lanes) if lanes > 1 else word)
                for pointer in (left, right)
            ]
            wide = kind.vec(lanes) if lanes > 1 else kind
            so_far = b.load(sums, 0, dtype=wide)
            b.store(out, 0, b.add(UOp(Ops.DOT, wide, (*factors, so_far), unit)))
            one, other = unit.given
            terms = unit.terms
            # what has no sign uses its highest bit: other numbers than with one
            most = 200 if unit.bits is None else (1 << unit.bits) - 4
            by = [most if dtype is dtypes.uint8 else 0 for dtype in unit.given]
            low = [truncate(n % 7 - 3 + by[0], one) for n in range(terms * lanes)]
            high = [truncate(n % 5 - 2 + by[1], other) for n in range(terms * lanes)]
            start = [truncate(100 - n, kind) for n in range(lanes)]
            words = [list(unpack(pack(x, d), word)) for x, d in zip((low, high), unit.given)]
            inputs = [(kind, start), (word, words[0]), (word, words[1])]
            (found,) = run(weft_device, b, [(kind, lanes)], inputs)
            products = [x * y for x, y in zip(low, high)]
            wanted = [start[n] + sum(products[terms * n : terms * n + terms]) for n in range(lanes)]
            assert found == wanted, f"{unit} of {lanes} lanes"
