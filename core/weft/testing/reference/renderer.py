"""Linear programs as Python source: one statement per node, exact in every dtype.

in:  spec.linear
out: source of ``def <name>(buffers, values, place, shared)``, run with the names of ``runner``

A vector value is a tuple. ``buffers`` are memoryviews of raw bytes in slot order, ``values`` those
of the variables, ``place`` the work item's indices by name, ``shared`` the group's memory by name.
A kernel with barriers is a generator that yields at each of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from weft.base.dtype import DType, ImageDType, PtrDType, dtypes
from weft.base.errors import CapabilityError
from weft.device import LinearProgram
from weft.uop import GroupOp, Ops, PatternMatcher, UOp
from weft.uop.args import ASYNC

_INFIX = {
    Ops.CMPLT: "<", Ops.CMPNE: "!=", Ops.CMPEQ: "==", Ops.XOR: "^", Ops.OR: "|", Ops.AND: "&",
    Ops.ADD: "+", Ops.SUB: "-", Ops.MUL: "*",
}  # fmt: skip
_EXACT = GroupOp.Comparison | {Ops.XOR, Ops.OR, Ops.AND}
"""Their result needs no rounding nor wrapping."""

_BY_BITS = {dtypes.float16: "H", dtypes.bfloat16: "H", dtypes.fp8e4m3: "B", dtypes.fp8e5m2: "B"}
"""Dtypes that a memoryview cannot hold: kept as unsigned integers of their bits."""


class PythonRenderer:
    """Writes Python. Every arithmetic operation is native."""

    language = "py"
    native_ops = GroupOp.ALU
    rules: PatternMatcher | None = None

    def render(self, program: LinearProgram) -> str:
        """The source of one kernel.

        :raises CapabilityError: if the program uses what Python text cannot say (tensor cores, raw
            source of another language).
        """
        return _Writer(program).source()


class _Writer:
    def __init__(self, program: LinearProgram) -> None:
        self.program = program
        self.lines: list[str] = []
        self.names: dict[UOp, str] = {}
        self.depth = 1

    def source(self) -> str:
        program = self.program
        self._emit(f"def {program.name}(buffers, values, place, shared):", depth=0)
        names = zip(program.variables, program.variable_names)
        for number, (variable, name) in enumerate(names):
            self._emit(f"{self._name(variable, name)} = values[{number}]")
        if any(node.op is Ops.STORE and node.arg == ASYNC for node in program.uops):
            self._emit("flying = [[]]")
        for node in program.uops:
            self._node(node)
        if len(self.lines) == 1:
            self._emit("pass")
        return "\n".join(self.lines) + "\n"

    # ---- statements ---------------------------------------------------------------------------

    def _emit(self, text: str, depth: int | None = None) -> None:
        self.lines.append("    " * (self.depth if depth is None else depth) + text)

    def _name(self, node: UOp, name: str) -> str:
        self.names[node] = name
        return name

    def _fresh(self, node: UOp, prefix: str = "v") -> str:
        return self._name(node, f"{prefix}{len(self.names)}")

    def _node(self, node: UOp) -> None:
        if node in self.names:
            return
        write = _STATEMENTS.get(node.op)
        if write is not None:
            write(self, node)
        elif node.op in GroupOp.ALU:
            self._lanes(node, lambda *operands: self._alu(node, operands))
        else:
            raise CapabilityError(
                "the reference device cannot run this kernel",
                asked=f"{node.op} in kernel {self.program.name}",
                because="Python has nothing for it",
            )

    def _nothing(self, node: UOp) -> None:
        pass

    def _global(self, node: UOp) -> None:
        name = self._name(node, f"data{node.arg}")
        number = self.program.globals.index(node.arg)
        code = _memory_code(_stored(node))
        self._emit(f'{name} = buffers[{number}].cast("{code}")')

    def _register(self, node: UOp) -> None:
        assert isinstance(node.dtype, PtrDType)
        self._emit(f"{self._fresh(node, 'reg')} = [None] * {max(node.dtype.size, 1)}")

    def _local(self, node: UOp) -> None:
        assert isinstance(node.dtype, PtrDType)
        name = self._fresh(node, "shared")
        self._emit(f"{name} = shared.setdefault({node.arg!r}, [None] * {node.dtype.size})")

    def _special(self, node: UOp) -> None:
        self._emit(f'{self._name(node, node.arg)} = place["{node.arg}"]')

    def _constant(self, node: UOp) -> None:
        text = _literal(node.arg, node.dtype)
        self._name(node, f"({text})" if text.startswith("-") else text)

    def _vector_constant(self, node: UOp) -> None:
        scalar = node.dtype.scalar()
        self._name(node, "(" + ", ".join(_literal(value, scalar) for value in node.arg) + ",)")

    def _range(self, node: UOp) -> None:
        self._emit(f"for {self._fresh(node, 'i')} in range({self.names[node.src[0]]}):")
        self.depth += 1

    def _if(self, node: UOp) -> None:
        (asked,) = node.src
        name = self.names[asked]
        self._emit(f"if any({name}):" if asked.dtype.count > 1 else f"if {name}:")
        self._name(node, "")
        self.depth += 1

    def _close(self, node: UOp) -> None:
        if self.lines[-1].endswith(":"):
            self._emit("pass")
        self.depth -= 1

    def _barrier(self, node: UOp) -> None:
        self._emit("yield")

    def _unit(self, node: UOp) -> None:
        """A matrix unit: lanes show each other what they hold, and wait until all have seen it."""
        sources = ", ".join(self.names[source] for source in node.src)
        self._emit(f"item = {self._item()}")
        self._emit(f"shared.setdefault('fragments', {{}})[item] = ({sources})")
        self._emit("yield")
        self._emit(f"{self._fresh(node)} = multiplied({node.arg!r}, shared['fragments'], item)")
        self._emit("yield")

    def _dot(self, node: UOp) -> None:
        """Products in each lane, which are added one after the other."""
        words, scalar = node.src[0].dtype, node.dtype.scalar()
        both = ", ".join(f"dtypes.{_attribute(dtype)}" for dtype in node.arg.given)
        given = f"dtypes.{_attribute(words.scalar())}, ({both})"
        operands = [self.names[source] for source in node.src]
        if words.count == 1:
            operands = [f"({operand},)" for operand in operands]
        text = f"paired({given}, dtypes.{_attribute(scalar)}, {', '.join(operands)})"
        self._emit(f"{self._fresh(node)} = {text}{'[0]' if words.count == 1 else ''}")

    def _shuffle(self, node: UOp) -> None:
        """What another lane of the warp holds: all show theirs, and wait until all have looked."""
        self._emit(f"item = {self._item()}")
        self._emit(f"shared.setdefault('lanes', {{}})[item] = {self.names[node.src[0]]}")
        self._emit("yield")
        self._emit(f"{self._fresh(node)} = shared['lanes'][item ^ {node.arg}]")
        self._emit("yield")

    def _item(self) -> str:
        """The number of a work item in its group."""
        sizes = self.program.local_size or (1, 1, 1)
        rows = f'place.get("lidx1", 0) + {sizes[1]} * place.get("lidx2", 0)'
        return f'place["lidx0"] + {sizes[0]} * ({rows})'

    # ---- memory -------------------------------------------------------------------------------

    def _index(self, node: UOp) -> None:
        image, at = node.src[0].dtype, self.names[node.src[1]]
        if isinstance(image, ImageDType) and node.src[1].dtype.count == 2:
            # rows of pixels of four elements
            self._emit(f"{self._fresh(node)} = ({at}[1] * {image.shape[1]} + {at}[0]) * 4")
        else:
            self._name(node, at)

    def _load(self, node: UOp) -> None:
        index = _address(node.src[0])
        value = self._elements(index, node.dtype)
        if len(index.src) > 2:
            other = self.names[node.src[1]] if len(node.src) > 1 else _zero(node.dtype)
            value = f"{value} if {self.names[index.src[2]]} else {other}"
        self._emit(f"{self._fresh(node)} = {value}")

    def _elements(self, index: UOp, dtype: DType) -> str:
        pointer = index.src[0]
        if dtype.count == 1 or pointer.dtype.base.count == dtype.count:
            return self._decoded(pointer, self._element(index, 0))
        parts = (self._decoded(pointer, self._element(index, lane)) for lane in range(dtype.count))
        return "(" + ", ".join(parts) + ")"

    def _element(self, index: UOp, lane: int) -> str:
        """One element; a negative index is an error, not an index from the end."""
        at = self.names[index]
        if at.isdigit():
            return f"{self.names[index.src[0]]}[{int(at) + lane}]"
        place = f"{at} + {lane}" if lane else at
        return f"{self.names[index.src[0]]}[{place} if {at} >= 0 else outside({at})]"

    def _decoded(self, pointer: UOp, element: str) -> str:
        scalar = _stored(pointer)
        if pointer.op is not Ops.DEFINE_GLOBAL:
            return element
        if scalar in _BY_BITS:
            return f"decode_{scalar.name}({element})"
        return f"{element} != 0" if scalar is dtypes.bool else element

    def _store(self, node: UOp) -> None:
        if node.arg == ASYNC:
            self._copy(node)
            return
        index, value = _address(node.src[0]), node.src[1]
        pointer, given = index.src[0], self.names[value]
        if len(index.src) > 2:
            self._emit(f"if {self.names[index.src[2]]}:")
            self.depth += 1
        if value.dtype.count == 1 or pointer.dtype.base.count == value.dtype.count:
            self._emit(f"{self._element(index, 0)} = {self._encoded(pointer, given)}")
        else:
            for lane in range(value.dtype.count):
                part = self._encoded(pointer, f"{given}[{lane}]")
                self._emit(f"{self._element(index, lane)} = {part}")
        if len(index.src) > 2:
            self.depth -= 1

    def _copy(self, node: UOp) -> None:
        """A store that is carried out when it is waited for, and not a moment before."""
        index, value = _address(node.src[0]), node.src[1]
        array, at = self.names[index.src[0]], self.names[index.src[1]]
        given = self.names[value] if value.dtype.count > 1 else f"({self.names[value]},)"
        self._emit(f"flying[-1].append(({array}, {at}, {given}))")

    def _commit(self, node: UOp) -> None:
        self._emit("flying.append([])")

    def _wait(self, node: UOp) -> None:
        self._emit(f"flying = arrived(flying, {node.arg[0]})")

    def _encoded(self, pointer: UOp, value: str) -> str:
        scalar = _stored(pointer)
        if pointer.op is Ops.DEFINE_GLOBAL and scalar in _BY_BITS:
            return f"encode_{scalar.name}({value})"
        return value

    # ---- values -------------------------------------------------------------------------------

    def _lanes(self, node: UOp, expression: Callable[..., str]) -> None:
        """One expression, or for a vector a tuple of one per lane; scalar operands serve all."""
        names = [self.names[source] for source in node.src]
        if node.dtype.count == 1:
            text = expression(*names)
        else:
            wide = [source.dtype.count > 1 for source in node.src]
            lanes = (
                expression(*(f"{n}[{lane}]" if w else n for n, w in zip(names, wide)))
                for lane in range(node.dtype.count)
            )
            text = "(" + ", ".join(lanes) + ")"
        self._emit(f"{self._fresh(node)} = {text}")

    def _alu(self, node: UOp, operands: tuple[str, ...]) -> str:
        op, scalar = node.op, node.dtype.scalar()
        if op is Ops.WHERE:
            return f"{operands[1]} if {operands[0]} else {operands[2]}"
        if op in _EXACT:
            return f"{operands[0]} {_INFIX[op]} {operands[1]}"
        if op in _INFIX and scalar is not dtypes.bool:
            return _fitted(f"{operands[0]} {_INFIX[op]} {operands[1]}", scalar)
        return f"alu(Ops.{op.name}, dtypes.{_attribute(scalar)}, ({', '.join(operands)},))"

    def _cast(self, node: UOp) -> None:
        if isinstance(node.dtype, PtrDType):
            self._name(node, self.names[node.src[0]])
            return
        scalar, given = node.dtype.scalar(), node.src[0].dtype.scalar()
        widens = given.bitsize < scalar.bitsize and _signed(given) <= _signed(scalar)
        if dtypes.is_int(scalar) and dtypes.is_int(given) and widens:
            self._lanes(node, lambda value: value)
        else:
            self._lanes(node, lambda value: f"truncate({value}, dtypes.{_attribute(scalar)})")

    def _bitcast(self, node: UOp) -> None:
        if isinstance(node.dtype, PtrDType):
            self._name(node, self.names[node.src[0]])
            return
        source = node.src[0]
        given = f"dtypes.{_attribute(source.dtype.scalar())}"
        wanted = f"dtypes.{_attribute(node.dtype.scalar())}"
        name = self.names[source]
        values = name if source.dtype.count > 1 else f"({name},)"
        result = f"unpack(pack({values}, {given}), {wanted})"
        text = f"tuple({result})" if node.dtype.count > 1 else f"{result}[0]"
        self._emit(f"{self._fresh(node)} = {text}")

    def _vectorize(self, node: UOp) -> None:
        parts = ", ".join(self.names[source] for source in node.src)
        self._emit(f"{self._fresh(node)} = ({parts},)")

    def _cat(self, node: UOp) -> None:
        self._emit(f"{self._fresh(node)} = {' + '.join(self.names[s] for s in node.src)}")

    def _gep(self, node: UOp) -> None:
        name = self.names[node.src[0]]
        if node.src[0].dtype.count == 1:
            picked = [name for _ in node.arg]
        else:
            picked = [f"{name}[{lane}]" for lane in node.arg]
        text = picked[0] if len(picked) == 1 else f"({', '.join(picked)})"
        self._emit(f"{self._fresh(node)} = {text}")


_STATEMENTS: dict[Ops, Callable[[_Writer, UOp], None]] = {
    Ops.NOOP: _Writer._nothing,
    Ops.SINK: _Writer._nothing,
    Ops.DEFINE_GLOBAL: _Writer._global,
    Ops.DEFINE_REG: _Writer._register,
    Ops.DEFINE_LOCAL: _Writer._local,
    Ops.SPECIAL: _Writer._special,
    Ops.CONST: _Writer._constant,
    Ops.VCONST: _Writer._vector_constant,
    Ops.RANGE: _Writer._range,
    Ops.ENDRANGE: _Writer._close,
    Ops.IF: _Writer._if,
    Ops.ENDIF: _Writer._close,
    Ops.BARRIER: _Writer._barrier,
    Ops.WMMA: _Writer._unit,
    Ops.DOT: _Writer._dot,
    Ops.SHUFFLE: _Writer._shuffle,
    Ops.COMMIT: _Writer._commit,
    Ops.WAIT: _Writer._wait,
    Ops.INDEX: _Writer._index,
    Ops.LOAD: _Writer._load,
    Ops.STORE: _Writer._store,
    Ops.CAST: _Writer._cast,
    Ops.BITCAST: _Writer._bitcast,
    Ops.VECTORIZE: _Writer._vectorize,
    Ops.CAT: _Writer._cat,
    Ops.GEP: _Writer._gep,
}


def _address(node: UOp) -> UOp:
    """The INDEX behind a pointer that may have been cast."""
    while node.op in (Ops.CAST, Ops.BITCAST):
        node = node.src[0]
    return node


def _stored(pointer: UOp) -> DType:
    """The dtype of the elements in memory."""
    kind = pointer.dtype
    if isinstance(kind, ImageDType):
        return dtypes.float16 if kind.itemsize == 2 else dtypes.float32
    return kind.base.scalar()


def _memory_code(scalar: DType) -> str:
    """The memoryview format in which elements of this dtype are kept."""
    if scalar is dtypes.bool:
        return "B"
    code = _BY_BITS.get(scalar) or scalar.fmt
    assert code is not None
    return code


def _fitted(expression: str, scalar: DType) -> str:
    """An expression rounded or wrapped to a dtype."""
    if scalar is dtypes.float64:
        return expression
    if dtypes.is_float(scalar):
        return f"round_{scalar.name}({expression})"
    mask = (1 << scalar.bitsize) - 1
    if dtypes.is_unsigned(scalar):
        return f"({expression}) & {mask:#x}"
    half = 1 << (scalar.bitsize - 1)
    return f"(({expression}) + {half:#x} & {mask:#x}) - {half:#x}"


def _literal(value: Any, scalar: DType) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if value != value else ("inf" if value > 0 else "-inf")
    if dtypes.is_float(scalar):
        return repr(float(value))
    return repr(bool(value)) if scalar is dtypes.bool else repr(int(value))


def _zero(dtype: DType) -> str:
    one = _literal(0, dtype.scalar())
    return one if dtype.count == 1 else "(" + ", ".join([one] * dtype.count) + ")"


def _signed(scalar: DType) -> int:
    return int(not dtypes.is_unsigned(scalar))


def _attribute(scalar: DType) -> str:
    return scalar.name
