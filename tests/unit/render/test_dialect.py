"""A dialect is data, and says so when it lacks something."""

from __future__ import annotations

import pickle

import pytest

from weft.base.dtype import dtypes
from weft.base.errors import CapabilityError
from weft.render import PLAIN_C, CDialect, VectorStyle


def test_plain_c_has_no_vectors():
    with pytest.raises(CapabilityError) as caught:
        PLAIN_C.type_name(dtypes.float.vec(4))
    assert "vector" in caught.value.try_


def test_unknown_dtypes_are_refused_by_name():
    with pytest.raises(CapabilityError) as caught:
        PLAIN_C.type_name(dtypes.fp8e4m3)
    assert "fp8e4m3" in caught.value.asked


def test_names_of_vectors():
    clang = CDialect(vectors=VectorStyle())
    assert clang.type_name(dtypes.float.vec(16)) == "f32x16"
    other = CDialect(vectors=VectorStyle(type_name="{scalar}{count}"))
    assert other.type_name(dtypes.int.vec(4)) == "int4"


def test_booleans_are_bytes_in_memory():
    assert PLAIN_C.memory_type(dtypes.bool) == "unsigned char"
    assert PLAIN_C.memory_type(dtypes.float) == "float"


def test_equal_hashable_and_picklable():
    made = CDialect(vectors=VectorStyle(), restrict="")
    assert made == CDialect(vectors=VectorStyle(), restrict="")
    assert hash(made) == hash(CDialect(vectors=VectorStyle(), restrict=""))
    assert pickle.loads(pickle.dumps(made)) == made
