"""How the first weights of a module are drawn.

Every function gives a lazy Tensor of the given shape; nothing is computed until it is read.
Fans: weights are laid out (outputs, inputs, *kernel), so that fan-in is all but the first axis.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NoReturn

from weft.base.arguments import kind_of, real, shown, whole
from weft.base.dtype import DType, dtypes
from weft.base.errors import ArgumentError, WrongKind
from weft.base.sequences import prod
from weft.nn.input_checks import missing_name
from weft.nn.optim.muon import orthogonalised, towards_one
from weft.nn.suggested_names import INITIALISERS
from weft.tensor import Tensor
from weft.tensor.protocol import in_grad_mode

_FAST_STEPS, _EXACT_STEPS = 16, 6


def fans(shape: tuple[int, ...]) -> tuple[int, int]:
    """(fan-in, fan-out) of a weight of layout (outputs, inputs, *kernel).

    >>> nn.init.fans((8, 3, 5, 5))
    (75, 200)
    """
    given = shape if isinstance(shape, tuple | list) else (shape,)
    shape = tuple(whole(size, "a size", least=0) for size in given)
    if len(shape) < 2:
        raise ArgumentError(
            "a weight needs an axis of outputs and one of inputs",
            asked=f"the fans of shape {shape}",
            because=f"it has {len(shape)} axes",
            try_="give a shape (outputs, inputs, *kernel)",
        )
    field = prod(shape[2:])
    return shape[1] * field, shape[0] * field


def uniform(
    *shape: int, bound: float, device: str | None = None, dtype: DType | None = None
) -> Tensor:
    """Uniform on [-bound, bound).

    >>> nn.init.uniform(2, 3, bound=0.5).abs().max().item() <= 0.5
    True
    """
    bound = real(bound, "bound")
    return Tensor.uniform(*shape, low=-bound, high=bound, device=device, dtype=dtype)


def fan_in_uniform(
    *shape: int, fan_in: int, device: str | None = None, dtype: DType | None = None
) -> Tensor:
    """Uniform on +-1/sqrt(fan_in): the outputs of a linear layer start with bounded variance.

    >>> nn.init.fan_in_uniform(2, 3, fan_in=4).abs().max().item() <= 0.5
    True
    """
    bound = 1.0 / math.sqrt(real(max(whole(fan_in, "fan_in"), 1), "fan_in"))
    return uniform(*shape, bound=bound, device=device, dtype=dtype)


def normal(
    *shape: int,
    mean: float = 0.0,
    std: float = 1.0,
    device: str | None = None,
    dtype: DType | None = None,
) -> Tensor:
    """Normal around `mean` with deviation `std`.

    >>> nn.init.normal(2, 3, std=0.02).shape
    (2, 3)
    """
    return Tensor.normal(*shape, mean=mean, std=std, device=device, dtype=dtype)


def trunc_normal(
    *shape: int,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    device: str | None = None,
    dtype: DType | None = None,
) -> Tensor:
    """Normal around `mean` with deviation `std`, cut to [a, b]: as if drawn again until inside.

    The inverse of the distribution at uniform draws between its values at both ends. Raises
    ArgumentError for an empty interval or a deviation that is not positive.

    >>> nn.init.trunc_normal(100, std=3.0).abs().max().item() <= 2
    True
    """
    mean, std = real(mean, "mean"), real(std, "std")
    a, b = real(a, "a"), real(b, "b")
    if not (a < b and std > 0):
        raise ArgumentError(
            "there is nothing between these ends",
            asked=f"trunc_normal(std={std}, a={a}, b={b})",
            because="a must lie below b, and the deviation above 0",
            try_="a=-2 * std, b=2 * std",
        )
    low, high = (math.erf((end - mean) / (std * math.sqrt(2.0))) for end in (a, b))
    y = Tensor.uniform(*shape, low=low, high=high, device=device, dtype=dtypes.float32)
    values = (_inverse_erf(y) * (std * math.sqrt(2.0)) + mean).clamp(a, b)
    return values.cast(dtype or dtypes.default_float).contiguous()


def _inverse_erf(y: Tensor) -> Tensor:
    """x with erf(x) = y: Winitzki's formula (2008), made exact to float32 by Newton's steps."""
    y = y.clamp(-1.0 + 2**-23, 1.0 - 2**-23)
    log = (1.0 - y * y).log()
    half = 2.0 / (math.pi * 0.147) + log * 0.5
    x = ((half * half - log / 0.147).sqrt() - half).sqrt() * y.sign()
    for _ in range(2):
        x = (x - (x.erf() - y) * (x * x).exp() * (math.sqrt(math.pi) / 2.0)).contiguous()
    return x


def glorot_uniform(
    *shape: int, gain: float = 1.0, device: str | None = None, dtype: DType | None = None
) -> Tensor:
    """Uniform with variance gain^2 * 2 / (fan-in + fan-out) (Glorot and Bengio, 2010).

    >>> nn.init.glorot_uniform(2, 4).abs().max().item() <= 1
    True
    """
    bound = math.sqrt(3.0) * _glorot_deviation(shape, gain)
    return uniform(*shape, bound=bound, device=device, dtype=dtype)


def glorot_normal(
    *shape: int, gain: float = 1.0, device: str | None = None, dtype: DType | None = None
) -> Tensor:
    """Normal with variance gain^2 * 2 / (fan-in + fan-out) (Glorot and Bengio, 2010).

    >>> nn.init.glorot_normal(2, 4).shape
    (2, 4)
    """
    return normal(*shape, std=_glorot_deviation(shape, gain), device=device, dtype=dtype)


def kaiming_uniform(
    *shape: int,
    negative_slope: float = 0.0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    device: str | None = None,
    dtype: DType | None = None,
) -> Tensor:
    """Uniform with variance gain^2 / fan, for (leaky) ReLU networks (He et al., 2015).

    mode: "fan_in" keeps the spread of what goes forward, "fan_out" that of what comes back.
    nonlinearity: what follows, see `gain`.

    >>> nn.init.kaiming_uniform(2, 6).abs().max().item() <= 1
    True
    """
    bound = math.sqrt(3.0) * _kaiming_deviation(shape, negative_slope, mode, nonlinearity)
    return uniform(*shape, bound=bound, device=device, dtype=dtype)


def kaiming_normal(
    *shape: int,
    negative_slope: float = 0.0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    device: str | None = None,
    dtype: DType | None = None,
) -> Tensor:
    """Normal with variance gain^2 / fan, for (leaky) ReLU networks; see `kaiming_uniform`.

    >>> nn.init.kaiming_normal(8, 3, 3, 3).shape
    (8, 3, 3, 3)
    """
    deviation = _kaiming_deviation(shape, negative_slope, mode, nonlinearity)
    return normal(*shape, std=deviation, device=device, dtype=dtype)


def orthogonal(
    *shape: int, gain: float = 1.0, device: str | None = None, dtype: DType | None = None
) -> Tensor:
    """`gain` times a matrix (outputs, the rest) of orthonormal rows, or columns if it is tall.

    The orthogonal factor nearest to a matrix of normal draws, so that all directions are alike
    (Saxe, McClelland and Ganguli, 2014). Raises ArgumentError for fewer than two axes.

    >>> w = nn.init.orthogonal(2, 3)
    >>> (w @ w.T).round().abs().tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    fans(shape)
    factor = real(gain, "gain")
    drawn = Tensor.randn(shape[0], prod(shape[1:]), device=device, dtype=dtypes.float32)
    if 0 not in shape:
        # the first coefficients bring all singular values near 1 fast, the second exactly to it
        drawn = orthogonalised(drawn, _FAST_STEPS)
        drawn = towards_one(drawn, _EXACT_STEPS, (1.5, -0.5, 0.0))
    return (drawn * factor).reshape(shape).cast(dtype or dtypes.default_float)


