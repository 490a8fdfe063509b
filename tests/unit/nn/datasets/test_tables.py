"""Tables that come with scikit-learn."""

import importlib

import numpy as np
import pytest

from weft.base.errors import FileError
from weft.nn import datasets
from weft.nn.datasets import tables

SIZES = {"iris": (150, 4, 3), "wine": (178, 13, 3), "breast_cancer": (569, 30, 2)}


@pytest.mark.parametrize("name", SIZES)
def test_tables_of_classes(name):
    pytest.importorskip("sklearn")
    table = getattr(datasets, f"load_{name}")()
    rows, features, classes = SIZES[name]
    assert table.x.shape == (rows, features) and table.x.dtype == np.float32
    assert table.y.dtype == np.int32 and set(table.y.tolist()) == set(range(classes))
    assert len(table) == rows and len(table.features) == features and len(table.classes) == classes
    assert name.split("_")[0] in table.description.lower() and name in repr(table)


def test_a_regression():
    pytest.importorskip("sklearn")
    table = datasets.load_diabetes()
    assert table.x.shape == (442, 10) and table.y.dtype == np.float32 and table.classes == ()


def test_missing_scikit_learn_names_the_alternatives(monkeypatch):
    def missing(name):
        raise ImportError(f"No module named {name!r}")

    monkeypatch.setattr(tables.importlib, "import_module", missing)
    with pytest.raises(FileError, match="load_digits"):
        datasets.load_iris()
    assert importlib is tables.importlib
