"""Random programs of views, writes and gradients, the same lines for tensors and PyTorch.

A program has leaves that require gradients and constants, computes, takes views, writes in place,
looks at values on the way, and calls `backward` once or more. Three libraries run it:

- PyTorch. It fails where a value that it has saved for `backward` was overwritten.
- PyTorch with a copy of every operand and result. It saves copies alone, so it fails only where a
  write as such is refused (a leaf, a view of a leaf), and its gradients are right.
- weft. It refuses the writes that PyTorch refuses. Where PyTorch succeeds it succeeds, with equal
  values and gradients. Where PyTorch fails it raises GradientError, or its gradients are right.

    check_gradients(Seeded(7))
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from weft.base.errors import GradientError
from weft.tensor import Tensor
from weft.testing.program_lines import Chooser, Mismatch

T = TypeVar("T")

_SHAPES = [(2, 3), (3,), (2, 2), (1, 3), (2, 1, 2)]
_UNARY = ("exp", "sin", "square", "relu", "tanh", "sqrt_abs")
_BINARY = ("add", "mul", "sub", "div", "where")


class Numpy:
    """Shapes and values, without gradients."""

    errors: tuple[type[Exception], ...] = ()

    def leaf(self, shape: tuple[int, ...], seed: int) -> Any:
        return np.random.default_rng(seed).integers(1, 9, shape) / 4

    constant = leaf

    def unary(self, name: str, x: Any) -> Any:
        return {
            "exp": lambda: np.exp(x * 0.1), "sin": lambda: np.sin(x), "square": lambda: x * x,
            "relu": lambda: np.maximum(x, 0), "tanh": lambda: np.tanh(x),
            "sqrt_abs": lambda: np.sqrt(np.abs(x) + 1),
        }[name]()  # fmt: skip

    def binary(self, name: str, x: Any, y: Any) -> Any:
        if name == "div":
            return x / (y * y + 1)
        if name == "where":
            return np.where(x > 1, x, y)
        return {"add": np.add, "mul": np.multiply, "sub": np.subtract}[name](x, y)

    def total(self, x: Any) -> Any:
        return np.sum(x, 0)

    def copy(self, x: Any) -> Any:
        return np.array(x, order="C")

    def matmul(self, x: Any, y: Any) -> Any:
        return x @ y

    def rows(self, x: Any, places: list[int]) -> Any:
        return x[places]

    def permute(self, x: Any, order: tuple[int, ...]) -> Any:
        return np.transpose(x, order)

    def reshape(self, x: Any, shape: tuple[int, ...]) -> Any:
        return np.reshape(x, shape)

    def expand(self, x: Any, shape: tuple[int, ...]) -> Any:
        return np.broadcast_to(x, shape)

    def diagonal(self, x: Any) -> Any:
        return np.einsum("ii->i", x[: min(x.shape), : min(x.shape)])

    def detach(self, x: Any) -> Any:
        return x[...]

    def write(self, x: Any, value: Any) -> None:
        """All of x."""

    def change(self, name: str, x: Any, y: Any) -> None:
        """x becomes x with y, in place."""

    def masked(self, x: Any, value: float) -> None:
        """Where x is above 1."""

    def write_rows(self, x: Any, places: list[int], value: Any) -> None:
        """Rows by number, each once."""

    def step(self, x: Any) -> None:
        """What an optimiser does."""

    def settle(self, how: str, x: Any) -> None:
        """Compute x now, or look at it."""

    def backward(self, parts: Sequence[tuple[float, Any]]) -> None:
        """Of the sum of factors times squares."""


class Torch(Numpy):
    """PyTorch. safe: everything that an operation may save is a copy."""

    errors = (RuntimeError,)

    def __init__(self, safe: bool) -> None:
        import torch

        self.torch, self.safe = torch, safe

    def own(self, x: Any) -> Any:
        """What an operation may keep."""
        if not isinstance(x, self.torch.Tensor):
            return x
        row_major = self.torch.contiguous_format
        return x.clone(memory_format=row_major) if self.safe else x

    def made(self, x: Any) -> Any:
        """A result, row-major as weft's are."""
        return self.own(x).contiguous()

    def saved(self, y: Any, x: Any) -> Any:
        """y as an operand that the gradient of x is computed from: of a constant y weft saves no
        intermediate result."""
        is_saved = self.safe or y.requires_grad or not x.requires_grad
        return y if is_saved else y.detach().requires_grad_()

    def leaf(self, shape: tuple[int, ...], seed: int) -> Any:
        return self.constant(shape, seed).requires_grad_()

    def constant(self, shape: tuple[int, ...], seed: int) -> Any:
        return self.torch.tensor(Numpy().leaf(shape, seed))

    def unary(self, name: str, x: Any) -> Any:
        x = self.own(x)
        return self.made({
            "exp": lambda: self.own(x * 0.1).exp(), "sin": x.sin, "square": lambda: x * x,
            "relu": x.relu, "tanh": x.tanh,
            "sqrt_abs": lambda: self.own(self.own(x.abs()) + 1).sqrt(),
        }[name]())  # fmt: skip

    def binary(self, name: str, x: Any, y: Any) -> Any:
        x, y = self.own(x), self.own(y)
        if name == "div":
            y = self.saved(y, x)
            return self.made(x / self.own(y * y + 1))
        if name == "where":
            return self.made(self.where(x > 1, x, y))
        return self.made({"add": x.__add__, "mul": x.__mul__, "sub": x.__sub__}[name](y))

    def where(self, condition: Any, x: Any, y: Any) -> Any:
        return self.torch.where(condition, x, y)

    def total(self, x: Any) -> Any:
        return x.sum(0)

    def copy(self, x: Any) -> Any:
        return self.made(x.clone())

    def matmul(self, x: Any, y: Any) -> Any:
        return self.own(x) @ self.own(y)

    def permute(self, x: Any, order: tuple[int, ...]) -> Any:
        return x.permute(order)

    def reshape(self, x: Any, shape: tuple[int, ...]) -> Any:
        return x.reshape(shape)

    def expand(self, x: Any, shape: tuple[int, ...]) -> Any:
        return x.expand(shape)

    def diagonal(self, x: Any) -> Any:
        return x.diagonal()

    def detach(self, x: Any) -> Any:
        return x.detach()

    def write(self, x: Any, value: Any) -> None:
        x[...] = self.own(value)

    def change(self, name: str, x: Any, y: Any) -> None:
        if self.safe:
            x.copy_(self.binary(name, x, y))
        elif name == "div":
            y = self.saved(y, x)
            x /= y * y + 1
        else:
            {"add": x.__iadd__, "mul": x.__imul__, "sub": x.__isub__}[name](y)

    def masked(self, x: Any, value: float) -> None:
        x[x > 1] = value

    def write_rows(self, x: Any, places: list[int], value: Any) -> None:
        x[places] = self.own(value)

    def step(self, x: Any) -> None:
        with self.torch.no_grad():
            x -= 0.25 * x

    def backward(self, parts: Sequence[tuple[float, Any]]) -> None:
        loss: Any = sum(factor * (self.own(x) * self.own(x)).sum() for factor, x in parts)
        if loss.requires_grad:
            loss.backward(retain_graph=True)


