"""Functions compared with PyTorch's of the same name: values and gradients."""

import numpy as np
import pytest

import weft.nn.functional as F
from weft import Tensor
from weft.base.errors import ArgumentError, ShapeError, WrongKind
from weft.nn.functional.activations import __all__ as of_activations
from weft.nn.functional.attention import __all__ as of_attention
from weft.nn.functional.convolution import __all__ as of_convolution
from weft.nn.functional.ctc import __all__ as of_ctc
from weft.nn.functional.embedding_bags import __all__ as of_embedding_bags
from weft.nn.functional.folding import __all__ as of_folding
from weft.nn.functional.fractional_pooling import __all__ as of_fractional_pooling
from weft.nn.functional.grid_sampling import __all__ as of_grid_sampling
from weft.nn.functional.in_place import __all__ as of_in_place
from weft.nn.functional.layers import __all__ as of_layers
from weft.nn.functional.losses import __all__ as of_losses
from weft.nn.functional.margin_losses import __all__ as of_margin_losses
from weft.nn.functional.normalization import __all__ as of_normalization
from weft.nn.functional.pooling import __all__ as of_pooling
from weft.nn.functional.rearrangement import __all__ as of_rearrangement
from weft.nn.functional.resizing import __all__ as of_resizing
from weft.nn.functional.unpooling import __all__ as of_unpooling

CHANCE = np.random.default_rng(0)


def draw(*shape: int) -> np.ndarray:
    return CHANCE.standard_normal(shape)


def chances(*shape: int) -> np.ndarray:
    return CHANCE.uniform(0.05, 0.95, shape)


X, IMAGE, LOGITS = draw(3, 4), draw(2, 4, 6, 6), draw(5, 3)
LABELS, SIGNS = np.array([0, 2, 1, 2, 0]), np.array([1.0, -1.0, 1.0])
NUMBERS = np.array([[2, 0, -1], [1, -1, 0], [-1, 2, 1], [0, 0, 1]])
SOFT = (lambda e: e / e.sum(1, keepdims=True))(np.exp(draw(5, 3)))
SPACE = {1: draw(2, 4, 7), 2: IMAGE, 3: draw(2, 4, 5, 5, 5)}

PLACES = {1: np.tile([[1, 2]], (2, 4, 1)), 2: np.tile([[0, 3], [13, 10]], (2, 4, 1, 1)),
          3: np.tile([[[0, 2], [21, 27]], [[32, 35], [61, 43]]], (2, 4, 1, 1, 1))}  # fmt: skip

