"""Random programs of views, writes and captured functions, the same lines for several libraries.

A program is text over a few names: tensors of whole numbers, views of them, writes through any of
them, copies, values that are computed, and functions that do all of that to their arguments and to
what they close over. What it should do is what NumPy does with the same lines. What is computed is
row-major everywhere, so that a reshape is a view for both or for neither.

    check_program(Seeded(7))        one program with tensors, captured and not, beside NumPy
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from weft.base.errors import ScheduleError
from weft.tensor import Tensor
from weft.tensor.jit import jit
from weft.testing.program_lines import Chooser, Mismatch

T = TypeVar("T")


class Numpy:
    """NumPy as the lines call it. seen: what was looked at."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    @staticmethod
    def new(shape: tuple[int, ...], seed: int) -> Any:
        return np.random.default_rng(seed).integers(-9, 9, shape, dtype=np.int32)

    @staticmethod
    def copy(x: Any) -> Any:
        return np.array(x, order="C")

    twin = compute = detach = copy

    @staticmethod
    def view(x: Any) -> Any:
        return x[...]

    flip = staticmethod(np.flip)
    transpose = staticmethod(np.transpose)

    @staticmethod
    def realize(*several: Any) -> None: ...

    kernelize = realize

    def look(self, *several: Any) -> None:
        """Several are read now."""
        self.seen += [self.read(x) for x in several]

    @staticmethod
    def wrap(function: Any) -> Any:
        return function

    @staticmethod
    def read(x: Any) -> Any:
        return np.array(x)


class Weft(Numpy):
    """Tensors as the lines call them. wrap: what is done to functions."""

    def __init__(self, wrap: Callable[[Any], Any] = Numpy.wrap) -> None:
        super().__init__()
        self.wrap = wrap  # type: ignore[method-assign,assignment]

    @staticmethod
    def new(shape: tuple[int, ...], seed: int) -> Any:
        return Tensor(Numpy.new(shape, seed))

    copy = staticmethod(Tensor.clone)
    twin = staticmethod(Tensor.contiguous)
    view = staticmethod(Tensor.detach)
    flip = staticmethod(Tensor.flip)
    transpose = staticmethod(Tensor.permute)
    realize = staticmethod(Tensor.realize)
    kernelize = staticmethod(Tensor.kernelize)
    read = staticmethod(Tensor.numpy)

    @staticmethod
    def compute(x: Any) -> Any:
        return x


