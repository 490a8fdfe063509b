"""Attention as a function of its weights, compared with PyTorch's."""

import numpy as np
import pytest

from weft import Tensor
from weft.base.errors import ArgumentError
from weft.nn.functional import attention

CHANCE = np.random.default_rng(0)


def draw(*shape: int) -> np.ndarray:
    return CHANCE.standard_normal(shape)


QUERY, KEY, VALUE = draw(5, 2, 8), draw(4, 2, 8), draw(4, 2, 8)
WEIGHT, BIAS, OUT = draw(24, 8), draw(24), draw(8, 8)
EXTRA = draw(1, 1, 8)
PADDING = np.array([[False] * 4, [False, False, True, True]])
PARTS = {f"{part}_proj_weight": draw(8, 8) for part in "qkv"}
CASES = [
    ((WEIGHT, BIAS, None, None, False), {}),
    ((WEIGHT, None, EXTRA, EXTRA, True), {"key_padding_mask": PADDING}),
    ((None, BIAS, None, None, True), {"use_separate_proj_weight": True, **PARTS}),
    ((WEIGHT, BIAS, None, None, False), {"static_k": draw(4, 3, 4), "static_v": draw(4, 3, 4)}),
    ((WEIGHT, BIAS, None, None, False), {"average_attn_weights": False}),
]


def moved(make, x):
    if isinstance(x, np.ndarray):
        return make(x)
    if isinstance(x, dict):
        return {key: moved(make, value) for key, value in x.items()}
    return [moved(make, each) for each in x] if isinstance(x, tuple) else x


@pytest.mark.parametrize(("weights", "how"), CASES)
def test_values_are_pytorchs(weights: tuple, how: dict) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch says what the values are")
    given = (QUERY, KEY, VALUE, 8, 2, *weights, 0.0, OUT, None)
    got, found = attention.multi_head_attention_forward(*moved(Tensor, given), **moved(Tensor, how))
    expected, wanted = torch.nn.functional.multi_head_attention_forward(
        *moved(torch.tensor, given), **moved(torch.tensor, how)
    )
    for one, other in ((got, expected), (found, wanted)):
        assert one.shape == tuple(other.shape)
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-6, atol=1e-9)


def test_one_sequence_without_weights() -> None:
    given = moved(Tensor, (QUERY[:, 0], KEY[:, 0], VALUE[:, 0], 8, 2, WEIGHT, BIAS, None, None))
    more = (False, 0.0, Tensor(OUT), None)
    single, nothing = attention.multi_head_attention_forward(*given, *more, need_weights=False)
    again, weights = attention.multi_head_attention_forward(*given, *more)
    assert nothing is None and weights.shape == (5, 4)
    np.testing.assert_allclose(single.numpy(), again.numpy(), rtol=1e-6)


def test_a_query_of_other_features() -> None:
    with pytest.raises(ArgumentError, match="features of this attention"):
        attention.multi_head_attention_forward(
            *[Tensor.ones(5, 2, 7)] * 3, 8, 2, Tensor(WEIGHT), None, None, None, False, 0.0,
            Tensor(OUT), None,
        )  # fmt: skip
