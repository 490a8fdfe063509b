"""Tiles in shared memory that are copied ahead, and groups whose warps exchange registers.

The executor lets threads run in another order after each barrier, and carries out asynchronous
copies when they are waited for: what lacks a barrier or a wait gives wrong numbers here.
"""

import numpy as np
import pytest

from weft import Tensor
from weft.engine import lower_schedule_item


def source_of(tensor):
    return [lower_schedule_item(item).prg.p.src for item in tensor.schedule()]


def whole(random, *shape):
    return random.integers(-4, 5, shape).astype(np.float32)


@pytest.mark.parametrize("m, k, n", [(64, 96, 128), (96, 64, 72)])
def test_tiles_that_fly(m, k, n):
    random = np.random.default_rng(k)
    a, b = whole(random, m, k), whole(random, k, n)
    left, right = (Tensor(x, device="CUDA").realize() for x in (a, b))
    (source,) = source_of(left @ right)
    assert "copy_async<4>(tile0" in source
    assert source.count("__syncthreads();") == source.count("wait_for_copies<1>();") == 1
    np.testing.assert_array_equal((left @ right).numpy(), a @ b)


def test_tiles_of_short_floats_that_go_by_way_of_registers():
    random = np.random.default_rng(1)
    a, b = whole(random, 64, 256), whole(random, 256, 128)
    left, right = (Tensor(x, device="CUDA").half().realize() for x in (a, b))
    product = left.matmul(right, dtype="float32")
    (source,) = source_of(product)
    assert "mma_m16n8k16_f16(" in source and source.count("__syncthreads();") == 1
    np.testing.assert_array_equal(left.matmul(right, dtype="float32").numpy(), a @ b)


def test_padded_windows_in_tiles():
    random = np.random.default_rng(2)
    x, w = whole(random, 2, 8, 12, 12), whole(random, 32, 8, 3, 3)
    found = Tensor(x, device="CUDA").conv2d(Tensor(w, device="CUDA"), padding=1).numpy()
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))
    np.testing.assert_array_equal(found, np.einsum("bcyxij,ocij->boyx", windows, w))


@pytest.mark.parametrize("columns", [32, 100, 512, 4096])
def test_rows_that_meet_in_registers(columns):
    x = whole(np.random.default_rng(columns), 3, columns)
    given = Tensor(x, device="CUDA").realize()
    assert any("other_lane" in source for source in source_of(given.sum(1) + given.max(1)))
    np.testing.assert_array_equal((given.sum(1) + given.max(1)).numpy(), x.sum(1) + x.max(1))
    np.testing.assert_array_equal(given.argmax(1).numpy(), x.argmax(1))
