"""Matrix units of warps: the operands, the fragment layout and the call of each instruction.

Layouts are those of ``mma.sync`` in the PTX ISA (chapter "Matrix multiply-accumulate operation
using mma instruction"): of a lane's number the two lowest bits are its place in a group of four,
the others the number of the group.
"""

from __future__ import annotations

from dataclasses import dataclass

from weft.plugin import DType, FragmentLayout, TensorCore, dtypes

_IN_GROUP, _GROUP = 2, 3
"""How many bits of a lane's number are its place in its group, and the number of the group."""


def _doubled(step: tuple[int, int], count: int) -> tuple[tuple[int, int], ...]:
    """`count` bits, the lowest of which moves by `step`."""
    return tuple((step[0] << bit, step[1] << bit) for bit in range(count))


_C = FragmentLayout((*_doubled((0, 2), _IN_GROUP), *_doubled((1, 0), _GROUP)), ((0, 1), (8, 0)))


@dataclass(frozen=True)
class Unit:
    """One instruction for results of 16 x 8.

    :param since: the compute capability, times ten, of the first chips that have it.
    :param spelt: the dtype of the factors, as the instruction spells it.
    :param terms: products of each sum.
    :param rounds: factors are rounded to fewer bits than their dtype has.
    """

    since: int
    spelt: str
    dtype: DType
    terms: int
    rounds: bool = False

    @property
    def name(self) -> str:
        """Of the function that a kernel calls."""
        return f"mma_m16n8k{self.terms}_{self.spelt}"

    @property
    def core(self) -> TensorCore:
        """The description of the unit for the core.

        A register holds adjacent terms of the sum, and a group of four lanes four registers. The
        terms of a longer sum continue in the next registers.
        """
        packed = 4 // self.dtype.itemsize
        bits = packed.bit_length() - 1
        more = self.terms // (4 * packed) - 1  # further registers along the sum: none, or one
        rows, terms = _doubled((1, 0), _GROUP), _doubled((0, packed), _IN_GROUP)
        further = _doubled((0, 4 * packed), more)
        left = FragmentLayout((*terms, *rows), (*_doubled((0, 1), bits), (8, 0), *further))
        right = FragmentLayout(
            tuple((column, row) for row, column in (*terms, *rows)),
            tuple((column, row) for row, column in (*_doubled((0, 1), bits), *further)),
        )
        dims = (16, 8, self.terms)
        return TensorCore(
            self.name, dims, 32, self.dtype, dtypes.float32, left, right, _C, self.rounds
        )

    @property
    def text(self) -> str:
        """The function that a kernel calls."""
        kind = TYPES[self.dtype]
        left, right = 16 * self.terms // 32, 8 * self.terms // 32
        packed = 4 // self.dtype.itemsize
        registers = [f"x[{number}]" for number in range(left // packed)]
        registers += [f"y[{number}]" for number in range(right // packed)]
        places = [f"%{number}" for number in range(4, 4 + len(registers))]
        split = left // packed
        return _CALL.format(
            name=self.name, kind=kind, left=left, right=right, terms=self.terms, spelt=self.spelt,
            factors=self._factors(left, right), given=", ".join(f'"r"({one})' for one in registers),
            a=", ".join(places[:split]), b=", ".join(places[split:]),
        )  # fmt: skip

    def _factors(self, left: int, right: int) -> str:
        """The registers of both factors: the bits as they are, or rounded."""
        if not self.rounds:
            return "const unsigned *x = (const unsigned*)a.lane, *y = (const unsigned*)b.lane;"
        x, y = (
            ", ".join(f"rounded_to_tf32({factor}[{number}])" for number in range(count))
            for factor, count in (("a", left), ("b", right))
        )
        return f"unsigned x[] = {{{x}}},\n      y[] = {{{y}}};"


TYPES = {
    dtypes.float16: "f16", dtypes.bfloat16: "bf16", dtypes.float32: "float",
    dtypes.fp8e4m3: "f8e4m3", dtypes.fp8e5m2: "f8e5m2",
}  # fmt: skip
"""What the source calls a dtype of factors."""

# The longest sum first: the first that fits is taken.
UNITS = (
    Unit(80, "f16", dtypes.float16, 16),
    Unit(80, "bf16", dtypes.bfloat16, 16),
    Unit(75, "f16", dtypes.float16, 8),
    Unit(89, "e4m3", dtypes.fp8e4m3, 32),
    Unit(89, "e5m2", dtypes.fp8e5m2, 32),
    Unit(80, "tf32", dtypes.float32, 8, rounds=True),
)


def units_of(compute_capability: int) -> tuple[TensorCore, ...]:
    """Those of a chip; its compute capability times ten."""
    return tuple(unit.core for unit in UNITS if unit.since <= compute_capability)


_CALL = """\
__device__ inline vec<float, 4> {name}(
    vec<{kind}, {left}> a, vec<{kind}, {right}> b, vec<float, 4> c) {{
  {factors}
  asm("mma.sync.aligned.m16n8k{terms}.row.col.f32.{spelt}.{spelt}.f32 "
      "{{%0, %1, %2, %3}}, {{{a}}}, {{{b}}}, {{%0, %1, %2, %3}};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : {given});
  return c;
}}"""

ROUNDED = """\
__device__ inline unsigned rounded_to_tf32(float x) {
  unsigned bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
  return bits;
}"""

ROUNDING = {unit.name for unit in UNITS if unit.rounds}
"""Names of the units whose functions call `ROUNDED`."""
CALLS = {unit.name: unit.text for unit in UNITS}
"""By name of a unit, the function that a kernel calls."""
