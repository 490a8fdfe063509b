"""The compiler says what is wrong, and gives the same bytes for the same source."""

from __future__ import annotations

import pytest

from weft.base.dtype import dtypes
from weft.base.errors import CompileError
from weft.device import LinearProgram
from weft.testing.conformance.programs import Builder, run
from weft.uop import UOp


@pytest.fixture
def compiler(weft_device, weft_compute):
    if weft_device.compiler is None:
        pytest.skip("this device runs the source itself")
    return weft_device.compiler


def program(name="by_hand", number=1):
    b = Builder()
    b.store(b.argument(0, dtypes.int32, 1), 0, UOp.const(dtypes.int32, number))
    return LinearProgram.of(name, b.nodes)


def test_bad_source_is_refused_with_the_log(compiler):
    source = "this is ( not a program in any language {{{"
    with pytest.raises(CompileError) as caught:
        compiler.compile(source, "broken")
    error = caught.value
    assert error.source in ("", source)
    assert (error.log or error.summary).strip(), "what the compiler said must reach the user"


def test_the_same_source_gives_the_same_bytes(weft_device, compiler):
    source = weft_device.renderer.render(program())
    assert weft_device.renderer.render(program()) == source
    assert compiler.compile(source, "by_hand") == compiler.compile(source, "by_hand")


def test_two_programs_of_one_name(weft_device, weft_compute, weft_bytes):
    for number in (1, 2):
        b = Builder()
        b.store(b.argument(0, dtypes.int32, 1), 0, UOp.const(dtypes.int32, number))
        assert run(weft_device, b, [(dtypes.int32, 1)]) == [[number]]