class Weft(Torch):
    """Tensors."""

    errors = (GradientError,)

    def __init__(self) -> None:
        self.safe = False

    def constant(self, shape: tuple[int, ...], seed: int) -> Any:
        return Tensor(Numpy().leaf(shape, seed))

    def own(self, x: Any) -> Any:
        return x

    made = own

    def saved(self, y: Any, x: Any) -> Any:
        return y

    def where(self, condition: Any, x: Any, y: Any) -> Any:
        return condition.where(x, y)

    def step(self, x: Any) -> None:
        with Tensor.no_grad():
            x -= 0.25 * x

    def settle(self, how: str, x: Any) -> None:
        getattr(x, how)()

    def backward(self, parts: Sequence[tuple[float, Any]]) -> None:
        loss: Any = sum(factor * (x * x).sum() for factor, x in parts)
        try:
            if loss.requires_grad:
                loss.backward()
        except GradientError as error:
            if "no leaf" not in str(error):  # all was overwritten: PyTorch's gradients are zeros
                raise


class _Writer:
    """Lines while they are chosen.

    kinds: by name "leaf", "view" (of a leaf), "computed", "constant" or "detached".
    """

    def __init__(self, chooser: Chooser) -> None:
        self.chooser = chooser
        self.lines: list[str] = []
        self.names: dict[str, Any] = {"lib": Numpy()}
        self.kinds: dict[str, str] = {}
        self.made = 0

    def integer(self, high: int) -> int:
        return self.chooser.integer(0, high)

    def choice(self, items: Sequence[T]) -> T:
        return items[self.integer(len(items) - 1)]

    def line(self, text: str) -> None:
        exec(text, self.names)
        self.lines.append(text)

    def make(self, text: str, kind: str) -> None:
        name = f"t{self.made}"
        self.made += 1
        self.line(f"{name} = {text}")
        self.kinds[name] = kind

    def step(self) -> None:
        name = self.choice(list(self.kinds)[::-1])
        how = self.integer(11)
        if how <= 2:
            self.make(*self._value(name))
        elif how <= 5:
            self._make_view(name)
        elif how <= 8:
            self._write(name)
        elif how == 9:
            how = self.choice(["realize", "kernelize", "numpy", "del"])
            if how != "del":
                self.line(f"lib.settle({how!r}, {name})")
            elif name not in ("t0", "t1"):
                self.line(f"del {name}")
                del self.kinds[name]
        elif how == 10:
            self._step()
        else:
            self.line(f"lib.backward([{self._parts()}])")

    def _parts(self) -> str:
        chosen = [self.choice(list(self.kinds)[::-1]) for _ in range(1 + self.integer(2))]
        return ", ".join(f"({place + 1}, {name})" for place, name in enumerate(chosen))

    def _fitting(self, shape: tuple[int, ...]) -> list[str]:
        return [n for n in self.kinds if _fits(self.names[n].shape, shape)]

    def _value(self, name: str) -> tuple[str, str]:
        x = self.names[name]
        how = self.integer(6)
        if how == 0:
            return f"lib.unary({self.choice(_UNARY)!r}, {name})", self._kind(name)
        if how == 1 and x.ndim:
            return f"lib.total({name})", self._kind(name)
        if how == 2 and x.ndim and x.shape[0]:
            places = [self.integer(x.shape[0] - 1) for _ in range(2)]
            return f"lib.rows({name}, {places})", self._kind(name)
        if how == 3 and x.ndim == 2:
            others = [n for n in self.kinds if self.names[n].shape == x.shape]
            other = self.choice(others)
            turned = f"lib.permute({other}, (1, 0))"
            return f"lib.matmul({name}, {turned})", self._kind(name, other)
        if how == 4:
            return f"lib.copy({name})", self._kind(name)
        other = self.choice(self._fitting(x.shape))
        return f"lib.binary({self.choice(_BINARY)!r}, {name}, {other})", self._kind(name, other)

    def _kind(self, *names: str) -> str:
        given = {self.kinds[name] for name in names}
        return "constant" if given <= {"constant", "detached"} else "computed"

    def _make_view(self, name: str) -> None:
        x = self.names[name]
        kind = "view" if self.kinds[name] == "leaf" else self.kinds[name]
        how = self.integer(6)
        if how == 0 and x.ndim > 1:
            self.make(f"lib.permute({name}, {tuple(range(x.ndim))[::-1]})", kind)
        elif how == 1:
            shapes = [(x.size,), (*x.shape, 1), x.shape[::-1]]
            shape = self.choice(shapes)
            if x.flags.c_contiguous:
                self.make(f"{name}.reshape({shape})", kind)
            else:
                self.make(f"lib.reshape({name}, {shape})", self._reshaped(x, shape, kind))
        elif how == 2 and x.ndim == 2:
            self.make(f"lib.diagonal({name})", kind)
        elif how == 3 and self.kinds[name] in ("leaf", "view", "constant"):
            self.make(f"lib.detach({name})", "detached")
        elif how == 4:
            shape = (2, *(2 if size == 1 else size for size in x.shape))
            self.make(f"lib.expand({name}, {shape})", kind)
        else:
            self.make(f"{name}[{self._index(x.shape)}]", kind)

    @staticmethod
    def _reshaped(x: Any, shape: tuple[int, ...], kind: str) -> str:
        view = x[...]
        try:
            view.shape = shape
        except AttributeError:  # a copy
            return "constant" if kind in ("constant", "detached") else "computed"
        return kind

    def _index(self, shape: tuple[int, ...]) -> str:
        parts = [
            self.choice([":", "1:", "::2", "None, :", *(["-1", "0"] if size else [])])
            for size in shape[: self.integer(len(shape))]
        ]
        return ", ".join([*parts, "..."])

    def _write(self, name: str) -> None:
        x = self.names[name]
        kind = self.kinds[name]
        if _repeats(x) or (kind in ("leaf", "view") and self.integer(7)):
            return  # such writes are refused, mostly they are not tried
        if kind == "detached" and self._is_of_computed(x):
            return  # the gradient is PyTorch's of before the write
        index = self._index(x.shape)
        part = f"{name}[{index}]"
        shape = eval(f"x[{index}]", {"x": x}).shape
        fitting = self._fitting(shape)
        if kind == "detached":
            fitting = [n for n in fitting if self.kinds[n] in ("constant", "detached")]
        value = self.choice([*fitting[::-1], "2.0"])
        how = self.integer(5)
        if how == 5 and len(shape) and shape[0]:
            places = [self.integer(shape[0] - 1)]
            places += [p for p in [self.integer(shape[0] - 1)] if p not in places]
            rows = eval(f"x[{index}]", {"x": x})[places].shape
            if value not in ("2.0", *self._fitting(rows)):
                return
            text = f"lib.write_rows({part}, {places}, {value})"
        elif how == 0 and value != "2.0":
            text = f"lib.write({part}, {value})"
        elif how == 1:
            text = f"lib.masked({part}, 0.5)"
        elif how == 2 and value != "2.0":
            text = f"lib.write({name}[{index}], lib.unary({self.choice(_UNARY)!r}, {value}))"
        else:
            text = f"lib.change({self.choice(_BINARY[:3])!r}, {part}, {value})"
        self.line(text)
        wanting = value != "2.0" and self.kinds[value] in ("leaf", "view", "computed")
        if kind == "constant" and wanting and how != 1:
            for other, y in list(self.names.items()):
                if self.kinds.get(other) == "constant" and _base(y) is _base(x):
                    self.kinds[other] = "computed"

    def _is_of_computed(self, x: Any) -> bool:
        computed = [self.names[name] for name, kind in self.kinds.items() if kind == "computed"]
        return any(_base(y) is _base(x) for y in computed)

    def _step(self) -> None:
        leaves = [n for n, kind in self.kinds.items() if kind in ("leaf", "view")]
        name = self.choice(leaves)
        if not _repeats(self.names[name]):
            self.line(f"lib.step({name})")


