"""Ensembles of trees compared with ONNX Runtime, and scores of classifiers."""

import numpy as np
import pytest

pytest.importorskip("onnx", reason="the package onnx builds the models")
pytest.importorskip("onnxruntime", reason="its results are the expected ones")

from helpers.onnx_machine_learning import by_weft, compare_with_runtime, model_of

MODES = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"]


def random_trees(rng, trees, depth, targets, prefix):
    """Attributes of complete and incomplete trees with random splits and votes."""
    keys = ("nodeids", "treeids", "featureids", "modes", "values", "truenodeids", "falsenodeids",
            "missing_value_tracks_true")  # fmt: skip
    table = {key: [] for key in keys}
    votes = {key: [] for key in ("nodeids", "treeids", "ids", "weights")}
    for tree in range(trees):
        levels = depth if tree else 1
        inner = 2**levels - 1
        for number in range(2 * inner + 1):
            is_leaf = number >= inner
            row = (
                number, tree, int(rng.integers(0, 3)),
                "LEAF" if is_leaf else MODES[rng.integers(0, len(MODES))],
                float(rng.integers(-2, 3)), 0 if is_leaf else 2 * number + 1,
                0 if is_leaf else 2 * number + 2, int(rng.integers(0, 2)),
            )  # fmt: skip
            for key, value in zip(keys, row, strict=True):
                table[key].append(value)
            if is_leaf:
                vote = (number, tree, int(rng.integers(0, targets)), float(rng.normal()))
                for key, value in zip(votes, vote, strict=True):
                    votes[key].append(value)
    named = {f"nodes_{key}": value for key, value in table.items()}
    return named | {f"{prefix}_{key}": value for key, value in votes.items()}


@pytest.fixture
def samples(rng):
    x = rng.integers(-3, 4, (40, 3)).astype(np.float32)
    x[0, 0] = x[5, 1] = np.nan
    return x


@pytest.mark.parametrize("aggregate", ["SUM", "AVERAGE", "MIN", "MAX"])
def test_regressor(aggregate, samples, rng):
    attributes = random_trees(rng, 5, 3, 1, "target")
    compare_with_runtime(
        "TreeEnsembleRegressor", [samples], 1, n_targets=1, aggregate_function=aggregate,
        base_values=[0.5], **attributes,
    )  # fmt: skip


def test_regressor_with_several_targets(samples, rng):
    attributes = random_trees(rng, 6, 2, 3, "target")
    compare_with_runtime("TreeEnsembleRegressor", [samples], 1, n_targets=3, **attributes)


@pytest.mark.parametrize("transform", ["NONE", "SOFTMAX", "LOGISTIC"])
def test_classifier(transform, samples, rng):
    attributes = random_trees(rng, 7, 3, 3, "class")
    # the runtime does not choose a class without votes, even if all others are below 0
    attributes["class_weights"] = [abs(w) for w in attributes["class_weights"]]
    compare_with_runtime(
        "TreeEnsembleClassifier", [samples], 2, classlabels_int64s=[4, 2, 9],
        post_transform=transform, **attributes,
    )  # fmt: skip


@pytest.mark.parametrize("transform", ["NONE", "LOGISTIC"])
@pytest.mark.parametrize("sign", ["both", "positive"])
def test_one_score_for_two_classes(transform, sign, samples, rng):
    attributes = random_trees(rng, 3, 2, 1, "class")
    if sign == "positive":
        attributes["class_weights"] = [abs(w) / 6 for w in attributes["class_weights"]]
    compare_with_runtime(
        "TreeEnsembleClassifier", [samples], 2, classlabels_strings=["no", "yes"],
        post_transform=transform, **attributes,
    )  # fmt: skip


def test_hostile_trees_are_refused(samples, rng):
    import weft.onnx

    attributes = random_trees(rng, 2, 2, 1, "target")
    beyond = dict(attributes, nodes_truenodeids=[99] * len(attributes["nodes_treeids"]))
    cycle = dict(attributes, nodes_falsenodeids=[0] * len(attributes["nodes_treeids"]))
    for each in (beyond, cycle):
        model = model_of("TreeEnsembleRegressor", [samples], 1, n_targets=1, **each)
        with pytest.raises(weft.onnx.OnnxError, match="a tree"):
            by_weft(model, [samples])
