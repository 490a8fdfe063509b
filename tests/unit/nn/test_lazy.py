"""Layers that take the size of their input from the first one."""

import copy

import pytest

from weft import Tensor, dtypes, jit, nn
from weft.base.errors import ArgumentError
from weft.nn import lazy

CASES = [("LazyLinear", (2,), (3, 4), "Linear", (4, 2))]
CASES += [
    (f"Lazy{kind}{n}d", (4, 3), (2, 6, *(5,) * n), f"{kind}{n}d", (6, 4, 3))
    for kind in ("Conv", "ConvTranspose")
    for n in (1, 2, 3)
]
CASES += [
    (f"Lazy{kind}{n}d", (), (2, 6, *(5,) * n), f"{kind}{n}d", (6,))
    for kind in ("BatchNorm", "InstanceNorm")
    for n in (1, 2, 3)
]


@pytest.mark.parametrize(("name", "args", "shape", "eager", "made"), CASES)
def test_the_first_input_says_the_size(name, args, shape, eager, made) -> None:
    layer, plain = getattr(nn, name)(*args), getattr(nn, eager)(*made)
    assert isinstance(layer, type(plain)) and layer.has_uninitialized_params()
    assert not list(layer.parameters()) and not layer.state_dict()
    result = layer(Tensor.ones(*shape))
    assert type(layer) is type(plain) and repr(layer) == repr(plain)
    assert list(layer.state_dict()) == list(plain.state_dict())
    assert result.shape == plain(Tensor.ones(*shape)).shape
    if "Instance" not in name:  # it has no state
        other = nn.Sequential(getattr(nn, name)(*args))
        other.load_state_dict(nn.Sequential(plain).state_dict())
        assert type(other[0]) is type(plain)


def test_sizes_of_grouped_convolutions_and_samples_without_a_batch() -> None:
    layer = nn.LazyConv2d(4, 3, groups=2)
    layer.load_state_dict(nn.Conv2d(6, 4, 3, groups=2).state_dict())
    assert layer.in_channels == 6
    single = nn.LazyConv1d(4, 3)
    assert single(Tensor.ones(5, 8)).shape == (4, 6) and single.in_channels == 5


def test_the_mode_the_hooks_and_the_dtype_of_the_input_stay() -> None:
    seen = []
    model = nn.Sequential(nn.LazyLinear(3), nn.LazyBatchNorm1d(affine=True)).eval()
    handle = model[0].register_forward_hook(lambda module, args, y: seen.append(y.shape))
    again = copy.deepcopy(model)
    x = Tensor.ones(2, 5, dtype=dtypes.float64)
    assert model(x).dtype is dtypes.float64
    assert seen == [(2, 3)] and not model[1].training and model[0].weight.dtype is dtypes.float64
    handle.remove()
    assert again[0].has_uninitialized_params() and repr(again[0]) == "LazyLinear(3)"
    again[0].initialize_parameters(Tensor.ones(1, 7))
    assert again[0].in_features == 7


def test_a_first_call_is_not_captured() -> None:
    layer = lazy.LazyLinear(2)
    captured = jit(lambda x: layer(x))
    with pytest.raises(ArgumentError, match="first input"):
        for _ in range(3):
            captured(Tensor.ones(1, 3))
    with pytest.raises(TypeError):
        nn.LazyLinear(2, wrong=3)
