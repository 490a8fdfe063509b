"""The IR as text: exact both ways, hostile text refused."""

import math

import pytest

from weft.base.dtype import AddrSpace, dtypes
from weft.base.errors import FormatError
from weft.uop import AxisKind, Kernel, Ops, UOp, from_text, to_text
from weft.uop.text import dtype_text, parse_dtype

BUFFER = UOp.new_buffer("X", 6, dtypes.float)
GRAPHS = [
    UOp.const(dtypes.int, 3) * 5 + 2,
    BUFFER.reshape((2, 3)).permute((1, 0)).pad(((0, 1), (2, 0))).reduce(Ops.MAX, (1,)),
    UOp.const(dtypes.float, math.inf) + UOp.const(dtypes.float, -0.0),
    UOp.const(dtypes.float, math.nan),
    UOp.const(dtypes.float, (1.0, -0.0, math.nan)),
    UOp.range(UOp.variable("n", 1, 9) + 1, 3, AxisKind.REDUCE),
    BUFFER.shrink(((0, UOp.variable("n", 1, 6)),)),
    UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(6), (), 0).index(UOp.const(dtypes.int, 2)).load(),
    UOp(Ops.DEFINE_REG, dtypes.float.vec(4).ptr(2, AddrSpace.REG), (), 1),
    BUFFER.assign(UOp(Ops.KERNEL, src=(BUFFER,), arg=Kernel(UOp.sink(BUFFER + 1)))),
    UOp(Ops.DEFINE_GLOBAL, dtypes.imageh((2, 3, 4)), (), 0),
    UOp(Ops.CUSTOM, dtypes.void, (), "text with 'quotes' and  arg= inside"),
]


@pytest.mark.parametrize("graph", GRAPHS, ids=[str(g.op) for g in GRAPHS])
def test_printed_and_parsed_is_the_same_object(graph):
    assert from_text(to_text(graph)) is graph


def test_the_form():
    assert to_text(UOp.const(dtypes.int, 3) + 2) == (
        "%0 = CONST int  arg=3\n%1 = CONST int  arg=2\n%2 = ADD int %0 %1\n"
    )


@pytest.mark.parametrize(
    "text",
    [
        "", "nonsense", "%0 = ADD int %0 %1", "%1 = CONST int  arg=3", "%0 = NOSUCH int",
        "%0 = CONST nosuch  arg=1", "%0 = CONST int  arg=__import__('os').system('true')",
        "%0 = CONST int  arg=open('x')", "%0 = CONST int  arg=(", "%0 = CONST int  arg=Ops.__doc__",
        "%0 = CONST int  arg=REF(7)", "%0 = CONST int  arg=[1 for x in y]",
    ],
)  # fmt: skip
def test_text_that_is_no_ir_is_refused(text):
    with pytest.raises(FormatError):
        from_text(text)


@pytest.mark.parametrize("dtype", [*dtypes.all, dtypes.float.vec(4), dtypes.half.ptr(7)])
def test_dtypes_round_trip(dtype):
    assert parse_dtype(dtype_text(dtype)) is dtype


def test_notes_are_comments_with_the_number_of_their_node():
    a, b = UOp.const(dtypes.float, 1.0), UOp.const(dtypes.float, 2.0)
    text = to_text(UOp.sink(a, b), {b: "stored", UOp.const(dtypes.int, 3): "elsewhere"})
    assert text.endswith("SINK void %0 %1\n# %1 stored\n")
    assert from_text(text) is UOp.sink(a, b)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("%0 = NOTHING void", "there is none called 'NOTHING'"),
        ("%0 =", "expected '%0 = OP dtype sources'"),
        ("%1 = SINK void", "expected '%0 = OP dtype sources'"),
        ("%0 = CONST flat  arg=1", "'flat' is no dtype"),
    ],
)
def test_errors_name_the_line_and_the_expected_text(text, expected):
    with pytest.raises(FormatError, match="line 2") as caught:
        from_text("# comment\n" + text)
    assert expected in caught.value.because