class _Writer:
    """Lines while they are chosen, tried on NumPy at once to know shapes.

    outside: names that a function closes over, which it may write to and not bind.
    """

    def __init__(self, chooser: Chooser, prefix: str) -> None:
        self.chooser, self.prefix = chooser, prefix
        self.lines: list[str] = []
        self.names: dict[str, Any] = {"lib": Numpy(), "__name__": "program"}
        self.outside: set[str] = set()
        self._made = 0

    @property
    def arrays(self) -> dict[str, Any]:
        return {n: x for n, x in self.names.items() if isinstance(x, np.ndarray)}

    def integer(self, high: int) -> int:
        return self.chooser.integer(0, high)

    def choice(self, items: Sequence[T]) -> T:
        return items[self.integer(len(items) - 1)]

    def name(self) -> str:
        self._made += 1
        return f"{self.prefix}{self._made}"

    def line(self, text: str) -> None:
        exec(text, self.names)
        self.lines.append(text)

    def step(self) -> None:
        """A view, a write, a value, a copy, or something that decides when it is computed."""
        arrays = self.arrays
        name = self.choice(list(arrays)[::-1])
        x = arrays[name]
        how = self.integer(9)
        if how <= 3:
            self.line(f"{self.name()} = {self._view_of(name, x)}")
        elif how <= 5 and x.ndim:
            index = self._index(x.shape)
            self.line(f"{name}[{index}] = {self._value(eval(f'x[{index}]', {'x': x}).shape)}")
        elif how == 6:
            target = f"{name}[...]" if not x.ndim or name in self.outside else name
            self.line(f"{target} {self.choice(['+=', '-='])} {self._value(x.shape)}")
            self.line(f"{target} %= 50")
        elif how == 7:
            self.line(f"{self.name()} = lib.compute(({name} * 2 + 1) % 99)")
        elif how == 8:
            self.line(f"{self.name()} = lib.{self.choice(['copy', 'twin'])}({name})")
        elif not self.outside:
            other = self.choice(list(arrays))
            self.line(f"lib.{self.choice(['realize', 'kernelize', 'look'])}({name}, {other})")

    def _view_of(self, name: str, x: Any) -> str:
        how = self.integer(5)
        if how == 1 and x.ndim:
            return f"lib.flip({name}, {self.integer(x.ndim - 1)})"
        if how == 2 and x.ndim > 1:
            order = list(range(x.ndim))
            order.insert(0, order.pop(self.integer(x.ndim - 1)))
            return f"lib.transpose({name}, {tuple(order)})"
        if how == 3:
            shapes = [(x.size,), (*x.shape, 1), x.shape[::-1]]
            shapes += [(n, x.size // n) for n in (2, 3) if x.size % n == 0]
            return f"{name}.reshape({self.choice(shapes)})"
        if how == 4:
            return f"lib.view({name})"
        return f"{name}[{self._index(x.shape)}]"

    def _index(self, shape: tuple[int, ...]) -> str:
        parts = []
        for size in shape[: self.integer(len(shape))]:
            places = [str(size // 2), "-1"] if size else []
            parts.append(self.choice([":", "::2", "::-1", "1:", ":-1", *places]))
        return ", ".join([*parts, "..."])

    def _value(self, shape: tuple[int, ...]) -> str:
        """Something that broadcasts to a shape."""
        fitting = [n for n, x in self.arrays.items() if _fits(x.shape, shape)]
        if not fitting or not self.integer(3):
            return str(self.integer(9))
        name = self.choice(fitting[::-1])
        return self.choice([name, f"lib.copy({name})", f"lib.compute({name} % 5)"])


def _fits(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    try:
        return np.broadcast_shapes(shape, target) == target
    except ValueError:
        return False


def _define(outer: _Writer, name: str, shape: tuple[int, ...]) -> None:
    """A function over two arguments and some names outside, wrapped."""
    inner = _Writer(outer.chooser, "v")
    for captured in dict.fromkeys(outer.choice(list(outer.arrays)) for _ in range(2)):
        inner.names[captured] = outer.arrays[captured].copy()
        inner.outside.add(captured)
    inner.outside |= {"a", "b"}
    inner.names |= {"a": Numpy.new(shape, 1), "b": Numpy.new(shape, 2)}
    for _ in range(1 + outer.integer(5)):
        inner.step()
    given = [n for n in inner.arrays if outer.integer(1)]
    body = [f"    {line}" for line in inner.lines]
    result = f"    return ({', '.join(given)}{',' if given else ''})"
    lines = [f"@lib.wrap\ndef {name}(a, b):", *body, result]
    outer.line("\n".join(lines))


def _argument(outer: _Writer, shape: tuple[int, ...]) -> str:
    """A new tensor, one that is there, or a view of one."""
    alike = [n for n, x in outer.arrays.items() if x.shape == shape]
    how = outer.integer(3)
    if how == 0 or not alike:
        return f"lib.new({shape}, {{0}})"
    name = outer.choice(alike)
    return f"{name}[...]" if how == 1 else f"lib.flip({name}, 0)" if how == 2 else name


def program(chooser: Chooser, most: int = 12) -> list[str]:
    """The lines of a program, chosen one after the other."""
    outer = _Writer(chooser, "t")
    shape = outer.choice([(2, 3), (4,), (3, 2), (2, 2), (2, 2, 3)])
    for seed in range(2):
        outer.line(f"{outer.name()} = lib.new({shape}, {seed})")
    for _ in range(outer.integer(most)):
        outer.step()
    for name in ["f", "g"][: outer.integer(2)]:
        _define(outer, name, shape)
        given = [_argument(outer, shape), _argument(outer, shape)]
        for call in range(3 + outer.integer(2)):
            if not outer.integer(3):
                given = [_argument(outer, shape), _argument(outer, shape)]
            outer.line(f"found = {name}({', '.join(given).format(call)})")
            for place in range(len(outer.names["found"])):
                outer.line(f"{outer.name()} = found[{place}]")
            if not outer.integer(2):
                outer.step()
    return outer.lines


def run(lines: Sequence[str], library: Any) -> dict[str, Any]:
    """What the names hold in the end, and what was looked at on the way, as arrays."""
    names: dict[str, Any] = {"lib": library, "__name__": "program"}
    for line in lines:
        exec(line, names)
    held = {n: x for n, x in names.items() if n[1:].isdigit()}
    names.clear()  # what is left is held by nothing else
    seen = {f"look {number}": x for number, x in enumerate(library.seen)}
    return {**seen, **{n: library.read(x) for n, x in held.items()}}


def check_program(chooser: Chooser, most: int = 12) -> bool:
    """Run one program with NumPy and with tensors, as it is written and with captured functions.

    False if the scheduler refused a write that reads what it overwrites, with advice.

    :raises Mismatch: where anything that it holds differs.
    """
    lines = program(chooser, most)
    expected = run(lines, Numpy())
    for wrap in (Numpy.wrap, jit):
        try:
            found = run(lines, Weft(wrap))
        except ScheduleError as error:
            if "reads what it overwrites" in str(error):
                return False
            error.add_note("\n".join(lines))
            raise
        except Exception as error:
            error.add_note("\n".join(lines))
            raise
        for name, value in expected.items():
            if not np.array_equal(found[name], value):
                text = "\n".join(lines)
                how = "captured" if wrap is jit else "as written"
                raise Mismatch(
                    f"{name}, {how}, is {found[name].tolist()} instead of {value.tolist()}\n{text}"
                )
    return True
