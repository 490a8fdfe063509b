"""Products of matrices compared with the reference evaluator."""

import numpy as np
import pytest

pytest.importorskip("onnx", reason="the package onnx builds the models")

from helpers.onnx_nodes import compare


@pytest.mark.parametrize(
    ("a", "b"), [((2, 3), (3, 4)), ((5, 1, 2, 3), (4, 3, 2)), ((3,), (2, 3, 4)), ((2, 3), (3,))]
)
def test_products(a, b, rng):
    left, right = (rng.standard_normal(shape).astype(np.float32) for shape in (a, b))
    compare("MatMul", [left, right], rtol=1e-5, atol=1e-6)
    compare("MatMul", [(left * 9).astype(np.int32), (right * 9).astype(np.int32)])


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_general_products(dtype, rng):
    a, b, c = (rng.integers(-5, 5, shape).astype(dtype) for shape in ((3, 2), (4, 3), (4,)))
    compare("Gemm", [a, b, c], transA=1, transB=1, beta=2.0)
    compare("Gemm", [a, b], transA=1, transB=1, alpha=3.0)
    compare("Gemm", [a.T.copy(), b.T.copy(), c[:1]], alpha=1.0, beta=0.0)


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("ij,jk->ik", ((2, 3), (3, 4))),
        ("...ii->...i", ((2, 3, 3),)),
        ("bij , bjk", ((2, 3, 4), (2, 4, 2))),
    ],
)
def test_einstein_summation(equation, shapes, rng):
    xs = [rng.standard_normal(shape).astype(np.float32) for shape in shapes]
    compare("Einsum", xs, equation=equation, rtol=1e-5, atol=1e-6)


def test_determinants(rng):
    compare("Det", [rng.standard_normal((2, 3, 3)).astype(np.float32)], rtol=1e-4)
