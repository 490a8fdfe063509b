import math

import pytest

from weft.base.dtype import dtypes
from weft.base.errors import CapabilityError
from weft.device import LinearProgram
from weft.testing.conformance.programs import Builder
from weft.testing.reference.renderer import PythonRenderer
from weft.uop import Ops, UOp

FLOAT, INT = dtypes.float32, dtypes.int32


def rendered(b):
    return PythonRenderer().render(LinearProgram.of("kernel", b.nodes))


def test_a_kernel_reads_as_python():
    b = Builder()
    out, data = b.argument(0, FLOAT, 8), b.argument(1, FLOAT, 8)
    at = b.loop(8, 0)
    b.store(out, at, b.load(data, at) + UOp.const(FLOAT, 1.5))
    b.end(at)
    assert rendered(b).splitlines()[:3] == [
        "def kernel(buffers, values, place, shared):",
        '    data0 = buffers[0].cast("f")',
        '    data1 = buffers[1].cast("f")',
    ]
    assert "for i" in rendered(b) and "round_float(" in rendered(b)


def test_an_empty_kernel_and_an_empty_loop():
    assert rendered(Builder()).endswith("pass\n")
    b = Builder()
    b.end(b.loop(3, 0))
    compile(rendered(b), "kernel", "exec")


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan, -0.0, 1e-45, 3.4e38, -7.0])
def test_constants_survive(value):
    b = Builder()
    b.store(b.argument(0, dtypes.float64, 1), 0, UOp.const(dtypes.float64, value))
    names = {"inf": math.inf, "nan": math.nan}
    exec(rendered(b), names)
    memory = memoryview(bytearray(8))
    names["kernel"]([memory], [], {}, {})
    assert repr(memory.cast("d")[0]) == repr(UOp.const(dtypes.float64, value).arg)


def test_unsupported_nodes():
    b = Builder()
    b.add(UOp(Ops.CUSTOM, dtypes.void, (), "__builtin_trap();"))
    with pytest.raises(CapabilityError):
        rendered(b)
