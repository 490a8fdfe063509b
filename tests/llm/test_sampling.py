"""Sampling on the device beside a plain computation by sorting."""

import numpy as np
import pytest

from weft import Tensor
from weft.base.errors import ArgumentError
from weft_llm.sampling import Sampling, parameter_rows, penalized, recent_rows, sample

VOCABULARY = 200


def kept_by_sorting(logits, s):
    """The probabilities that a sampling keeps, by NumPy."""
    if s.greedy:
        return (logits == logits.max()).astype(np.float64)
    scaled = logits.astype(np.float64) / s.temperature
    shares = np.exp(scaled - scaled.max())
    shares /= shares.sum()
    order = np.argsort(-shares, kind="stable")
    if s.top_k:
        shares[order[s.top_k :]] = 0
    if s.top_p < 1:
        sums = np.cumsum(shares[order])
        last = int(np.searchsorted(sums, sums[-1] * s.top_p - 1e-9))
        shares[order[last + 1 :]] = 0
    shares[shares < shares.max() * s.min_p] = 0
    return shares / shares.sum()


def draw(logits, sampling, uniforms):
    rows = len(uniforms)
    repeated = Tensor(np.tile(logits, (rows, 1)))
    parameters = parameter_rows([sampling] * rows)
    return sample(repeated, parameters, Tensor(np.array(uniforms, dtype=np.float32))).numpy()


CASES = [
    Sampling(1.0), Sampling(0.7, top_k=5), Sampling(1.5, top_p=0.8), Sampling(1.0, min_p=0.2),
    Sampling(0.9, top_k=40, top_p=0.95, min_p=0.02), Sampling(1.0, top_k=1), Sampling(0.0),
    Sampling(1.0, top_p=0.0), Sampling(1.0, top_k=VOCABULARY + 5),
]  # fmt: skip


@pytest.mark.parametrize("sampling", CASES, ids=repr)
def test_draws_are_those_of_the_inverse_distribution(sampling):
    chance = np.random.default_rng(0)
    logits = (chance.standard_normal(VOCABULARY) * 3).astype(np.float32)
    shares = kept_by_sorting(logits, sampling)
    if sampling.top_p == 0.0:
        shares = (shares == shares.max()).astype(np.float64)
    uniforms = np.concatenate([[0.0, 1 - 2**-24], chance.random(62)])
    found = draw(logits, sampling, uniforms)
    assert (shares[found] > 0).all()
    ends = np.cumsum(shares)
    for token, uniform in zip(found, uniforms, strict=True):
        low = ends[token - 1] if token else 0.0
        assert low - 1e-4 <= uniform <= ends[token] + 1e-4


def test_rows_have_their_own_parameters():
    chance = np.random.default_rng(1)
    logits = (chance.standard_normal((3, VOCABULARY)) * 3).astype(np.float32)
    samplings = [Sampling(0.0), Sampling(1.0, top_k=2), Sampling(1.0)]
    uniforms = Tensor(np.array([0.5, 0.999, 0.999], dtype=np.float32))
    found = sample(Tensor(logits), parameter_rows(samplings), uniforms).numpy()
    order = np.argsort(-logits[1])[:2]
    assert found[0] == logits[0].argmax() and found[1] == order.max()


def test_penalties_count_recent_tokens():
    logits = np.array([[2.0, -1.0, 0.5, 0.0]], dtype=np.float32)
    s = Sampling(1.0, repetition_penalty=2.0, frequency_penalty=0.25, presence_penalty=0.5)
    found = penalized(Tensor(logits), parameter_rows([s]), recent_rows([[0, 1, 1]], 4)).numpy()
    np.testing.assert_allclose(found, [[1 - 0.75, -2 - 0.5 - 0.5, 0.5, 0.0]])


def test_penalties_look_back_to_the_last_tokens():
    rows = recent_rows([[7] + [1] * 64, []], 9).numpy()
    assert set(rows[0]) == {1} and set(rows[1]) == {9}


@pytest.mark.parametrize(
    "field, value",
    [("temperature", -0.1), ("top_p", 1.1), ("min_p", "x"), ("top_k", -1), ("top_k", None)],
)
def test_values_out_of_range_are_refused(field, value):
    with pytest.raises(ArgumentError, match=field):
        Sampling(**{field: value})
