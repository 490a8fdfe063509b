import pytest

from weft.base.dtype import AddrSpace, dtypes
from weft.base.errors import SpecError
from weft.codegen.analysis.ranges import Fill
from weft.spec import lowered
from weft.uop import Ops, UOp

INT, FLOAT, BOOL = dtypes.int32, dtypes.float32, dtypes.bool
POINTER = UOp(Ops.DEFINE_GLOBAL, FLOAT.ptr(8), (), 0)
AT, ONE, GATE = UOp.range(8, 0), UOp.const(FLOAT, 1.0), UOp.range(8, 0) < 3

IMAGE = UOp(Ops.DEFINE_GLOBAL, dtypes.imagef((2, 2, 4)), (), 1)
PLACE = UOp(Ops.VECTORIZE, INT.vec(2), (AT, AT))


@pytest.mark.parametrize(
    "node",
    [
        POINTER.index(AT).store(ONE),
        POINTER.index(AT, GATE).load(ONE),
        POINTER.index(AT).load(dtype=FLOAT.vec(4)),
        POINTER.index(AT).store(ONE.broadcast(4)),
        IMAGE.index(PLACE).load(dtype=FLOAT.vec(4)),
        IMAGE.index(PLACE).store(ONE.broadcast(4)),
        GATE.alu(Ops.WHERE, ONE, ONE),
        GATE.alu(Ops.WHERE, ONE.broadcast(2), ONE.broadcast(2)),
        ONE.broadcast(2).alu(Ops.CMPLT, ONE.broadcast(2)),
    ],
    ids=str,
)
def test_sound_nodes(node):
    lowered.verify(UOp.sink(node))


@pytest.mark.parametrize(
    "node,why",
    [
        (ONE.alu(Ops.ADD, AT), "different dtypes"),
        (UOp(Ops.ADD, INT, (ONE, ONE)), "its dtype should be"),
        (UOp(Ops.CMPLT, FLOAT, (ONE, ONE)), "its dtype should be"),
        (AT.alu(Ops.WHERE, ONE, ONE), "condition of a WHERE is bool"),
        (UOp(Ops.INDEX, INT, (AT, AT)), "into a pointer"),
        (POINTER.index(ONE), "an index is an int or a long"),
        (POINTER.index(PLACE), "an index is an int or a long"),
        (POINTER.index(AT, AT), "a gate is one bool"),
        (POINTER.load(), "needs an address"),
        (POINTER.index(AT, GATE).load(), "has an alternative exactly where"),
        (POINTER.index(AT).load(ONE), "has an alternative exactly where"),
        (POINTER.index(AT, GATE).load(AT, dtype=FLOAT), "alternative's dtype differs"),
        (POINTER.index(AT).store(AT), "one value of that dtype"),
        (UOp(Ops.VIEW, FLOAT, (ONE,)), "no such node"),
    ],
    ids=lambda value: value if isinstance(value, str) else "node",
)
def test_malformed_nodes(node, why):
    with pytest.raises(SpecError) as caught:
        lowered.verify(UOp.sink(node))
    assert why in caught.value.because


ARRAY = UOp(Ops.DEFINE_REG, FLOAT.ptr(8, AddrSpace.REG), (), 0)
FILL = UOp(Ops.FILL, dtypes.void, (ARRAY.index(AT).store(ONE), AT), Fill())


def test_local_arrays_are_read_after_their_fill():
    at = ARRAY.index(UOp.range(8, 1))
    lowered.verify(UOp.sink(POINTER.index(AT).store(UOp(Ops.LOAD, FLOAT, (at, FILL)))))
    gated = ARRAY.index(UOp.range(8, 1), GATE)
    lowered.verify(UOp.sink(POINTER.index(AT).store(UOp(Ops.LOAD, FLOAT, (gated, ONE, FILL)))))


@pytest.mark.parametrize(
    "node,why",
    [
        (FILL.replace(src=(FILL.src[0], ONE)), "closes ranges"),
        (FILL.replace(src=(POINTER.index(AT).store(ONE), AT)), "has STOREs to local arrays"),
        (UOp(Ops.FILL, dtypes.void, (AT,), Fill(0)), "has STOREs to local arrays"),
    ],
    ids=["no range", "other memory", "no store"],
)
def test_malformed_fills(node, why):
    with pytest.raises(SpecError, match=why):
        lowered.verify(UOp.sink(node))
