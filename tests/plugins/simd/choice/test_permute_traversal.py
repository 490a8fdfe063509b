"""Large copies of rows that change places read along memory, and small or other ones are left."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from helpers.simd import simd_target
from weft import Tensor
from weft.base.dtype import dtypes
from weft.codegen.opt.opts import Opt, OptKind
from weft.codegen.pipeline import loops_for
from weft.device.capabilities import ComputeCaps
from weft_simd.choice.strategy import choose

SWAPPED = Opt(OptKind.SWAP, 1, 2)


def opts_of(
    shape: tuple[int, ...], order: tuple[int, ...], cache: int = 1 << 10, read_streams: int = 1
) -> Sequence[Opt]:
    """What is chosen for a copy."""
    compute = ComputeCaps(
        vector_widths={dtypes.float: (16,), dtypes.int: (16,)}, vector_bytes=64,
        vector_registers=32, cache_bytes=cache, read_streams=read_streams,
    )  # fmt: skip
    ast = Tensor.empty(*shape).permute(*order).contiguous().schedule()[-1].ast
    kernel = loops_for(ast, simd_target(compute), True)
    return choose(kernel.copy())


def chosen(shape: tuple[int, ...], order: tuple[int, ...], cache: int = 1 << 10) -> bool:
    """Whether the two loops over rows change places."""
    return SWAPPED in opts_of(shape, order, cache)


@pytest.mark.parametrize(
    "shape, order, cache, swapped",
    [
        ((4, 24, 6, 32), (0, 2, 1, 3), 1 << 10, True),
        ((4, 24, 24, 32), (0, 2, 1, 3), 1 << 10, True),
        ((4, 6, 24, 32), (0, 2, 1, 3), 1 << 10, False),  # six rows are under way as it is
        ((4, 24, 6, 32), (0, 2, 1, 3), 2 * 4 * 24 * 6 * 32 * 4, True),  # nothing else in the cache
        ((4, 24, 6, 32), (0, 2, 1, 3), 1 << 20, False),  # the cache holds all of it
        ((4, 24, 6, 32), (0, 2, 1, 3), 0, False),  # no cache is known
        ((4, 24, 6, 8), (0, 2, 1, 3), 1 << 10, False),  # half a line
        ((24, 4, 6, 32), (2, 1, 0, 3), 1 << 10, False),  # in no row either way
    ],
)
def test_reading_goes_along_memory(shape, order, cache, swapped) -> None:
    assert chosen(shape, order, cache) == swapped


def test_two_rows_are_unrolled_if_several_streams_are_prefetched() -> None:
    beside = Opt(OptKind.UPCAST, 0, 2)
    assert beside in opts_of((4, 24, 6, 32), (0, 2, 1, 3), read_streams=8)
    assert beside not in opts_of((4, 24, 6, 32), (0, 2, 1, 3))
    assert beside not in opts_of((4, 6, 24, 32), (0, 2, 1, 3), read_streams=8)