def _base(x: Any) -> Any:
    while x.base is not None:
        x = x.base
    return x


def _repeats(x: Any) -> bool:
    return any(stride == 0 and size > 1 for stride, size in zip(x.strides, x.shape))


def _fits(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    try:
        return np.broadcast_shapes(shape, target) == target
    except ValueError:
        return False


def program(chooser: Chooser, most: int = 10) -> tuple[list[str], list[str]]:
    """The lines of a program, and the names of its leaves."""
    writer = _Writer(chooser)
    shape = writer.choice(_SHAPES)
    for kind in ("leaf", "leaf", "constant"):
        writer.make(f"lib.{kind}({shape}, {len(writer.kinds)})", kind)
    for _ in range(2 + writer.integer(most)):
        writer.step()
    writer.line(f"lib.backward([{writer._parts()}])")
    return writer.lines, ["t0", "t1"]


class Outcome:
    """What a library made of a program. refused: the lines that failed, of writes. failed: whether
    a `backward` did. held: values and gradients by name."""

    def __init__(self, lines: Sequence[str], leaves: Sequence[str], library: Any) -> None:
        names: dict[str, Any] = {"lib": library}
        self.refused: list[int] = []
        self.failed = False
        for number, line in enumerate(lines):
            try:
                exec(line, names)
            except library.errors:
                if "backward" in line:
                    self.failed = True
                    return
                self.refused.append(number)
        self.held: dict[str, Any] = {}
        for name, x in names.items():
            if name[1:].isdigit():
                self.held[name] = np.array(x.detach().numpy())
        for name in leaves:
            grad = names[name].grad
            zeros = np.zeros(names[name].shape)
            self.held[f"{name}.grad"] = zeros if grad is None else np.array(grad.numpy())


def check_gradients(chooser: Chooser, most: int = 10) -> str:
    """Run one program with all three. Says what PyTorch did: "right", "failed" or "refused".

    :raises Mismatch: where weft differs; see the module's text.
    """
    lines, leaves = program(chooser, most)
    text = "\n".join(lines)
    plain, safe = (Outcome(lines, leaves, Torch(s)) for s in (False, True))
    try:
        found = Outcome(lines, leaves, Weft())
    except Exception as error:
        error.add_note(text)
        raise
    if found.refused != safe.refused:
        raise Mismatch(f"refused are {found.refused} instead of {safe.refused}\n{text}")
    if found.failed:
        if not plain.failed:
            raise Mismatch(f"no gradient, where PyTorch has one\n{text}")
        return "failed"
    for name, value in safe.held.items():
        if not np.allclose(found.held[name], value, rtol=1e-9, atol=1e-9):
            raise Mismatch(
                f"{name} is {found.held[name].tolist()} instead of {value.tolist()}\n{text}"
            )
    return "failed" if plain.failed else "refused" if plain.refused else "right"
