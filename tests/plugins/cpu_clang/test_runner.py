"""Launching: order of arguments, variables, timing, both kinds of binary."""

from __future__ import annotations

import pytest

from weft.base.dtype import dtypes
from weft.base.scalars import pack, unpack
from weft.plugin import CompiledProgram, CompileError, LinearProgram
from weft.uop import Ops, UOp


def scaled_sum(high_slot: int = 5) -> list[UOp]:
    """data0[i] = data{high}[i] * b + a, for i below n."""
    n = UOp.variable("n", 1, 100)
    a, b = UOp.variable("a", -9, 9), UOp.variable("b", -9, 9)
    out = UOp(Ops.DEFINE_GLOBAL, dtypes.int.ptr(100), (), 0)
    source = UOp(Ops.DEFINE_GLOBAL, dtypes.int.ptr(100), (), high_slot)
    counter = UOp.range(n, 0)
    store = out.index(counter).store(source.index(counter).load() * b + a)
    sink = UOp.sink(store)
    uops = [u for u in sink.toposort() if u is not sink]
    return [*uops, UOp(Ops.ENDRANGE, dtypes.void, (counter,))]


@pytest.mark.parametrize("kind", ["bench", "shared_bench"])
def test_arguments_and_variables(kind, request):
    if kind == "shared_bench":
        pytest.importorskip("ziglang", reason="linking a library needs a whole toolchain")
    bench = request.getfixturevalue(kind)
    run = bench.load("scaled", scaled_sum())
    source = bench.memory(pack(range(10), dtypes.int32))
    out = bench.memory(bytes(40))
    # Variables are passed in the order of their names: a, b, n.
    seconds = run([out, source], global_size=None, local_size=None, values=(7, 3, 6), wait=True)
    assert unpack(out.window, dtypes.int32) == [7, 10, 13, 16, 19, 22, 0, 0, 0, 0]
    assert seconds is not None and seconds > 0
    assert (
        run([out, source], global_size=None, local_size=None, values=(0, 1, 1), wait=False) is None
    )


def test_a_binary_that_is_none(bench):
    program = LinearProgram.of("scaled", scaled_sum())
    for binary in (b"", b"\x7fELF", b"not an object at all"):
        with pytest.raises(CompileError):
            type(bench.load("scaled", scaled_sum()))(CompiledProgram("scaled", binary, "", program))


def test_the_code_outlives_everything_but_the_runner(bench):
    import gc

    run = bench.load("scaled", scaled_sum())
    gc.collect()
    out, source = bench.memory(bytes(40)), bench.memory(pack(range(10), dtypes.int32))
    run([out, source], global_size=None, local_size=None, values=(1, 1, 10), wait=True)
    assert unpack(out.window, dtypes.int32) == list(range(1, 11))


def test_compile_error_carries_source_and_log(bench):
    with pytest.raises(CompileError) as caught:
        bench.compiler.compile("void f( { }", "f")
    assert caught.value.source == "void f( { }"
    assert "expected" in caught.value.log
    assert caught.value.asked == "kernel f"
