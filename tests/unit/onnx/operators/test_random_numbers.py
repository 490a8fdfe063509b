"""Random numbers: shapes, dtypes, distributions, and seeds."""

import numpy as np
import pytest

pytest.importorskip("onnx", reason="the package onnx builds the models")
from onnx import TensorProto

from helpers.onnx_nodes import by_weft, node_model


def drawn(op, inputs=(), **attributes):
    return by_weft(node_model(op, list(inputs), **attributes), list(inputs))[0]


def test_uniform():
    x = drawn("RandomUniform", shape=[50, 40], low=-1.0, high=3.0)
    assert x.shape == (50, 40) and x.dtype == np.float32
    assert -1 <= x.min() < -0.9 and 2.9 < x.max() < 3 and abs(x.mean() - 1) < 0.15


def test_normal_like():
    like = np.zeros((50, 40), np.float16)
    x = drawn("RandomNormalLike", [like], mean=2.0, scale=3.0)
    assert x.dtype == np.float16 and abs(x.mean() - 2) < 0.3 and abs(x.std() - 3) < 0.3
    assert drawn("RandomUniformLike", [like], dtype=TensorProto.DOUBLE).dtype == np.float64


def test_a_seed_gives_the_numbers_of_numpy():
    state = np.random.RandomState(7)
    found = drawn("RandomNormal", shape=[3, 4], seed=7.0, dtype=TensorProto.DOUBLE)
    np.testing.assert_allclose(found, state.normal(size=(3, 4)))
    assert (found == drawn("RandomNormal", shape=[3, 4], seed=7.0, dtype=11)).all()
    assert (drawn("RandomNormal", shape=[9]) != drawn("RandomNormal", shape=[9])).any()


def test_bernoulli():
    p = np.array([0.0, 1.0, 0.25], np.float32)[:, None].repeat(2000, 1)
    found = drawn("Bernoulli", [p], dtype=TensorProto.INT32)
    assert found.dtype == np.int32
    np.testing.assert_allclose(found.mean(1), [0, 1, 0.25], atol=0.05)


def test_classes():
    logs = np.log(np.array([[0.5, 1e-30, 0.5], [1e-30, 1.0, 1e-30]], np.float32))
    found = drawn("Multinomial", [logs], sample_size=1000)
    assert found.shape == (2, 1000) and found.dtype == np.int32
    assert set(found[0]) == {0, 2} and set(found[1]) == {1}
    assert abs((found[0] == 0).mean() - 0.5) < 0.1
