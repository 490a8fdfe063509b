"""Libraries that follow the standard compute with arrays and tensors, where they are installed."""

import os
import subprocess
import sys

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


# they write through views of views: a wrong number says that a write was not seen
WRITERS = {
    "nsum": """
from scipy.integrate import nsum
def found(lib, array):
    p = array([2.0, 3.0])
    result = nsum(lambda x, p: 1 / x**p, array([1.0]), array([np.inf, 8.0]), args=(p,), maxterms=64)
    return result.sum, result.error
""",
    "tanhsinh": """
from scipy.integrate import tanhsinh
def found(lib, array):
    a, b, c = array([-np.inf, 0.0]), array([np.inf, 2.0]), array([1.0, 0.5])
    result = tanhsinh(lambda x, c: lib.exp(-c * x * x), a, b, args=(c,), maxlevel=4)
    return result.integral, result.error
""",
    "GaussianMixture": """
import sklearn
from sklearn.mixture import GaussianMixture
X = np.random.default_rng(0).normal(size=(40, 2)) + np.repeat([[0.0], [4.0]], 20, 0)
def found(lib, array):
    mixture = GaussianMixture(2, random_state=0, init_params="random_from_data", max_iter=3)
    with sklearn.config_context(array_api_dispatch=True):
        mixture.fit(array(X))
    return mixture.covariances_, mixture.means_, mixture.weights_
""",
}
COMPARED = """
for one, other in zip(found(xp, lambda x: xp.asarray(x, dtype=xp.float64)), found(np, np.asarray)):
    assert isinstance(one, xp.Array), type(one)
    np.testing.assert_allclose(np.asarray(one), other, rtol=1e-9, atol=1e-12)
"""


@pytest.mark.parametrize("name", WRITERS)
def test_libraries_that_write_through_views(name):
    pytest.importorskip("sklearn" if name == "GaussianMixture" else "scipy.integrate")
    pytest.importorskip("array_api_compat")
    start = "import warnings, numpy as np, weft.array_api as xp\nwarnings.simplefilter('ignore')\n"
    done = subprocess.run(
        [sys.executable, "-c", start + WRITERS[name] + COMPARED],
        env={**os.environ, "SCIPY_ARRAY_API": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
