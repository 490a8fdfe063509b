"""Packed dot product: add unrolled products of narrow numbers with dot-accumulate instructions.

in:  the terms of one sum after expansion, vectors of float32 or int32
out: as many terms or fewer: DOT of two words for every two terms whose factors are narrow

A term is narrow if both factors are converted from numbers of at most 16 bits. The order of the
terms does not affect the sum, so any two terms may share a word. A shift and an OR build each word.
Factors that all rows of a tile share are packed once.

Source: Intel 64 and IA-32 Architectures Software Developer's Manual, VPDPWSSD and VDPBF16PS.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from weft.base.dtype import DType, dtypes
from weft.codegen.analysis.ranges import values_of
from weft.device.packed_dot import PairDot
from weft.uop import Ops, UOp

_SHORT = (dtypes.bool, dtypes.int8, dtypes.uint8, dtypes.int16)
_BYTEWISE = frozenset(
    {
        Ops.ADD, Ops.SUB, Ops.MUL, Ops.AND, Ops.OR, Ops.XOR, Ops.SHL, Ops.SHR, Ops.CAST,
        Ops.BITCAST, Ops.WHERE, Ops.CMPLT, Ops.CMPNE,
    }
)  # fmt: skip
TAKES_SUM = frozenset({Ops.WMMA, Ops.DOT})
"""Operations that add to a sum by themselves: the sum so far is their last source."""


def packed(terms: list[UOp], units: Sequence[PairDot]) -> list[UOp]:
    """The terms of a sum, with a DOT for each two that a unit takes."""
    dtype = terms[0].dtype
    terms = _words_of_four(terms, units)
    found = (u for u in units if u.terms == 2 and u.dtype_out is dtype.scalar())
    fitting = (u for u in found if dtype.count in u.lanes)
    unit = next(fitting, None)
    if unit is None or len(terms) < 2:
        return terms
    done: list[UOp] = []
    waiting: tuple[UOp, UOp, UOp] | None = None  # a term and the words of its factors
    for term in terms:
        words = _words(term, unit)
        if words is None:
            done.append(term)
        elif waiting is None:
            waiting = (term, *words)
        else:
            first = (_both(waiting[1], words[0]), _both(waiting[2], words[1]))
            done.append(UOp(Ops.DOT, dtype, first, unit))
            waiting = None
    return done if waiting is None else [*done, waiting[0]]


def _words_of_four(terms: list[UOp], units: Sequence[PairDot]) -> list[UOp]:
    """The terms of a sum, all as DOTs of four, or as they are.

    The four terms of a word are consecutive, or as far apart as there are words.
    """
    dtype = terms[0].dtype
    fitting = (u for u in units if u.terms == 4 and u.dtype_out is dtype.scalar())
    unit = next((u for u in fitting if dtype.count in u.lanes), None)
    if unit is None or len(terms) % 4:
        return terms
    many = len(terms) // 4
    consecutive = [terms[first : first + 4] for first in range(0, len(terms), 4)]
    for groups in (consecutive, [terms[first::many] for first in range(many)]):
        sides = [_word_factors(four, unit) for four in groups]
        if all(sides):
            return [one for both in sides if both for one in _dots(both, dtype, unit)]
    return terms


def _dots(factors: tuple[UOp, UOp], dtype: DType, unit: PairDot) -> list[UOp]:
    """The products of two vectors of 8-bit numbers: a DOT, or two of the halves of the first one
    where it has more bits than the unit takes."""
    word = dtypes.int.vec(dtype.count)
    first, other = factors[0], UOp(Ops.BITCAST, word, (factors[1],))

    def dot(numbers: UOp) -> UOp:
        return UOp(Ops.DOT, dtype, (UOp(Ops.BITCAST, word, (numbers,)), other), unit)

    signed = unit.given[0] is dtypes.int8 and _scalar(first) is dtypes.uint8
    bits = 7 if signed else unit.bits
    if bits is None or first.vmax < 1 << bits:
        return [dot(first)]
    low = UOp(Ops.AND, first.dtype, (first, first.const_like(15)))
    high = UOp(Ops.SHR, first.dtype, (first, first.const_like(4)))
    # the sum so far is added last, so that the shift is on a chain of its own
    upper = dot(high)
    upper = UOp(Ops.DOT, dtype, (*upper.src, upper.const_like(0)), unit)
    return [dot(low), shifted_left(upper, 4)]


def _word_factors(terms: Sequence[UOp], unit: PairDot) -> tuple[UOp, UOp] | None:
    """Both factors of four products as vectors of 8-bit numbers, in the order of the unit; None
    where they are none."""
    if any(term.op is not Ops.MUL for term in terms):
        return None
    for order in ((0, 1), (1, 0)):
        factors = [[term.src[side] for term in terms] for side in order]
        if any(factor.op is not Ops.CAST for column in factors for factor in column):
            continue
        narrow = [[factor.src[0] for factor in column] for column in factors]
        given = zip(narrow, unit.given)
        if not all(_is_taken(one, dtype) for column, dtype in given for one in column):
            continue
        wide = [interleaved_columns(column) for column in narrow]
        if wide[0] is None or wide[1] is None:
            return None
        if _scalar(wide[1]) is dtypes.uint8 and _scalar(wide[0]) is dtypes.int8:
            return wide[1], wide[0]
        return (wide[0], wide[1]) if _scalar(wide[1]) is unit.given[1] else None
    return None


def _is_taken(number: UOp, dtype: DType) -> bool:
    """Whether numbers of a dtype, or their halves, are factors of a unit for `dtype`."""
    return _scalar(number) is dtype or (dtype is dtypes.int8 and _scalar(number) is dtypes.uint8)


def interleaved_columns(columns: Sequence[UOp]) -> UOp | None:
    """One vector of 8-bit numbers with these columns, interleaved; None where it needs shuffles.

    The columns are those of one vector in memory, after the same operations on each.
    """
    one, many = columns[0], len(columns)
    if any(u.op is not one.op or u.dtype is not one.dtype for u in columns):
        return None
    if one.dtype.scalar().itemsize != 1:
        return None
    lanes = one.dtype.count * many
    wide = one.dtype.scalar().vec(lanes)
    if one.op is Ops.GEP:
        whole = one.src[0]
        orders = [tuple(range(k, lanes, many)) for k in range(many)]
        same = all(u.src[0] is whole for u in columns) and whole.dtype.count == lanes
        return whole if same and [u.arg for u in columns] == orders else None
    if all(u is one for u in columns):
        return one.src[0].broadcast(lanes) if one.op is Ops.VECTORIZE and _is_splat(one) else None
    if one.op not in _BYTEWISE or any(u.arg != one.arg for u in columns):
        return None
    sources: list[UOp] = []
    for parts in zip(*(u.src for u in columns)):
        source = interleaved_columns(parts)
        if source is None:
            return None
        sources.append(source)
    return UOp(one.op, wide, tuple(sources), one.arg)


def may_pack(reduce: UOp, units: Sequence[PairDot]) -> bool:
    """Whether the terms of a REDUCE, not expanded yet, are ones that a unit takes."""
    if reduce.arg.op is not Ops.ADD:
        return False
    found = [u for u in units if u.terms == 2 and u.dtype_out is reduce.dtype.scalar()]
    return any(_words(term, unit) is not None for unit in found for term in values_of(reduce))


def _words(term: UOp, unit: PairDot) -> tuple[UOp, UOp] | None:
    """Both factors of a term in the lower halves of words; None where one is not narrow."""
    if term.op is not Ops.MUL:
        return None
    left, right = (word_of(factor, unit.dtype_in) for factor in term.src)
    return None if left is None or right is None else (left, right)


def word_of(factor: UOp, narrow: DType) -> UOp | None:
    """The word in whose lower half the bits of a factor are; nothing else is said of the upper.

    Of bfloat16 the bits are the upper half of the float32, of an integer they are its lower half.
    """
    if factor.op is Ops.VECTORIZE and all(lane is factor.src[0] for lane in factor.src):
        one = word_of(factor.src[0], narrow)
        return None if one is None else one.broadcast(factor.dtype.count)
    if not factor.src:
        return None
    if narrow is dtypes.bfloat16:
        shifted = factor.src[0]
        if factor.op is not Ops.BITCAST or shifted.op is not Ops.SHL:
            return None
        if _constant(shifted.src[1]) != 16:
            return None
        half = shifted.src[0]
        return half if half.op is Ops.CAST and _scalar(half.src[0]) is dtypes.ushort else None
    if factor.op is not Ops.CAST or factor.dtype.scalar() is not dtypes.int:
        return None
    return factor if narrow is dtypes.int16 and _scalar(factor.src[0]) in _SHORT else None


def added_to_dots(value: UOp) -> UOp:
    """A sum of a chain of DOTs and a vector as DOTs that start with this vector."""
    if not dtypes.is_int(value.dtype.scalar()):
        return value
    for chain, other in (value.src, value.src[::-1]):
        dots: list[UOp] = []
        while chain.op is Ops.DOT and len(chain.src) == 3:
            dots.append(chain)
            chain = chain.src[2]
        if dots and _constant(chain) == 0:
            for dot in reversed(dots):
                other = UOp(Ops.DOT, dot.dtype, (*dot.src[:2], other), dot.arg)
            return other
    return value


def words_of(nodes: Iterable[UOp]) -> dict[UOp, UOp]:
    """Of every word that is made of numbers in memory, and is a factor of a DOT, the first LOAD."""
    found: dict[UOp, UOp] = {}
    for node in nodes:
        for word in node.src[:2] if node.op is Ops.DOT else ():
            if word.op is not Ops.LOAD and word not in found:
                loads = (u for u in word.toposort() if u.op is Ops.LOAD)
                first = next(loads, None)
                if first is not None:
                    found[word] = first
    return found


def decomposed_dot(dot: UOp) -> UOp:
    """The sum of products of a DOT of two words, by ordinary operations."""
    unit: PairDot = dot.arg
    sides = [
        [_number(word, place, narrow, dot.dtype) for place in range(unit.terms)]
        for word, narrow in zip(dot.src, unit.given)
    ]
    products = [UOp(Ops.MUL, dot.dtype, both) for both in zip(*sides)]
    total = products[0]
    for one in products[1:]:
        total = UOp(Ops.ADD, dot.dtype, (total, one))
    return total


def _number(word: UOp, place: int, narrow: DType, wide: DType) -> UOp:
    """The number at a place of a word, from the lowest bits on."""
    bits = 8 * narrow.itemsize
    if narrow is dtypes.bfloat16:  # the upper half of a float32
        high = word.const_like(0xFFFF0000 if word.dtype.scalar() is dtypes.uint else -0x10000)
        shifted = shifted_left(word, 16) if place == 0 else UOp(Ops.AND, word.dtype, (word, high))
        return UOp(Ops.BITCAST, wide, (shifted,))
    down = word
    if place:
        down = UOp(Ops.SHR, word.dtype, (word, word.const_like(bits * place)))
    return down.cast(narrow.vec(word.dtype.count)).cast(wide)


def _both(low: UOp, high: UOp) -> UOp:
    """One word of two."""
    if low.op is Ops.VECTORIZE and high.op is Ops.VECTORIZE and _is_splat(low) and _is_splat(high):
        return _both(low.src[0], high.src[0]).broadcast(low.dtype.count)
    dtype = low.dtype
    if dtype.scalar() is dtypes.int:  # the sign is in the upper half
        low = UOp(Ops.AND, dtype, (low, low.const_like(0xFFFF)))
    high = UOp(Ops.SHL, dtype, (high, high.const_like(16)))
    return UOp(Ops.OR, dtype, (low, high))


def _is_splat(vector: UOp) -> bool:
    return all(lane is vector.src[0] for lane in vector.src)


def _scalar(node: UOp) -> DType:
    return node.dtype.scalar()


def _constant(node: UOp) -> int | None:
    if node.op is Ops.VECTORIZE and _is_splat(node):
        node = node.src[0]
    if node.op is Ops.VCONST and len(set(node.arg)) == 1:
        return int(node.arg[0])
    return int(node.arg) if node.op is Ops.CONST else None


def shifted_left(word: UOp, by: int) -> UOp:
    """A word whose bits are `by` places higher."""
    return UOp(Ops.SHL, word.dtype, (word, word.const_like(by)))
