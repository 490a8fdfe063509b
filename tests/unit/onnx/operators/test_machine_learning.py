"""Encoders, scalers and linear models compared with ONNX Runtime."""

import numpy as np
import pytest

pytest.importorskip("onnx", reason="the package onnx builds the models")
pytest.importorskip("onnxruntime", reason="its results are the expected ones")

import weft.onnx
from helpers.onnx_machine_learning import by_weft, compare_with_runtime, model_of


@pytest.fixture
def x(rng):
    return rng.standard_normal((6, 4)).astype(np.float32)


def test_features(x):
    compare_with_runtime("ArrayFeatureExtractor", [x, np.array([[3, 0]])], 1)
    compare_with_runtime("ArrayFeatureExtractor", [x[0], np.array([1])], 1)
    compare_with_runtime("Binarizer", [x], 1, threshold=0.25)
    compare_with_runtime("FeatureVectorizer", [x, x[:, :2]], 1, inputdimensions=[4, 2])


def test_imputer(x):
    x[0, 1] = x[2, 2] = np.nan
    values = {"imputed_value_floats": [1.0, 2.0, 3.0, 4.0], "replaced_value_float": float("nan")}
    compare_with_runtime("Imputer", [x], 1, **values)
    whole = np.array([[1, -1], [-1, 2]])
    values = {"imputed_value_int64s": [7], "replaced_value_int64": -1}
    compare_with_runtime("Imputer", [whole], 1, **values)


def test_scaled(x):
    compare_with_runtime("Scaler", [x], 1, offset=[0.5, 1.0, 0.0, 2.0], scale=[2.0, 1.0, 3.0, 4.0])
    x[1] = 0
    for norm in ("MAX", "L1", "L2"):
        compare_with_runtime("Normalizer", [np.abs(x)], 1, norm=norm)


def test_labels():
    words, numbers = np.array(["a", "b", "zz"], object), np.array([3, 1, 8, 1])
    compare_with_runtime(
        "LabelEncoder", [words], 1, keys_strings=["b", "a"], values_int64s=[5, 6], default_int64=-2
    )
    compare_with_runtime(
        "LabelEncoder", [numbers], 1, keys_int64s=[1, 3], values_strings=["x", "y"],
        default_string="?",
    )  # fmt: skip
    compare_with_runtime(
        "LabelEncoder", [numbers], 1, keys_int64s=[3, 1], values_floats=[0.5, 1.5],
        default_float=9.0,
    )  # fmt: skip
    compare_with_runtime(
        "CategoryMapper", [words], 1, cats_int64s=[4, 9], cats_strings=["a", "b"], default_int64=0
    )


def test_labels_of_nan():
    nan = np.array([[np.nan, 2.0, 1.0]], np.float32)
    keys = {"keys_floats": [1.0, float("nan")], "default_int64": 0}
    model = model_of("LabelEncoder", [nan], 1, values_int64s=[4, 5], **keys)
    assert by_weft(model, [nan])[0].tolist() == [[5, 0, 4]]


def test_categories():
    numbers = np.array([[1, 7], [9, 1]])
    compare_with_runtime("OneHotEncoder", [numbers], 1, cats_int64s=[1, 9])
    words = np.array(["q", "p"], object)
    compare_with_runtime("OneHotEncoder", [words], 1, cats_strings=["p", "q", "r"])
    model = model_of("OneHotEncoder", [numbers], 1, cats_int64s=[1, 9], zeros=0)
    with pytest.raises(weft.onnx.OnnxError, match="category"):
        by_weft(model, [numbers])


@pytest.mark.parametrize("transform", ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO"])
def test_linear_models(transform, x, rng):
    weights = rng.normal(size=12).tolist()
    compare_with_runtime(
        "LinearRegressor", [x], 1, coefficients=weights, intercepts=[0.5, 1.0, -1.0], targets=3
    )
    compare_with_runtime(
        "LinearClassifier", [x], 2, coefficients=weights, intercepts=[0.5, 1.0, -1.0],
        classlabels_ints=[7, 5, 3], post_transform=transform,
    )  # fmt: skip


def test_one_score_for_two_classes(x, rng):
    compare_with_runtime(
        "LinearClassifier", [x], 2, coefficients=rng.normal(size=4).tolist(), intercepts=[0.1],
        classlabels_strings=["no", "yes"], post_transform="LOGISTIC",
    )  # fmt: skip


def test_inverse_normal_distribution(rng):
    p = rng.uniform(0.05, 0.95, (5, 1)).astype(np.float32)
    compare_with_runtime(
        "LinearRegressor", [p], 1, coefficients=[1.0], intercepts=[0.0], targets=1,
        post_transform="PROBIT",
    )  # fmt: skip
