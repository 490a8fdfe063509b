"""OpenCL C: text, and what it computes."""

from __future__ import annotations

import random
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from weft.base.dtype import dtypes
from weft.base.errors import CapabilityError
from weft.device import registry
from weft.plugin import LinearProgram
from weft.testing.conformance.programs import Builder, run
from weft.uop import Ops, UOp, graph_rewrite
from weft_opencl.facts import OFFLINE
from weft_opencl.renderer import OpenCLRenderer, is_spread

_spec = spec_from_file_location("opencl_cases", Path(__file__).with_name("cases.py"))
cases = module_from_spec(_spec)
_spec.loader.exec_module(cases)

INT, LONG, FLOAT = dtypes.int32, dtypes.int64, dtypes.float32


@pytest.fixture
def renderer():
    return OpenCLRenderer(OFFLINE["pocl"])


def text(renderer, builder, name="by_hand"):
    return renderer.render(LinearProgram.of(name, builder.nodes))


@pytest.mark.parametrize(
    "arch,case",
    [("pocl", case) for case in (*cases.CASES, *cases.IMAGES)]
    + [("gpu", case) for case in cases.ON_GPU],
)
def test_the_source_of(arch, case, golden):
    texts = []
    for program, source in cases.programs(case, arch):
        sizes = f"grid {program.global_size}, group {program.local_size}"
        applied = ", ".join(map(str, program.applied)) or "none"
        texts.append(f"// {sizes}; opts: {applied}\n{source}")
    assert "\n".join(texts) == golden.file(f"kernels/opencl-{arch}/{case}.cl")


def test_an_unknown_architecture_is_said():
    with pytest.raises(CapabilityError):
        registry.offline("OPENCL", "abacus")


def test_unaligned_vectors_go_through_functions(renderer):
    b = Builder()
    out, data = b.argument(0, FLOAT, 8), b.argument(1, FLOAT, 9)
    b.store(out, 4, b.load(data, 5, dtype=FLOAT.vec(4)))
    found = text(renderer, b)
    assert "vload4(0, data1 + 5)" in found and "vstore4(" in found
    assert "0, data0 + 4);" in found


def test_local_memory_barrier_and_group(renderer):
    b = Builder()
    out = b.argument(0, INT, 8)
    memory = b.shared("tile", INT, 8)
    at = b.special("lidx0", 8)
    b.store(memory, at, at)
    b.add(UOp(Ops.BARRIER, dtypes.void, ()))
    b.store(out, at, b.load(memory, at))
    found = text(renderer, b)
    assert "__local int tile[8];" in found
    assert "barrier(CLK_LOCAL_MEM_FENCE);" in found
    assert "reqd_work_group_size(8, 1, 1)" in found


def test_formation_of_work_groups(renderer):
    b = Builder()
    out = b.argument(0, INT, 8)
    at = b.special("gidx0", 8)
    b.store(out, at, at)
    program = LinearProgram.of("spread", b.nodes)
    assert is_spread(program)
    assert "get_global_id(0)" in renderer.render(program)
    b.special("lidx0", 2)
    program = LinearProgram.of("grouped", b.nodes)
    assert not is_spread(program)
    assert "get_group_id(0)" in renderer.render(program)


def test_names_that_are_taken(renderer):
    b = Builder()
    b.store(b.argument(0, INT, 1), 0, UOp.const(INT, 1))
    assert "void kernel_(" in text(renderer, b, "kernel")


def test_only_sums_that_may_overflow_are_unsigned(renderer):
    data = UOp(Ops.DEFINE_GLOBAL, INT.ptr(8), (), 1)
    loop = UOp.range(8, 0)
    loaded = data.index(loop * 2 + 1).load()
    found = graph_rewrite(UOp.sink(loaded + loaded), renderer.rules)
    (total,) = found.src
    assert total.op is Ops.BITCAST and total.src[0].dtype is dtypes.uint32
    index = next(u for u in found.toposort() if u.op is Ops.INDEX)
    assert index.src[1] is loop * 2 + 1


def test_signed_arithmetic_wraps_before_it_is_widened(device):
    """The sum of two ints as a long: compilers that may assume no overflow would add as longs."""
    opened = registry.open("OPENCL")
    b = Builder()
    out = b.argument(0, LONG, 4)
    one, two = b.argument(1, INT, 4), b.argument(2, INT, 4)
    at = b.loop(4, 0)
    b.store(out, at, (b.load(one, at) + b.load(two, at)).cast(LONG))
    b.end(at)
    nodes = [*graph_rewrite(UOp.sink(*b.nodes), opened.renderer.rules).src]
    b.nodes[:] = _ordered(nodes)
    high = 2**31 - 1
    (found,) = run(
        opened, b, [(LONG, 4)], [(INT, [high, -high - 1, 5, high]), (INT, [1, -1, 6, high])]
    )
    assert found == [-(2**31), high, 11, -2]


def _ordered(nodes):
    """The nodes with those that a rewrite put before them."""
    done = {}
    for node in nodes:
        for u in node.toposort():
            done.setdefault(u)
    return list(done)


@pytest.mark.parametrize("lanes", [2, 4])
@pytest.mark.parametrize("dtype", [FLOAT, INT, LONG, dtypes.uint8, dtypes.float64], ids=str)
def test_masks_and_lanes(device, dtype, lanes):
    """A choice by comparison of vectors, and lanes picked from it."""
    opened = registry.open("OPENCL")
    if dtype not in opened.compute.dtypes:
        pytest.skip(f"{dtype} is not declared")
    b = Builder()
    out = b.argument(0, dtype, lanes)
    one, two = b.argument(1, dtype, lanes), b.argument(2, dtype, lanes)
    vector = dtype.vec(lanes)
    x, y = b.load(one, 0, dtype=vector), b.load(two, 0, dtype=vector)
    less = UOp(Ops.CMPLT, dtypes.bool.vec(lanes), (x, y))
    b.store(out, 0, b.add(UOp(Ops.WHERE, vector, (less, x, y))))
    rng = random.Random(3)
    given = [[rng.randrange(100) for _ in range(lanes)] for _ in range(2)]
    b.nodes[:] = _ordered(b.nodes)
    (found,) = run(opened, b, [(dtype, lanes)], [(dtype, row) for row in given])
    assert found == [min(pair) for pair in zip(*given)]
