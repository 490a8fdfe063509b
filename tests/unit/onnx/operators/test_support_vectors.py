"""Support vector machines compared with ONNX Runtime."""

import numpy as np
import pytest

pytest.importorskip("onnx", reason="the package onnx builds the models")
pytest.importorskip("onnxruntime", reason="its results are the expected ones")

from helpers.onnx_machine_learning import compare_with_runtime


@pytest.mark.parametrize("one_class", [0, 1])
@pytest.mark.parametrize("kernel", ["LINEAR", "POLY", "RBF", "SIGMOID"])
def test_regressor(kernel, one_class, rng):
    x = rng.standard_normal((9, 3)).astype(np.float32)
    compare_with_runtime(
        "SVMRegressor", [x], 1, kernel_type=kernel, kernel_params=[0.3, 0.2, 3.0], n_supports=4,
        support_vectors=rng.normal(size=12).tolist(), coefficients=rng.normal(size=4).tolist(),
        rho=[0.1], one_class=one_class,
    )  # fmt: skip


def test_linear_model_without_support_vectors(rng):
    x = rng.standard_normal((5, 3)).astype(np.float32)
    compare_with_runtime(
        "SVMRegressor", [x], 1, kernel_type="LINEAR", kernel_params=[0.0, 0.0, 3.0],
        coefficients=rng.normal(size=3).tolist(), rho=[0.5],
    )  # fmt: skip
