"""Type legalization: store narrow floats as integers and compute with them in float32.
Also: software floating point.

in:  spec.lowered
out: spec.lowered without the floats of 8 and 16 bits that the target lacks

A value of such a dtype is a float32 that the narrow dtype represents exactly. The result of each
operation is rounded to the narrow dtype, to nearest with ties to even. A float32 has at least twice
the digits plus two, so double rounding is innocuous.

Source: S. Figueroa, "When is double rounding innocuous?" (SIGNUM Newsletter 1995).
"""

from __future__ import annotations

from weft.base.dtype import AddrSpace, DType, PtrDType, dtypes
from weft.base.errors import CapabilityError
from weft.base.scalars import is_positive_zero
from weft.codegen.analysis.ranges import values_of
from weft.codegen.analysis.traversal import nodes_of
from weft.codegen.decomposition.transcendental import where
from weft.uop import GroupOp, Ops, UOp

_NARROW = (dtypes.half, dtypes.bfloat16, dtypes.fp8e4m3, dtypes.fp8e5m2)
_STORED = {1: dtypes.uchar, 2: dtypes.ushort}
# the result is an operand or its negative, so it needs no rounding
_EXACT = GroupOp.Comparison | {Ops.WHERE, Ops.MAX, Ops.NEG, Ops.TRUNC}
_UINT = dtypes.uint


def _uint(value: int) -> UOp:
    return UOp.const(_UINT, value)


def decoded(bits: UOp, dtype: DType) -> UOp:
    """The float32 value of the bits of a narrow float."""
    wide = bits.cast(_UINT)
    if dtype is dtypes.bfloat16:  # the upper half of a float32
        return (wide << _uint(16)).bitcast(dtypes.float)
    info = dtypes.finfo(dtype)
    width, digits, bias = info.bits - 1, info.mantissa_bits, info.bias
    sign = (wide >> _uint(width)) << _uint(31)
    magnitude = wide & _uint((1 << width) - 1)
    moved = magnitude << _uint(23 - digits)
    # a product with a power of two corrects the exponent, also of subnormals
    scaled = moved.bitcast(dtypes.float)
    if bias != 127:
        scaled = scaled * UOp.const(dtypes.float, 2.0 ** (127 - bias))
    result = scaled.bitcast(_UINT)
    top = ((1 << info.exponent_bits) - 1) << digits
    if info.has_infinity:
        special = (magnitude < _uint(top)).logical_not()
        result = where(special, moved | _uint(0x7F800000), result)
    else:
        special = magnitude.eq(_uint((1 << width) - 1))
        result = where(special, _uint(0x7FC00000), result)
    return (result | sign).bitcast(dtypes.float)


def encoded(value: UOp, dtype: DType) -> UOp:
    """The bits of a float32 rounded to a narrow float, as an unsigned 32-bit integer."""
    if dtype is dtypes.bfloat16:
        return _upper_half(value.bitcast(_UINT))
    info = dtypes.finfo(dtype)
    width, digits, bias = info.bits - 1, info.mantissa_bits, info.bias
    infinity = ((1 << info.exponent_bits) - 1) << digits
    nan = infinity | (1 << (digits - 1)) if info.has_infinity else (1 << width) - 1
    too_large = infinity if info.has_infinity else nan
    cut = 23 - digits
    bits = value.bitcast(_UINT)
    sign = (bits >> _uint(31)) << _uint(width)
    magnitude = bits & _uint(0x7FFFFFFF)
    even = (magnitude >> _uint(cut)) & _uint(1)
    normal = (magnitude + _uint((1 << (cut - 1)) - 1) + even) >> _uint(cut)
    normal = normal - _uint((127 - bias) << digits)
    result = normal
    if bias != 127:
        # adding a power of two rounds a subnormal to the last digits
        anchor = UOp.const(dtypes.float, 2.0 ** (23 - (bias - 1 + digits)))
        raised = magnitude.bitcast(dtypes.float) + anchor
        subnormal = raised.bitcast(_UINT) - anchor.bitcast(_UINT)
        smallest = UOp.const(dtypes.float, 2.0 ** (1 - bias)).bitcast(_UINT)
        result = where(magnitude < smallest, subnormal, normal)
    largest = _uint(too_large)
    # beyond the range the sum above may have wrapped, so compare the operand
    limit = _uint((127 + (1 << info.exponent_bits) - bias) << 23)
    result = where((magnitude < limit) & (result < largest), result, largest)
    result = where(_uint(0x7F800000) < magnitude, _uint(nan), result)
    return result | sign


