"""A random program while it is being chosen, run line by line, and mirrored in NumPy."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

from weft import Tensor, dtypes
from weft.device import numpy_dtype
from weft.testing.mirror import Value, mismatch

T = TypeVar("T")

KINDS = ("int32", "float32", "float32", "int64", "uint8", "int8", "bool", "int16", "float16",
         "uint32", "float64", "uint16")  # fmt: skip
LARGEST = 1024


class Chooser(Protocol):
    """Where the choices of a program come from."""

    def integer(self, low: int, high: int) -> int:
        """A number from `low` to `high`, both included; `low` is the simplest."""
        ...


class Seeded:
    """Choices from a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def integer(self, low: int, high: int) -> int:
        """See Chooser."""
        return self.random.randint(low, high)


class Drawn:
    """Choices that hypothesis draws."""

    def __init__(self, draw: Callable[[Any], Any]) -> None:
        from hypothesis import strategies

        self.draw, self.integers = draw, strategies.integers

    def integer(self, low: int, high: int) -> int:
        """See Chooser."""
        return self.draw(self.integers(low, high))


class Mismatch(AssertionError):
    """A tensor does not hold what NumPy says; the message is the program."""


def filled(shape: tuple[int, ...], kind: str, seed: int) -> Any:
    """An array for a program's line: small whole numbers, or for odd seeds of floats any reals."""
    import numpy as np

    source = np.random.RandomState(seed)
    if kind == "bool":
        return source.randint(0, 2, shape).astype(np.bool_)
    if kind.startswith("float") and seed % 2:
        return source.uniform(-2, 2, shape).astype(kind)
    low = 0 if kind.startswith("u") else -9
    return source.randint(low, 10, shape).astype(kind)


class Program:
    """A program while it is being chosen and run.

    names: what every live tensor should hold. lines: the text so far. known: the tensors, as the
    lines see them, and `maker`, which they call to make new ones.
    """

    def __init__(self, chooser: Chooser, maker: Any = Tensor) -> None:
        import numpy as np

        self.chooser = chooser
        self.values: dict[str, Value] = {}
        self.lines: list[str] = [] if maker is Tensor else [f"Tensor = {maker!r}"]
        self.known: dict[str, Any] = {
            "Tensor": maker, "dtypes": dtypes, "filled": filled, "np": np,
        }  # fmt: skip
        self.made = 0

    # ---- choices ------------------------------------------------------------------------------

    def integer(self, low: int, high: int) -> int:
        """A number from `low` to `high`, both included."""
        return self.chooser.integer(low, high)

    def choice(self, items: Sequence[T]) -> T:
        """One of `items`; the first is the simplest."""
        return items[self.integer(0, len(items) - 1)]

    def chance(self, one_in: int) -> bool:
        """True once in `one_in` times."""
        return self.integer(0, one_in - 1) == one_in - 1

    def pick(self, fits: Callable[[Value], bool] = lambda value: True) -> str | None:
        """The name of a live tensor, rather a late one; None if none fits."""
        names = [name for name, value in self.values.items() if fits(value)]
        if not names:
            return None
        return names[-1 - min(self.integer(0, len(names) - 1), self.integer(0, len(names) - 1))]

    def shape(self, rank: int | None = None) -> tuple[int, ...]:
        """A small shape; seldom with an axis of no elements."""
        rank = self.integer(0, 3) if rank is None else rank
        sizes = (3, 2, 4, 1, 5, 8) if rank > 2 else (3, 4, 1, 2, 6, 8, 16, 17, 32)
        shape = tuple(self.choice(sizes) for _ in range(rank))
        return (0, *shape[1:]) if rank and self.chance(24) else shape

    # ---- lines --------------------------------------------------------------------------------

    def run(self, line: str) -> None:
        """Run a line and keep it."""
        self.lines.append(line)
        exec(line, self.known)

    def make(self, expression: str, value: Callable[[Any], Value] | Value) -> str:
        """A new tensor; `value` may depend on the resulting dtype.

        If a method returns the tensor itself, the name of that tensor is returned.
        """
        name = f"t{self.made}"
        self.made += 1
        self.run(f"{name} = {expression}")
        kind = self.known[name].dtype
        found = value if isinstance(value, Value) else value(kind)
        for other, before in self.values.items():
            if self.known[other] is self.known[name]:
                if wrong := mismatch(found, before.array.astype(numpy_dtype(before.dtype))):
                    raise Mismatch(f"{name} is {other}, {wrong}\n{self.text()}")
                self.run(f"del {name}")
                return other
        self.values[name] = found
        return name

    def source(self, shape: tuple[int, ...], kind: str | None = None) -> str:
        """A new tensor with an array of its own."""
        kind = self.choice(KINDS) if kind is None else kind
        seed = self.integer(0, 99)
        array = filled(shape, kind, seed)
        whole = (array == array.round()).all() if array.dtype.kind == "f" else True
        error = 0.0 if whole else 1e-7
        return self.make(
            f"Tensor(filled({shape}, {kind!r}, {seed}))",
            Value(_wide(array), getattr(dtypes, kind), error),
        )

    def wrote(self, name: str, value: Value) -> None:
        """A tensor has another value, and all that NumPy says share it."""
        import numpy as np

        target = self.values[name]
        target.array[...] = value.array
        beside = [
            other
            for other, v in self.values.items()
            if other != name and np.may_share_memory(v.array, target.array)
        ]
        error = max(target.error, value.error) if beside else value.error
        self.values[name] = Value(target.array, target.dtype, error)
        for other in beside:
            v = self.values[other]
            self.values[other] = Value(v.array, v.dtype, max(v.error, error))

    def check(self, name: str) -> None:
        """Compare one tensor. Raises Mismatch."""
        self.lines.append(f"{name}.numpy()")
        wrong = mismatch(self.values[name], self.known[name].numpy())
        if wrong:
            raise Mismatch(f"{name} is {wrong}\n{self.text()}")

    def text(self) -> str:
        """The program so far."""
        return "\n".join(self.lines)


def _wide(array: Any) -> Any:
    import numpy as np

    return array.astype(np.float64) if array.dtype.kind == "f" else array
