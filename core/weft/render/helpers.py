"""Helper functions: define the C functions that a kernel calls, each only where it is used.

Each implements one operation whose plain operator is undefined, or differs from
`weft.uop.evaluate` and `weft.base.scalars`: division by zero, overflow of the least integer,
floats outside the range of an integer, a maximum that keeps NaN, one rounding to narrow floats.
The same text serves scalars and vectors: comparisons give 0 and 1 for scalars, masks for vectors,
and `?:` and `&` accept both.

Source: ISO/IEC 9899:1999, sections 6.5.5 and 6.3.1.4 (what C leaves undefined).
"""

from __future__ import annotations

from weft.base.dtype import DType, dtypes
from weft.render.constants import literal
from weft.render.dialect import SHORT_NAMES, CDialect
from weft.render.extensions import Extensions
from weft.render.source_usage import SourceUsage


class Helpers:
    """The functions of one kernel, in the order of their first use.

    :param function_prefix: the text before the result type of each.
    :param float_quotients: vectors of integers of up to 32 bits are divided as floats.
    :ivar types: every vector type they or the kernel mention, in order.
    :ivar texts: name of a function to its text.
    :ivar usage: what they and the kernel use of the language.
    """

    def __init__(
        self,
        dialect: CDialect,
        function_prefix: str = Extensions.function_prefix,
        float_quotients: bool = False,
    ) -> None:
        self.dialect = dialect
        self.function_prefix = function_prefix
        self.float_quotients = float_quotients
        self.types: dict[str, str] = {}
        self.texts: dict[str, str] = {}
        self.usage = SourceUsage()
        self._names: dict[DType, str] = {}
        self._through: dict[DType, str] = {}

    # ---- words ------------------------------------------------------------------------------

    def type(self, dtype: DType) -> str:
        """The name of a type; a vector's is declared at its first use."""
        known = self._names.get(dtype)
        if known is not None:
            return known
        name = self._names[dtype] = self.dialect.type_name(dtype)
        self.usage.dtypes |= {dtype, dtype.scalar()}
        vectors = self.dialect.vectors
        if dtype.count > 1 and vectors is not None and vectors.typedef and name not in self.types:
            scalar = dtype.scalar()
            self.types[name] = vectors.typedef.format(
                name=name,
                scalar=self.dialect.memory_type(scalar),
                count=dtype.count,
            )
        return name

    def memory_type(self, dtype: DType) -> str:
        """The type through which a vector is read and written where it lies in memory."""
        known = self._through.get(dtype)
        if known is not None:
            return known
        name = self.type(dtype)
        vectors = self.dialect.vectors
        if vectors is None:
            return name
        through = self._through[dtype] = vectors.memory_name.format(name=name)
        if vectors.memory_typedef:
            align = dtype.scalar().itemsize
            self.types.setdefault(through, vectors.memory_typedef.format(name=name, align=align))
        return through

    def stored_type(self, dtype: DType) -> str:
        """The name of a scalar type where it lies in memory."""
        self.usage.dtypes.add(dtype)
        return self.dialect.memory_type(dtype)

    def splat(self, value: str, dtype: DType) -> str:
        """One value in all lanes of `dtype`."""
        if dtype.count == 1:
            return value
        vectors = self.dialect.vectors
        name = self.type(dtype)
        if vectors is not None and vectors.splat:
            bare = value[1:-1] if value.startswith("(-") and value.endswith(")") else value
            return vectors.splat.format(type=name, value=bare)
        return self.literal((value,) * dtype.count, dtype)

    def literal(self, lanes: tuple[str, ...], dtype: DType) -> str:
        """A vector of these lanes."""
        name = self.type(dtype)
        assert self.dialect.vectors is not None  # self.type has refused it otherwise
        return self.dialect.vectors.literal.format(type=name, lanes=", ".join(lanes))

    def const(self, value: bool | int | float, dtype: DType) -> str:
        """A constant in all lanes of `dtype`."""
        return self.splat(self.scalar(value, dtype.scalar()), dtype)

    def scalar(self, value: bool | int | float, dtype: DType) -> str:
        """A constant of a scalar dtype; literals of narrow floats name their type."""
        if dtype in self.dialect.narrow_floats:
            self.usage.dtypes.add(dtype)
        return literal(self.dialect, value, dtype)

    def convert(self, value: str, dtype: DType) -> str:
        """The language's own conversion to `dtype`."""
        name = self.type(dtype)
        if dtype.count == 1:
            return f"({name})({value})"
        assert self.dialect.vectors is not None
        self.usage.conversions.add(dtype)
        return self.dialect.vectors.convert.format(value=value, type=name)

    def bits(self, value: str, source: DType, target: DType) -> str:
        """The bits of `value` as `target`, of the same size."""
        name = self.type(target)
        vectors = self.dialect.vectors
        if source.count > 1 and target.count > 1 and vectors is not None:
            self.usage.bitcasts.add(target)
            return vectors.bitcast.format(type=name, value=value)
        if self.dialect.bitcast and source.count == target.count == 1:
            return self.dialect.bitcast.format(type=name, value=value)
        function = f"bits_{self.tag(source)}_{self.tag(target)}"
        self._define(
            function,
            target,
            f"{self.type(source)} x",
            f"union {{ {self.type(source)} from; {name} to; }} u = {{ x }};",
            "return u.to;",
        )
        return f"{function}({value})"

    def tag(self, dtype: DType) -> str:
        """A dtype inside the name of a function."""
        short = SHORT_NAMES[dtype.scalar()]
        return short if dtype.count == 1 else f"{short}x{dtype.count}"

    def _define(self, name: str, result: DType, parameters: str, *body: str) -> str:
        if name not in self.texts:
            lines = "".join(f"  {line}\n" for line in body)
            head = f"{self.function_prefix} {self.type(result)} {name}({parameters})"
            self.texts[name] = f"{head} {{\n{lines}}}"
        return name

    def _pair(self, dtype: DType) -> str:
        name = self.type(dtype)
        return f"{name} a, {name} b"

    # ---- functions: each gives the name to call ---------------------------------------------

    def maximum(self, dtype: DType) -> str:
        """The larger of two; NaN where either is."""
        name = f"max_{self.tag(dtype)}"
        if not dtypes.is_float(dtype):
            return self._define(name, dtype, self._pair(dtype), "return a < b ? b : a;")
        # Not "b != b ? b": compilers would fold both choices of b into one and miss the machine's
        # own maximum. b + b is NaN where b is.
        return self._define(
            name,
            dtype,
            self._pair(dtype),
            f"{self.type(dtype)} larger = b > a ? b : a;",
            "return b != b ? b + b : larger;",
        )

    def even(self, dtype: DType) -> str:
        """Every other lane of a vector, from the first on."""
        vectors, half = self.dialect.vectors, dtype.scalar().vec(dtype.count // 2)
        assert vectors is not None  # `self.type` has refused it otherwise
        lanes = ", ".join(map(str, range(0, dtype.count, 2)))
        picked = vectors.shuffle.format(a="x", b="x", lanes=lanes)
        name = f"even_{self.tag(dtype)}"
        return self._define(name, half, f"{self.type(dtype)} x", f"return {picked};")

    def divide(self, dtype: DType) -> str:
        """Integers toward zero; 0 where the divisor is 0; the least by -1 wraps."""
        zero, one = self.const(0, dtype), self.const(1, dtype)
        if dtypes.is_unsigned(dtype):
            odd, others = f"b == {zero}", "quotient"
        else:
            minus = self.const(-1, dtype)
            odd, others = f"(b == {zero}) | (b == {minus})", f"b == {minus} ? -a : quotient"
        return self._define(
            f"div_{self.tag(dtype)}",
            dtype,
            self._pair(dtype),
            f"{self.type(dtype)} quotient = {self._quotient(f'({odd} ? {one} : b)', dtype)};",
            f"return b == {zero} ? {zero} : {others};",
        )

    def remainder(self, dtype: DType) -> str:
        """Sign of the dividend; 0 where the divisor is 0."""
        zero, one = self.const(0, dtype), self.const(1, dtype)
        odd = f"b == {zero}"
        if not dtypes.is_unsigned(dtype):
            odd = f"({odd}) | (b == {self.const(-1, dtype)})"
        # The remainder by 1 is 0, which is what both odd divisors should give.
        body = [f"return a % ({odd} ? {one} : b);"]
        if self._divided_as(dtype) is not None:
            body = [
                f"{self.type(dtype)} divisor = {odd} ? {one} : b;",
                f"return a - {self._quotient('divisor', dtype)} * divisor;",
            ]
        return self._define(f"mod_{self.tag(dtype)}", dtype, self._pair(dtype), *body)

    def _divided_as(self, dtype: DType) -> DType | None:
        """The float that integers are divided as; None: as they are."""
        if dtype.count == 1 or not self.float_quotients:
            return None
        size = dtype.scalar().itemsize
        if size > 4:
            return None
        return (dtypes.float32 if size < 4 else dtypes.float64).vec(dtype.count)

    def _quotient(self, divisor: str, dtype: DType) -> str:
        """a / divisor, toward zero, for a divisor that is neither 0 nor -1.

        As floats it is the same: what is no integer is 1 / divisor at least from one, and rounded
        by |a| / divisor / 2**24 (2**53), which is less, |a| being at most 2**16 (2**32).
        """
        real = self._divided_as(dtype)
        if real is None:
            return f"a / {divisor}"
        found = f"{self.convert('a', real)} / {self.convert(divisor, real)}"
        if dtype.scalar().itemsize < 4:  # there are instructions for 32 bits only
            found = self.convert(found, dtypes.int32.vec(dtype.count))
        return self.convert(found, dtype)

    def float_to_int(self, source: DType, target: DType) -> str:
        """float32 or float64 to int32, int64 or uint64.

        What does not fit, and NaN, becomes the least value of the signed integer of that width;
        uint64 holds [2**63, 2**64) as well.
        """
        name = f"{self.tag(target)}_from_{self.tag(source)}"
        width = 32 if target.scalar() is dtypes.int32 else 64
        real = self.type(source)
        least = self.const(-(2.0 ** (width - 1)), source)
        wide = target.scalar() is dtypes.uint64
        above = self.const(2.0**64 if wide else 2.0 ** (width - 1), source)
        # A double between -2**31 - 1 and -2**31 has int32's least value as its whole part.
        below = f"x >= {least}"
        if width == 32 and source.scalar() is dtypes.float64:
            below = f"x > {self.const(-(2.0**31) - 1, source)}"
        body = [f"x = ({below}) & (x < {above}) ? x : {least};"]
        if wide:
            half, signed = self.const(2.0**63, source), dtypes.int64.vec(target.count)
            body.append(f"x = x >= {half} ? x - {above} : x;")
            body.append(f"return {self.convert(self.convert('x', signed), target)};")
        else:
            body.append(f"return {self.convert('x', target)};")
        return self._define(name, target, f"{real} x", *body)

    def narrow(self, source: DType) -> str:
        """float64 to float32 with the last bit set where anything was cut off ("round to odd").

        Rounding that again to a narrower float is rounding once (Boldo and Melquiond, "Emulation
        of a FMA and correctly rounded sums: proved algorithms using rounding to odd", 2008).
        """
        single = dtypes.float32.vec(source.count)
        bits = dtypes.int32.vec(source.count)
        mask = dtypes.int64.vec(source.count)
        sign = "-" if source.count == 1 else "+"
        away, cut = "away", "cut"
        if source.count > 1:
            away = f"{self.convert(self.bits('away', mask, mask), bits)}"
            cut = f"({self.convert('cut', bits)} & {self.const(1, bits)})"
        flag = self.type(mask) if source.count > 1 else "int"
        nearest = self.convert("nearest", source)
        zero = self.const(0.0, source)
        cast = f"({flag})"
        return self._define(
            f"odd_{self.tag(source)}",
            single,
            f"{self.type(source)} x",
            f"{self.type(single)} nearest = {self.convert('x', single)};",
            f"{self.type(source)} back = {nearest};",
            f"{flag} cut = {cast}(back != x);",
            f"{flag} away = cut & ({cast}(back > x) ^ {cast}(x < {zero}));",
            f"{self.type(bits)} bits = {self.bits('nearest', single, bits)};",
            f"return {self.bits(f'(bits {sign} {away}) | {cut}', bits, single)};",
        )

    def sticky(self, source: DType) -> str:
        """64-bit integers to float64 such that rounding again to a narrower float is rounding once.

        Beyond 2**53, where float64 would round, the last bit it keeps is set if anything is cut.
        """
        double = dtypes.float64.vec(source.count)
        low, bit = self.const(0x7FF, source), self.const(0x800, source)
        zero, limit = self.const(0, source), self.const(1 << 53, source)
        large = f"x > {limit}"
        if not dtypes.is_unsigned(source):
            large = f"({large}) | (x < {self.const(-(1 << 53), source)})"
        lossy = f"({large}) & ((x & {low}) != {zero})"
        return self._define(
            f"sticky_{self.tag(source)}",
            double,
            f"{self.type(source)} x",
            f"x = {lossy} ? (x & ~{low}) | {bit} : x;",
            f"return {self.convert('x', double)};",
        )

    def sticky_single(self, source: DType) -> str:
        """32- and 64-bit integers to float32 such that rounding again to a narrower float is
        rounding once: `sticky` for languages without float64.

        Of the bits that float32 would cut off only that there are some is kept. Each step leaves at
        most 24 bits, of which at least 10 count: bfloat16 has 8, and for float16 all of these are
        infinite.
        """
        steps = ((24, 8),) if source.scalar().itemsize == 4 else ((50, 41), (38, 27), (24, 14))
        zero = self.const(0, source)
        body: list[str] = []
        signed = not dtypes.is_unsigned(source)
        for start, bit in steps:
            low, kept = self.const((1 << bit) - 1, source), self.const(1 << bit, source)
            large = f"x >= {self.const(1 << start, source)}"
            if signed:
                large = f"({large}) | (x < {self.const(-(1 << start), source)})"
            body.append(f"x = ({large}) & ((x & {low}) != {zero}) ? (x & ~{low}) | {kept} : x;")
        single = dtypes.float32.vec(source.count)
        return self._define(
            f"sticky_single_{self.tag(source)}",
            single,
            f"{self.type(source)} x",
            *body,
            f"return {self.convert('x', single)};",
        )
