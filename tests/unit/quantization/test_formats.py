"""The description of block formats: every bit of a block has one meaning."""

from math import prod

import pytest

from weft.quantization import FORMATS


def fields_of(layout):
    for integers in (layout.codes, layout.scales, layout.minima):
        yield from () if integers is None else integers.fields


def bits_of(field):
    """(byte, bit) of every bit of a field."""
    places = [(field.at, field.shift)]
    for extent, nbytes, bits in field.axes:
        places = [(at + n * nbytes, bit + n * bits) for at, bit in places for n in range(extent)]
    return [(at, bit + n) for at, bit in places for n in range(field.bits)]


@pytest.mark.parametrize("layout", FORMATS.values(), ids=list(FORMATS))
def test_no_bit_is_used_twice_and_none_is_left(layout):
    used = [place for field in fields_of(layout) for place in bits_of(field)]
    assert all(0 <= bit < 8 for _, bit in used)
    width = 1 if layout.exponent_scale else 2
    for at in (layout.scale, layout.minimum):
        if at is not None:
            used += [(at + n, bit) for n in range(width) for bit in range(8)]
    assert len(set(used)) == len(used) == 8 * layout.nbytes


@pytest.mark.parametrize("layout", FORMATS.values(), ids=list(FORMATS))
def test_every_element_has_all_fields(layout):
    assert all(prod(field.extents) == layout.length for field in layout.codes.fields)
    assert layout.length % layout.sub_block == 0
    assert layout.codes.bits == sum(field.bits for field in layout.codes.fields)
    assert layout.table is None or len(layout.table) == 1 << layout.codes.bits


def test_bits_per_element():
    assert FORMATS["q4_0"].bits_per_element == 4.5
    assert FORMATS["q6_k"].bits_per_element == 6.5625
