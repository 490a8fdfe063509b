"""Kernel parameterization: numbers that differ between equal kernels become kernel arguments.
Also: anti-unification.

Programs that index with a counter, multiply by a learning rate or take inputs of many lengths make
kernel ASTs that differ in numbers alone: constants, offsets and sizes of views. The first of them
are compiled with the numbers in their source. If others follow, one AST has variables in place of
the numbers that differ, and all later ones launch its kernel with their values.

The general AST is equal to the given one under these values, so both kernels compute the same.
Equal numbers at several places (a size, and the stride of the next axis) become one variable.

in:  kernel AST      out: the AST to compile, and the values of the variables that it has besides

Source: G. D. Plotkin, "A note on inductive generalization" (Machine Intelligence 5, 1970).
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any

from weft.base.deferred_dataclass import dataclass
from weft.base.dtype import DType, ImageDType, PtrDType, dtypes
from weft.base.locks import lock
from weft.base.sequences import prod
from weft.shape import ShapeTracker, View
from weft.uop import GroupOp, Ops, UOp

CONSTANT, DIVISOR, OFFSET, SIZE, CAPACITY = "constant", "divisor", "offset", "size", "capacity"
"""What a number is: a value (a float as its bits), a value that integers are divided by, the offset
of a view, a size, stride or mask, or a buffer's size."""

_CONSTANTS = frozenset({CONSTANT, DIVISOR})

MOST_NODES = 128
"""Of an AST whose numbers are looked at."""

SMALL = 1 << 16
"""Iterations of a kernel that is short: its run time matters less than its compilation."""

FROM_SHORT, FROM_LONG, FROM_SIZES = 1, 4, 2
"""Kernels that are compiled before a general one: short kernels, long ones, and those of other
sizes. Sizes of long kernels stay constants, since loops of known extents are faster."""

_MOST_SEEN = 16
_MOST_GENERAL = 16
_MOST_SKELETONS = 1 << 12
_CLASSES = (1 << 10, (1 << 16) - 1, 1 << 22, (1 << 31) - 1)
_ALIGNED = 64
_STAY = frozenset({-1, 0, 1})
_DIVISIONS = frozenset({Ops.IDIV, Ops.MOD})
_PASSED = (GroupOp.ALU - {Ops.POW}) | {Ops.STORE}
_NO_INTEGERS = frozenset({Ops.SHL, Ops.SHR, Ops.THREEFRY})
_NO_VALUES: dict[UOp, int] = {}
# a float as the bits of an integer: by width its format, that of the integer, and its dtype
_BITS = {4: ("<f", "<i", dtypes.int), 8: ("<d", "<q", dtypes.int64), 2: ("<e", "<h", dtypes.int16)}


@dataclass(slots=True)
class Numbers:
    """The numbers of an AST. skeleton: all else. kinds: of each number. volume: iterations."""

    skeleton: tuple[Any, ...]
    values: tuple[int, ...]
    kinds: tuple[str, ...]
    volume: int


@dataclass(slots=True)
class _Argument:
    """A variable in place of numbers. step: what its value is multiplied by. kind: of dtype, for
    constants."""

    places: tuple[int, ...]
    variable: UOp
    step: int = 1
    constant: DType | None = None

    def value(self, numbers: Sequence[int]) -> int | None:
        """The value of the variable for these numbers; None where it has none."""
        number = numbers[self.places[0]]
        if any(numbers[place] != number for place in self.places) or number % self.step:
            return None
        return number // self.step

    @property
    def node(self) -> UOp:
        """The number, in terms of the variable."""
        kind = self.constant
        if kind is None:
            return self.variable if self.step == 1 else self.variable * self.step
        if not dtypes.is_float(kind):
            return self.variable.cast(kind)
        return self.variable.cast(_BITS[kind.itemsize][2]).bitcast(kind)


@dataclass(slots=True)
class General:
    """An AST with variables in place of numbers."""

    ast: UOp
    numbers: tuple[int, ...]
    arguments: tuple[_Argument, ...]
    free: frozenset[int]
    has_sizes: bool

    def values(self, numbers: Sequence[int]) -> dict[UOp, int] | None:
        """The values under which it is the AST of these numbers; None where there are none."""
        free = self.free
        for place, (own, other) in enumerate(zip(self.numbers, numbers)):
            if own != other and place not in free:
                return None
        found: dict[UOp, int] = {}
        for argument in self.arguments:
            value = argument.value(numbers)
            bounds = argument.variable.arg
            if value is None or not bounds.low <= value <= bounds.high:
                return None
            found[argument.variable] = value
        return found