CASES = [
    *[(name, [X], {}) for name in (
        "relu", "relu6", "selu", "silu", "mish", "sigmoid", "logsigmoid", "hardsigmoid",
        "hardswish", "tanh", "tanhshrink", "softsign", "softplus", "hardtanh", "softshrink",
        "hardshrink", "gelu", "celu", "elu", "leaky_relu", "glu",
    )],
    ("relu", [X], {"inplace": False}), ("gelu", [X], {"approximate": "tanh"}),
    ("elu", [X, 0.5], {}), ("leaky_relu", [X, 0.3], {}), ("hardtanh", [X, -0.5, 0.25], {}),
    ("softplus", [X], {"beta": 2.0, "threshold": 1.0}), ("threshold", [X, 0.1, 7.0], {}),
    ("prelu", [IMAGE, chances(4)], {}), ("softmax", [X], {"dim": 0}), ("softmin", [X], {"dim": 1}),
    ("log_softmax", [X], {"dim": -1}),
    ("linear", [X, draw(2, 4), draw(2)], {}), ("linear", [X, draw(2, 4)], {}),
    ("bilinear", [X, draw(3, 2), draw(5, 4, 2), draw(5)], {}),
    ("layer_norm", [X, (4,), draw(4), draw(4)], {}), ("layer_norm", [IMAGE, (6, 6)], {"eps": 0.1}),
    ("group_norm", [IMAGE, 2, draw(4), draw(4)], {}), ("instance_norm", [IMAGE], {}),
    ("rms_norm", [X, (4,), draw(4)], {"eps": 1e-3}), ("rms_norm", [X, [4]], {}),
    ("batch_norm", [IMAGE, draw(4), chances(4), draw(4), draw(4)], {}),
    ("batch_norm", [IMAGE, None, None, draw(4), draw(4), True], {}),
    ("normalize", [X], {}), ("normalize", [X], {"p": 1.0, "dim": 0}),
    ("cosine_similarity", [X, draw(3, 4)], {}), ("pairwise_distance", [X, draw(3, 4)], {"p": 1.0}),
    *[(f"conv{n}d", [SPACE[n], draw(6, 4, *(3,) * n), draw(6)], {"stride": 2, "padding": 1})
      for n in (1, 2, 3)],
    ("conv2d", [IMAGE, draw(6, 2, 3, 3), None, (2, 1), (1, 2), 1, 2], {}),
    ("conv2d", [IMAGE[0], draw(6, 4, 3, 5)], {"padding": "same"}),
    *[(f"conv_transpose{n}d", [SPACE[n], draw(4, 3, *(2,) * n), draw(3), 2, 1, 1], {})
      for n in (1, 2, 3)],
    *[(f"max_pool{n}d", [SPACE[n], 3, 2, 1], {}) for n in (1, 2, 3)],
    ("max_pool2d", [IMAGE[0], (2, 3)], {"ceil_mode": True, "dilation": 2, "stride": 1}),
    *[(f"avg_pool{n}d", [SPACE[n], 3, 2, 1], {"count_include_pad": False}) for n in (1, 2, 3)],
    *[(f"adaptive_{kind}_pool{n}d", [SPACE[n], 2], {}) for kind in ("avg", "max")
      for n in (1, 2, 3)],
    ("adaptive_avg_pool2d", [IMAGE, (3, None)], {}),
    ("avg_pool2d", [IMAGE, 3, 2, 1, True, True, 5], {}),
    ("avg_pool3d", [SPACE[3], 2, (), (1,)], {"divisor_override": 3}),
    *[(f"lp_pool{n}d", [abs(SPACE[n]), 3, 2, 1], {"ceil_mode": True}) for n in (1, 2, 3)],
    ("lp_pool2d", [IMAGE, 2.0, (2, 3)], {}),
    *[(f"max_unpool{n}d", [draw(2, 4, *(2,) * n), PLACES[n], 2], {}) for n in (1, 2, 3)],
    ("max_unpool1d", [draw(4, 2), PLACES[1][0], [2], [2], [0], (5,)], {}),
    ("unfold", [IMAGE, (3, 2), (1, 2), (1, 0), 2], {}), ("unfold", [IMAGE[0], 2], {}),
    ("fold", [draw(2, 12, 9), (6, 6), (3, 2), (1, 3), (1, 0), (2, 1)], {}),
    ("fold", [draw(8, 9), 4, 2], {}),
    ("affine_grid", [draw(2, 2, 3), (2, 1, 3, 4)], {"align_corners": True}),
    ("affine_grid", [draw(1, 3, 4), (1, 1, 2, 3, 4)], {"align_corners": False}),
    ("pad", [IMAGE, (1, 2, 0, 1)], {"value": 2.0}),
    ("pad", [IMAGE[0], (1, 2)], {"mode": "circular"}),
    ("interpolate", [IMAGE], {"scale_factor": (1.3, 0.7)}),
    ("interpolate", [IMAGE], {"scale_factor": 1.7, "mode": "nearest-exact"}),
    ("interpolate", [IMAGE], {"scale_factor": 1.7, "recompute_scale_factor": True}),
    ("interpolate", [IMAGE], {"scale_factor": 1.3, "mode": "bicubic"}),
    ("interpolate", [IMAGE], {"size": (9, 4), "mode": "bicubic", "align_corners": True}),
    ("interpolate", [SPACE[3]], {"scale_factor": 0.7, "mode": "trilinear"}),
    ("interpolate", [IMAGE], {"size": (4, 5), "mode": "area"}),
    *[("interpolate", [IMAGE], {"size": (9, 4), "mode": mode, "antialias": True})
      for mode in ("bilinear", "bicubic")],
    ("upsample_nearest", [IMAGE], {"size": 9}),
    ("upsample_bilinear", [IMAGE], {"scale_factor": 2}),
    ("interpolate", [IMAGE], {"scale_factor": 2}), ("interpolate", [IMAGE, (4, 9)], {}),
    ("interpolate", [IMAGE], {"size": 9, "mode": "bilinear", "align_corners": False}),
    ("interpolate", [SPACE[1]], {"scale_factor": 1.5, "mode": "linear", "align_corners": True}),
    ("pixel_shuffle", [IMAGE, 2], {}), ("pixel_unshuffle", [IMAGE, 2], {}),
    ("cross_entropy", [LOGITS, LABELS], {}),
    ("cross_entropy", [LOGITS, LABELS, chances(3)], {"ignore_index": 2}),
    ("cross_entropy", [LOGITS, LABELS, chances(3)], {"ignore_index": 2, "label_smoothing": 0.2}),
    ("cross_entropy", [LOGITS, LABELS], {"label_smoothing": 0.2, "ignore_index": 0}),
    *[("cross_entropy", [LOGITS, LABELS, chances(3)], {"reduction": r, "label_smoothing": 0.1})
      for r in ("sum", "none")],
    ("cross_entropy", [LOGITS, SOFT, chances(3)], {"label_smoothing": 0.1}),
    ("cross_entropy", [draw(2, 3, 4), np.array([[0, 1, 2, 0], [2, 2, 1, 0]])], {}),
    ("cross_entropy", [draw(3), np.array(1)], {}),
    ("nll_loss", [LOGITS, LABELS, chances(3)], {"ignore_index": 1}),
    ("nll_loss", [LOGITS, np.where(LABELS == 1, -100, LABELS)], {}),
    ("mse_loss", [X, draw(3, 4)], {}), ("l1_loss", [X, draw(3, 4)], {"reduction": "sum"}),
    ("smooth_l1_loss", [X, draw(3, 4)], {"beta": 0.5}), ("huber_loss", [X, draw(3, 4)], {}),
    ("binary_cross_entropy", [chances(3, 4), chances(3, 4)], {}),
    ("binary_cross_entropy_with_logits", [X, chances(3, 4), chances(4)],
     {"pos_weight": chances(4)}),
    ("kl_div", [X, chances(3, 4)], {"reduction": "batchmean"}),
    ("kl_div", [X, draw(3, 4)], {"reduction": "sum", "log_target": True}),
    ("cosine_embedding_loss", [X, draw(3, 4), SIGNS], {"margin": 0.1}),
    ("margin_ranking_loss", [X[:, 0], X[:, 1], SIGNS], {"margin": 0.5}),
    ("triplet_margin_loss", [X, draw(3, 4), draw(3, 4)], {"swap": True}),
    ("hinge_embedding_loss", [X[:, 0], SIGNS], {}), ("soft_margin_loss", [X[:, 0], SIGNS], {}),
    ("poisson_nll_loss", [X, chances(3, 4)], {}),
    ("gaussian_nll_loss", [X, draw(3, 4), chances(3, 4)], {}),
    ("scaled_dot_product_attention", [draw(2, 2, 3, 4)] * 3, {"is_causal": True, "scale": 0.3}),
    ("one_hot", [LABELS, 4], {}),
    ("multi_margin_loss", [LOGITS, LABELS], {}), ("multi_margin_loss", [draw(3), np.array(1)], {}),
    ("multi_margin_loss", [LOGITS, LABELS, 2, 0.3], {"weight": chances(3), "reduction": "none"}),
    ("multilabel_margin_loss", [LOGITS[:4], NUMBERS], {}),
    ("multilabel_margin_loss", [LOGITS[0], NUMBERS[0]], {"reduction": "none"}),
    ("multilabel_soft_margin_loss", [LOGITS, chances(5, 3), chances(3)], {}),
    ("triplet_margin_with_distance_loss", [X, draw(3, 4), draw(3, 4)], {"swap": True}),
    ("local_response_norm", [IMAGE, 2, 0.5], {}), ("local_response_norm", [SPACE[1], 3], {}),
    ("pdist", [X], {}), ("pdist", [X, 1.0], {}), ("channel_shuffle", [IMAGE, 2], {}),
    ("rrelu", [X, 0.2, 0.6], {}),
    ("instance_norm", [IMAGE, draw(4), chances(4), draw(4), draw(4), True, 0.3], {}),
    ("instance_norm", [IMAGE, draw(4), chances(4)], {"use_input_stats": False}),
]  # fmt: skip


