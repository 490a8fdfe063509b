"""Layers with the batch normalisation behind them in their weights."""

import numpy as np
import pytest

from weft import Tensor, nn
from weft.base.errors import ArgumentError
from weft.nn.utils import fusion

X = np.random.default_rng(0).standard_normal((4, 2, 5)).astype(np.float32)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize("kind", ["Conv1d", "ConvTranspose1d", "Linear"])
def test_the_result_is_the_same(kind: str, affine: bool, bias: bool) -> None:
    layer = (
        nn.Linear(5, 3, bias=bias) if kind == "Linear" else getattr(nn, kind)(2, 3, 2, bias=bias)
    )
    x = Tensor(X[:, 0] if kind == "Linear" else X)
    norm = nn.BatchNorm1d(3, affine=affine)
    if affine:
        norm.weight, norm.bias = Tensor([0.5, 2.0, -1.0]), Tensor([0.1, 0.2, 0.3])
    norm.train()(layer.train()(x))
    layer.eval(), norm.eval()
    if kind == "Linear":
        fused = fusion.fuse_linear_bn_eval(layer, norm)
    else:
        fused = fusion.fuse_conv_bn_eval(layer, norm, transpose=kind != "Conv1d")
    np.testing.assert_allclose(fused(x).numpy(), norm(layer(x)).numpy(), rtol=1e-4, atol=1e-5)
    assert set(fused.state_dict()) == {"weight", "bias"} and fused is not layer


def test_training_layers_are_not_fused() -> None:
    with pytest.raises(ArgumentError, match="running statistics"):
        fusion.fuse_linear_bn_eval(nn.Linear(2, 2).train(), nn.BatchNorm1d(2).eval())
