"""How first weights are drawn: shapes, bounds, spread."""

import contextlib
import math

import numpy as np
import pytest

from weft import Tensor, nn
from weft.base.errors import ArgumentError, OutOfRange, WeftError, WrongKind
from weft.nn import init


def test_fans_of_matrices_and_kernels() -> None:
    assert init.fans((10, 20)) == (20, 10)
    assert init.fans((16, 3, 5, 5)) == (75, 400)


def test_a_vector_has_no_fans() -> None:
    with pytest.raises(ArgumentError) as caught:
        init.fans((10,))
    assert "(10,)" in caught.value.asked


@pytest.mark.parametrize(
    ("draw", "bound"),
    [
        (lambda: init.uniform(64, 50, bound=0.3), 0.3),
        (lambda: init.fan_in_uniform(64, 50, fan_in=50), 1 / np.sqrt(50)),
        (lambda: init.glorot_uniform(64, 50), np.sqrt(6 / 114)),
        (lambda: init.kaiming_uniform(64, 50), np.sqrt(6 / 50)),
    ],
)
def test_uniform_draws_fill_their_interval(draw, bound: float) -> None:
    Tensor.manual_seed(1)
    values = draw().numpy()
    assert values.shape == (64, 50)
    assert np.abs(values).max() <= bound
    assert values.max() > 0.95 * bound
    assert values.min() < -0.95 * bound
    assert abs(values.mean()) < 0.05 * bound


def test_kaiming_normal_has_the_published_deviation() -> None:
    Tensor.manual_seed(1)
    values = init.kaiming_normal(64, 100, negative_slope=0.5).numpy()
    assert values.std() == pytest.approx(np.sqrt(2 / 1.25 / 100), rel=0.05)


@pytest.mark.parametrize("shape", [(40, 40), (64, 24), (16, 4, 3, 3), (1, 5), (3, 1)])
def test_orthogonal_rows_or_columns(shape) -> None:
    Tensor.manual_seed(3)
    matrix = init.orthogonal(*shape, gain=2.0).reshape(shape[0], -1).numpy().astype(np.float64)
    small = matrix if matrix.shape[0] <= matrix.shape[1] else matrix.T
    np.testing.assert_allclose(small @ small.T, 4 * np.eye(small.shape[0]), atol=2e-5)


def test_orthogonal_draws_favour_no_direction() -> None:
    Tensor.manual_seed(4)
    angles = [np.arctan2(*init.orthogonal(2, 2).numpy()[0]) for _ in range(60)]
    quarters = np.histogram(angles, 4, (-np.pi, np.pi))[0]
    assert quarters.min() > 4


@pytest.mark.parametrize(("mean", "std", "a", "b"), [(0, 1, -2, 2), (1, 0.5, 0.9, 3), (0, 1, 1, 4)])
def test_the_cut_normal_is_distributed_as_it_should_be(mean, std, a, b) -> None:
    Tensor.manual_seed(5)
    values = np.sort(init.trunc_normal(200, 200, mean=mean, std=std, a=a, b=b).numpy().ravel())
    assert a <= values[0] and values[-1] <= b
    phi = np.array([math.erf((v - mean) / std / math.sqrt(2)) for v in (a, b, *values[::100])])
    expected = (phi[2:] - phi[0]) / (phi[1] - phi[0])
    # Kolmogorov's distance of 40,000 draws
    assert np.abs(expected - np.linspace(0, 1, len(expected))).max() < 0.015


def test_standard_deviations_of_the_papers() -> None:
    Tensor.manual_seed(6)
    wide = {"mode": "fan_out", "nonlinearity": "relu"}
    assert init.kaiming_normal(100, 64, **wide).numpy().std() == pytest.approx(
        np.sqrt(2 / 100), rel=0.05
    )
    assert init.glorot_normal(100, 60, gain=2.0).numpy().std() == pytest.approx(
        2 * np.sqrt(2 / 160), rel=0.05
    )
    assert init.normal(50, 50, mean=3.0, std=0.1).numpy().mean() == pytest.approx(3.0, abs=0.01)


@pytest.mark.parametrize("name", ["linear", "conv2d", "tanh", "relu", "leaky_relu", "selu"])
def test_gains_are_pytorchs(name: str) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch says what the gains are")
    assert init.gain(name) == pytest.approx(torch.nn.init.calculate_gain(name))


@pytest.mark.parametrize("wrong", [
    lambda: init.trunc_normal(3, a=1, b=1), lambda: init.kaiming_normal(3, 3, mode="out"),
    lambda: init.gain("sine"), lambda: init.orthogonal(3),
])  # fmt: skip
def test_invalid_arguments(wrong) -> None:
    with pytest.raises(ArgumentError):
        wrong()


def test_a_layer_without_inputs_can_be_made() -> None:
    assert init.fan_in_uniform(3, 0, fan_in=0).shape == (3, 0)


