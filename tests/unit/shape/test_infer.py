"""Shapes and trackers of nodes."""

import pytest

from weft.base.dtype import dtypes
from weft.base.errors import ShapeError, SpecError
from weft.shape import ShapeTracker, has_shape, shape_of, st_of
from weft.uop import BufferView, Ops, UOp, Variable


def values(*shape, dtype=dtypes.float):
    size = 1
    for extent in shape:
        size *= extent
    return UOp.new_buffer("A", size, dtype).reshape(shape)


def test_storage():
    buffer = UOp.new_buffer("A", 24, dtypes.float)
    assert shape_of(buffer) == (24,)
    assert shape_of(UOp(Ops.BUFFER_VIEW, dtypes.int, (buffer,), BufferView(6, 2))) == (6,)
    assert shape_of(buffer.assign(buffer)) == (24,)


def test_movement():
    x = values(4, 6)
    assert shape_of(x.permute((1, 0))) == (6, 4)
    assert shape_of(x.pad(((1, 1), (0, 2)))) == (6, 8)
    assert shape_of(x.shrink(((1, 3), (0, 6)))) == (2, 6)
    assert shape_of(x.flip((True, False))) == (4, 6)
    assert shape_of(x.reshape((4, 1, 6)).expand((4, 5, 6))) == (4, 5, 6)


def test_arithmetic_and_scalars():
    x = values(4, 6)
    assert shape_of(x + x) == (4, 6)
    assert shape_of(UOp.const(dtypes.float, 2.0)) == ()
    assert shape_of(x * UOp.const(dtypes.float, 2.0)) == (4, 6)
    assert shape_of(UOp.const(dtypes.float, 2.0) * x) == (4, 6)
    assert shape_of((x < x).where(x, UOp.const(dtypes.float, 0.0))) == (4, 6)
    assert shape_of(x.cast(dtypes.half).contiguous().detach()) == (4, 6)
    assert shape_of(Variable("n", 1, 4) + 1) == ()


def test_reductions_keep_their_axes():
    assert shape_of(values(4, 6).reduce(Ops.ADD, (1,))) == (4, 1)


def test_bitcasts_take_the_ratio():
    assert shape_of(values(4, 6).bitcast(dtypes.uchar)) == (4, 24)
    assert shape_of(values(4, 6).bitcast(dtypes.double)) == (4, 3)
    assert shape_of(values(4, 6).bitcast(dtypes.int)) == (4, 6)
    with pytest.raises(ShapeError):
        shape_of(values(4, 5).bitcast(dtypes.double))


def test_operands_of_different_shapes_are_refused():
    with pytest.raises(ShapeError) as caught:
        shape_of(values(4, 6) + values(6, 4))
    assert "(6, 4)" in caught.value.asked


def test_kernel_asts():
    st = ShapeTracker.from_shape((4, 6)).permute((1, 0))
    pointer = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(24), (), 0)
    load = pointer.view(st).load()
    assert shape_of(load) == (6, 4)
    reduced = load.reduce(Ops.MAX, (0,))
    wide = reduced.view(ShapeTracker.from_shape((1, 4)).expand((6, 4)))
    assert shape_of(wide) == (6, 4)
    assert st_of(wide).real_strides() == (0, 1)
    assert shape_of(UOp(Ops.VALID, dtypes.bool, (), st)) == (6, 4)
    assert shape_of(pointer.view(ShapeTracker.from_shape((6, 4))).store(load)) == (6, 4)
    assert not has_shape(pointer) and st_of(pointer) is None


def test_structure_has_no_shape():
    for node in (UOp(Ops.DEVICE, arg="A"), UOp.sink(values(2)), UOp.unique()):
        assert not has_shape(node) and node.st is None
        with pytest.raises(SpecError):
            shape_of(node)


def test_trackers_span_all_movement_over_the_base():
    x = values(4, 6)
    moved = x.permute((1, 0)).pad(((1, 0), (0, 0)))
    assert st_of(moved) is ShapeTracker.from_shape((4, 6)).permute((1, 0)).pad(((1, 0), (0, 0)))
    assert st_of(x + x).contiguous and st_of(moved.contiguous()).contiguous
    viewed = x.permute((1, 0)).view(ShapeTracker.from_shape((6, 4)).permute((1, 0)))
    assert st_of(viewed) is ShapeTracker.from_shape((4, 6))


def test_properties_of_the_node():
    x = values(4, 6)
    assert x.shape == (4, 6) and x.size == 24 and x.st.contiguous


def test_symbolic_shapes():
    n = Variable("n", 1, 8)
    x = values(8, 3).shrink(((0, n), (0, 3)))
    assert x.shape == (n, 3)
    assert x.size.simplify() is (n * 3).simplify()


def test_no_graph_is_too_deep():
    x = values(3, 3)
    for _ in range(20000):
        x = (x + x).permute((1, 0))
    assert shape_of(x) == (3, 3)
    y = values(3, 3)
    for _ in range(20000):
        y = y.permute((1, 0))
    assert st_of(y) is ShapeTracker.from_shape((3, 3))
