"""Products of matrices through matrix units, whose instruction a double carries out."""

import numpy as np
import pytest

from weft import Tensor
from weft.engine import lower_schedule_item


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("m, k, n", [(16, 16, 8), (64, 64, 64), (32, 128, 96), (128, 32, 24)])
def test_sums_of_products(m, k, n, dtype):
    random = np.random.default_rng(m + n)
    a, b = (random.integers(-4, 5, shape).astype(np.float32) for shape in ((m, k), (k, n)))
    left, right = (Tensor(x, device="CUDA").cast(dtype).realize() for x in (a, b))
    product = left.matmul(right, dtype="float32") * 0.5 + 1
    (item,) = product.schedule()
    assert "mma_m16n8k16" in lower_schedule_item(item).prg.p.src
    again = (left.matmul(right, dtype="float32") * 0.5 + 1).numpy()
    np.testing.assert_array_equal(again, a @ b * 0.5 + 1)


def test_transposed_and_batched():
    random = np.random.default_rng(3)
    a, b = (random.integers(-4, 5, (2, 32, 48)).astype(np.float16) for _ in range(2))
    left, right = (Tensor(x, device="CUDA").realize() for x in (a, b))
    found = left.matmul(right.transpose(1, 2), dtype="float32").numpy()
    want = a.astype(np.float32) @ b.astype(np.float32).transpose(0, 2, 1)
    np.testing.assert_array_equal(found, want)