def _upper_half(bits: UOp) -> UOp:
    """The upper half of a float32, rounded; a carry increments the exponent, up to infinity."""
    even = (bits >> _uint(16)) & _uint(1)
    result = (bits + (even + _uint(0x7FFF))) >> _uint(16)
    nan = ((bits >> _uint(31)) << _uint(15)) | _uint(0x7FC0)
    return where(_uint(0x7F800000) < (bits & _uint(0x7FFFFFFF)), nan, result)


def _with_digits(value: UOp, digits: int) -> UOp:
    """A value, an integer rounded to odd so that a float of that many digits represents it.

    A later rounding to bfloat16, to 8 digits, gives what one rounding would. The other narrow
    floats have no number beyond 2 ** 24 other than infinity.
    """
    dtype = value.dtype
    if not dtypes.is_int(dtype):
        return value
    result, least = value, digits
    while least < 8 * dtype.itemsize:
        cut = least - 9  # two more digits than bfloat16 has are kept
        rest = value & value.const_like((1 << cut) - 1)
        large = value.const_like((1 << least) - 1) < value
        if not dtypes.is_unsigned(dtype):
            large = large | (value < value.const_like(-(1 << least)))
        odd = (value - rest) + value.const_like(1 << (cut - 1))
        result = where(large & rest.ne(value.const_like(0)), odd, result)
        least = cut - 1 + digits
    return result


def _is_local(access: UOp) -> bool:
    """Whether an access is to a local array, which holds float32 values without encoding."""
    pointer = access.src[0].dtype
    return isinstance(pointer, PtrDType) and pointer.space is AddrSpace.REG