def gain(nonlinearity: str, negative_slope: float = 0.01) -> float:
    """By how much weights are widened before a nonlinearity, so that the spread stays.

    Values as in PyTorch: 1 for "linear", "conv1d" ... and "sigmoid", 5/3 for "tanh", sqrt(2) for
    "relu", sqrt(2 / (1 + negative_slope^2)) for "leaky_relu", 3/4 for "selu". Raises ArgumentError
    for others.

    >>> nn.init.gain("tanh")
    1.6666666666666667
    """
    slope = float(real(negative_slope, "negative_slope"))
    known = {"sigmoid": 1.0, "tanh": 5.0 / 3.0, "relu": math.sqrt(2.0), "selu": 0.75,
             "leaky_relu": math.sqrt(2.0 / (1.0 + slope * slope))}  # fmt: skip
    known |= dict.fromkeys(("linear", "conv1d", "conv2d", "conv3d", "conv_transpose1d",
                            "conv_transpose2d", "conv_transpose3d"), 1.0)  # fmt: skip
    if not isinstance(nonlinearity, str) or nonlinearity not in known:
        raise ArgumentError(
            f"no gain is known for {shown(nonlinearity)}",
            asked=f"gain({shown(nonlinearity)})",
            because=f"known are {', '.join(sorted(known))}",
            try_="give the number yourself",
        )
    return known[nonlinearity]


def _glorot_deviation(shape: tuple[int, ...], gain: float) -> float:
    both = real(max(sum(fans(shape)), 1), "the sum of the fans")
    return real(gain, "gain") * math.sqrt(2.0 / both)


