"""One cell of the table of operations: a method, dtype and device, compared with a reference.

in:  a `Check` (how to call a method, and what NumPy or PyTorch says of the same)
out: a `Cell`: equal, so many units in the last place apart, refused as announced, or wrong

The reference is computed in float64 (in NumPy's longdouble for float64) from the very numbers that
the dtype holds, so what is measured is the distance from the true value, and half a unit in the
last place is as near as a dtype can come.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from weft.base.dtype import DType, dtypes, to_dtype
from weft.base.errors import ArgumentError, DTypeError, WeftError
from weft.base.promotion import least_upper_float, sum_acc_dtype, sum_dtype
from weft.device import numpy_dtype
from weft.tensor import Tensor

KINDS: dict[str, Callable[[DType], bool]] = {
    "any": lambda d: True,
    "number": lambda d: d is not dtypes.bool,
    "float": dtypes.is_float,
    "whole": lambda d: not dtypes.is_float(d),
    "integer": dtypes.is_int,
    "signed": lambda d: dtypes.is_float(d) or d in dtypes.sints,
    "wide": lambda d: d in (dtypes.float32, dtypes.float64),
    "bytes": lambda d: d is dtypes.uint8,
    "words": lambda d: d is dtypes.uint64,
}
"""Which dtypes a method takes; it refuses the others with an error of the family."""

RESULTS: dict[str, Callable[[DType], DType]] = {
    "same": lambda d: d,
    "float": least_upper_float,
    "sum": sum_dtype,
    "products": lambda d: d if dtypes.is_float(d) else sum_acc_dtype(d),
    "counts": lambda d: d if dtypes.is_float(d) else dtypes.int64,
    "number": lambda d: dtypes.default_int if d is dtypes.bool else d,
    "single": lambda d: dtypes.float64 if d is dtypes.float64 else dtypes.float32,
}
"""Which dtype a method answers in; any other word is the dtype itself."""


class Wrong(AssertionError):
    """weft and the reference differ by more than the check allows; the text says how."""


@dataclass(frozen=True)
class Check:
    """How a method is compared.

    :ivar call: takes the tensors; of a creation (`creates`), the keywords device and dtype.
    :ivar reference: takes the arrays (floats widened); of a creation, NumPy's dtype to answer in.
    :ivar inputs: makes the arrays of a case; what is in the dtype of the cell it makes by `Maker`.
    :ivar kinds: which dtypes are taken, a key of KINDS.
    :ivar result: the dtype of the answer, a key of RESULTS or a name; of several, one for each.
    :ivar most: units in the last place that are allowed; where `loose`, of the largest element.
    :ivar zeros: whether the sign of a zero counts.
    :ivar raw: the reference takes floats in their own dtype, not widened.
    :ivar against: what the reference is.
    """

    name: str
    family: str
    call: Callable[..., Any]
    reference: Callable[..., Any]
    inputs: Callable[[Maker], Sequence[Any]]
    kinds: str = "any"
    result: str | tuple[str, ...] = "same"
    most: float = 0.0
    loose: bool = False
    zeros: bool = True
    creates: bool = False
    raw: bool = False
    against: str = "NumPy"

    def takes(self, dtype: DType) -> bool:
        """Whether the method is for this dtype."""
        return KINDS[self.kinds](dtype)


@dataclass(frozen=True)
class Cell:
    """What was found: `units` in the last place (0: equal), None where it is refused."""

    units: float | None
    loose: bool = False
    kinds: str = "any"

    def text(self) -> str:
        """The text of the cell."""
        if self.units is None:
            return SIGNS[self.kinds]
        if self.units == 0:
            return "="
        # a tenth of a unit is all that is said, rounded up
        shown = math.ceil(self.units * 10) / 10
        number = f"{shown:.1f}" if shown < 10 else str(math.ceil(self.units))
        return f"~{number}" if self.loose else number


SIGNS = {
    "number": "n", "float": "f", "whole": "i", "integer": "i", "signed": "s", "wide": "w",
    "bytes": "u", "words": "l",
}  # fmt: skip
"""The text of a cell for a refusal."""


class Maker:
    """Arrays of one dtype, the same for the same check and dtype everywhere."""

    def __init__(self, dtype: DType, name: str) -> None:
        import numpy

        self.dtype = dtype
        self.numpy = numpy_dtype(dtype)
        self.random = numpy.random.default_rng(zlib.crc32(f"{name} {dtype.name}".encode()))

    def own(self, values: Any) -> Any:
        """These values as the dtype holds them."""
        import numpy

        wide = numpy.asarray(values)
        if wide.dtype.kind == "O":
            wide = wide.astype(numpy.float64)
        with numpy.errstate(all="ignore"):
            if wide.dtype.kind == "f" and not dtypes.is_float(self.dtype):
                wide = wide.astype(numpy.int64)
            return wide.astype(self.numpy)

    def grid(self, *shape: int, low: float = -4, high: float = 4) -> Any:
        """Values of this shape from low to high; of floats few have all their digits in use."""
        import numpy

        if self.dtype is dtypes.bool:
            return self.random.integers(0, 2, shape).astype(bool)
        if not dtypes.is_float(self.dtype):
            least = 0 if dtypes.is_unsigned(self.dtype) else int(numpy.ceil(low))
            return self.own(self.random.integers(least, max(int(high), least + 1) + 1, shape))
        return self.own(self.random.uniform(low, high, shape))

    def apart(self, *shape: int) -> Any:
        """Values of this shape that are all different, as far as the dtype has so many."""
        import numpy

        count = int(numpy.prod(shape))
        order = self.random.permutation(count) - (0 if dtypes.is_unsigned(self.dtype) else count)
        return self.own(order % 2 if self.dtype is dtypes.bool else order).reshape(shape)

    def edges(self) -> Any:
        """Where functions go wrong: zeros, ones, halves, limits, and for floats what is none."""
        import numpy

        if self.dtype is dtypes.bool:
            return numpy.array([False, True])
        if not dtypes.is_float(self.dtype):
            info = dtypes.iinfo(self.dtype)
            near = [info.min, info.min + 1, info.max, info.max - 1, info.max // 2, 0, 1, 2, 3, 7]
            near += [] if dtypes.is_unsigned(self.dtype) else [-1, -2, -3, -7]
            return numpy.array(near, dtype=self.numpy)
        info = dtypes.finfo(self.dtype)
        sizes = [
            0.0, 1.0, 0.5, 1.5, 2.0, 2.5, 3.0, 7.0, info.max, info.smallest_normal,
            info.smallest_subnormal, info.eps, 1 + info.eps, 1 - info.eps / 2, numpy.inf,
        ]  # fmt: skip
        return self.own([*sizes, *(-s for s in sizes), numpy.nan])

    def line(self, count: int = 40) -> Any:
        """Edges, then random values of every size."""
        import numpy

        if self.dtype is dtypes.bool:
            return numpy.array([False, True, True, False])
        if not dtypes.is_float(self.dtype):
            info = dtypes.iinfo(self.dtype)
            full = self.random.integers(info.min, info.max, count // 2, self.numpy, endpoint=True)
            return numpy.concatenate([self.edges(), full, self.grid(count // 2, low=-20, high=20)])
        sizes = 2.0 ** self.random.uniform(-12, 8, count // 2)
        signs = self.random.choice([-1, 1], count // 2)
        parts = [self.edges(), self.own(sizes * signs), self.grid(count // 2)]
        return numpy.concatenate([part.astype(numpy.float64) for part in parts]).astype(self.numpy)

    def every(self, count: int = 20000) -> Any:
        """Every value of a short float; of a longer one so many of every size, in random bits."""
        import numpy

        size = self.dtype.itemsize
        kind = f"uint{8 * size}"
        if size <= 2:
            return numpy.arange(1 << (8 * size)).astype(kind).view(self.numpy)
        bits = self.random.integers(0, 1 << (8 * size), count, kind)
        parts = [self.random.uniform(-far, far, count) for far in (1.2, 8, 90)]
        return numpy.concatenate([bits.view(self.numpy), *map(self.own, parts)])

    def pairs(self) -> list[Any]:
        """Every edge with every edge, and random values with others."""
        import numpy

        edges, line = self.edges(), self.line(24)
        other = line[self.random.permutation(len(line))]
        left = numpy.concatenate([numpy.repeat(edges, len(edges)), line])
        return [left, numpy.concatenate([numpy.tile(edges, len(edges)), other])]

    def calm(self, *shape: int) -> Any:
        """Values of half to two in size, or small whole numbers, none of them zero."""
        if not dtypes.is_float(self.dtype):
            low = 1 if dtypes.is_unsigned(self.dtype) or self.dtype is dtypes.bool else -3
            grid = self.grid(*shape, low=low, high=3)
            return self.own(grid + (grid == 0) if self.dtype is not dtypes.bool else grid)
        return self.own(self.random.uniform(0.5, 2, shape) * self.random.choice([-1, 1], shape))

    def positive(self, *shape: int) -> Any:
        """Values above zero, not above two; of integers, one to three."""
        return self.own(abs(self.calm(*shape).astype("float64")))

    def truths(self, *shape: int) -> Any:
        """Booleans, whatever the dtype of the cell."""
        return self.random.integers(0, 2, shape).astype(bool)

    def places(self, size: int, *shape: int) -> Any:
        """int32 from 0 to below `size`, whatever the dtype of the cell."""
        return self.random.integers(0, size, shape).astype("int32")


def run(check: Check, dtype: DType, device: str) -> Cell:
    """The cell of a check.

    :param device: where the inputs are; "{}" in it becomes the number of the input.
    :raises Wrong: if the answers differ by more than `check.most`, in shape or in dtype, if a
        refusal is missing, or if there is one that was not announced.
    """
    maker = Maker(dtype, check.name)
    arrays = list(check.inputs(maker))
    try:
        if check.creates:
            got = check.call(*arrays, device=device, dtype=dtype)
        else:
            places = [device.format(number) for number in range(len(arrays))]
            got = check.call(*(Tensor(a, device=at) for a, at in zip(arrays, places)))
        results = [_read(one) for one in _several(got)]
    except WeftError as error:
        if check.takes(dtype):
            raise Wrong(f"refused: {error}") from error
        if not isinstance(error, (DTypeError, ArgumentError)):
            raise Wrong(f"a {type(error).__name__} says so: {error}") from error
        return Cell(None, kinds=check.kinds)
    if not check.takes(dtype):
        raise Wrong(f"computed, where a refusal was announced ({check.kinds})")
    given = arrays if check.raw else [widened(a) for a in arrays]
    wanted = check.reference(*given, dtype=numpy_dtype(dtype)) if check.creates else (
        check.reference(*given)
    )  # fmt: skip
    expected = _several(wanted)
    if len(results) != len(expected):
        raise Wrong(f"{len(results)} results for {len(expected)}")
    words = check.result if isinstance(check.result, tuple) else (check.result,) * len(results)
    units = 0.0
    for (found, kind), want, word in zip(results, expected, words):
        rule = RESULTS.get(word)
        answer = to_dtype(word) if rule is None else rule(dtype)
        if kind is not answer:
            raise Wrong(f"answers in {kind!r}, not in {answer!r}")
        units = max(units, apart(found, want, answer, check.loose, check.zeros))
    if units > check.most:
        raise Wrong(f"{units:.3g} units in the last place, where {check.most:g} are allowed")
    return Cell(units, check.loose)


def _several(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (tuple, list)) else [value]


def _read(value: Any) -> tuple[Any, DType]:
    if isinstance(value, Tensor):
        return value.numpy(), value.dtype
    import numpy

    array = numpy.asarray(value)
    return array, to_dtype(array.dtype)


def widened(array: Any) -> Any:
    """Floats in a format wide enough for the reference, anything else as it is."""
    import numpy

    if array.dtype.kind in "biu":
        return array
    return array.astype(numpy.longdouble if array.dtype == numpy.float64 else numpy.float64)


def apart(found: Any, wanted: Any, dtype: DType, loose: bool = False, zeros: bool = True) -> float:
    """How many units in the last place the answer is off; 0 where it is what rounding gives.

    :raises Wrong: for another shape, or where the answers are apart in kind: NaN, infinity, sign.
    """
    import numpy

    wanted = numpy.asarray(wanted)
    if tuple(found.shape) != tuple(wanted.shape):
        raise Wrong(f"shape {tuple(found.shape)}, not {tuple(wanted.shape)}")
    if not dtypes.is_float(dtype):
        with numpy.errstate(all="ignore"):
            differ = found != wanted.astype(found.dtype)
        if differ.any():
            raise Wrong(_first(differ, found, wanted))
        return 0.0
    wide = numpy.longdouble
    found, wanted = found.astype(wide), wanted.astype(wide)
    rounded = round_to(wanted, dtype)
    equal = (found == rounded) & (numpy.signbit(found) == numpy.signbit(rounded))
    equal |= numpy.isnan(found) & numpy.isnan(rounded)
    if loose or not zeros:
        equal |= (found == 0) & (rounded == 0)
    if equal.all():
        return 0.0
    info = dtypes.finfo(dtype)
    with numpy.errstate(all="ignore"):
        far = numpy.abs(found - wanted)
        unit = unit_of(wanted, dtype)
        if loose:
            finite = numpy.abs(wanted[numpy.isfinite(wanted)])
            unit = numpy.maximum(unit, unit_of(finite.max(initial=0), dtype))
    # beyond the range the last step of the range goes on
    kind = numpy.isnan(found) != numpy.isnan(rounded)
    kind |= (numpy.isinf(found) != numpy.isinf(rounded)) & ~(numpy.abs(wanted) > info.max * 0.99)
    kind |= (found == 0) & (rounded == 0) & (numpy.signbit(found) != numpy.signbit(rounded))
    kind &= ~equal
    if kind.any():
        raise Wrong(_first(kind, found, wanted))
    inside = ~equal & numpy.isfinite(found) & numpy.isfinite(wanted)
    return float((far / unit)[inside].max(initial=0.0)) if inside.any() else 1.0


def unit_of(value: Any, dtype: DType) -> Any:
    """The distance from a value to the next in this dtype."""
    import numpy

    info = dtypes.finfo(dtype)
    exponent = numpy.frexp(numpy.abs(value))[1] - 1
    low, high = 1 - info.bias, int(numpy.frexp(info.max)[1]) - 1
    exponent = numpy.where(numpy.isfinite(value) & (value != 0), exponent, low)
    exponent = numpy.clip(exponent, low, high)
    return numpy.ldexp(numpy.longdouble(1), exponent - info.mantissa_bits)


def round_to(value: Any, dtype: DType) -> Any:
    """Wide values as a float dtype holds them: rounded once, to nearest with ties to even."""
    import numpy

    info = dtypes.finfo(dtype)
    with numpy.errstate(all="ignore"):
        unit = unit_of(value, dtype)
        rounded = numpy.where(numpy.isfinite(value), numpy.rint(value / unit) * unit, value)
    beyond = numpy.abs(rounded) > info.max
    top = numpy.copysign(numpy.inf if info.has_infinity else numpy.nan, value)
    return numpy.where(beyond, top, rounded)


def _first(differ: Any, found: Any, wanted: Any) -> str:
    import numpy

    at = tuple(int(i) for i in numpy.argwhere(differ)[0])
    count = int(differ.sum())
    return f"{found[at]} at {at}, not {wanted[at]}; {count} of {differ.size} are wrong"
