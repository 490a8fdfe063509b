"""What a dtype is: interned, frozen, derived from others and leading back to them."""

from __future__ import annotations

import copy
import pickle

import pytest

from weft.base.dtype import AddrSpace, DType, ImageDType, PtrDType, any_images, dtypes
from weft.base.errors import DTypeError

DERIVED = (
    *dtypes.all,
    dtypes.void,
    dtypes.float.vec(4),
    dtypes.bool.vec(3),
    dtypes.int.ptr(5),
    dtypes.half.ptr(),
    dtypes.float.vec(4).ptr(2, AddrSpace.REG),
    dtypes.int.ptr(7, AddrSpace.LOCAL).vec(2),
    dtypes.imageh((2, 3, 4)),
    dtypes.imagef((2, 3, 4)).vec(2),
)


@pytest.mark.parametrize("dtype", DERIVED, ids=repr)
def test_copies_and_printed_forms_are_the_same_object(dtype: DType) -> None:
    assert pickle.loads(pickle.dumps(dtype)) is dtype
    assert copy.deepcopy(dtype) is dtype and copy.copy(dtype) is dtype
    assert eval(repr(dtype)) is dtype


@pytest.mark.parametrize("dtype", dtypes.all, ids=repr)
def test_vectors_lead_back_to_their_scalar(dtype: DType) -> None:
    vector = dtype.vec(4)
    assert vector is dtype.vec(4) and vector is not dtype and dtype.vec(1) is dtype
    assert vector.scalar() is dtype and dtype.scalar() is dtype and vector.base is vector
    assert (vector.count, vector.itemsize) == (4, 4 * dtype.itemsize)
    assert vector.bitsize == 4 * dtype.bitsize and vector.fmt == dtype.fmt
    assert (vector.min, vector.max, vector.name) == (dtype.min, dtype.max, dtype.name)


def test_facts_by_the_names_of_pytorch() -> None:
    floats = [dtype for dtype in dtypes.all if dtype.is_floating_point]
    assert floats == list(dtypes.floats) and dtypes.half.vec(4).is_floating_point
    unsigned = [dtype for dtype in dtypes.all if not dtype.is_signed]
    assert unsigned == [dtypes.bool, *dtypes.uints]
    assert not any(dtype.is_complex for dtype in dtypes.all)


@pytest.mark.parametrize("count", [0, -1, 1.5])
def test_there_are_no_vectors_of_fewer_than_one_lane(count: int) -> None:
    with pytest.raises(DTypeError):
        dtypes.int.vec(count)


def test_there_are_no_vectors_of_vectors_or_void() -> None:
    for dtype in (dtypes.int.vec(2), dtypes.void):
        with pytest.raises(DTypeError):
            dtype.vec(2)


def test_pointers() -> None:
    pointer = dtypes.float.ptr(16)
    assert isinstance(pointer, PtrDType) and pointer is dtypes.float.ptr(16, AddrSpace.GLOBAL)
    assert pointer.base is dtypes.float and pointer.scalar() is pointer
    assert (pointer.size, pointer.count, pointer.nbytes) == (16, 1, 64)
    others = {dtypes.float.ptr(17), dtypes.float.ptr(16, AddrSpace.LOCAL), dtypes.int.ptr(16)}
    assert pointer not in others and len(others) == 3
    lanes = dtypes.float.vec(4).ptr(2, AddrSpace.REG)
    assert lanes.base is dtypes.float.vec(4) and lanes.count == 1 and lanes.nbytes == 32
    both = pointer.vec(2)
    assert both.count == 2 and both.scalar() is pointer and both is pointer.vec(2)
    with pytest.raises(DTypeError):
        _ = dtypes.float.ptr().nbytes
    with pytest.raises(DTypeError):
        pointer.ptr(2)
    with pytest.raises(DTypeError):
        dtypes.float.ptr(-2)


def test_images() -> None:
    image = dtypes.imageh((2, 3, 4))
    assert isinstance(image, ImageDType) and image is dtypes.imageh([2, 3, 4])
    assert any_images()
    assert image is not dtypes.imagef((2, 3, 4)) and image.base is dtypes.float
    assert (image.size, image.nbytes, image.shape) == (24, 48, (2, 3, 4))
    with pytest.raises(DTypeError):
        dtypes.imagef((2, 3))


def test_dtypes_are_frozen_and_not_constructed() -> None:
    with pytest.raises(DTypeError):
        dtypes.int.itemsize = 8
    with pytest.raises(DTypeError):
        del dtypes.int.name
    with pytest.raises(DTypeError):
        DType("int")
    with pytest.raises(DTypeError):
        dtypes.int = dtypes.long
    assert dtypes.int.itemsize == 4 and dtypes.int is dtypes.int32
