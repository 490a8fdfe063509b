import pytest

from weft.base.dtype import dtypes
from weft.base.errors import SpecError
from weft.shape import ShapeTracker
from weft.spec import kernel_ast
from weft.uop import Ops, Reduce, UOp

FLOAT = dtypes.float32
WHOLE = ShapeTracker.from_shape((4,))


def view(slot):
    return UOp(Ops.DEFINE_GLOBAL, FLOAT.ptr(4), (), slot).view(WHOLE)


LOADED = view(1).load(dtype=FLOAT)


def test_a_sound_kernel():
    kernel_ast.verify(UOp.sink(view(0).store(LOADED + LOADED)))
    kernel_ast.verify(UOp.sink(view(0).store(LOADED.reduce(Ops.ADD, (0,)))))


@pytest.mark.parametrize(
    "root,why",
    [
        (UOp.sink(LOADED), "gathers STOREs"),
        (UOp.sink(LOADED.store(LOADED)), "a view of a buffer and a value"),
        (UOp.sink(view(0).store(LOADED.load())), "reads a view of a buffer"),
        (UOp.sink(view(0).store(LOADED.reduce(Ops.SUB, (0,)))), "ADD, MUL or MAX"),
        (UOp.sink(view(0).store(UOp(Ops.REDUCE_AXIS, FLOAT, (LOADED,), (0,)))), "ADD, MUL or MAX"),
        (UOp.sink(view(0).store(UOp.new_buffer("X", 4, FLOAT))), "no value inside a kernel"),
        (UOp.sink(view(0).store(LOADED.reshape((2, 2)))), "no value inside a kernel"),
    ],
    ids=lambda value: value if isinstance(value, str) else "root",
)
def test_malformed_kernels(root, why):
    with pytest.raises(SpecError) as caught:
        kernel_ast.verify(root)
    assert why in caught.value.because


def test_the_reduce_is_data():
    assert LOADED.reduce(Ops.MAX, (0,)).arg == Reduce(Ops.MAX, (0,))