@dataclass(slots=True)
class _Family:
    """ASTs of one skeleton: the numbers of those that were compiled, and the general ASTs.

    is_closed: no general one can be compiled.
    """

    seen: list[tuple[int, ...]] = field(default_factory=list[tuple[int, ...]])
    general: list[General] = field(default_factory=list[General])
    is_closed: bool = False


class KernelFamilies:
    """The kernels that a device has been asked for, by skeleton."""

    def __init__(self) -> None:
        self._families: dict[Any, _Family] = {}
        self._lock = lock()

    def resolve(self, ast: UOp) -> tuple[UOp, Mapping[UOp, int]]:
        """The AST to compile for `ast`, which may be more general, and the values of its
        arguments."""
        numbers = numbers_of(ast)
        if numbers is None or not numbers.values:
            return ast, _NO_VALUES
        with self._lock:
            family = self._families.get(numbers.skeleton)
            if family is None:
                if len(self._families) >= _MOST_SKELETONS:
                    self._families.clear()
                family = self._families[numbers.skeleton] = _Family()
            if family.is_closed:
                return ast, _NO_VALUES
            for general in family.general:
                if general.has_sizes and numbers.volume > SMALL:
                    continue
                values = general.values(numbers.values)
                if values is not None:
                    return general.ast, values
            made = _generalize(ast, numbers, family.seen)
            if numbers.values not in family.seen:
                family.seen.append(numbers.values)
                del family.seen[:-_MOST_SEEN]
            values = None if made is None else made.values(numbers.values)
            if made is None or values is None:
                return ast, _NO_VALUES
            family.general.insert(0, made)
            del family.general[_MOST_GENERAL:]
            return made.ast, values

    def refuse(self, ast: UOp) -> None:
        """Note that the general AST for `ast` cannot be compiled."""
        numbers = numbers_of(ast)
        with self._lock:
            family = None if numbers is None else self._families.get(numbers.skeleton)
            if family is not None:
                family.is_closed = True


# ---- numbers of an AST ---------------------------------------------------------------------------


class _Reader:
    """Collects the numbers of an AST, and what is left of its nodes."""

    def __init__(self) -> None:
        self.values: list[int] = []
        self.kinds: list[str] = []
        self.volume = 1

    def note(self, number: Any, kind: str) -> str | Any:
        """Take a number; returns what stands for it in the skeleton."""
        if number.__class__ is not int:
            return number  # it is symbolic already
        self.values.append(number)
        self.kinds.append(kind)
        return kind

    def size(self, number: Any) -> Any:
        """A size or stride. Those of single elements and of repeated ones stay."""
        return number if number in _STAY else self.note(number, SIZE)

    def view(self, view: View) -> tuple[Any, ...]:
        extents = [extent for extent in view.shape if isinstance(extent, int)]
        self.volume = max(self.volume, prod(extents))
        shape, strides = tuple(map(self.size, view.shape)), tuple(map(self.size, view.strides))
        offset = self.note(view.offset, OFFSET)
        mask = None
        if view.mask is not None:
            mask = tuple([(self.note(a, SIZE), self.note(b, SIZE)) for a, b in view.mask])
        return shape, strides, offset, mask


def _has_fixed_size(node: UOp) -> bool:
    """Whether a node is an image, or a local row: its array would have the largest size."""
    return isinstance(node.dtype, ImageDType) or node.op is Ops.CONTIGUOUS


def numbers_of(ast: UOp) -> Numbers | None:
    """The numbers of an AST; None where they stay as they are."""
    order = list(ast.toposort())
    if len(order) > MOST_NODES or any(map(_has_fixed_size, order)):
        return None
    values = _values_of_elements(order)
    reader = _Reader()
    places: dict[UOp, int] = {}
    rows: list[Any] = []
    for node in order:
        dtype: Any = node.dtype
        arg: Any = node.arg
        if isinstance(dtype, PtrDType):
            arg = (arg, reader.note(dtype.size, CAPACITY)) if node.op is Ops.DEFINE_GLOBAL else arg
            dtype = dtype.base
        if isinstance(arg, ShapeTracker):
            arg = tuple([reader.view(view) for view in arg.views])
        elif node.op is Ops.CONST:
            arg = _constant_row(node, reader, values)
        rows.append((node.op, dtype, arg, tuple([places[source] for source in node.src])))
        places[node] = len(places)
    return Numbers(tuple(rows), tuple(reader.values), tuple(reader.kinds), reader.volume)


