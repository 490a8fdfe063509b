"""Linear against NumPy."""

import numpy as np
import pytest

from weft import Tensor
from weft.nn import Linear


@pytest.mark.parametrize("leading", [(), (5,), (2, 3)])
@pytest.mark.parametrize("bias", [True, False])
def test_linear_is_the_affine_map(leading: tuple[int, ...], bias: bool) -> None:
    layer = Linear(4, 3, bias=bias)
    x = np.random.default_rng(0).standard_normal((*leading, 4), dtype=np.float32)
    expected = x @ layer.weight.numpy().T
    if bias:
        expected = expected + layer.bias.numpy()
    result = layer(Tensor(x))
    assert result.shape == (*leading, 3)
    np.testing.assert_allclose(result.numpy(), expected, rtol=1e-5, atol=1e-6)


def test_bias_is_left_out_when_asked() -> None:
    assert Linear(4, 3, bias=False).bias is None
