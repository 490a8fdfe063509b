"""Random programs of larger arrays compared with NumPy: values, dtypes, shapes.

A program takes inputs that lie in memory in any way (transposed, flipped, windows, results that
wait), asks several questions about them, and all are realized together. A number says all of it:
`check("indexing", 7)` is the same program everywhere. The makers of programs are entered into
`FAMILIES` by the modules beside this one; each is run on any device, under any settings.

    check("integers", 7, "REF")         raises Mismatch where weft and NumPy differ
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from cases.random_source import RandomSource
from weft.base.dtype import dtypes
from weft.tensor import Tensor

if TYPE_CHECKING:
    import numpy

Family: TypeAlias = Callable[["Draw"], None]

FAMILIES: dict[str, Family] = {}
"""What asks the questions of a program, by its name."""

SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
WHOLE = SIGNED + UNSIGNED
REAL = ("float16", "bfloat16", "float32", "float64")
KINDS = ("bool", *WHOLE, *REAL)
_SPECIAL = (float("nan"), float("inf"), float("-inf"), 0.0, -0.0)
_EPSILON = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23, "float64": 2.0**-52}
_LEAST = {"float16": 2.0**-24, "bfloat16": 2.0**-126, "float32": 2.0**-126, "float64": 2.0**-1022}


class Mismatch(AssertionError):
    """weft and NumPy answer differently; the text says to what."""


def family(maker: Family) -> Family:
    """Enter a maker of programs, by the name of the function."""
    FAMILIES[maker.__name__] = maker
    return maker


def rounded(array: Any, kind: str) -> numpy.ndarray:
    """The values as the dtype keeps them: float32 replaces bfloat16, which NumPy does not have.

    >>> rounded([1.001, 300.7], "bfloat16").tolist()
    [1.0, 300.0]
    """
    import numpy

    if kind != "bfloat16":
        with numpy.errstate(all="ignore"):
            return numpy.asarray(array).astype(kind)
    with numpy.errstate(all="ignore"):
        exact = numpy.asarray(array).astype("longdouble")  # all 64 bits of an integer too
        single = numpy.ascontiguousarray(exact.astype("float32"))
        bits = single.view("uint32").reshape(exact.shape)
        # toward zero, with the last bit set where something is lost: so that it is rounded once
        beyond = abs(single.reshape(exact.shape).astype("longdouble")) > abs(exact)
        bits = bits - beyond.astype("uint32")
        bits |= bits.view("float32").astype("longdouble") != exact
    single = bits.view("float32")
    nearest = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
    kept = numpy.where(numpy.isnan(single), bits, nearest).astype("uint32")
    return kept.view("float32").reshape(numpy.shape(array))


@dataclass(frozen=True)
class Question:
    """A tensor, and what it should hold: `near` is how many units in the last place of `size`
    (the values themselves where none is given) it may be off; 0 requires equal bits."""

    text: str
    got: Tensor
    want: numpy.ndarray
    kind: str
    near: float
    size: numpy.ndarray | None

    def answer(self) -> str | None:
        """What is wrong with it; None if nothing is."""
        import numpy

        if self.got.shape != self.want.shape:
            return f"shape {self.got.shape} instead of {self.want.shape}"
        kind = numpy_name(self.got.dtype)
        if kind != self.kind:
            return f"{kind} instead of {self.kind}"
        want = rounded(self.want, self.kind)
        got = (self.got.float() if kind == "bfloat16" else self.got).numpy()
        fine = self._fine(got, want)
        if bool(numpy.all(fine)):
            return None
        places = numpy.argwhere(~fine)[:4]
        shown = [f"{tuple(p.tolist())}: {got[tuple(p)]!r} not {want[tuple(p)]!r}" for p in places]
        return f"{numpy.count_nonzero(~fine)} of {want.size} elements, " + ", ".join(shown)

    def _fine(self, got: Any, want: Any) -> Any:
        import numpy

        if self.kind not in REAL:
            return got == want
        both_nan = numpy.isnan(got) & numpy.isnan(want)
        equal = (got == want) & (numpy.signbit(got) == numpy.signbit(want))
        if not self.near:
            return both_nan | equal
        with numpy.errstate(all="ignore"):
            a, b = got.astype("float64"), want.astype("float64")
            size = numpy.abs(b if self.size is None else self.size) + _LEAST[self.kind]
            off = numpy.abs(a - b) <= self.near * _EPSILON[self.kind] * size
            return both_nan | (got == want) | (off & numpy.isfinite(size))


def numpy_name(dtype: Any) -> str:
    """What NumPy calls a dtype of weft's.

    >>> numpy_name(dtypes.long), numpy_name(dtypes.bfloat16)
    ('int64', 'bfloat16')
    """
    return _NAMES[dtype]


_NAMES = {getattr(dtypes, name): name for name in KINDS}


@dataclass
class Draw(RandomSource):
    """What a program is drawn from, and the questions that it has asked."""

    seed: int
    device: str | None = None
    questions: list[Question] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.begin(self.seed)

    def size(self, most: int = 40) -> int:
        """The size of an axis: small ones, those of vectors and their neighbours."""
        some = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 65, 100, 127, 130, 257, 1000]
        return int(self.choice([n for n in some if n <= most]))

    def shape(self, least: int = 0, most: int = 3, elements: int = 4000) -> tuple[int, ...]:
        """Sizes of so many axes, now and then one of none."""
        shape: list[int] = []
        for _ in range(self.integer(least, most)):
            shape.append(self.size(max(1, elements)))
            elements //= shape[-1]
        self.pick.shuffle(shape)
        if shape and self.chance(0.03):
            shape[self.integer(0, len(shape) - 1)] = 0
        return tuple(shape)

    def axes(self, rank: int) -> tuple[int, ...]:
        """Some axes, counted from either end."""
        chosen = self.pick.sample(range(rank), self.integer(0, rank))
        return tuple(a - rank if self.chance(0.3) else a for a in chosen)

    def array(self, shape: Sequence[int], kind: str, values: str = "any") -> numpy.ndarray:
        """Values of a dtype: "any" (ends of integers, NaN, infinities), "few" (small whole
        numbers: ties, and sums that no order changes), "calm" (finite, 0.3 to 2 in size)."""
        import numpy

        shape = tuple(shape)
        if kind == "bool":
            return self.numbers.random(shape) < self.choice([0.5, 0.5, 0.1, 0.95])
        low = 0 if kind in UNSIGNED else -4
        if values == "few":
            return self.numbers.integers(low, 5, shape).astype(_held(kind))
        if kind in WHOLE:
            return self._integers(shape, kind)
        if values == "calm":
            array = self.numbers.uniform(0.3, 2, shape) * self.numbers.choice([-1, 1], shape)
            return rounded(array, kind)
        array = self.numbers.normal(0, self.choice([1, 3, 50]), shape)
        array = numpy.round(array) if self.chance(0.3) else array
        if self.chance(0.4):
            marks = self.numbers.random(shape) < self.choice([0.01, 0.3])
            array = numpy.where(marks, self.numbers.choice(_SPECIAL, shape), array)
        return rounded(array, kind)

    def _integers(self, shape: tuple[int, ...], kind: str) -> Any:
        import numpy

        ends = numpy.iinfo(kind)
        wide = self.numbers.integers(ends.min, ends.max, shape, dtype=kind, endpoint=True)
        small = self.numbers.integers(0 if kind in UNSIGNED else -9, 10, shape).astype(kind)
        edges = numpy.array([ends.min, ends.max, ends.min + 1, ends.max - 1, 0, 1], dtype=kind)
        at = self.numbers.random(shape)
        share = self.choice([0.0, 0.3, 1.0])
        mixed = numpy.where(at < share, wide, small)
        picked = self.numbers.choice(edges, shape)
        return numpy.where(self.numbers.random(shape) < 0.1 * share, picked, mixed).astype(kind)

    def tensor(self, array: Any, kind: str | None = None, layout: str | None = None) -> Tensor:
        """A tensor of these values, which lie in memory or are to be computed in some way."""
        import numpy

        kind = kind or str(array.dtype)
        layouts = ["plain"] * 3 + ["chosen"]
        if array.ndim and array.size:
            layouts += ["transposed", "flipped", "window", "strided", "joined"]
        layout = layout or self.choice(layouts)
        made = lambda a: Tensor(a, dtype=kind, device=self.device)  # noqa: E731
        if layout == "plain":
            return made(array)
        noise = self.array(array.shape, kind)
        if layout == "chosen":
            mask = self.array(array.shape, "bool")
            ours, others = numpy.where(mask, array, noise), numpy.where(mask, noise, array)
            return made(mask).where(made(ours), made(others))
        axis = self.integer(0, array.ndim - 1)
        if layout == "transposed":
            return made(numpy.ascontiguousarray(array.swapaxes(axis, -1))).transpose(axis, -1)
        if layout == "flipped":
            return made(numpy.flip(array, axis).copy()).flip(axis)
        if layout == "strided":
            stacked = numpy.stack([array, noise], axis + 1)
            shape = list(array.shape)
            shape[axis] *= 2
            at = (slice(None),) * axis + (slice(None, None, 2),)
            return made(stacked.reshape(shape))[at]
        cut = self.integer(0, array.shape[axis])
        if layout == "joined":
            first, second = numpy.split(array, [cut], axis)
            return made(first).cat(made(second), dim=axis)
        wide = numpy.concatenate([noise, array, noise], axis)
        size = array.shape[axis]
        return made(wide).narrow(axis, size, size)

    def input(
        self, shape: Sequence[int], kind: str, values: str = "any"
    ) -> tuple[Tensor, numpy.ndarray]:
        """A tensor, and what it holds."""
        array = self.array(shape, kind, values)
        return self.tensor(array, kind), array

    def ask(
        self, text: str, got: Tensor, want: Any, kind: str | None = None, near: float = 0.0,
        size: Any = None,
    ) -> None:  # fmt: skip
        """One more question; the dtype is that of `want` where none is given."""
        import numpy

        want = numpy.asarray(want)
        self.questions.append(Question(text, got, want, kind or str(want.dtype), near, size))


def _held(kind: str) -> str:
    return "float32" if kind == "bfloat16" else kind


def check(name: str, seed: int, device: str | None = None) -> None:
    """Run one program of a family and compare every answer.

    :raises Mismatch: where weft and NumPy differ.
    """
    import numpy

    draw = Draw(seed, device)
    with numpy.errstate(all="ignore"):
        FAMILIES[name](draw)
        asked = [question.got for question in draw.questions]
        if asked:
            asked[0].realize(*asked[1:])
        wrong = [(q.text, q.answer()) for q in draw.questions]
    told = [f"\n  {text}: {answer}" for text, answer in wrong if answer is not None]
    if told:
        raise Mismatch(f"check({name!r}, {seed}, {device!r}):{''.join(told)}")