def _values_of_elements(order: Sequence[UOp]) -> dict[UOp, str]:
    """The constants that elements are computed with, and their kinds. Not those that may be part of
    an index, nor integers of operations that depend on their exact value, as shifts do."""
    counted = any(node.op is Ops.IOTA for node in order)
    found: dict[UOp, str] = {}
    others: set[UOp] = set()
    for node in order:
        for source in node.src:
            if source.op is Ops.CONST:
                is_float = dtypes.is_float(source.dtype)
                if node.op not in _PASSED or (
                    not is_float and (counted or node.op in _NO_INTEGERS)
                ):
                    others.add(source)
                elif node.op in _DIVISIONS and not is_float:
                    found[source] = DIVISOR
                else:
                    found.setdefault(source, CONSTANT)
    return {node: kind for node, kind in found.items() if node not in others}


def _constant_row(node: UOp, reader: _Reader, values: Mapping[UOp, str]) -> Any:
    """The skeleton of a constant: its text, or its kind where it is noted as a number."""
    kind = values.get(node)
    bits = None if kind is None else _bits(node.dtype, node.arg)
    if kind is None or bits is None:
        return repr(node.arg)  # equal floats may differ in sign
    return reader.note(bits, kind)


def _bits(dtype: DType, value: Any) -> int | None:
    """A constant as an integer; None for those that are not passed."""
    if value.__class__ is int and dtypes.is_int(dtype):
        return value if abs(value) <= _CLASSES[-1] else None
    if value.__class__ is not float or not dtypes.is_float(dtype):
        return None
    if dtype is dtypes.bfloat16 or dtype.itemsize not in _BITS:
        return None
    as_float, as_int, _ = _BITS[dtype.itemsize]
    bits: int = struct.unpack(as_int, struct.pack(as_float, value))[0]
    return bits


# ---- generalization ------------------------------------------------------------------------------


def _generalize(ast: UOp, numbers: Numbers, seen: Sequence[tuple[int, ...]]) -> General | None:
    """An AST that is general in the numbers in which `ast` differs from those seen; None where it
    is not time yet."""
    kinds, own = numbers.kinds, numbers.values
    fixed = [place for place, kind in enumerate(kinds) if kind is SIZE or kind is CAPACITY]
    like = [other for other in seen if all(other[place] == own[place] for place in fixed)]
    is_short = numbers.volume <= SMALL
    if len(like) < (FROM_SHORT if is_short else FROM_LONG):
        sizes = {tuple([other[place] for place in fixed]) for other in seen}
        if not is_short or len(sizes) < FROM_SIZES:
            return None
        like = list(seen)
    like = [*like, own]
    free = [place for place in range(len(own)) if len({other[place] for other in like}) > 1]
    if not free:
        return None
    columns = [tuple([other[place] for other in like]) for place in range(len(own))]
    return _with_arguments(ast, numbers, free, columns, _argument)


def most_general(ast: UOp, numbers: Numbers) -> General | None:
    """An AST with arguments for all numbers but offsets of 0; None where a number does not fit."""
    kinds, own = numbers.kinds, numbers.values
    free = [place for place, kind in enumerate(kinds) if own[place] or kind is not OFFSET]
    return _with_arguments(ast, numbers, free, [(number,) for number in own], _wide_argument)


_Make = Callable[[str, tuple[int, ...], Sequence[Any], DType | None], "_Argument | None"]


def _with_arguments(
    ast: UOp,
    numbers: Numbers,
    free: Sequence[int],
    columns: Sequence[tuple[int, ...]],
    make: _Make,
) -> General | None:
    """`ast` with arguments for the free numbers; one for sizes and offsets of equal columns. None
    where a number does not fit into its argument."""
    kinds = numbers.kinds
    taken = {node.arg.name for node in ast.toposort() if node.op is Ops.DEFINE_VAR}
    arguments: list[_Argument] = []
    places_of_constants = [p for p, kind in enumerate(kinds) if kind in _CONSTANTS]
    dtype_at = dict(zip(places_of_constants, [node.dtype for node in _noted_constants(ast)]))
    groups: dict[Any, list[int]] = {}
    for place in free:
        if kinds[place] is not CAPACITY:
            constant = place if kinds[place] in _CONSTANTS else None
            groups.setdefault((constant, columns[place]), []).append(place)
    for (constant, column), places in groups.items():
        name = f"_number{len(arguments)}"
        if name in taken:
            return None
        dtype = None if constant is None else dtype_at[constant]
        argument = make(name, tuple(places), column, dtype)
        divides = kinds[places[0]] is DIVISOR and argument is not None
        if argument is None or (divides and argument.variable.arg.low < 1):
            return None
        arguments.append(argument)
    made = _rebuild(ast, frozenset(free), arguments)
    has_sizes = any(kinds[place] is SIZE for place in free)
    return General(made, numbers.values, tuple(arguments), frozenset(free), has_sizes)


