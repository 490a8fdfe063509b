"""How nodes print."""

from weft.base.dtype import dtypes
from weft.uop import UOp


def test_children_are_indented_and_shared_nodes_named():
    a = UOp.const(dtypes.int, 3) * 5
    assert str(a + a) == (
        "UOp(Ops.ADD, dtypes.int, arg=None, src=(\n"
        "  x0:=UOp(Ops.MUL, dtypes.int, arg=None, src=(\n"
        "    UOp(Ops.CONST, dtypes.int, arg=3, src=()),\n"
        "    UOp(Ops.CONST, dtypes.int, arg=5, src=()))),\n"
        "  x0))"
    )


def test_one_child_keeps_its_comma():
    text = str(UOp.const(dtypes.int, 3).cast(dtypes.float))
    assert text.endswith("src=()),))")