def tensors_of(make, given):
    return [make(each) if isinstance(each, np.ndarray) else each for each in given]


@pytest.mark.parametrize(("name", "given", "how"), CASES, ids=lambda value: str(value)[:20])
def test_values_and_gradients_are_pytorchs(name: str, given: list, how: dict) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch says what the values are")
    named = {key: value for key, value in how.items() if isinstance(value, np.ndarray)}
    theirs, ours = tensors_of(torch.tensor, given), tensors_of(Tensor, given)
    for tensors in (theirs, ours):
        if getattr(given[0], "dtype", None) == np.float64:
            tensors[0].requires_grad_(True)
    torchs = {**how, **{key: torch.tensor(value) for key, value in named.items()}}
    wefts = {**how, **{key: Tensor(value) for key, value in named.items()}}
    expected = getattr(torch.nn.functional, name)(*theirs, **torchs)
    got = getattr(F, name)(*ours, **wefts)
    assert tuple(got.shape) == tuple(expected.shape)
    np.testing.assert_allclose(got.numpy(), expected.detach().numpy(), rtol=1e-6, atol=1e-8)
    if theirs[0].requires_grad:
        expected.square().sum().backward()
        got.square().sum().backward()
        np.testing.assert_allclose(
            ours[0].grad.numpy(), theirs[0].grad.numpy(), rtol=1e-5, atol=1e-8
        )


