"""Products of matrices through matrix units, whose instruction a double carries out."""

import numpy as np
import pytest

from weft import Tensor
from weft.base.settings import settings
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


def products(left, right):
    """The product twice: as it is, and where matrix units may round the factors; and its source."""
    found = []
    for precision in ("highest", "high"):
        with settings.override(MATMUL_PRECISION=precision):
            (item,) = (left @ right).schedule()
            found += [(left @ right).numpy(), lower_schedule_item(item).prg.p.src]
    return found


def test_float32_by_choice():
    random = np.random.default_rng(4)
    a, b = (random.integers(-4, 5, shape).astype(np.float32) for shape in ((64, 48), (48, 40)))
    left, right = (Tensor(x, device="CUDA").realize() for x in (a, b))
    exact, plain, fast, source = products(left, right)
    assert "mma_m16n8k8_tf32(" in source and "mma" not in plain
    np.testing.assert_array_equal(exact, a @ b)
    np.testing.assert_array_equal(fast, a @ b)


def test_tf32_has_ten_bits():
    a = np.full((16, 8), 1 + 2.0**-10 + 2.0**-12, np.float32)
    b = np.eye(8, dtype=np.float32)
    left, right = (Tensor(x, device="CUDA").realize() for x in (a, b))
    exact, _, fast, _ = products(left, right)
    np.testing.assert_array_equal(exact, a)
    np.testing.assert_array_equal(fast, np.float32(1 + 2.0**-10))


def test_transposed_and_batched():
    random = np.random.default_rng(3)
    a, b = (random.integers(-4, 5, (2, 32, 48)).astype(np.float16) for _ in range(2))
    left, right = (Tensor(x, device="CUDA").realize() for x in (a, b))
    found = left.matmul(right.transpose(1, 2), dtype="float32").numpy()
    want = a.astype(np.float32) @ b.astype(np.float32).transpose(0, 2, 1)
    np.testing.assert_array_equal(found, want)