class _Narrow:
    def __init__(self, lacking: frozenset[DType], wide: bool) -> None:
        self.lacking = lacking
        self.wide = wide
        self.new: dict[UOp, UOp] = {}
        self.encoding: dict[tuple[UOp, DType], UOp] = {}  # the bits a float32 was decoded from

    def run(self, sink: UOp) -> UOp:
        for node in sink.toposort():
            self.new[node] = self.rewrite(node, tuple([self.new[s] for s in node.src]))
        return self.new[sink]

    def rewrite(self, node: UOp, src: tuple[UOp, ...]) -> UOp:
        op, dtype = node.op, node.dtype
        if isinstance(dtype, PtrDType):
            if dtype.base in self.lacking:
                local = dtype.space is AddrSpace.REG
                stored = dtypes.float if local else _STORED[dtype.base.itemsize]
                dtype = stored.ptr(dtype.size, dtype.space)
            return UOp(op, dtype, src, node.arg)
        if op is Ops.STORE:
            given = node.src[1].dtype
            if given in self.lacking and not _is_local(node):
                return UOp(op, dtype, (src[0], self.bits_of(src[1], given)), node.arg)
        if op is Ops.BITCAST and node.src[0].dtype in self.lacking:
            given = node.src[0].dtype
            return self.from_bits(self.bits_of(src[0], given), dtype)
        if op is Ops.CAST and dtype is src[0].dtype:
            return src[0]
        if dtype not in self.lacking:
            return node if src == node.src else UOp(op, dtype, src, node.arg)
        if op is Ops.CONST:
            return UOp.const(dtypes.float, node.arg)
        if op is Ops.LOAD:
            return self.load(node, src)
        if op is Ops.CAST:
            return self.rounded(self.as_single(src[0]), dtype)
        if op is Ops.BITCAST:
            return self.from_bits(src[0], dtype)
        if op is Ops.REDUCE:
            assert len(values_of(node)) == 1
            total = UOp(op, dtypes.float, src, node.arg)
            return total if node.arg.op is Ops.MAX else self.rounded(total, dtype)
        if op in GroupOp.ALU:
            result = UOp(op, dtypes.float, src, node.arg)
            return result if op in _EXACT else self.rounded(result, dtype)
        raise CapabilityError(
            f"{op.name} of {dtype!r} cannot be computed on this device",
            asked=f"{op.name} of {dtype!r}",
            because="the device lacks the dtype, and the operation has no form in another",
        )

    def load(self, node: UOp, src: tuple[UOp, ...]) -> UOp:
        if _is_local(node):
            return UOp(Ops.LOAD, dtypes.float, src)
        stored = _STORED[node.dtype.itemsize]
        if len(src) == 1:
            return self.decoded(UOp(Ops.LOAD, stored, src), node.dtype)
        other = self.bits_of(src[1], node.dtype)
        if node.src[1].op is Ops.CONST and is_positive_zero(node.src[1].arg):
            other = UOp.const(stored, 0)
        return self.decoded(UOp(Ops.LOAD, stored, (src[0], other)), node.dtype)

    def decoded(self, bits: UOp, dtype: DType) -> UOp:
        value = decoded(bits, dtype)
        self.encoding[value, dtype] = bits
        return value

    def bits_of(self, value: UOp, dtype: DType) -> UOp:
        """The stored bits of a float32; the original bits if it was decoded."""
        known = self.encoding.get((value, dtype))
        return encoded(value, dtype).cast(_STORED[dtype.itemsize]) if known is None else known

    def rounded(self, value: UOp, dtype: DType) -> UOp:
        if (value, dtype) in self.encoding:
            return value
        return self.decoded(self.bits_of(value, dtype), dtype)

    def from_bits(self, bits: UOp, dtype: DType) -> UOp:
        if dtype not in self.lacking:
            return bits.bitcast(dtype)
        return self.decoded(bits.bitcast(_STORED[dtype.itemsize]), dtype)

    def as_single(self, value: UOp) -> UOp:
        """A value as a float32, rounded to odd if a later rounding would be a double rounding."""
        if value.dtype is dtypes.float:
            return value
        if value.dtype.itemsize < 4 or value.dtype is dtypes.bool:
            return value.cast(dtypes.float)
        if not self.wide:
            return _with_digits(value, 24).cast(dtypes.float)
        exact = _with_digits(value, 53).cast(dtypes.double)
        single = exact.cast(dtypes.float)
        back = single.cast(dtypes.double)
        bits = single.bitcast(_UINT)
        zero = exact.const_like(0.0)
        grown = where(exact < zero, back < exact, exact < back)
        odd = (bits - grown.cast(_UINT)) | _uint(1)
        # NaN is unequal to itself, and unchanged
        inexact = back.ne(exact) & exact.eq(exact)
        return where(inexact, odd, bits).bitcast(dtypes.float)


def run(sink: UOp, computed: frozenset[DType]) -> UOp:
    """The kernel without narrow floats that are not in `computed`.

    CapabilityError for other dtypes that the target lacks.
    """
    used = {node.dtype.base.scalar() for node in nodes_of(sink)}
    lacking = used - computed - {dtypes.void}
    if not lacking:
        return sink
    if not lacking <= set(_NARROW):
        worst = next(iter(sorted(lacking - set(_NARROW), key=lambda d: d.name)))
        raise CapabilityError(
            f"the device does not compute with {worst!r}",
            asked=f"a kernel over {worst!r}",
            because=f"it declares {', '.join(sorted(d.name for d in computed))}",
            try_="cast to one of these first",
        )
    return _Narrow(frozenset(lacking), dtypes.double in computed).run(sink)