def _kaiming_deviation(
    shape: tuple[int, ...], negative_slope: float, mode: str, nonlinearity: str
) -> float:
    if not isinstance(mode, str) or mode not in ("fan_in", "fan_out"):
        raise ArgumentError(
            "a spread is kept forwards or backwards",
            asked=f"mode={shown(mode)}",
            because="'fan_in' counts what goes in, 'fan_out' what comes out",
            try_="'fan_in'",
        )
    fan = real(max(fans(shape)[mode == "fan_out"], 1), mode)
    return gain(nonlinearity, negative_slope) / math.sqrt(fan)


# ---- in place, with the names of PyTorch ---------------------------------------------------------


def _shape(tensor: Tensor) -> tuple[int, ...]:
    """The shape of what is to be filled. :raises WrongKind: for what is no tensor."""
    if isinstance(tensor, Tensor):
        return tensor.shape
    raise WrongKind(
        "an initialisation fills a tensor",
        asked=f"initialise {shown(tensor)}",
        because=f"that is {kind_of(tensor)}",
        try_="give the layer's weight",
    )


def _filled(tensor: Tensor, value: Tensor) -> Tensor:
    """`tensor` itself, with other values, in its dtype and where it is."""
    return in_grad_mode(False, tensor.assign, value.cast(tensor.dtype).to(tensor.device))


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0) -> Tensor:
    """Fill with draws that are uniform on [a, b). Gives the tensor.

    >>> nn.init.uniform_(Tensor.zeros(2), 3.0, 3.0).tolist()
    [3.0, 3.0]
    """
    return _filled(tensor, Tensor.uniform(*_shape(tensor), low=real(a, "a"), high=real(b, "b")))


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0) -> Tensor:
    """Fill with draws from a normal distribution of this mean and deviation. Gives the tensor.

    >>> nn.init.normal_(Tensor.zeros(2), mean=3.0, std=0.0).tolist()
    [3.0, 3.0]
    """
    return _filled(tensor, normal(*_shape(tensor), mean=mean, std=std))


def trunc_normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0
) -> Tensor:
    """Fill with draws from a normal distribution that is cut to [a, b]. Gives the tensor.

    :raises ArgumentError: unless a is below b and std above 0.

    >>> nn.init.trunc_normal_(Tensor.zeros(100), std=3.0).abs().max().item() <= 2
    True
    """
    return _filled(tensor, trunc_normal(*_shape(tensor), mean=mean, std=std, a=a, b=b))


def constant_(tensor: Tensor, val: float) -> Tensor:
    """Fill with one number. Gives the tensor.

    >>> layer = nn.Linear(2, 1)
    >>> nn.init.constant_(layer.bias, 0.5).tolist(), layer.bias.tolist()
    ([0.5], [0.5])
    """
    return _filled(tensor, Tensor.full(_shape(tensor), real(val, "val")))


def ones_(tensor: Tensor) -> Tensor:
    """Fill with ones. Gives the tensor.

    >>> nn.init.ones_(Tensor([2, 3])).tolist()
    [1, 1]
    """
    return constant_(tensor, 1.0)


def zeros_(tensor: Tensor) -> Tensor:
    """Fill with zeros. Gives the tensor.

    >>> nn.init.zeros_(Tensor([2, 3])).tolist()
    [0, 0]
    """
    return constant_(tensor, 0.0)


def eye_(tensor: Tensor) -> Tensor:
    """Fill a matrix with the identity. Gives the tensor. :raises ArgumentError: for other shapes.

    >>> nn.init.eye_(Tensor.zeros(2, 3)).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    """
    if len(_shape(tensor)) != 2:
        raise ArgumentError(
            "the identity is a matrix", asked=f"eye_ of shape {tensor.shape}", try_="two axes"
        )
    return _filled(tensor, Tensor.eye(*_shape(tensor)))


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """Fill the weight of a convolution so that it passes its inputs on. Gives the tensor.

    >>> nn.init.dirac_(Tensor.zeros(1, 1, 3)).tolist()
    [[[0.0, 1.0, 0.0]]]
    """
    shape = _shape(tensor)
    outputs, inputs = shape[:2] if len(shape) > 2 else (0, 0)
    groups = whole(groups, "groups", least=1)
    if len(shape) not in (3, 4, 5) or outputs % groups:
        raise ArgumentError(
            "this is no weight of a convolution of so many groups",
            asked=f"dirac_ of shape {shape} in {groups} groups",
            because="the shape is (outputs, inputs, *kernel), and the groups divide the outputs",
        )
    per_group = outputs // groups
    same = Tensor.eye(per_group, inputs).repeat((groups, 1))
    for size in shape[2:]:
        middle = Tensor.arange(size) == size // 2
        same = same.unsqueeze(-1) * middle
    return _filled(tensor, same)


