"""Large copies that transpose small matrices read them one by one; other copies are left."""

from __future__ import annotations

import pytest

from helpers.simd import simd_target
from weft import Tensor
from weft.base.dtype import dtypes
from weft.codegen.pipeline import loops_for
from weft.device.capabilities import ComputeCaps
from weft.uop.args import AxisKind
from weft_simd.choice.strategy import choose


def order_of(shape: tuple[int, ...], order: tuple[int, ...], cache: int = 1 << 14) -> list[int]:
    """The axes of what is read, in the order of the loops over them."""
    compute = ComputeCaps(
        vector_widths={dtypes.float: (16,), dtypes.int: (16,)}, vector_bytes=64,
        vector_registers=32, cache_bytes=cache,
    )  # fmt: skip
    ast = Tensor.empty(*shape).permute(*order).contiguous().schedule()[-1].ast
    kernel = loops_for(ast, simd_target(compute), True)
    choose(kernel)
    loops = sorted(kernel.accesses[0].steps, key=lambda loop: loop.arg.id)
    assert len(loops) == len(shape)
    turning = [axis for axis in kernel.axes if axis.kind is AxisKind.LOOP]
    return [order[loops.index(axis.loop)] for axis in turning]


@pytest.mark.parametrize(
    "shape, order, loops",
    [
        ((3, 5, 64, 32), (3, 1, 0, 2), [0, 1, 3, 2]),
        ((3, 5, 32, 64), (1, 0, 3, 2), [0, 1, 3, 2]),
        ((15, 64, 160), (0, 2, 1), [0, 2, 1]),
        ((3, 5, 16, 64), (3, 1, 0, 2), [0, 1, 3]),  # all rows in one square
    ],
)
def test_reads_iterate_over_blocks(shape, order, loops) -> None:
    assert order_of(shape, order) == loops


@pytest.mark.parametrize(
    "shape, order, cache",
    [
        ((3, 5, 64, 32), (3, 1, 0, 2), 1 << 20),  # the cache holds all of it
        ((3, 5, 64, 32), (3, 1, 0, 2), 0),  # no cache is known
        ((3, 5, 16, 32), (3, 1, 0, 2), 1 << 14),  # short pieces
        ((3, 2, 256, 128), (3, 1, 0, 2), 1 << 14),  # long ones
        ((64, 5, 3, 64), (3, 2, 1, 0), 1 << 14),  # no pieces: rows lie apart
    ],
)
def test_unblocked_permutations(shape, order, cache) -> None:
    assert order_of(shape, order, cache)[:2] != [0, 1]
