"""Random programs of views, writes and captured functions, the same lines for several libraries.

A program is text over a few names: tensors of whole numbers in several dtypes, views of them,
writes through any of them, copies, values that are computed, and functions that do all of that to
their arguments and to what they close over. It should do what NumPy does with the same lines. What
is computed is row-major everywhere, so that a reshape is a view for both or for neither.

    check_program(Seeded(7))            one program, captured and not, compared with NumPy
    check_files(Seeded(7), folder)      one whose tensors are in files
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from helpers.view_libraries import BITS, Arrays, Files, Numpy, Shards, Tensors
from weft.base.errors import ScheduleError
from weft.tensor.jit import jit
from weft.testing.program_lines import Chooser, Mismatch

T = TypeVar("T")

KINDS = ("int32", "float32", "uint8", "float64", "int64", "bool", "int8", "float16", "uint32")
SHAPES = [(2, 3), (4,), (3, 2), (2, 2), (2, 2, 3), (3, 3), (1, 4)]


class _Writer:
    """Lines while they are chosen, tried on NumPy at once to know shapes.

    outside: names that a function closes over, which it may write to and not bind. bits: names that
    show other numbers' bits, of which nothing is computed. stored: the bases are in files, where
    only contiguous parts are written. kept: names that stay.
    """

    def __init__(self, chooser: Chooser, prefix: str, kinds: Sequence[str]) -> None:
        self.chooser, self.prefix, self.kinds = chooser, prefix, kinds
        self.lines: list[str] = []
        self.names: dict[str, Any] = {"lib": Numpy(), "__name__": "program"}
        self.outside: set[str] = set()
        self.bits: set[str] = set()
        self.stored: set[str] = set()
        self.kept: set[str] = set()
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

    def new(self, shape: tuple[int, ...], seed: int) -> str:
        name = self.name()
        self.line(f"{name} = lib.new({shape}, {self.choice(self.kinds)!r}, {seed})")
        return name

    # ---- steps --------------------------------------------------------------------------------

    def step(self) -> None:
        """A view, a write, a value, a copy, or something that decides when it is computed."""
        name = self.choice(list(self.arrays)[::-1])
        x = self.names[name]
        how = self.integer(11)
        if how <= 3:
            self._make_view(name, x)
        elif how <= 7:
            if self._may_write(name, x):
                (self._write_part if how <= 5 else self._update)(name, x)
        elif how == 8:
            self._compute(name, x)
        elif how == 9:
            self._copy(name)
        elif not self.outside:
            self._settle(name, x)

    def _copy(self, name: str) -> None:
        made = self.name()
        self.line(f"{made} = lib.{self.choice(['copy', 'twin'])}({name})")
        if name in self.bits:
            self.bits.add(made)

    def _settle(self, name: str, x: Any) -> None:
        other = self.choice(list(self.arrays))
        how = self.choice(["realize", "kernelize", "schedule", "look", "export", "del"])
        if how == "export":
            self.line(
                f"lib.export(lib.copy({name}))" if name in self.stored else f"lib.{how}({name})"
            )
        elif how == "del":
            if len(self.arrays) > 3 and name not in self.kept:
                self.line(f"del {name}")
        elif not (how in ("kernelize", "schedule") and {name, other} & self.stored):
            self.line(f"lib.{how}({name}, {other})")

    def _make_view(self, name: str, x: Any) -> None:
        made = self.name()
        text = self._view_of(name, x)
        self.line(f"{made} = {text}")
        if name in self.stored and not np.may_share_memory(self.names[made], x):
            self.line(f"{made} = lib.copy({made})")
        if name in self.bits or text.startswith("lib.bits"):
            self.bits.add(made)
        if name in self.stored and np.may_share_memory(self.names[made], x):
            self.stored.add(made)

    def _view_of(self, name: str, x: Any) -> str:
        how = self.integer(10)
        if how == 1 and x.ndim:
            return f"lib.flip({name}, {self.integer(x.ndim - 1)})"
        if how == 2 and x.ndim > 1:
            order = list(range(x.ndim))
            order.insert(0, order.pop(self.integer(x.ndim - 1)))
            return f"lib.transpose({name}, {tuple(order)})"
        if how == 3:
            shapes = [(x.size,), (*x.shape, 1), x.shape[::-1]]
            shapes += [(n, x.size // n) for n in (2, 3) if x.size % n == 0]
            return f"lib.reshape({name}, {self.choice(shapes)})"
        if how == 4:
            return f"lib.view({name})"
        if how == 5 and x.dtype.kind in "iuf" and name not in self.stored:
            kind = self.choice(BITS)
            same = x.dtype.itemsize == np.dtype(kind).itemsize
            if same or (not self.outside and _shows(x, kind)):
                return f"lib.bits({name}, {kind!r})"
        if how == 6:
            return f"lib.squeeze({name})"
        if how == 7 and x.ndim > 1 and x.size:
            return f"lib.diagonal({name})"
        if how == 8 and x.ndim and x.shape[0] > 1:
            return f"lib.windows({name}, 2, {1 + self.integer(1)})"
        if how == 9 and x.size < 50:
            shape = tuple(3 if size == 1 else size for size in x.shape)
            return f"lib.expand({name}, {(*[2] * self.integer(1), *shape)})"
        if how == 10 and x.ndim and x.shape[0]:
            return f"lib.unstack({name}, {self.integer(x.shape[0] - 1)})"
        return f"{name}[{self._index(x.shape)}]"

    def _index(self, shape: tuple[int, ...]) -> str:
        parts = []
        for size in shape[: self.integer(len(shape))]:
            places = [str(size // 2), "-1"] if size else []
            parts.append(
                self.choice([":", "::2", "::-1", "1:", ":-1", "-2::-1", "None, :", *places])
            )
        return ", ".join([*parts, "..."])

    def _may_write(self, name: str, x: Any) -> bool:
        """Whether elements of x are different places. Where not, a line tries such a write."""
        if _repeats(x):
            if x.size:
                self.line(f"lib.refuses(lambda: {name}.__setitem__(..., 1))")
            return False
        return bool(x.flags.writeable)

    def _write_part(self, name: str, x: Any) -> None:
        how = self.integer(5)
        if name in self.stored or name in self.bits:
            how = 0
        if how == 4 and x.ndim:
            self._write_places(name, x)
        elif how == 5:
            mask = f"{name} > {self.integer(3)}"
            self.line(
                f"{name}[{mask}] = {bool(self.integer(1)) if x.dtype == bool else self.integer(4)}"
            )
        else:
            index = self._index(x.shape)
            part = eval(f"x[{index}]", {"x": x})
            if name in self.stored and not part.flags.c_contiguous:
                return
            self.line(f"{name}[{index}] = {self._value(part, name)}")

    def _write_places(self, name: str, x: Any) -> None:
        """By an integer tensor, on the first axis or a later one; of equal places the last wins."""
        axis = self.integer(x.ndim - 1)
        if not x.shape[axis]:
            return
        places = [
            self.integer(2 * x.shape[axis] - 1) - x.shape[axis] for _ in range(1 + self.integer(2))
        ]
        index = f"{':, ' * axis}lib.places({', '.join(map(str, places))})"
        part = eval(f"x[{index}]", {"x": x, "lib": Numpy()})
        if self.integer(1) and len({p % x.shape[axis] for p in places}) == len(places):
            self.line(f"{name}[{index}] {self._operator(x)} {self._value(part, name)}")
            self._bounded(name, x)
        else:
            self.line(f"{name}[{index}] = {self._value(part, name)}")

    def _update(self, name: str, x: Any) -> None:
        if name in self.bits:
            return
        if name in self.stored and not x.flags.c_contiguous:
            return
        index = self._index(x.shape) if self.integer(1) else "..."
        part = eval(f"x[{index}]", {"x": x})
        whole = name not in self.outside and index == "..." and x.ndim
        target = name if whole and self.integer(1) else f"{name}[{index}]"
        if name in self.stored and not part.flags.c_contiguous:
            return
        if name in self.stored:
            sign = self._operator(x)[0]
            text = f"{self._near(name)}[{index}] {sign} {self._value(part, name)}"
            self.line(f"{name}[{index}] = lib.compute({text})")
        else:
            self.line(f"{target} {self._operator(x)} {self._value(part, name)}")
        self._bounded(name, x)

    def _near(self, name: str) -> str:
        """What is computed with in place of a name: a file computes nothing."""
        return f"lib.copy({name})" if name in self.stored else name

    def _operator(self, x: Any) -> str:
        return self.choice(["^=", "|="] if x.dtype == bool else ["+=", "-=", "*="])

    def _bounded(self, name: str, x: Any) -> None:
        """Small numbers stay exact in every dtype."""
        if x.dtype != bool:
            self.line(f"{name}[...] = lib.compute(abs({self._near(name)} % 7))")

    def _compute(self, name: str, x: Any) -> None:
        if name not in self.bits:
            near = self._near(name)
            text = f"{near} ^ True" if x.dtype == bool else f"abs(({near} * 2 + 1) % 9)"
            self.line(f"{self.name()} = lib.compute({text})")

    def _value(self, part: Any, target: str) -> str:
        """Something that broadcasts to a part and has its dtype, if the target is a bitcast."""
        fitting = [n for n, x in self.arrays.items() if _fits(x.shape, part.shape)]
        if target in self.bits:
            same = [n for n in fitting if n in self.bits and self.names[n].dtype == part.dtype]
            return self.choice(same) if same and self.integer(2) else "0"
        fitting = [n for n in fitting if n not in self.bits]
        if not fitting or not self.integer(3):
            return str(bool(self.integer(1)) if part.dtype == bool else self.integer(4))
        name = self.choice(fitting[::-1])
        if self.names[name].dtype != part.dtype:
            return f"lib.cast({name}, {part.dtype.name!r})"
        if {target, name} & self.stored:
            return f"lib.copy({name})"
        return self.choice(
            [name, name, f"lib.copy({name})", f"lib.compute({name} ^ {name})"][
                : self._computed(part)
            ]
        )

    @staticmethod
    def _computed(part: Any) -> int:
        return 3 if part.dtype.kind == "f" else 4


def _shows(x: Any, kind: str) -> bool:
    """Whether elements of another size can be seen in the last axis of x."""
    try:
        return bool(x.size and x.view(kind).size)
    except ValueError:
        return False


def _repeats(x: Any) -> bool:
    """Whether two elements of x may be one place in memory."""
    return bool(x.size and _overlap(x))


def _overlap(x: Any) -> bool:
    reach = 0
    for stride, size in sorted((abs(s), n) for s, n in zip(x.strides, x.shape) if n > 1):
        if stride <= reach:
            return True
        reach += stride * (size - 1)
    return False


def _fits(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    try:
        return np.broadcast_shapes(shape, target) == target
    except ValueError:
        return False


# ---- functions ----------------------------------------------------------------------------------


def _define(
    outer: _Writer, name: str, shape: tuple[int, ...], kinds: tuple[str, str]
) -> list[bool]:
    """A function over two arguments and some names outside, wrapped: which results are bits."""
    inner = _Writer(outer.chooser, "v", outer.kinds)
    for captured in dict.fromkeys(outer.choice(list(outer.arrays)) for _ in range(2)):
        x = outer.arrays[captured]
        if x.flags.writeable and not _repeats(x) and captured not in outer.bits:
            inner.names[captured] = x.copy()
            inner.outside.add(captured)
            outer.kept.add(captured)
    inner.outside |= {"a", "b"}
    inner.names |= {n: Numpy.new(shape, kind, 1) for n, kind in zip("ab", kinds)}
    for _ in range(1 + outer.integer(5)):
        inner.step()
    given = [n for n in inner.arrays if outer.integer(1)]
    body = [f"    {line}" for line in inner.lines]
    result = f"    return ({', '.join(given)}{',' if given else ''})"
    outer.line("\n".join([f"@lib.wrap\ndef {name}(a, b):", *body, result]))
    return [n in inner.bits for n in given]


def _argument(outer: _Writer, shape: tuple[int, ...], kind: str) -> str:
    """A new tensor, one that is there, or a view of one."""
    there = {
        n: x
        for n, x in outer.arrays.items()
        if x.dtype == kind and x.flags.writeable and not _repeats(x) and n not in outer.bits
    }
    alike = [n for n, x in there.items() if x.shape == shape]
    longer = [n for n, x in there.items() if x.ndim and x.shape == (shape[0] + 1, *shape[1:])]
    how = outer.integer(4)
    if how == 4 and longer:
        return f"{outer.choice(longer)}[{outer.choice(['1:', ':-1'])}]"
    if how == 0 or not alike:
        return f"lib.new({shape}, {kind!r}, {{0}})"
    name = outer.choice(alike)
    if how == 3:
        return f"lib.reshape(lib.reshape({name}, {(outer.names[name].size,)}), {shape})"
    return f"{name}[...]" if how == 1 else f"lib.flip({name}, 0)" if how == 2 else name


def program(chooser: Chooser, most: int = 12, stored: bool = False) -> list[str]:
    """The lines of a program, chosen one after the other."""
    outer = _Writer(chooser, "t", KINDS)
    outer.kinds = tuple(outer.choice(KINDS) for _ in range(1 + outer.integer(1)))
    shape = outer.choice(SHAPES)
    for seed in range(2):
        outer.new((shape[0] + seed, *shape[1:]), seed)
    if stored:
        outer.stored = set(outer.arrays)
    for _ in range(outer.integer(most)):
        outer.step()
    for name in [] if stored else ["f", "g"][: outer.integer(2)]:
        kinds = (outer.choice(outer.kinds), outer.choice(outer.kinds))
        are_bits = _define(outer, name, shape, kinds)
        given = [_argument(outer, shape, kind) for kind in kinds]
        for call in range(3 + outer.integer(2)):
            if not outer.integer(3):
                given = [_argument(outer, shape, kind) for kind in kinds]
            outer.line(f"found = {name}({', '.join(given).format(call)})")
            for place, is_bits in enumerate(are_bits):
                made = outer.name()
                outer.line(f"{made} = found[{place}]")
                outer.bits |= {made} if is_bits else set()
            outer.kept |= set(re.findall(r"t\d+", " ".join(given)))
            if not outer.integer(2):
                outer.step()
    return outer.lines


# ---- comparison ---------------------------------------------------------------------------------


def run(lines: Sequence[str], library: Any) -> dict[str, Any]:
    """What the names hold in the end, and what was looked at on the way, as arrays."""
    names: dict[str, Any] = {"lib": library, "__name__": "program"}
    for line in lines:
        exec(line, names)
    held = {n: x for n, x in names.items() if re.fullmatch(r"t\d+", n)}
    names.clear()  # what is left is held by nothing else
    found = {n: library.read(x) for n, x in held.items()}
    return found | {f"look {number}": np.array(x) for number, x in enumerate(library.seen)}


def libraries() -> dict[str, Callable[[], Any]]:
    """By what is said of them, the libraries that are compared with NumPy."""
    return {
        "as written": Tensors,
        "captured": lambda: Tensors(jit),
        "as arrays": Arrays,
        "as captured arrays": lambda: Arrays(jit),
        "on several devices": lambda: Shards("REF", "REF:1"),
        "captured on several devices": lambda: Shards("REF", "REF:1", wrap=jit),
    }


def check_program(
    chooser: Chooser, most: int = 12, kinds: Sequence[str] = ("as written", "captured")
) -> bool:
    """Run one program with NumPy and with tensors, in each of the `kinds` of `libraries()`.

    False if the scheduler refused a write that reads what it overwrites, with advice.

    :raises Mismatch: where anything that it holds differs.
    """
    lines = program(chooser, most)
    made = libraries()
    done = [_check(lines, kind, made[kind]()) for kind in kinds]
    return all(done)


def check_files(chooser: Chooser, folder: str, family: str, most: int = 12) -> bool:
    """The same of tensors in files of a folder, which a device of that family keeps."""
    return _check(program(chooser, most, True), "in files", Files(folder, family))


def _equal(found: Any, value: Any, unknown: set[Any]) -> bool:
    """Whether two arrays are equal; also as bits of a dtype of which the program has a NaN, whose
    sign and payload are not specified."""
    if np.array_equal(found, value, equal_nan=value.dtype.kind == "f"):
        return True
    found, value = np.ascontiguousarray(found), np.ascontiguousarray(value)
    return any(
        np.array_equal(*(array.reshape(-1).view(kind) for array in (found, value)), equal_nan=True)
        for kind in unknown
        if value.dtype.kind in "iu" and value.nbytes % kind.itemsize == 0
    )


def _check(lines: list[str], how: str, library: Any) -> bool:
    expected = run(lines, Numpy())
    text = "\n".join(lines)
    try:
        found = run(lines, library)
    except ScheduleError as error:
        if "reads what it overwrites" in str(error):
            return False
        error.add_note(f"{text}\n{how}")
        raise
    except Exception as error:
        error.add_note(f"{text}\n{how}")
        raise
    unknown = {v.dtype for v in expected.values() if v.dtype.kind == "f" and np.isnan(v).any()}
    for name, value in expected.items():
        if found[name].dtype != value.dtype or not _equal(found[name], value, unknown):
            raise Mismatch(
                f"{name}, {how}, is {found[name].tolist()} instead of {value.tolist()}\n{text}"
            )
    return True
