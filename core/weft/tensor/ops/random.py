"""Random tensors. The same stream on every device for one seed: see `weft.tensor.rng`."""

from __future__ import annotations

import math
from typing import Any, Self, Unpack

from weft.base.arguments import real, whole
from weft.base.dtype import DType, dtypes, to_dtype
from weft.base.errors import ArgumentError, DTypeError, OutOfRange
from weft.base.scalars import check_range
from weft.base.sequences import prod
from weft.device import registry
from weft.tensor import rng
from weft.tensor.ops.creation import shape_of_arguments
from weft.tensor.protocol import TensorBase, record
from weft.tensor.types import (
    DeviceLike,
    DeviceOptions,
    DTypeLike,
    KindOptions,
    ShapeLike,
    TensorOptions,
)
from weft.uop import Ops, UOp
from weft.uop.symbolic.sint import high_of


class RandomMixin(TensorBase):
    """Class methods that draw, and the `..._like` methods."""

    __slots__ = ()

    @staticmethod
    def manual_seed(seed: int = 0) -> None:
        """Start the random stream of every device anew.

        >>> Tensor.manual_seed(42)
        >>> first = Tensor.rand(3).tolist()
        >>> Tensor.manual_seed(42)
        >>> first == Tensor.rand(3).tolist()
        True
        """
        rng.manual_seed(seed)

    @classmethod
    def _blocks(cls, shape: tuple[int, ...], device: DeviceLike | None) -> Self:
        """64 random bits for every element; as many are drawn as the largest sizes need."""
        where = registry.placement(device)
        if any(isinstance(size, UOp) for size in shape):
            largest = tuple(high_of(size) for size in shape)
            return cls._blocks(largest, device).shrink(tuple((0, size) for size in shape))
        count = prod(shape)
        state = cls._from_node(rng.draw(where, count))
        counter, key = state[0:1], state[1:2]
        places = cls.arange(count, device=where).cast(dtypes.uint64) + counter
        node = record(Ops.THREEFRY, dtypes.uint64, (places._uop, key._expanded((count,))._uop))
        return cls._from_node(node).reshape(shape)

    @classmethod
    def rand(
        cls, *shape: ShapeLike, device: DeviceLike | None = None, dtype: DTypeLike | None = None,
        contiguous: bool = True, requires_grad: bool | None = None,
    ) -> Self:  # fmt: skip
        """Uniform on [0, 1): every number is a multiple of the dtype's precision at 1.

        :raises DTypeError: for a dtype that is no float.

        >>> Tensor.rand(2, 3).shape
        (2, 3)
        >>> x = Tensor.rand(100)
        >>> 0 <= x.min().item() <= x.max().item() < 1
        True
        """
        kind = _float_dtype(dtype, "rand")
        extents = shape_of_arguments(shape)
        if 0 in extents:
            return cls.zeros(extents, dtype=kind, device=device, requires_grad=requires_grad)
        made = _uniform(cls._blocks(extents, device), kind)
        made = made.contiguous() if contiguous else made
        return made._with_flag(requires_grad)

    @classmethod
    def randn(
        cls, *shape: ShapeLike, device: DeviceLike | None = None, dtype: DTypeLike | None = None,
        requires_grad: bool | None = None,
    ) -> Self:  # fmt: skip
        """Standard normal, by Box and Muller: sqrt(-2 log u) cos(2 pi v).

        A dtype that is no float takes float32 numbers, converted.

        >>> Tensor.randn(2, 3).shape
        (2, 3)
        >>> Tensor.manual_seed(0)
        >>> abs(Tensor.randn(1000).mean().item()) < 0.1
        True
        """
        kind = dtypes.default_float if dtype is None else to_dtype(dtype)
        extents = shape_of_arguments(shape)
        if 0 in extents:
            return cls.zeros(extents, dtype=kind, device=device, requires_grad=requires_grad)
        blocks = cls._blocks(extents, device)
        # u from the low half of each block, v from the high one; 1 - u is never 0
        wide = dtypes.float64 if kind is dtypes.float64 else dtypes.float32
        u = 1 - _halves(blocks & 0xFFFFFFFF, wide)
        v = _halves(blocks >> 32, wide)
        made = ((u.log() * -2).sqrt() * (v * (2 * math.pi)).cos()).cast(kind).contiguous()
        return made._with_flag(requires_grad)

    @classmethod
    def randint(
        cls, *shape: ShapeLike, low: int = 0, high: int = 10, dtype: DTypeLike = dtypes.int32,
        device: DeviceLike | None = None, requires_grad: bool | None = None,
    ) -> Self:  # fmt: skip
        """Uniform integers in [low, high).

        :raises ArgumentError: for bounds that leave nothing between them.
        :raises OutOfRange: for bounds that the dtype does not hold.
        :raises DTypeError: for bounds that are no integers, or a dtype of none.

        >>> Tensor.randint(2, 3, low=5, high=6).tolist()
        [[5, 5, 5], [5, 5, 5]]
        """
        kind = to_dtype(dtype)
        if not dtypes.is_int(kind):
            raise DTypeError("randint gives integers", asked=f"randint(dtype={kind!r})")
        low, high = whole(low, "low"), whole(high, "high")
        if high <= low:
            raise ArgumentError(
                "integers with low < high", asked=f"randint(low={low}, high={high})"
            )
        if low < kind.min or high - 1 > kind.max:
            raise OutOfRange(
                f"{kind!r} does not hold these numbers",
                asked=f"randint(low={low}, high={high}, dtype={kind!r})",
                because=f"it holds {kind.min} to {kind.max}",
                try_="dtype=dtypes.int64" if kind.itemsize < 8 else None,
            )
        extents = shape_of_arguments(shape)
        if 0 in extents:
            return cls.zeros(extents, dtype=kind, device=device)
        blocks, span = cls._blocks(extents, device), high - low
        if span <= 1 << 32:
            # the high word of bits * span (Lemire, 2019, not rejecting: biased by 2**-32)
            drawn = ((blocks & 0xFFFFFFFF) * span) >> 32
        else:
            drawn = blocks if span == 1 << 64 else blocks % span
        wide = dtypes.uint64 if kind is dtypes.uint64 else dtypes.int64
        return (drawn.cast(wide) + low).cast(kind).contiguous()._with_flag(requires_grad)

    @classmethod
    def randperm(
        cls, n: int, device: DeviceLike | None = None, dtype: DTypeLike = dtypes.int32,
        requires_grad: bool | None = None,
    ) -> Self:  # fmt: skip
        """0 to n - 1 in random order.

        >>> sorted(Tensor.randperm(5).tolist())
        [0, 1, 2, 3, 4]
        """
        n = whole(n, "n", least=0)
        if to_dtype(dtype) is dtypes.bool:
            raise DTypeError("bool has no n numbers", asked="randperm(dtype=dtypes.bool)")
        if n == 0:
            return cls.zeros(0, dtype=dtype, device=device)
        words = (cls._blocks((n,), device) & 0xFFFFFFFF).cast(dtypes.uint32).contiguous()
        return words.argsort().cast(dtype)._with_flag(requires_grad)

    @classmethod
    def normal(
        cls, *shape: ShapeLike, mean: float = 0.0, std: float = 1.0,
        requires_grad: bool | None = None, **kwargs: Unpack[KindOptions],
    ) -> Self:  # fmt: skip
        """Normal with the given mean and standard deviation.

        >>> Tensor.normal(2, 3, mean=10.0, std=0.0).tolist()
        [[10.0, 10.0, 10.0], [10.0, 10.0, 10.0]]
        """
        _float_dtype(kwargs.get("dtype"), "normal")
        mean, std = _number(mean, "mean"), _number(std, "std")
        made = cls.randn(*shape, **kwargs) * std + mean
        return made._with_flag(requires_grad)

    @classmethod
    def uniform(
        cls, *shape: ShapeLike, low: float = 0.0, high: float = 1.0, dtype: DTypeLike | None = None,
        requires_grad: bool | None = None, **kwargs: Unpack[DeviceOptions],
    ) -> Self:  # fmt: skip
        """Uniform on [low, high); integers for an integer dtype.

        :raises OutOfRange: for bounds that an integer dtype cannot represent.

        >>> x = Tensor.uniform(100, low=-1.0, high=1.0)
        >>> -1 <= x.min().item() <= x.max().item() < 1
        True
        """
        kind = dtypes.default_float if dtype is None else to_dtype(dtype)
        drawn = kind if dtypes.is_float(kind) else dtypes.float32
        low, high = _number(low, "low"), _number(high, "high")
        if dtypes.is_int(kind):
            check_range(low, kind)
            check_range(high, kind)
        made = (cls.rand(*shape, dtype=drawn, **kwargs) * (high - low) + low).cast(kind)
        return made._with_flag(requires_grad)

    @classmethod
    def scaled_uniform(cls, *shape: ShapeLike, **kwargs: Unpack[TensorOptions]) -> Self:
        """Uniform on [-1, 1) divided by the square root of the number of elements.

        >>> Tensor.scaled_uniform(4, 4).abs().max().item() <= 0.25
        True
        """
        _float_dtype(kwargs.get("dtype"), "scaled_uniform")
        bound = 1 / math.sqrt(real(max(prod(shape_of_arguments(shape)), 1), "the size"))
        return cls.uniform(*shape, low=-bound, high=bound, **kwargs)

    @classmethod
    def glorot_uniform(cls, *shape: ShapeLike, **kwargs: Unpack[TensorOptions]) -> Self:
        """Uniform on +-sqrt(6 / (fan in + fan out)) (Glorot and Bengio, 2010).

        >>> Tensor.glorot_uniform(4, 2).abs().max().item() <= 1
        True
        """
        _float_dtype(kwargs.get("dtype"), "glorot_uniform")
        extents = shape_of_arguments(shape)
        bound = math.sqrt(6 / max(extents[0] + prod(extents[1:]), 1)) if extents else 1.0
        return cls.uniform(*shape, low=-bound, high=bound, **kwargs)

    @classmethod
    def kaiming_uniform(
        cls, *shape: ShapeLike, a: float = 0.01, **kwargs: Unpack[TensorOptions]
    ) -> Self:
        """Uniform on +-sqrt(6 / ((1 + a*a) fan in)) (He and others, 2015).

        >>> Tensor.kaiming_uniform(4, 6, a=0).abs().max().item() <= 1
        True
        """
        _float_dtype(kwargs.get("dtype"), "kaiming_uniform")
        bound = math.sqrt(6 / _fan_with_slope(shape, a))
        return cls.uniform(*shape, low=-bound, high=bound, **kwargs)

    @classmethod
    def kaiming_normal(
        cls, *shape: ShapeLike, a: float = 0.01, **kwargs: Unpack[TensorOptions]
    ) -> Self:
        """Normal with standard deviation sqrt(2 / ((1 + a*a) fan in)).

        >>> Tensor.kaiming_normal(8, 3, 3, 3).shape
        (8, 3, 3, 3)
        """
        spread = math.sqrt(2 / _fan_with_slope(shape, a))
        return cls.normal(*shape, mean=0.0, std=spread, **kwargs)

    def rand_like(self, **kwargs: Unpack[TensorOptions]) -> Self:
        """Uniform on [0, 1) in the shape, dtype and place of self, cut as it is.

        >>> Tensor.zeros(2, 3).rand_like().shape
        (2, 3)
        """
        kwargs.setdefault("dtype", self._uop.dtype)
        return self._drawn_like(self.__class__.rand, kwargs)

    def _drawn_like(self, draw: Any, kwargs: Any) -> Any:
        """Random numbers in the shape of self, where it is unless `kwargs` name a device."""
        if "device" in kwargs:
            return draw(self.shape, **kwargs)
        flag = kwargs.pop("requires_grad", None)
        return self._cut_like(draw(self.shape, device=self.device, **kwargs), flag)

    def randint_like(self, low: int = 0, high: int = 10, **kwargs: Unpack[TensorOptions]) -> Self:
        """Uniform integers in [low, high) in the shape and place of self, cut as it is, and in its
        dtype if that is of integers.

        >>> Tensor.zeros(2).randint_like(5, 6).tolist()
        [5, 5]
        """
        own = self._uop.dtype
        kwargs.setdefault("dtype", own if dtypes.is_int(own) else dtypes.int32)
        return self._drawn_like(self.__class__.randint, {"low": low, "high": high, **kwargs})

    def bernoulli(self) -> Self:
        """1 with the probability given by self, else 0. No gradient flows.

        >>> Tensor([0.0, 1.0]).bernoulli().tolist()
        [0.0, 1.0]
        """
        p = self.detach()
        return (p.rand_like(dtype=dtypes.float32) < p).cast(_float_dtype(self._uop.dtype, "it"))

    def randn_like(
        self,
        dtype: DTypeLike | None = None,
        requires_grad: bool | None = None,
        **kwargs: Unpack[DeviceOptions],
    ) -> Self:
        """Standard normal in the shape, dtype and place of self, cut as it is.

        >>> Tensor.zeros(2, 3).randn_like().shape
        (2, 3)
        """
        kind = self._uop.dtype if dtype is None else dtype
        options = {**kwargs, "dtype": kind, "requires_grad": requires_grad}
        return self._drawn_like(self.__class__.randn, options)

    def multinomial(self, num_samples: int = 1, replacement: bool = False) -> Self:
        """Places (int32) drawn with probabilities proportional to the weights of the last axis.

        :raises ArgumentError: for weights that are not 1-d or 2-d, or fewer of them than samples
            without replacement.

        >>> Tensor([0.0, 1.0, 0.0]).multinomial(3, replacement=True).tolist()
        [1, 1, 1]
        >>> sorted(Tensor([1.0, 0.0, 1.0]).multinomial(2).tolist())
        [0, 2]
        """
        num_samples = whole(num_samples, "num_samples")
        rows = self.unsqueeze(0) if len(self.shape) == 1 else self
        if len(rows.shape) != 2 or num_samples < 1:
            raise ArgumentError(
                "weights are 1-d or 2-d, and at least one sample is drawn",
                asked=f"multinomial({num_samples}) of shape {self.shape}",
            )
        weights = rows.cast(dtypes.float32)
        if replacement or num_samples == 1:
            ends = weights.cumsum(1)
            shape = (rows.shape[0], num_samples, 1)
            drawn = self.__class__.rand(shape, device=self.device) * ends[:, -1:].unsqueeze(1)
            found = (ends.unsqueeze(1) <= drawn).sum(-1, dtype=dtypes.int32)
            # rounding may have made the product the total: that is the last place with a weight
            last = (ends < ends[:, -1:]).sum(-1, keepdim=True, dtype=dtypes.int32)
            found = found.minimum(last)
        else:
            if num_samples > rows.shape[1]:
                raise ArgumentError(
                    "more samples than there are weights",
                    asked=f"multinomial({num_samples}) of shape {self.shape}",
                    try_="replacement=True",
                )
            # the largest of log(u) / w are a sample without replacement (Efraimidis, Spirakis 2006)
            u = 1 - self.__class__.rand(rows.shape, device=self.device)
            scores = (weights > 0).where(u.log() / weights, -math.inf)
            found = scores.topk(num_samples, 1)[1]
        return found.squeeze(0) if len(self.shape) == 1 else found