def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01) -> Tensor:
    """Fill a matrix with normal draws, and with zeros at the share `sparsity` of the rows of each
    column, which are drawn (Martens, 2010). Gives the tensor.

    :raises ArgumentError: for other than two axes, and for a share that is none.

    >>> (nn.init.sparse_(Tensor.zeros(10, 3), 0.25) == 0).sum(0).tolist()
    [3, 3, 3]
    """
    shape, share = _shape(tensor), real(sparsity, "sparsity")
    if len(shape) != 2 or not 0 <= share <= 1:
        raise ArgumentError(
            "only a share of the rows of a matrix can be zero",
            asked=f"sparse_({sparsity=}) of shape {shape}",
            because="a matrix has two axes, and a share is from 0 to 1",
        )
    ranks = Tensor.rand(*shape).contiguous().argsort(0).argsort(0)
    zeros = math.ceil(share * shape[0])
    return _filled(tensor, (ranks < zeros).where(0.0, Tensor.normal(*shape, std=real(std, "std"))))


def xavier_uniform_(tensor: Tensor, gain: float = 1.0) -> Tensor:
    """Fill with draws that are uniform on [-b, b), b = gain * sqrt(6 / (fan-in + fan-out)).

    Gives the tensor; see `glorot_uniform`. :raises ArgumentError: for fewer than two axes.

    >>> layer = nn.Linear(2, 4)
    >>> nn.init.xavier_uniform_(layer.weight).abs().max().item() <= 1
    True
    """
    return _filled(tensor, glorot_uniform(*_shape(tensor), gain=gain))


def xavier_normal_(tensor: Tensor, gain: float = 1.0) -> Tensor:
    """Fill with normal draws of deviation gain * sqrt(2 / (fan-in + fan-out)).

    Gives the tensor; see `glorot_normal`. :raises ArgumentError: for fewer than two axes.

    >>> round(nn.init.xavier_normal_(Tensor.zeros(20, 30)).std().item(), 1)
    0.2
    """
    return _filled(tensor, glorot_normal(*_shape(tensor), gain=gain))


def kaiming_uniform_(
    tensor: Tensor, a: float = 0.0, mode: str = "fan_in", nonlinearity: str = "leaky_relu"
) -> Tensor:
    """Fill with draws that are uniform on [-b, b), b = sqrt(3 / fan) times the gain.

    a: the negative slope; mode and nonlinearity as for `kaiming_uniform`. Gives the tensor.
    :raises ArgumentError: for fewer than two axes.

    >>> nn.init.kaiming_uniform_(Tensor.zeros(2, 6)).abs().max().item() <= 1
    True
    """
    how = {"negative_slope": a, "mode": mode, "nonlinearity": nonlinearity}
    return _filled(tensor, kaiming_uniform(*_shape(tensor), **how))  # type: ignore[arg-type]


def kaiming_normal_(
    tensor: Tensor, a: float = 0.0, mode: str = "fan_in", nonlinearity: str = "leaky_relu"
) -> Tensor:
    """Fill with normal draws of deviation 1 / sqrt(fan) times the gain.

    a: the negative slope; mode and nonlinearity as for `kaiming_uniform`. Gives the tensor.
    :raises ArgumentError: for fewer than two axes.

    >>> round(nn.init.kaiming_normal_(Tensor.zeros(12, 50)).std().item(), 1)
    0.2
    """
    how = {"negative_slope": a, "mode": mode, "nonlinearity": nonlinearity}
    return _filled(tensor, kaiming_normal(*_shape(tensor), **how))  # type: ignore[arg-type]


def orthogonal_(tensor: Tensor, gain: float = 1.0) -> Tensor:
    """Fill with `gain` times a random matrix (outputs, the rest) of orthonormal rows, or columns.

    Gives the tensor; see `orthogonal`. :raises ArgumentError: for fewer than two axes.

    >>> w = nn.init.orthogonal_(Tensor.zeros(2, 3))
    >>> (w @ w.T).round().abs().tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    return _filled(tensor, orthogonal(*_shape(tensor), gain=gain))


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """`gain` under PyTorch's name; param: the negative slope of "leaky_relu".

    >>> nn.init.calculate_gain("tanh")
    1.6666666666666667
    """
    return gain(nonlinearity, 0.01 if param is None else param)


if not TYPE_CHECKING:  # a checker reports a name that is not there

    def __getattr__(name: str) -> NoReturn:
        known = [each for each, value in globals().items() if callable(value) and each[:1] != "_"]
        raise missing_name("weft.nn.init", name, known, INITIALISERS)
