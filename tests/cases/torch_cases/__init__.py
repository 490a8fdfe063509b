"""Random calls of Tensor methods compared with PyTorch: values, dtypes, first and second gradients.

A case is a method, its inputs (of any rank, empty, broadcast, views that are not contiguous, with
NaN, infinities and zeros of both signs) and its arguments, some by position and some by name. A
number says all of it: `case(7)` is the same case everywhere. The families of cases are entered
into `FAMILIES` by the modules beside this one.

    check(case(7))          raises Mismatch where weft and PyTorch differ
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

Family: TypeAlias = Callable[["Cases"], "Case"]

FAMILIES: dict[str, Family] = {}
"""What makes a case of a name."""

FLOATS = ("float32", "float32", "float32", "float64", "float16", "bfloat16")
INTS = ("int32", "int64", "int8", "int16", "uint8")
_SPECIAL = (float("nan"), float("inf"), float("-inf"), 0.0, -0.0)
# how far results may be apart: two roundings of half, many of float
_NEAR = {"float64": 1e-11, "float32": 1e-5, "float16": 4e-3, "bfloat16": 3e-2}


class Mismatch(AssertionError):
    """weft and PyTorch answer differently; the text says to what."""


def family(*names: str) -> Callable[[Any], Any]:
    """Enter a maker of cases. Of several names each is a family, and an argument of the maker."""

    def enter(maker: Any) -> Any:
        for name in names:
            FAMILIES[name] = maker if len(names) == 1 else _named(maker, name)
        return maker

    return enter


def _named(maker: Any, name: str) -> Family:
    return lambda cases: maker(cases, name)


@dataclass(frozen=True)
class Input:
    """An array, and how the tensor that shows it is laid out over memory."""

    array: numpy.ndarray
    kind: str
    layout: str

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape

    @property
    def ndim(self) -> int:
        return self.array.ndim

    def weft(self, requires_grad: bool) -> tuple[Tensor, Tensor]:
        """The memory, and the tensor that is a view of it."""
        leaf = Tensor(self._held(), dtype=self.kind)
        if requires_grad:
            leaf.requires_grad_()
        return leaf, self._viewed(leaf, lambda x, dims: x.flip(dims))

    def torch(self, requires_grad: bool) -> tuple[Any, Any]:
        """The same with PyTorch."""
        import torch

        leaf = torch.tensor(self._held()).to(getattr(torch, self.kind))
        leaf.requires_grad_(requires_grad)
        return leaf, self._viewed(leaf, lambda x, dims: x.flip(dims))

    def _held(self) -> Any:
        import numpy

        if self.layout == "transposed":
            return self.array.swapaxes(0, -1).copy()
        if self.layout == "flipped":
            return numpy.flip(self.array, 0).copy()
        if self.layout == "window":
            return numpy.pad(self.array, [(1, 2)] * self.ndim, constant_values=1)
        if self.layout == "repeated":
            return self.array[:1].copy()
        return self.array

    def _viewed(self, leaf: Any, flip: Any) -> Any:
        if self.layout == "transposed":
            return leaf.transpose(0, -1)
        if self.layout == "flipped":
            return flip(leaf, (0,))
        if self.layout == "window":
            return leaf[tuple(slice(1, 1 + s) for s in self.shape)]
        if self.layout == "repeated":
            return leaf.expand(self.shape)
        return leaf

    def __str__(self) -> str:
        return f"{self.kind}{list(self.shape)} {self.layout} {self.array.ravel()[:24].tolist()}"


@dataclass(frozen=True)
class Case:
    """One call. `weft` and `torch` take the inputs as tensors, then the arguments."""

    name: str
    inputs: Sequence[Input]
    arguments: dict[str, Any]
    weft: Callable[..., Any]
    torch: Callable[..., Any]
    by_position: int = 0
    differentiable: bool = True
    loose: bool = False
    second: bool = True
    weights: int = field(default=0, repr=False)

    def __str__(self) -> str:
        inputs = "\n  ".join(map(str, self.inputs))
        return f"{self.name} {self.arguments} ({self.by_position} by position) of\n  {inputs}"


class Cases(RandomSource):
    """What families choose from."""

    def __init__(self, seed: int) -> None:
        self.begin(seed)

    def shape(self, least: int = 0, most: int = 3, sizes: Sequence[int] = (1, 2, 3, 4, 5)) -> Any:
        """Sizes of so many axes; at times one of them is empty."""
        shape = [self.choice(sizes) for _ in range(self.integer(least, most))]
        if shape and self.chance(0.04) and min(sizes) <= 1:
            shape[self.integer(0, len(shape) - 1)] = 0
        return tuple(shape)

    def array(
        self, shape: Any = None, kind: Any = FLOATS, values: str = "any", low: int = -4,
        high: int = 4, plain: bool = False,
    ) -> Input:  # fmt: skip
        """An input. `values`: "any" (special ones too), "finite", "calm" (0.3 to 2 in size),
        "positive"; integers are from low to high."""
        import numpy

        shape = self.shape() if shape is None else shape
        kind = kind if isinstance(kind, str) else self.choice(kind)
        if kind in INTS:
            array = self.numbers.integers(max(low, 0) if kind == "uint8" else low, high + 1, shape)
            array = array.astype(kind)
        elif kind == "bool":
            array = self.numbers.integers(0, 2, shape).astype(bool)
        else:
            array = self._floats(shape, values, kind)
        layouts = ["plain"] * 4
        if shape and not plain:
            layouts += ["transposed", "flipped", "window"]
            # PyTorch sums the gradients of repeated halves as halves
            if shape[0] and kind not in ("float16", "bfloat16") and self.chance(0.2):
                layouts, array = ["repeated"], numpy.broadcast_to(array[:1], shape)
        return Input(array, kind, self.choice(layouts))

    def _floats(self, shape: Any, values: str, kind: str) -> Any:
        import numpy

        array = self.numbers.normal(0, 2, shape)
        if values in ("calm", "positive"):
            array = self.numbers.uniform(0.3, 2, shape)
            array *= 1 if values == "positive" else self.numbers.choice([-1, 1], shape)
        elif self.chance(0.3):
            array = numpy.round(array)  # ties and zeros
        if values == "any" and self.chance(0.25):
            marks = self.numbers.random(shape) < 0.3
            array = numpy.where(marks, self.numbers.choice(_SPECIAL, shape), array)
        # what both are given is exact in the dtype that they are given it in
        array = numpy.asarray(array, dtype="float64" if kind == "float64" else "float32")
        if kind == "bfloat16":
            bits = array.view("uint32")
            array = numpy.where(numpy.isfinite(array), (bits & 0xFFFF0000).view("float32"), array)
        return array.astype("float16") if kind == "float16" else array

    def axis(self, x: Input) -> int:
        """An axis, counted from either end."""
        return self.integer(-x.ndim, x.ndim - 1) if x.ndim else self.choice([0, -1])

    def axes(self, x: Input) -> Any:
        """None, an axis, or several."""
        if x.ndim == 0 or self.chance(0.25):
            return None
        if self.chance(0.5):
            return self.axis(x)
        found = self.pick.sample(range(x.ndim), self.integer(1, x.ndim))
        return tuple(a - x.ndim if self.chance(0.3) else a for a in found)

    def case(
        self, name: str, inputs: Sequence[Input], arguments: dict[str, Any], torch: Any,
        weft: Any = None, named: int | None = None, **facts: Any,
    ) -> Case:  # fmt: skip
        """A case of the method `name`. Arguments are in the order of its signature; the last
        `named` (None: any number) are by name."""
        count = len(arguments)
        most = count if named is None else count - named
        method = weft or (lambda self, /, *rest, **by_name: getattr(self, name)(*rest, **by_name))
        at = self.integer(0, most)
        return Case(
            name, inputs, arguments, method, torch, at, weights=self.integer(1, 10**6), **facts
        )


def case(seed: int, names: Sequence[str] | None = None) -> Case:
    """The case of a number; of one of the families `names`, if they are given."""
    cases = Cases(seed)
    return FAMILIES[cases.choice(names or sorted(FAMILIES))](cases)


def check(this: Case, second: bool = True) -> None:
    """Make the call with both, and compare values, dtypes and gradients.

    :param second: compare the gradients of gradients as well.
    :raises Mismatch: where they differ.
    """
    import torch

    names = list(this.arguments.items())
    given = [v for _, v in names[: this.by_position]]
    named = dict(names[this.by_position :])
    floats = [x.kind in _NEAR for x in this.inputs]
    ours = [x.weft(this.differentiable and f) for x, f in zip(this.inputs, floats)]
    theirs = [x.torch(this.differentiable and f) for x, f in zip(this.inputs, floats)]
    refused = None
    try:
        want = this.torch(*(view for _, view in theirs), **this.arguments)
    except (RuntimeError, IndexError, ValueError, TypeError, NotImplementedError) as error:
        refused = error
    if refused is not None:
        return  # what PyTorch does not do is no matter of comparison
    got = this.weft(*(view for _, view in ours), *given, **named)
    results, wanted = _several(got), _several(want)
    if len(results) != len(wanted):
        raise Mismatch(f"{len(results)} results, {len(wanted)} of PyTorch\n{this}")
    for place, (a, b) in enumerate(zip(results, wanted)):
        _compare(a, b, f"result {place}", this)
    pairs = [
        (a, b) for a, b in zip(results, wanted) if isinstance(b, torch.Tensor) and b.requires_grad
    ]
    if this.differentiable and pairs:
        _check_gradients(this, ours, theirs, pairs, second and this.second)


def _several(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (tuple, list)) else [value]


def _check_gradients(this: Case, ours: Any, theirs: Any, pairs: Any, second: bool) -> None:
    import torch

    cases = Cases(this.weights)
    total = None
    torch_total = 0
    for a, b in pairs:
        # never 0: 0 times infinity would hide what comes
        weight = cases.array(tuple(b.shape), "float32", "calm", plain=True).array
        kind = str(b.dtype).removeprefix("torch.")
        part = (a * Tensor(weight, dtype=kind)).sum()
        total = part.float() if total is None else total + part.float()
        torch_total = torch_total + (b * torch.tensor(weight).to(b.dtype)).sum().float()
    leaves = [(a[0], b[0]) for a, b in zip(ours, theirs) if b[0].requires_grad]
    wide = all(b.dtype == torch.float64 for _, b in leaves)
    try:
        wanted = torch.autograd.grad(
            torch_total, [b for _, b in leaves], create_graph=second and wide, allow_unused=True
        )
    except RuntimeError:
        return  # PyTorch has no gradient of this
    found = total.gradient(*(a for a, _ in leaves), materialize_grads=True)
    again = [(a, b) for a, b in zip(found, wanted) if b is not None and b.requires_grad]
    again = again if second and wide else []
    # derived again before anything is read: what is computed has no way back
    deeper, torch_deeper = _squared(again)
    deepest = deeper.gradient(*(a for a, _ in leaves), materialize_grads=True) if again else []
    _compare_all(found, wanted, "gradient", this, leaves)
    if again:
        theirs_deepest = torch.autograd.grad(
            torch_deeper, [b for _, b in leaves], allow_unused=True
        )
        _compare_all(deepest, theirs_deepest, "gradient of the gradient", this, leaves)


def _squared(pairs: Any) -> tuple[Any, Any]:
    """Of several gradients one number, with both."""
    ours, theirs = None, 0
    for a, b in pairs:
        part = (a * a * 0.5 + a).sum()
        ours = part if ours is None else ours + part
        theirs = theirs + (b * b * 0.5 + b).sum()
    return ours, theirs


def _compare_all(found: Any, wanted: Any, what: str, this: Case, leaves: Any) -> None:
    for place, (a, b) in enumerate(zip(found, wanted)):
        if b is not None:
            _compare(a, b, f"{what} {place}", this, leaves[place][1])


def _compare(got: Any, want: Any, what: str, this: Case, at_input: Any = None) -> None:
    """Gradients at NaN (`at_input`) are not compared."""
    import numpy
    import torch

    if not isinstance(want, torch.Tensor):
        if got != want:
            raise Mismatch(f"{what}: {got!r}, PyTorch {want!r}\n{this}")
        return
    kind = str(want.dtype).removeprefix("torch.")
    if tuple(got.shape) != tuple(want.shape):
        raise Mismatch(f"{what}: shape {got.shape}, PyTorch {tuple(want.shape)}\n{this}")
    floating = kind in _NEAR
    if got.dtype != dtypes.to_dtype(kind) if floating else dtypes.is_float(got.dtype):
        raise Mismatch(f"{what}: {got.dtype}, PyTorch {kind}\n{this}")
    b = torch.empty_like(want).copy_(want.detach())  # PyTorch has zeros without memory
    b = b.double().numpy() if floating else b.numpy()
    a = got.double().numpy() if floating else got.numpy()
    if not floating:
        if a.dtype != bool and b.dtype != bool:
            b = b.astype(a.dtype)
        wrong = a != b
    else:
        near = _NEAR[kind]
        whole = numpy.abs(b[numpy.isfinite(b)]).max(initial=1) if this.loose else 1
        with numpy.errstate(all="ignore"):
            close = numpy.abs(a - b) <= near * (numpy.abs(b) + whole)
        wrong = ~(close | (a == b) | (numpy.isnan(a) & numpy.isnan(b)))
    if at_input is not None:
        wrong &= ~at_input.detach().isnan().numpy()
    if numpy.any(wrong):
        at = tuple(numpy.argwhere(wrong)[0]) if numpy.ndim(wrong) else ()
        raise Mismatch(
            f"{what} at {tuple(map(int, at))}: {a[at]}, PyTorch {b[at]}; {int(numpy.sum(wrong))} of"
            f" {numpy.size(wrong)} differ\n{this}"
        )
