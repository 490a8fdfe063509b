"""Operators of classical machine learning: encoders, scalers, linear models (domain ai.onnx.ml).

Strings are arrays on the host: an encoder with strings on one side is computed there.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from weft.base.dtype import dtypes
from weft.onnx.graph import Node
from weft.onnx.operators.classifier_scores import classified, transformed
from weft.onnx.registry import operator
from weft.tensor import Tensor

_DOMAIN = "ai.onnx.ml"


def _in_floats(x: Tensor) -> Tensor:
    return x if dtypes.is_float(x.dtype) else x.cast(dtypes.float32)


# ---- features ---------------------------------------------------------------------------------


@operator("ArrayFeatureExtractor", domain=_DOMAIN)
def array_feature_extractor(node: Node, x: Any, indices: Tensor) -> Any:
    """The elements of the last axis at the indices; of a vector, as a matrix of one row."""
    places = indices.reshape(-1)
    if isinstance(x, np.ndarray):  # strings
        found = x[..., node.host(places)]
    else:
        found = x.take(places, -1)
    return found.reshape((1, -1)) if x.ndim == 1 else found


@operator("Binarizer", domain=_DOMAIN)
def binarizer(node: Node, x: Tensor, *, threshold: float = 0.0) -> Tensor:
    """1 above the threshold, else 0."""
    return (x > threshold).cast(x.dtype)


@operator("FeatureVectorizer", domain=_DOMAIN)
def feature_vectorizer(node: Node, *xs: Tensor, inputdimensions: list[int] | None = None) -> Tensor:
    """Matrices joined along their columns, in float32; each cut or padded with 0 to a size."""
    sizes = inputdimensions or [x.shape[-1] for x in xs]
    parts = []
    for x, size in zip(xs, sizes, strict=True):
        rows = (x.reshape((1, -1)) if x.ndim == 1 else x).cast(dtypes.float32)
        parts.append(rows.pad(((0, 0), (0, size - rows.shape[1]))))
    return parts[0].cat(*parts[1:], dim=1) if len(parts) > 1 else parts[0]


@operator("Imputer", domain=_DOMAIN)
def imputer(
    node: Node,
    x: Tensor,
    *,
    imputed_value_floats: list[float] | None = None,
    imputed_value_int64s: list[int] | None = None,
    replaced_value_float: float = 0.0,
    replaced_value_int64: int = 0,
) -> Tensor:
    """x with one value replaced: by a number, or by one for each feature. NaN may be replaced."""
    is_float = dtypes.is_float(x.dtype)
    values = imputed_value_floats if is_float else imputed_value_int64s
    if not values:
        raise node.refuse(
            f"there is no value to be imputed for {x.dtype!r}",
            "imputed_value_floats for floats, imputed_value_int64s for integers",
        )
    replaced = replaced_value_float if is_float else replaced_value_int64
    is_replaced = x.isnan() if math.isnan(replaced) else x == replaced
    return is_replaced.where(node.tensor(np.asarray(values)).cast(x.dtype), x)


@operator("Scaler", domain=_DOMAIN)
def scaler(
    node: Node, x: Tensor, *, offset: list[float] | None = None, scale: list[float] | None = None
) -> Tensor:
    """(x - offset) * scale in float32; one number, or one for each feature."""
    value = x.cast(dtypes.float32)
    if offset:
        value = value - node.tensor(np.asarray(offset, np.float32))
    return value * node.tensor(np.asarray(scale, np.float32)) if scale else value


@operator("Normalizer", domain=_DOMAIN)
def normalizer(node: Node, x: Tensor, *, norm: str = "MAX") -> Tensor:
    """Rows divided by a norm, in float32; rows of norm 0 stay."""
    value = x.cast(dtypes.float32)
    if norm == "MAX":
        size = value.abs().max(-1, keepdim=True)
    elif norm == "L1":
        size = value.abs().sum(-1, keepdim=True)
    elif norm == "L2":
        size = value.square().sum(-1, keepdim=True).sqrt()
    else:
        raise node.refuse(f"there is no norm {norm!r}", "MAX, L1 or L2")
    return value / (size == 0).where(1, size)


# ---- encoders ---------------------------------------------------------------------------------


@operator("LabelEncoder", since=2, domain=_DOMAIN)
def label_encoder(
    node: Node,
    x: Any,
    *,
    keys_floats: Any = None,
    keys_int64s: Any = None,
    keys_strings: Any = None,
    keys_tensor: Any = None,
    values_floats: Any = None,
    values_int64s: Any = None,
    values_strings: Any = None,
    values_tensor: Any = None,
    default_float: float = -0.0,
    default_int64: int = -1,
    default_string: str = "_Unused",
    default_tensor: Any = None,
) -> Any:
    """Each element replaced by the value of its key, by a default where there is none."""
    keys = _first_given(keys_floats, keys_int64s, keys_strings, keys_tensor)
    if values_floats is not None:
        values, default = np.asarray(values_floats, np.float32), default_float
    elif values_int64s is not None:
        values, default = np.asarray(values_int64s, np.int64), default_int64
    elif values_strings is not None:
        values, default = np.asarray(values_strings, object), default_string
    else:
        values, default = values_tensor, _default_of(values_tensor)
    if keys is None or values is None:
        raise node.refuse("it has no keys or no values", "keys_* and values_* of equal length")
    if default_tensor is not None:
        default = default_tensor.reshape(-1)[0]
    pairs = _without_repetitions(keys, values)
    if isinstance(x, np.ndarray) or values.dtype.kind in "OSU":
        return _looked_up_on_host(node, x, pairs, values.dtype, default)
    return _looked_up(node, x, pairs, values.dtype, default)


@operator("LabelEncoder", domain=_DOMAIN)
def label_encoder_of_classes(
    node: Node,
    x: Any,
    *,
    classes_strings: list[str],
    default_int64: int = -1,
    default_string: str = "_Unused",
) -> Any:
    """Strings to their places in a list, or places to strings (opset 1)."""
    places = list(range(len(classes_strings)))
    if isinstance(x, np.ndarray):
        return label_encoder(
            node, x, keys_strings=classes_strings, values_int64s=places, default_int64=default_int64
        )
    return label_encoder(
        node, x, keys_int64s=places, values_strings=classes_strings, default_string=default_string
    )


@operator("CategoryMapper", domain=_DOMAIN)
def category_mapper(
    node: Node,
    x: Any,
    *,
    cats_int64s: list[int],
    cats_strings: list[str],
    default_int64: int = -1,
    default_string: str = "_Unused",
) -> Any:
    """Strings to integers, or integers to strings, by two lists of equal length."""
    if isinstance(x, np.ndarray):
        return label_encoder(
            node, x, keys_strings=cats_strings, values_int64s=cats_int64s,
            default_int64=default_int64,
        )  # fmt: skip
    return label_encoder(
        node, x, keys_int64s=cats_int64s, values_strings=cats_strings,
        default_string=default_string,
    )  # fmt: skip


def _first_given(*choices: Any) -> Any:
    return next((each for each in choices if each is not None), None)


def _default_of(values: Any) -> Any:
    """The default for values of a tensor."""
    if values is None or values.dtype.kind in "OSU":
        return "_Unused"
    return -0.0 if values.dtype.kind == "f" else -1


def _without_repetitions(keys: Any, values: np.ndarray) -> dict[Any, Any]:
    """Value by key; the last one of a repeated key. NaN is one key, named None."""
    listed = keys.tolist() if isinstance(keys, np.ndarray) else keys
    pairs = zip(listed, values.tolist(), strict=True)
    return {None if key != key else _text(key): value for key, value in pairs}


def _text(value: Any) -> Any:
    return value.decode() if isinstance(value, bytes) else value


def _looked_up_on_host(node: Node, x: Any, pairs: dict[Any, Any], dtype: Any, default: Any) -> Any:
    array = node.host(x)
    found = [pairs.get(None if e != e else _text(e), default) for e in array.reshape(-1).tolist()]
    if dtype.kind in "OSU":
        texts = np.empty(len(found), object)
        texts[:] = [_text(each) for each in found]
        return texts.reshape(array.shape)
    return node.tensor(np.array(found, dtype).reshape(array.shape))


def _looked_up(node: Node, x: Tensor, pairs: dict[Any, Any], dtype: Any, default: Any) -> Tensor:
    """By binary search among the sorted keys."""
    numbers = sorted(key for key in pairs if key is not None)
    missing = node.tensor(np.asarray(default, dtype))
    found: Any = missing
    if numbers:
        keys = node.tensor(np.array(numbers)).cast(x.dtype)
        values = node.tensor(np.array([pairs[key] for key in numbers], dtype))
        places = keys.searchsorted(x.reshape(-1)).minimum(len(numbers) - 1).reshape(x.shape)
        found = (keys.take(places) == x).where(values.take(places), missing)
    if None in pairs:
        found = x.isnan().where(node.tensor(np.asarray(pairs[None], dtype)), found)
    return found.expand(x.shape)


@operator("OneHotEncoder", domain=_DOMAIN)
def one_hot_encoder(
    node: Node,
    x: Any,
    *,
    cats_int64s: list[int] | None = None,
    cats_strings: list[str] | None = None,
    zeros: int = 1,
) -> Tensor:
    """1.0 at the place of an element's category along a new last axis, else 0.0.

    :raises OnnxError: without `zeros`, if an element is in no category.
    """
    if isinstance(x, np.ndarray):
        categories = np.asarray(cats_strings or [], object)
        hits = node.tensor(x[..., None] == categories)
    else:
        categories = np.asarray(cats_int64s or [], np.int64)
        hits = x.cast(dtypes.int64).unsqueeze(-1) == node.tensor(categories)
    if not zeros and not bool(np.all(node.host(hits.any(-1)))):
        raise node.refuse("an element is in no category", "zeros=1")
    return hits.cast(dtypes.float32)


# ---- linear models ----------------------------------------------------------------------------


def _linear_scores(
    node: Node, x: Tensor, coefficients: list[float], intercepts: list[float] | None
) -> Tensor:
    """x times the coefficients, which lie target by target, plus the intercepts."""
    weights = node.tensor(np.asarray(coefficients, np.float32).reshape((-1, x.shape[1])).T.copy())
    scores = x.cast(dtypes.float32).matmul(weights)
    return scores + node.tensor(np.asarray(intercepts, np.float32)) if intercepts else scores


@operator("LinearRegressor", domain=_DOMAIN)
def linear_regressor(
    node: Node,
    x: Tensor,
    *,
    coefficients: list[float],
    intercepts: list[float] | None = None,
    targets: int = 1,
    post_transform: str = "NONE",
) -> Tensor:
    """Targets of a linear model."""
    scores = _linear_scores(node, x, coefficients, intercepts)
    return transformed(node, scores, post_transform)


@operator("LinearClassifier", domain=_DOMAIN)
def linear_classifier(
    node: Node,
    x: Tensor,
    *,
    coefficients: list[float],
    intercepts: list[float] | None = None,
    classlabels_ints: list[int] | None = None,
    classlabels_strings: list[str] | None = None,
    multi_class: int = 0,
    post_transform: str = "NONE",
) -> tuple[Any, Tensor]:
    """The class with the largest score of a linear model, and the scores of all classes."""
    scores = _linear_scores(node, x, coefficients, intercepts)
    labels: list[Any] = list(classlabels_ints or classlabels_strings or [])
    return classified(node, scores, labels, post_transform)