def _argument(
    name: str, places: tuple[int, ...], column: Sequence[Any], dtype: DType | None
) -> _Argument | None:
    """The variable for numbers that had these values; None where they do not fit into one."""
    if dtype is not None and dtypes.is_float(dtype):
        return _bits_argument(name, places, dtype)
    step = 1 if dtype is not None else math.gcd(_ALIGNED, *column)
    most = max(abs(number) for number in column)
    high = next((bound for bound in _CLASSES if bound >= most), 0) // step
    if dtype is not None and isinstance(dtype.max, int):
        high = min(high, dtype.max)
    if not high:
        return None
    low = 1 if min(column) >= 1 else 0 if min(column) >= 0 else -high
    return _Argument(places, UOp.variable(name, low, high), step, dtype)


def _bits_argument(name: str, places: tuple[int, ...], dtype: DType) -> _Argument:
    """The variable for a float: its bits."""
    kind = dtypes.int64 if dtype.itemsize == 8 else dtypes.int
    high = (1 << (8 * dtype.itemsize - 1)) - 1
    return _Argument(places, UOp.variable(name, -high - 1, high, kind), 1, dtype)


def _wide_argument(
    name: str, places: tuple[int, ...], column: Sequence[Any], dtype: DType | None
) -> _Argument | None:
    """The variable for a number alone. Its range depends on the sign of the number."""
    (number,) = column
    if dtype is not None and dtypes.is_float(dtype):
        return _bits_argument(name, places, dtype)
    high = _CLASSES[1]
    if dtype is not None:
        high = min(_CLASSES[-1], dtype.max if isinstance(dtype.max, int) else 0)
    low = 1 if number >= 1 else 0 if number == 0 else -high
    if not low <= number <= high:
        return None
    return _Argument(places, UOp.variable(name, low, high), 1, dtype)


def _noted_constants(ast: UOp) -> list[UOp]:
    """The constants whose values are among the numbers, in their order."""
    order = list(ast.toposort())
    values = _values_of_elements(order)
    reader = _Reader()
    return [
        n for n in order if n.op is Ops.CONST and _constant_row(n, reader, values) in _CONSTANTS
    ]


class _Writer:
    """Replaces numbers of an AST, in the order in which `_Reader` takes them."""

    def __init__(self, nodes: Mapping[int, UOp]) -> None:
        self.nodes = nodes
        self.place = -1

    def following(self, number: Any) -> Any:
        """The number at the next place, or the node that replaces it."""
        if number.__class__ is not int:
            return number
        self.place += 1
        return self.nodes.get(self.place, number)

    def size(self, number: Any) -> Any:
        """A size or stride."""
        return number if number in _STAY else self.following(number)

    def view(self, old: View) -> View:
        """A view, as `_Reader.view` reads it."""
        shape, strides = tuple(map(self.size, old.shape)), tuple(map(self.size, old.strides))
        offset = self.following(old.offset)
        mask = None
        if old.mask is not None:
            mask = tuple([(self.following(a), self.following(b)) for a, b in old.mask])
        return View.create(shape, strides, offset, mask)


def _rebuild(ast: UOp, free: frozenset[int], arguments: Sequence[_Argument]) -> UOp:
    """`ast` with variables in place of the free numbers. A buffer of free size has no size."""
    nodes = {place: argument.node for argument in arguments for place in argument.places}
    writer = _Writer(nodes)
    constants = frozenset(_noted_constants(ast))
    new: dict[UOp, UOp] = {}
    for node in ast.toposort():
        dtype, arg = node.dtype, node.arg
        if isinstance(dtype, PtrDType):
            if node.op is Ops.DEFINE_GLOBAL:
                writer.following(dtype.size)
                dtype = dtype.base.ptr(-1, dtype.space) if writer.place in free else dtype
            else:
                dtype = new[node.src[0]].dtype
        if isinstance(arg, ShapeTracker):
            arg = ShapeTracker([writer.view(view) for view in arg.views])
        elif node in constants:
            writer.place += 1
            if writer.place in nodes:
                new[node] = nodes[writer.place]
                continue
        new[node] = UOp(node.op, dtype, tuple([new[source] for source in node.src]), arg)
    return new[ast]