def test_every_function_is_compared_or_named_here() -> None:
    elsewhere = {
        "dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "ctc_loss", "embedding",
        "embedding_bag", "fractional_max_pool2d", "fractional_max_pool3d",
        "feature_alpha_dropout", "grid_sample", "gumbel_softmax", "linear_cross_entropy",
        "multi_head_attention_forward", "upsample",
    }  # fmt: skip
    elsewhere |= set(of_in_place)
    assert set(F.__all__) - {name for name, _, _ in CASES} == elsewhere
    of_modules = [
        of_activations, of_attention, of_convolution, of_ctc, of_embedding_bags, of_folding,
        of_fractional_pooling, of_grid_sampling, of_in_place,
        of_layers, of_losses, of_margin_losses, of_normalization, of_pooling, of_rearrangement,
        of_resizing, of_unpooling,
    ]  # fmt: skip
    assert sorted(F.__all__) == sorted(sum(of_modules, []))


def test_cross_entropy_of_numpy() -> None:
    shifted = LOGITS - LOGITS.max(1, keepdims=True)
    logs = shifted - np.log(np.exp(shifted).sum(1, keepdims=True))
    expected = -logs[np.arange(5), LABELS].mean()
    got = F.cross_entropy(Tensor(LOGITS), Tensor(LABELS)).item()
    np.testing.assert_allclose(got, expected, rtol=1e-12)


def test_dropout_follows_its_argument() -> None:
    x = Tensor.ones(4000)
    assert F.dropout(x, 0.25, training=False) is x
    dropped = F.dropout(x, 0.25).numpy()
    np.testing.assert_allclose(np.unique(dropped), [0, 1 / 0.75], rtol=1e-6)
    assert abs((dropped == 0).mean() - 0.25) < 0.03
    assert not Tensor.training


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_channels_drop_as_a_whole(axes: int) -> None:
    function = getattr(F, f"dropout{axes}d")
    dropped = function(Tensor.ones(4, 64, *(3,) * axes), 0.5).numpy().reshape(256, -1)
    assert set(np.unique(dropped)) == {0.0, 2.0}
    assert (dropped == dropped[:, :1]).all()


def test_alpha_dropout_keeps_mean_and_deviation() -> None:
    x = np.random.default_rng(0).standard_normal(20000)
    dropped = F.alpha_dropout(Tensor(x), 0.3, training=True).numpy()
    assert abs(dropped.mean()) < 0.05 and abs(dropped.std() - 1) < 0.05


def test_gumbel_softmax_draws_from_the_distribution() -> None:
    logits = Tensor(np.log([[0.2, 0.8]])).expand(4000, 2)
    hard = F.gumbel_softmax(logits, hard=True).numpy()
    assert set(np.unique(hard.round(6))) == {0.0, 1.0}
    assert abs(hard[:, 1].mean() - 0.8) < 0.03
    soft = F.gumbel_softmax(logits, tau=0.5).numpy()
    np.testing.assert_allclose(soft.sum(1), 1.0, rtol=1e-6)


def test_running_statistics_of_instances_are_pytorchs() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch says what the values are")
    theirs = [torch.tensor(x) for x in (IMAGE, IMAGE[0, :, 0, 0], IMAGE[0, :, 1, 1] ** 2)]
    ours = [Tensor(x.numpy().copy()) for x in theirs]
    torch.nn.functional.instance_norm(*theirs, use_input_stats=True, momentum=0.3)
    F.instance_norm(*ours, use_input_stats=True, momentum=0.3)
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-6)


def test_slopes_of_rrelu_are_drawn_in_training() -> None:
    slopes = -F.rrelu(Tensor.full((4000,), -1.0), 0.25, 0.75, training=True).numpy()
    assert slopes.min() >= 0.25 and slopes.max() <= 0.75
    assert abs(slopes.mean() - 0.5) < 0.02 and slopes.std() > 0.1


def test_embedding_leaves_a_row_alone() -> None:
    table = Tensor(draw(4, 2), requires_grad=True)
    F.embedding(Tensor([0, 3, 3]), table, padding_idx=-1).sum().backward()
    assert table.grad is not None
    assert table.grad.tolist() == [[1.0, 1.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]]


def test_invalid_arguments() -> None:
    with pytest.raises(WrongKind, match="input of relu is a tensor"):
        F.relu([1.0])  # type: ignore[arg-type]
    with pytest.raises(ShapeError, match="target"):
        F.cross_entropy(Tensor(LOGITS), Tensor(LABELS[:-1]))
    with pytest.raises(ArgumentError, match="share"):
        F.cross_entropy(Tensor(LOGITS), Tensor(LABELS), label_smoothing=2.0)
    with pytest.raises(ShapeError, match="spatial"):
        F.conv2d(Tensor(X), Tensor(draw(1, 1, 2, 2)))
    with pytest.raises(ArgumentError, match="interpolated"):
        F.interpolate(Tensor(IMAGE), size=3, scale_factor=2)
    with pytest.raises(ShapeError, match="same shape"):
        F.binary_cross_entropy(Tensor([0.5]), Tensor([[1.0]]))
