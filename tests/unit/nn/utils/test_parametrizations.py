"""Weight and spectral normalisation and orthogonal weights, compared with PyTorch's."""

import numpy as np
import pytest

from weft import Tensor, nn
from weft.base.errors import ArgumentError, ShapeError
from weft.nn.utils import parametrizations, parametrize
from weft.nn.utils.spectral_normalization import remove_spectral_norm, spectral_norm
from weft.nn.utils.weight_normalization import remove_weight_norm, weight_norm

CASES = [
    ("weight_norm", {}, "Linear", (3, 4)), ("weight_norm", {"dim": None}, "Linear", (3, 4)),
    ("weight_norm", {"dim": 1}, "Conv1d", (3, 4, 2)),
    ("spectral_norm", {}, "Linear", (3, 4)),
    ("spectral_norm", {"n_power_iterations": 2}, "ConvTranspose1d", (3, 4, 2)),
]  # fmt: skip
MAPS = [(n, k, name) for n, k in ((3, 3), (4, 2), (2, 4))
        for name in ("matrix_exp", "cayley", "householder")]  # fmt: skip


def close(one, other) -> None:
    np.testing.assert_allclose(one.numpy(), other.detach().numpy(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("module", ["utils", "parametrizations"])
@pytest.mark.parametrize(("name", "how", "kind", "sizes"), CASES)
def test_values_and_gradients_are_pytorchs(module, name, how, kind, sizes) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch says what the values are")
    x = np.random.default_rng(0).standard_normal((2, 3, 5) if "Conv" in kind else (2, 3))
    x = x.astype(np.float32)
    layers = []
    for library in (torch.nn, nn):
        place = library.utils if module == "utils" else library.utils.parametrizations
        layers.append(getattr(place, name)(getattr(library, kind)(*sizes), **how))
    theirs, ours = layers
    assert list(ours.state_dict()) == list(theirs.state_dict())
    ours.load_state_dict(theirs.state_dict())
    for training in (False, True):
        ours.train(training), theirs.train(training)
        got, expected = ours(Tensor(x)), theirs(torch.tensor(x))
        close(got, expected)
    got.square().sum().backward(), expected.square().sum().backward()
    for one, other in zip(ours.parameters(), theirs.parameters(), strict=True):
        close(one.grad, other.grad)
    for key, value in theirs.state_dict().items():
        close(ours.state_dict()[key], value)
    value = ours.eval().weight.numpy()
    if module == "utils":
        getattr(nn.utils, f"remove_{name}")(ours)
    else:
        parametrize.remove_parametrizations(ours, "weight")
    assert set(ours.state_dict()) == {"weight", "bias"} and type(ours).__name__ == kind
    np.testing.assert_allclose(ours.weight.numpy(), value)


@pytest.mark.parametrize(("rows", "columns", "name"), MAPS)
def test_orthogonal_weights_are_pytorchs(rows: int, columns: int, name: str) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch says what the values are")
    layers = [
        library.utils.parametrizations.orthogonal(library.Linear(columns, rows), "weight", name)
        for library in (nn, torch.nn)
    ]
    ours, theirs = layers
    assert list(ours.state_dict()) == list(theirs.state_dict())
    with torch.no_grad():
        noise = torch.randn(theirs.parametrizations.weight.original.shape).tril(-1)
        theirs.parametrizations.weight.original.add_(
            noise if rows >= columns else noise.T.tril(-1).T
        )
    ours.load_state_dict(theirs.state_dict())
    close(ours.weight, theirs.weight)
    theirs.weight.sin().sum().backward(), ours.weight.sin().sum().backward()
    close(ours.parametrizations.weight.original.grad, theirs.parametrizations.weight.original.grad)


@pytest.mark.parametrize("name", ["matrix_exp", "cayley", "householder"])
@pytest.mark.parametrize("based", [True, False])
def test_an_orthogonal_weight_stays_and_is_assigned(name: str, based: bool) -> None:
    turned = np.array([[0.6, -0.8], [0.8, 0.6], [0.0, 0.0]], np.float32)
    layer = nn.Linear(2, 3)
    layer.weight = Tensor(turned)
    parametrizations.orthogonal(layer, orthogonal_map=name, use_trivialization=based)
    if not based and name != "householder":
        with pytest.raises((ArgumentError, TypeError)):
            layer.weight = Tensor(turned)
        return
    np.testing.assert_allclose(layer.weight.numpy(), turned, atol=1e-6)
    layer.weight = Tensor(turned[:, ::-1].copy())
    np.testing.assert_allclose(layer.weight.numpy(), turned[:, ::-1], atol=1e-6)


def test_invalid_arguments() -> None:
    with pytest.raises(ShapeError, match="matrices"):
        parametrizations.orthogonal(nn.Linear(2, 3), "bias")
    for module in (weight_norm, spectral_norm):
        with pytest.raises(ArgumentError, match="no such parameter"):
            module(nn.Linear(2, 2), "scale")
    for module in (remove_weight_norm, remove_spectral_norm):
        with pytest.raises(ArgumentError, match="not normalised"):
            module(nn.Linear(2, 2))
