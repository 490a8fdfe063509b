"""Integer arithmetic: rounding up, and division with the semantics of C."""

from __future__ import annotations

from typing import Any

from weft.base.errors import ArgumentError


def ceildiv(numerator: Any, denominator: Any) -> Any:
    """The quotient rounded towards plus infinity.

    Of symbolic operands, whose `//` truncates, for numerators from 0 on and denominators above.
    """
    if isinstance(numerator, (int, float)) and isinstance(denominator, (int, float)):
        return -(-numerator // denominator)
    return (numerator + (denominator - 1)) // denominator


def round_up(value: int, multiple: int) -> int:
    """The least multiple of `multiple` that is not below `value`; ArgumentError for zero."""
    if multiple == 0:
        raise ArgumentError("cannot round up to a multiple of zero", asked=f"round_up({value}, 0)")
    return ceildiv(value, multiple) * multiple


def cdiv(numerator: int, denominator: int) -> int:
    """Division that truncates towards zero, as C has it; ArgumentError for a zero divisor."""
    if denominator == 0:
        raise ArgumentError(
            "integer division by zero",
            asked=f"{numerator} / {denominator}",
            because="the quotient of integers by zero has no value",
        )
    quotient = abs(numerator) // abs(denominator)
    return quotient if (numerator < 0) == (denominator < 0) else -quotient


def cmod(numerator: int, denominator: int) -> int:
    """The remainder of `cdiv`: it has the sign of the numerator."""
    return numerator - cdiv(numerator, denominator) * denominator
