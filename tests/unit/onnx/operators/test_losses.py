"""Losses compared with the reference evaluator."""

import numpy as np
import pytest

pytest.importorskip("onnx", reason="the package onnx builds the models")

from helpers.onnx_nodes import compare


@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
@pytest.mark.parametrize("ignore_index", [None, 1, -5])
def test_losses_of_classes(reduction, ignore_index, rng):
    scores = rng.standard_normal((2, 4, 3)).astype(np.float32)
    labels = rng.integers(0, 4, (2, 3))
    weights = rng.uniform(0.5, 2, 4).astype(np.float32)
    options = {"reduction": reduction, "rtol": 1e-5}
    if ignore_index is not None:
        labels[0, 0] = ignore_index
        options["ignore_index"] = ignore_index
    compare("SoftmaxCrossEntropyLoss", [scores, labels, weights], 2, **options)
    compare("SoftmaxCrossEntropyLoss", [scores, labels], 1, **options)
    compare("NegativeLogLikelihoodLoss", [scores, labels, weights], **options)
