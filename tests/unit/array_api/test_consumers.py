"""Libraries that follow the standard compute with arrays and tensors, where they are installed."""

import numpy as np
import pytest

import weft.array_api as xp
from weft import Tensor

X = np.random.default_rng(8).standard_normal((12, 3)).astype(np.float32)


def test_they_find_the_namespace():
    compat = pytest.importorskip("array_api_compat")
    assert compat.is_array_api_obj(Tensor([1.0]))
    assert compat.array_namespace(Tensor([1.0]), xp.ones(2)) is xp
    assert compat.size(xp.ones((2, 3))) == 6
    assert compat.to_device(xp.ones(2), "REF").device == "REF"


@pytest.mark.parametrize("name", ["StandardScaler", "MinMaxScaler", "Normalizer"])
def test_scikit_learn(name, monkeypatch):
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    sklearn = pytest.importorskip("sklearn")
    preprocessing = pytest.importorskip("sklearn.preprocessing")
    pytest.importorskip("array_api_compat")
    scale = getattr(preprocessing, name)
    try:
        with sklearn.config_context(array_api_dispatch=True):
            got = scale().fit_transform(xp.asarray(X))
    except RuntimeError as error:  # SciPy was imported before, without the standard
        pytest.skip(str(error))
    assert isinstance(got, xp.Array)
    np.testing.assert_allclose(got.numpy(), scale().fit_transform(X), rtol=1e-4, atol=1e-5)
