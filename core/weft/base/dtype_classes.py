"""Dtype classes: scalars and vectors, pointers, images; the limits of numbers.

Every dtype is interned, so `is` compares them, hashing is by identity, and pickling returns the
same object. `x.vec(n)` and `x.ptr(size, space)` derive dtypes from one another, `image` makes image
dtypes; `scalar()` and `base` lead back. The dtypes themselves are in `dtype.py`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NoReturn

from weft.base.deferred_dataclass import dataclass
from weft.base.errors import DTypeError
from weft.base.members import Member


class AddrSpace(Member):
    """The memory of a pointer: of the device, of a workgroup, or of a thread."""

    GLOBAL = "global"
    LOCAL = "local"
    REG = "reg"

    def __repr__(self) -> str:
        return f"AddrSpace.{self.name}"


class DType:
    """The type of an element, or of `count` elements side by side. Take them from `dtypes`.

    name      the short name of the element ("int", "float", "uchar", ...)
    itemsize  bytes of the whole (all lanes); void has none
    bitsize   bits that carry the value: 1 for bool, else 8 * itemsize
    priority  place in the order of promotion, bool lowest
    fmt       code of the `struct` module for the element, None where Python has none
    count     lanes: 1 for a scalar
    base      itself; of a pointer, what it points at
    min, max  least and greatest value of the element; the infinities where it has them
    """

    __slots__ = (
        "_scalar", "_vectors", "base", "bitsize", "count", "fmt", "itemsize", "max", "min", "name",
        "priority",
    )  # fmt: skip

    name: str
    itemsize: int
    bitsize: int
    priority: int
    fmt: str | None
    count: int
    base: DType
    min: bool | int | float
    max: bool | int | float
    _scalar: DType
    _vectors: dict[int, DType]

    def __new__(cls, *_args: object, **_fields: object) -> NoReturn:
        raise DTypeError(
            "dtypes are interned and not constructed",
            asked=f"{cls.__name__}(...)",
            try_="dtypes.float32, dtypes.int.vec(4), dtypes.half.ptr(16)",
        )

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise DTypeError(f"{self!r} cannot be changed", asked=f"{self!r}.{name} = {value!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise DTypeError(f"{self!r} cannot be changed", asked=f"del {self!r}.{name}")

    @property
    def is_floating_point(self) -> bool:
        """Whether the elements are floats, by the name of PyTorch."""
        return isinstance(self._scalar.max, float)

    @property
    def is_signed(self) -> bool:
        """Whether the elements may be below 0, by the name of PyTorch."""
        return self.is_complex or bool(self._scalar.min < 0)

    @property
    def is_complex(self) -> bool:
        """Whether the elements are complex numbers, by the name of PyTorch."""
        limit: object = self._scalar.max
        return isinstance(limit, complex)

    def scalar(self) -> DType:
        """The dtype of one lane."""
        return self._scalar

    def vec(self, count: int) -> DType:
        """`count` lanes of this scalar; itself for 1. DTypeError for void, vectors, count < 1."""
        known = self._vectors.get(count)
        return known if known is not None else self._new_vector(count)

    def ptr(self, size: int = -1, space: AddrSpace = AddrSpace.GLOBAL) -> PtrDType:
        """A pointer to `size` elements of this dtype; -1 where the size is not known."""
        key = (self, size, space)
        known = _pointers.get(key)
        if known is not None:
            return known
        if not isinstance(size, int) or size < -1 or not isinstance(space, AddrSpace):
            raise DTypeError(
                f"no pointer to {size!r} elements in {space!r}",
                asked=f"{self!r}.ptr({size!r}, {space!r})",
                because="the size is a number of elements, or -1, and the space an AddrSpace",
            )
        made = derive(PtrDType, self, count=1, base=self, size=size, space=space)
        return _pointers.setdefault(key, made)

    def _new_vector(self, count: int) -> DType:
        if self.count != 1 or not isinstance(count, int) or count < 1 or self.itemsize == 0:
            raise DTypeError(
                f"no vector of {count!r} lanes of {self!r}",
                asked=f"{self!r}.vec({count!r})",
                because="vectors have at least one lane, and each lane is a scalar with a size",
            )
        made = derive(
            DType, self, itemsize=self.itemsize * count, bitsize=self.bitsize * count,
            count=count, base=None, _scalar=self, _vectors={},
        )  # fmt: skip
        return self._vectors.setdefault(count, made)

    def __repr__(self) -> str:
        return f"dtypes.{self.name}" + (f".vec({self.count})" if self.count > 1 else "")

    def __reduce__(self) -> tuple[Any, ...]:
        return (_restore, (self.name, self.count))


class PtrDType(DType):
    """A pointer to `size` elements of `base` in `space`; `.vec(n)` gives n pointers side by side.

    The numbers of the element (`itemsize`, `bitsize`, `priority`, `fmt`, `min`, `max`) are found
    on the pointer as well, so `pointer.size * pointer.itemsize` are the bytes behind it.
    """

    __slots__ = ("size", "space")
    size: int
    space: AddrSpace

    @property
    def nbytes(self) -> int:
        """Bytes behind the pointer; DTypeError where the size is not known."""
        if self.size < 0:
            raise DTypeError(
                f"the size behind {self!r} is not known",
                asked=f"{self!r}.nbytes",
                because="the pointer was made without a size",
                try_="dtype.ptr(size)",
            )
        return self.size * self.itemsize

    def _new_vector(self, count: int) -> DType:
        if self.count != 1 or not isinstance(count, int) or count < 1:
            raise DTypeError(
                f"no vector of {count!r} lanes of {self!r}", asked=f"{self!r}.vec({count!r})"
            )
        made = derive(type(self), self, count=count, _scalar=self, _vectors={})
        return self._vectors.setdefault(count, made)

    def ptr(self, size: int = -1, space: AddrSpace = AddrSpace.GLOBAL) -> NoReturn:
        raise DTypeError(
            "there are no pointers to pointers",
            asked=f"{self!r}.ptr({size}, {space!r})",
            try_=f"{self.base!r}.ptr({size}, {space!r})",
        )

    def __repr__(self) -> str:
        where = "" if self.space is AddrSpace.GLOBAL else f", {self.space!r}"
        lanes = f".vec({self.count})" if self.count > 1 else ""
        return f"{self.base!r}.ptr({self.size}{where}){lanes}"

    def __reduce__(self) -> tuple[Any, ...]:
        return (_restore_pointer, (self.base, self.size, self.space, self.count))


class ImageDType(PtrDType):
    """A two-dimensional image of four-channel pixels: `shape` is (height, width, 4).

    Loads and stores are of four lanes of `base`, which is float32 for both kinds; the bytes behind
    it (`itemsize` per channel) are those of the kind: 2 for imageh, 4 for imagef.
    """

    __slots__ = ("shape",)
    shape: tuple[int, ...]

    def __repr__(self) -> str:
        return f"dtypes.{self.name}({self.shape})" + (
            f".vec({self.count})" if self.count > 1 else ""
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return (_restore_image, (self.name, self.shape, self.count))


@dataclass(frozen=True)
class FloatInfo:
    """The limits of a float dtype, by the names of the array API standard, NumPy and PyTorch.

    Unpacked it is (exponent bits, mantissa bits).

    >>> info = dtypes.finfo("float16")
    >>> info.max, info.eps, info.resolution
    (65504.0, 0.0009765625, 0.001)
    >>> exponent, mantissa = info
    """

    bits: int
    exponent_bits: int
    mantissa_bits: int
    min: float
    max: float
    eps: float
    smallest_normal: float
    smallest_subnormal: float
    bias: int
    has_infinity: bool
    dtype: DType

    @property
    def tiny(self) -> float:
        """`smallest_normal` by its older name."""
        return self.smallest_normal

    @property
    def precision(self) -> int:
        """The number of decimal digits that every value keeps."""
        return int(-math.log10(self.eps))

    @property
    def resolution(self) -> float:
        """One in the last of those digits."""
        return float(f"1e-{self.precision}")

    @property
    def epsneg(self) -> float:
        """The distance from 1 to the next number below."""
        return self.eps / 2

    def __iter__(self) -> Iterator[int]:
        return iter((self.exponent_bits, self.mantissa_bits))

    def __getitem__(self, place: int) -> int:
        return (self.exponent_bits, self.mantissa_bits)[place]


@dataclass(frozen=True)
class IntInfo:
    """The limits of an integer dtype."""

    bits: int
    min: int
    max: int
    dtype: DType


elements: dict[str, DType] = {}
"""Every element by its own name."""

_FIELDS = ("name", "itemsize", "bitsize", "priority", "fmt", "count", "min", "max", "base")
_pointers: dict[tuple[DType, int, AddrSpace], PtrDType] = {}
_images: dict[tuple[str, tuple[int, ...]], ImageDType] = {}


def derive(kind: type[Any], like: DType | None, **changes: Any) -> Any:
    """A new dtype with the fields of `like` but for `changes`; a base or scalar of None is itself.

    The only place where a dtype comes into being. Interning is the callers' part.
    """
    fields: dict[str, Any] = {}
    if like is not None:
        for name in (*_FIELDS, "size", "space", "shape"):
            if hasattr(like, name):
                fields[name] = getattr(like, name)
    fields |= {"_scalar": None, "_vectors": None} | changes
    made = object.__new__(kind)
    for name in ("base", "_scalar"):
        fields[name] = made if fields.get(name) is None else fields[name]
    if fields["_vectors"] is None:
        fields["_vectors"] = {1: made}
    for name, value in fields.items():
        object.__setattr__(made, name, value)
    return made


def image(name: str, shape: tuple[int, ...]) -> ImageDType:
    """The image of a kind, "imageh" or "imagef", and a shape; DTypeError if there is none such."""
    shape = tuple(shape)
    known = _images.get((name, shape))
    if known is not None:
        return known
    if len(shape) != 3 or shape[2] != 4 or min(shape) < 1:
        raise DTypeError(
            f"no image of shape {shape}",
            asked=f"dtypes.{name}({shape})",
            because="an image is (height, width, 4), none of them zero",
        )
    size, fmt = (2, "e") if name == "imageh" else (4, "f")
    made = derive(
        ImageDType, elements["float"], name=name, itemsize=size, bitsize=size * 8, fmt=fmt,
        base=elements["float"], size=math.prod(shape), space=AddrSpace.GLOBAL, shape=shape,
    )  # fmt: skip
    return _images.setdefault((name, shape), made)


def any_images() -> bool:
    """Whether any image dtype was ever made; graphs need not be searched for them otherwise."""
    return bool(_images)


def _restore(name: str, count: int) -> DType:
    return elements[name].vec(count)


def _restore_pointer(base: DType, size: int, space: AddrSpace, count: int) -> DType:
    return base.ptr(size, space).vec(count)


def _restore_image(name: str, shape: tuple[int, ...], count: int) -> DType:
    return image(name, shape).vec(count)
