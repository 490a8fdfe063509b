"""Bounds proofs: prove with an SMT solver that no access of a linear program leaves its buffer.

A tool of the tests, which needs z3 (the extra ``weft[proof]``). Every index becomes a formula over
work item numbers, loop iterations, variables of the kernel, and loaded values (any value of the
dtype). The solver searches for values with a true gate and an address outside the buffer. If there
are none, the access is proved. Arithmetic that may leave the range of its dtype wraps around.

A prefetch is checked like any other access. Processors ignore an invalid prefetch, but a prefetch
outside the buffer has no use.

Source: L. de Moura, N. Bjorner, "Z3: An Efficient SMT Solver", TACAS 2008.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from weft.base.dtype import PtrDType, dtypes
from weft.base.errors import ArgumentError
from weft.device import LinearProgram
from weft.uop import GroupOp, Ops, UOp

_COUNTED = frozenset({Ops.RANGE, Ops.SPECIAL})


@dataclass(frozen=True)
class Access:
    """One LOAD or STORE of a program, and the conditions and loops around it."""

    node: UOp
    conditions: tuple[UOp, ...] = ()
    loops: tuple[UOp, ...] = ()

    @property
    def pointer(self) -> UOp:
        return self.node.src[0].src[0]

    @property
    def size(self) -> int:
        """How many elements the buffer has; -1 where that is not known."""
        dtype = self.pointer.dtype
        assert isinstance(dtype, PtrDType)
        return dtype.size

    @property
    def index(self) -> UOp:
        return self.node.src[0].src[1]

    @property
    def gates(self) -> tuple[UOp, ...]:
        """What must hold for memory to be touched."""
        return (*self.conditions, *self.node.src[0].src[2:])

    @property
    def width(self) -> int:
        """How many elements of the buffer, one after the other."""
        dtype = self.node.dtype if self.node.op is Ops.LOAD else self.node.src[1].dtype
        return max(1, dtype.count // self.pointer.dtype.base.count)

    def __str__(self) -> str:
        return f"{self.node.op.name} of {self.width} at {self.index.render()}"


@dataclass(frozen=True)
class Finding:
    """What could not be proved: the access, and values for which it fails if the solver has some.

    values: None where it gave up.
    """

    program: str
    access: str
    because: str
    values: dict[str, int] | None

    def __str__(self) -> str:
        found = "not decided" if self.values is None else f"where {self.values}"
        return f"{self.program}: {self.access}: {self.because} ({found})"


def accesses_of(program: LinearProgram) -> list[Access]:
    """All LOADs and STOREs, in their order."""
    found: list[Access] = []
    conditions: list[UOp] = []
    loops: list[UOp] = []
    for node in program.uops:
        if node.op is Ops.IF:
            conditions.append(node.src[0])
        elif node.op is Ops.ENDIF:
            conditions.pop()
        elif node.op is Ops.RANGE:
            loops.append(node)
        elif node.op is Ops.ENDRANGE:
            loops.pop()
        elif node.op in (Ops.LOAD, Ops.STORE) and node.src[0].op is Ops.INDEX:
            # a branch that is taken if any lane is true gives no condition for a single access
            known = tuple(one for one in conditions if one.dtype.count == 1)
            found.append(Access(node, known, tuple(loops)))
    return found


def solver_library() -> Any:
    """z3. :raises ArgumentError: where it is not installed."""
    try:
        import z3
    except ImportError as error:
        raise ArgumentError(
            "proofs need a solver", asked="import z3", because=str(error),
            try_="pip install 'weft[proof]'",
        ) from error  # fmt: skip
    return z3


class Formulas:
    """Integer and boolean nodes as formulas.

    :param rename: returns the name of a number (RANGE, SPECIAL, LOAD, ...) in the formulas.
    :param kept: buffers without writes: two reads of one place have one value.
    :ivar facts: the bounds of all numbers in the formulas.

    A number below a power of two is the sum of its bits. Divisions by powers of two, as in the
    layout of a warp, are then sums as well, and need no search.
    """

    def __init__(
        self, rename: Callable[[UOp, str], str] | None = None, kept: Collection[UOp] = ()
    ) -> None:
        self.z3 = solver_library()
        self.rename = rename or (lambda node, name: name)
        self.kept = kept
        self.facts: list[Any] = []
        self.known: dict[UOp, Any] = {}
        self.bits: dict[UOp, list[Any]] = {}
        self.names: dict[UOp, str] = {}
        self.lanes: dict[tuple[UOp, int], UOp] = {}

    def of(self, root: UOp) -> Any:
        """The formula of a node; what is loaded or a float comparison is a number of its own."""
        for node in root.toposort(gate=lambda u: u not in self.known and not self.is_free(u)):
            if node not in self.known and not isinstance(node.dtype, PtrDType):
                self.known[node] = self.translated(node)
        return self.known[root]

    def is_free(self, node: UOp) -> bool:
        """Whether nothing is known of a value but its dtype, or is to be asked of its sources."""
        if node.op in (Ops.LOAD, Ops.GEP, Ops.CUSTOM, Ops.CUSTOMI, Ops.WMMA):
            return True
        return any(dtypes.is_float(source.dtype) for source in node.src) and node.op is not Ops.LOAD

    def translated(self, node: UOp) -> Any:
        z3, op = self.z3, node.op
        if op is Ops.CONST:
            return z3.BoolVal(node.arg) if node.dtype is dtypes.bool else z3.IntVal(int(node.arg))
        if op is Ops.GEP and node.dtype.count == 1:
            lane = self.lane_of(node.src[0], node.arg[0])
            return self.anything(node) if lane is node else self.of(lane)
        if op in _COUNTED:
            return self.number(node, f"{node.arg}" if op is Ops.SPECIAL else f"loop{node.arg.id}")
        if op is Ops.DEFINE_VAR:
            number = z3.Int(node.arg.name)
            self.facts += [number >= node.arg.low, number <= node.arg.high]
            return number
        if self.is_free(node) or node.dtype.count > 1 or dtypes.is_float(node.dtype):
            return self.anything(node)
        short = self.shifted(node)
        if short is not None:
            return short
        made = self.computed(node, [self.known[source] for source in node.src])
        return self.anything(node) if made is None else made

    def lane_of(self, vector: UOp, lane: int) -> UOp:
        """One lane of a vector as a number of its own: what is computed of vectors, of lanes."""
        stack = [(vector, lane)]
        while stack:
            node, place = key = stack[-1]
            needed = self.parts_of(node, place)
            missing = [part for part in needed if part not in self.lanes]
            stack += missing
            if missing:
                continue
            stack.pop()
            parts = tuple(self.lanes[part] for part in needed)
            if node.dtype.count == 1:
                self.lanes[key] = node
            elif node.op in (Ops.VECTORIZE, Ops.GEP) and parts:
                self.lanes[key] = parts[0]
            elif node.op is Ops.VCONST:
                self.lanes[key] = UOp.const(node.dtype.scalar(), node.arg[place])
            elif parts:
                self.lanes[key] = UOp(node.op, node.dtype.scalar(), parts, node.arg)
            else:
                self.lanes[key] = UOp(Ops.GEP, node.dtype.scalar(), (node,), (place,))
        return self.lanes[vector, lane]

    def parts_of(self, node: UOp, lane: int) -> list[tuple[UOp, int]]:
        """Of which lanes a lane of a vector is made; of none if nothing is known of it."""
        if node.dtype.count == 1:
            return []
        if node.op is Ops.GEP:
            return [(node.src[0], node.arg[lane])]
        if node.op is Ops.VECTORIZE:
            return [(node.src[lane], 0)]
        counts = {source.dtype.count for source in node.src}
        if node.op not in GroupOp.Elementwise or self.is_free(node) or counts != {node.dtype.count}:
            return []
        return [(source, lane) for source in node.src]

    def number(self, node: UOp, name: str) -> Any:
        """An iteration of a loop, or the number of a work item."""
        name, end = self.rename(node, name), node.src[0]
        if end.op is Ops.CONST and end.arg > 2 and end.arg & (end.arg - 1) == 0:
            count = end.arg.bit_length() - 1
            self.bits[node] = [self.z3.Int(f"{name}:{bit}") for bit in range(count)]
            for bit in self.bits[node]:
                self.facts += [bit >= 0, bit <= 1]
            return self.sum_of(node)
        number = self.z3.Int(name)
        self.facts += [number >= 0, number < self.of_end(node)]
        return number

    def sum_of(self, node: UOp) -> Any:
        """A number by its bits."""
        bits = self.bits[node]
        return self.z3.Sum([bit * (1 << place) for place, bit in enumerate(bits)] or [0])

    def shifted(self, node: UOp) -> Any:
        """A division of bits by a power of two, or the rest of one; None for anything else."""
        if node.op is Ops.CAST and node.src[0] in self.bits:
            self.bits[node] = self.bits[node.src[0]]
            return self.known[node.src[0]]
        if len(node.src) != 2 or node.src[0] not in self.bits or node.src[1].op is not Ops.CONST:
            return None
        bits, amount = self.bits[node.src[0]], node.src[1].arg
        if node.op in (Ops.IDIV, Ops.MOD) and amount > 0 and amount & (amount - 1) == 0:
            cut = amount.bit_length() - 1
            self.bits[node] = bits[cut:] if node.op is Ops.IDIV else bits[:cut]
            return self.sum_of(node)
        return None

    def of_end(self, node: UOp) -> Any:
        return self.known[node.src[0]]

    def anything(self, node: UOp) -> Any:
        z3 = self.z3
        self.names[node] = self.rename(node, f"value{len(self.names)}")
        if node.dtype is dtypes.bool:
            return z3.Bool(self.names[node])
        number, scalar = z3.Int(self.names[node]), node.dtype.scalar()
        place = self.place_of(node)
        if place is not None:
            number = z3.Function(f"memory{place[0].arg}", z3.IntSort(), z3.IntSort())(place[1])
        if not dtypes.is_float(scalar):
            self.facts += [number >= int(scalar.min), number <= int(scalar.max)]
        return number

    def place_of(self, node: UOp) -> tuple[UOp, Any] | None:
        """The buffer and the place in it of what is read; None if it is more than a mere read, or
        may be written to."""
        load, lane = (node.src[0], node.arg[0]) if node.op is Ops.GEP else (node, 0)
        if load.op is not Ops.LOAD or dtypes.is_float(load.dtype):
            return None
        index = load.src[0]
        if index.op is not Ops.INDEX or index.src[2:] or index.src[0] not in self.kept:
            return None
        return index.src[0], self.of(index.src[1]) + lane

    def computed(self, node: UOp, src: Sequence[Any]) -> Any:
        """An operation on whole numbers or truths; None for one that has no formula here."""
        z3, op, boolean = self.z3, node.op, node.src[0].dtype is dtypes.bool
        if op is Ops.CAST:
            if node.dtype is dtypes.bool:
                return src[0] if boolean else src[0] != 0
            return z3.If(src[0], 1, 0) if boolean else self.wrapped(node, src[0])
        if op is Ops.WHERE:
            return z3.If(*src)
        if boolean:
            known = {Ops.AND: z3.And, Ops.MUL: z3.And, Ops.OR: z3.Or, Ops.XOR: z3.Xor}
            known |= {Ops.MAX: z3.Or, Ops.ADD: z3.Or, Ops.CMPNE: z3.Xor}
            return known[op](*src) if op in known else None
        plain: dict[Ops, Callable[..., Any]] = {
            Ops.ADD: lambda a, b: a + b, Ops.SUB: lambda a, b: a - b, Ops.MUL: lambda a, b: a * b,
            Ops.NEG: lambda a: -a, Ops.CMPLT: lambda a, b: a < b, Ops.CMPNE: lambda a, b: a != b,
            Ops.CMPEQ: lambda a, b: a == b, Ops.MULACC: lambda a, b, c: a * b + c,
            Ops.MAX: lambda a, b: z3.If(a < b, b, a),
        }  # fmt: skip
        if op is Ops.BITCAST:
            return self.same_bits(node, src[0])
        if op in plain:
            made = plain[op](*src)
            return made if node.dtype is dtypes.bool else self.wrapped(node, made)
        right = node.src[-1]
        if right.op is not Ops.CONST or right.arg <= 0:
            return None
        if op in (Ops.IDIV, Ops.MOD):
            quotient = self.quotient(node.src[0], src[0], right.arg)
            return quotient if op is Ops.IDIV else src[0] - quotient * right.arg
        if op is Ops.SHL:
            return self.wrapped(node, src[0] * (1 << right.arg))
        if op is Ops.SHR:
            return src[0] / (1 << right.arg)
        if op is Ops.AND and right.arg & (right.arg + 1) == 0:
            return src[0] % (right.arg + 1)
        return None

    def wrapped(self, node: UOp, value: Any) -> Any:
        """What is left of a whole number in a dtype. Bounds that are narrower than the dtype hold
        without that."""
        low, high = int(node.dtype.min), int(node.dtype.max)
        fits = node.op is Ops.CAST and low <= node.src[0].vmin and node.src[0].vmax <= high
        if fits or node.op is Ops.MAX or (node.vmin, node.vmax) != (low, high):
            return value
        return (value - low) % (high - low + 1) + low

    def same_bits(self, node: UOp, value: Any) -> Any:
        """A number taken for signed or unsigned."""
        half = 1 << (node.dtype.bitsize - 1)
        if node.dtype in dtypes.uints:
            return self.z3.If(value < 0, value + 2 * half, value)
        if node.src[0].dtype in dtypes.uints:
            return self.z3.If(value >= half, value - 2 * half, value)
        return value

    def quotient(self, node: UOp, value: Any, divisor: int) -> Any:
        """Truncating division: that of the solver rounds down."""
        if node.vmin >= 0:
            return value / divisor
        return self.z3.If(value >= 0, value / divisor, -((-value) / divisor))


def unproven(program: LinearProgram, seconds: float = 10.0) -> list[Finding]:
    """The accesses of a program that may lie outside of their buffers, or may for all we know.

    :param seconds: that the solver has for each access, each of the two times that it is asked.
    :raises ArgumentError: where there is no solver.
    """
    return list(_outside(program, seconds))


def _outside(program: LinearProgram, seconds: float) -> Iterator[Finding]:
    """Prove most accesses for any loaded values, and the rest with the origin of loaded values."""
    accesses = accesses_of(program)
    stored = {access.pointer for access in accesses if access.node.op is Ops.STORE}
    kept = {u for u in program.uops if u.op is Ops.DEFINE_GLOBAL and u not in stored}
    formulas, closer = Formulas(), Formulas(kept=kept)
    done: set[tuple[UOp, int, tuple[UOp, ...]]] = set()
    for access in accesses:
        key = (access.node.src[0], access.width, access.gates)
        if key in done or access.size < 0:
            continue
        done.add(key)
        if _leaves(access, formulas, seconds) is None:
            continue
        solver = _leaves(access, closer, seconds)
        if solver is not None:
            yield Finding(
                program.name, str(access), f"the buffer has {access.size} elements",
                values_of(solver) if solver.check() == solver_library().sat else None,
            )  # fmt: skip


def _leaves(access: Access, formulas: Formulas, seconds: float) -> Any:
    """The solver that did not find an access to stay inside of its buffer; None where it did."""
    z3 = solver_library()
    index = formulas.of(access.index)
    gates = [formulas.of(gate) for gate in access.gates]
    outside = z3.Or(index < 0, index + access.width > access.size)
    solver = z3.Solver()
    solver.set("timeout", int(seconds * 1000))
    solver.add(*formulas.facts, *gates, outside)
    return None if solver.check() == z3.unsat else solver


def values_of(solver: Any) -> dict[str, int]:
    """The numbers of a counterexample; of memory by place, "else" in all others."""
    model = solver.model()
    found: dict[str, Any] = {}
    for one in model.decls():
        value = model[one]
        if one.arity() == 0:
            found[str(one)] = value
            continue
        entries = [value.entry(number) for number in range(value.num_entries())]
        found.update({f"{one}[{entry.arg_value(0)}]": entry.value() for entry in entries})
        found[f"{one}[else]"] = value.else_value()
    return {name: value.as_long() for name, value in found.items() if hasattr(value, "as_long")}