def test_tensors_that_are_there_are_filled() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch says how far the values spread")
    for name, how in (
        ("uniform_", {"a": -1.0, "b": 3.0}),
        ("normal_", {"mean": 1.0, "std": 2.0}),
        ("trunc_normal_", {"std": 2.0}),
        ("xavier_uniform_", {"gain": 2.0}),
        ("xavier_normal_", {}),
        ("kaiming_uniform_", {"a": 1.0, "mode": "fan_out"}),
        ("kaiming_normal_", {"nonlinearity": "relu"}),
        ("orthogonal_", {"gain": 0.5}),
        ("dirac_", {"groups": 2}),
    ):
        shape = (40, 20, 5, 5)
        ours, theirs = nn.Parameter(Tensor.zeros(*shape)), torch.zeros(shape)
        assert getattr(nn.init, name)(ours, **how) is ours
        getattr(torch.nn.init, name)(theirs, **how)
        assert ours.requires_grad and ours.is_leaf
        got, expected = ours.numpy(), theirs.numpy()
        assert abs(got.std() / expected.std() - 1) < 0.05, name
        assert abs(got.mean() - expected.mean()) < 0.05, name
    for name, shape in (("ones_", (2, 3)), ("zeros_", (2,)), ("eye_", (3, 2))):
        made = getattr(nn.init, name)(Tensor.full(shape, 7.0)).tolist()
        assert made == getattr(torch.nn.init, name)(torch.empty(shape)).tolist()
    for name in ("relu", "tanh", "linear", "selu", "leaky_relu"):
        assert nn.init.calculate_gain(name) == pytest.approx(torch.nn.init.calculate_gain(name))


def test_unsupported_shapes() -> None:
    with pytest.raises(ArgumentError):
        nn.init.eye_(Tensor.zeros(2))
    with pytest.raises(ArgumentError):
        nn.init.dirac_(Tensor.zeros(2, 2))
    with pytest.raises(AttributeError, match="xavier_uniform"):
        nn.init.xavier_uniform  # noqa: B018


FILLERS = [
    *[(f"{name}_", {}, "gain") for name in ("xavier_uniform", "xavier_normal", "orthogonal")],
    *[(f"kaiming_{name}_", {}, "a") for name in ("uniform", "normal")],
    *[("normal_", {}, name) for name in ("mean", "std")],
    *[("trunc_normal_", {}, name) for name in ("mean", "std", "a", "b")],
    *[("uniform_", {}, name) for name in ("a", "b")],
    ("constant_", {}, "val"),
]
EXTREMES = [1e300, -1e300, math.inf, math.nan, 10**400, -(10**400), 5e-324, None, "a", 1j]


@pytest.mark.parametrize(("name", "how", "parameter"), FILLERS, ids=str)
def test_extreme_parameters_fill_or_are_refused_in_our_words(name, how, parameter) -> None:
    for value in EXTREMES:
        tensor = Tensor.zeros(2, 3)
        with contextlib.suppress(WeftError):
            getattr(init, name)(tensor, **how, **{parameter: value})
            assert tensor.shape == (2, 3) and tensor.numpy().dtype == np.float32


@pytest.mark.parametrize("value", [1e300, -1e300, math.inf])
def test_a_steep_slope_leaves_nothing_of_the_gain(value: float) -> None:
    assert init.gain("leaky_relu", value) == 0.0
    assert not init.kaiming_uniform(2, 3, negative_slope=value).numpy().any()
    assert not Tensor.kaiming_uniform(2, 3, a=value).numpy().any()
    assert not Tensor.kaiming_normal(2, 3, a=value).numpy().any()


@pytest.mark.parametrize("value", [None, 3.0, "weight", [1.0], np.ones((2, 3))])
@pytest.mark.parametrize(
    "name",
    "uniform_ normal_ trunc_normal_ ones_ zeros_ eye_ dirac_ xavier_uniform_ xavier_normal_ "
    "kaiming_uniform_ kaiming_normal_ orthogonal_".split(),
)
def test_only_tensors_are_filled(name: str, value) -> None:
    with pytest.raises(WrongKind, match="fills a tensor"):
        getattr(init, name)(value)


def test_sizes_beyond_all_floats_have_no_spread() -> None:
    for draw in (init.kaiming_uniform, init.glorot_normal, Tensor.kaiming_normal):
        with pytest.raises(OutOfRange):
            draw(2, 10**400)
    with pytest.raises(OutOfRange):
        init.fan_in_uniform(2, 3, fan_in=10**400)


def test_a_mode_is_a_text() -> None:
    with pytest.raises(ArgumentError, match="forwards or backwards"):
        init.kaiming_uniform(2, 3, mode=np.array([1.0, 2.0]))


def test_sparse_columns_have_as_many_zeros() -> None:
    x = init.sparse_(Tensor.zeros(9, 50), 0.3, std=2.0).numpy()
    assert ((x == 0).sum(0) == 3).all() and 1.5 < x[x != 0].std() < 2.5
    assert len({tuple(column) for column in (x == 0).T.tolist()}) > 10
    for sparsity, shape in ((1.5, (2, 2)), (0.5, (2,))):
        with pytest.raises(ArgumentError, match="share"):
            init.sparse_(Tensor.zeros(*shape), sparsity)
