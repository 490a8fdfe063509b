import math
import random
import struct

import pytest

from weft.base.dtype import dtypes
from weft.base.errors import CompileError
from weft.base.scalars import truncate
from weft.device import CompiledProgram, LinearProgram
from weft.testing.conformance.programs import Builder
from weft.testing.reference.runner import PythonCompiler, PythonRunner, _places, _runtime


def test_the_short_cut_for_rounding_rounds_as_truncate_does():
    rounded = _runtime()["round_float"]
    values = [0.0, -0.0, math.inf, -math.inf, 3.4028235677973366e38, 3.4028235e38, 1e-46, -1e300]
    chance = random.Random(1)
    values += [struct.unpack("d", chance.randbytes(8))[0] for _ in range(2000)]
    for value in values:
        assert repr(rounded(value)) == repr(truncate(value, dtypes.float32))


def test_places():
    assert list(_places("gidx", None)) == [{}]
    assert list(_places("lidx", (2, 1, 2))) == [
        {"lidx0": 0, "lidx1": 0, "lidx2": 0},
        {"lidx0": 1, "lidx1": 0, "lidx2": 0},
        {"lidx0": 0, "lidx1": 0, "lidx2": 1},
        {"lidx0": 1, "lidx1": 0, "lidx2": 1},
    ]


def test_source_that_is_no_python():
    with pytest.raises(CompileError) as caught:
        PythonCompiler().compile("def kernel(:", "kernel")
    assert caught.value.log


def test_seconds_only_when_waited_for():
    source = "def kernel(buffers, values, place, shared):\n    pass\n"
    program = LinearProgram.of("kernel", Builder().nodes)
    runner = PythonRunner(CompiledProgram("kernel", source.encode(), source, program))
    assert runner([], wait=True) >= 0
    assert runner([], wait=False) is None