def _number(value: Any, what: str) -> Any:
    """A number, or a tensor of them. :raises ArgumentError: for anything else."""
    return value if isinstance(value, TensorBase) else real(value, what)


def _fan_with_slope(shape: tuple[ShapeLike, ...], slope: Any) -> float:
    """(1 + slope * slope) times the fan-in of a weight of this shape."""
    fan = real(max(prod(shape_of_arguments(shape)[1:]), 1), "the fan-in")
    slope = float(real(slope, "a"))
    return (1 + slope * slope) * fan


def _float_dtype(dtype: Any, what: str) -> DType:
    kind = dtypes.default_float if dtype is None else to_dtype(dtype)
    if not dtypes.is_float(kind):
        raise DTypeError(f"{what} gives floats", asked=f"{what}(dtype={kind!r})", try_="randint")
    return kind


def _halves(words: Any, kind: DType) -> Any:
    """32-bit words as fractions: all bits of them in float64, in float32 the top ones."""
    if kind.itemsize == 8:
        return words.cast(kind) * 2.0**-32
    return _uniform(words, kind)


def _uniform(blocks: Any, kind: DType) -> Any:
    """The top bits of the low word (of the whole block, for float64) as a fraction: exact."""
    digits = dtypes.finfo(kind).mantissa_bits + 1
    if digits > 32:
        return (blocks >> (64 - digits)).cast(kind) * 2.0**-digits
    word = blocks.cast(dtypes.uint32) >> (32 - digits)
    wide = kind if kind.itemsize >= 4 else dtypes.float32
    return (word.cast(wide) * 2.0**-digits).cast(kind)
