"""Running values over lanes: the steps they take, and what they compute."""

from __future__ import annotations

import operator

import numpy as np
import pytest

from weft import Tensor
from weft.base.dtype import dtypes
from weft.codegen.pipeline import lower
from weft.codegen.vectorization.prefix_scan import Running, scanned
from weft.device import registry
from weft.uop import Ops, UOp

LENGTHS = (4, 13, 16, 31, 64, 300)
SCANS = {"cumsum": np.cumsum, "cumprod": np.cumprod, "cummax": np.maximum.accumulate}


def program_of(result, arch):
    pytest.importorskip("weft_cpu_clang", reason="there is no plugin for this processor")
    (item,) = (one for one in result.schedule() if one.ast.op is Ops.SINK)
    return lower(item.ast, registry.offline("CPU", arch).target)


def counted(result, arch="x86-64-v4"):
    """(shifts, choices) of a kernel."""
    nodes = program_of(result, arch).uops
    return tuple(sum(node.op is op for node in nodes) for op in (Ops.CAT, Ops.WHERE))


def empty(*shape, dtype="float32"):
    return Tensor.empty(*shape, device="REF", dtype=dtype)


def lanes_of(value, env):
    """What a vector is made of, in Python: of VECTORIZE, GEP, CAT and operations."""
    if value in env:
        return env[value]
    below = [lanes_of(source, env) for source in value.src]
    if value.op is Ops.CONST:
        return [value.arg] * value.dtype.count
    if value.op in (Ops.VECTORIZE, Ops.CAT):
        return [lane for lanes in below for lane in lanes]
    if value.op is Ops.GEP:
        picked = value.arg if isinstance(value.arg, tuple) else (value.arg,)
        return [below[0][lane] for lane in picked]
    combine = {Ops.ADD: operator.add, Ops.MUL: operator.mul, Ops.MAX: max}[value.op]
    return [combine(*pair) for pair in zip(*below)]


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("op", [Ops.ADD, Ops.MUL, Ops.MAX])
@pytest.mark.parametrize("many, width", [(1, 4), (1, 16), (2, 8), (4, 4)])
def test_vectors_go_on_from_one_to_the_next(op, whole, many, width):
    dtype = dtypes.int.vec(width)
    vectors = [
        UOp.variable(f"v{number}", 0, 9, dtypes.int).broadcast(width) for number in range(many)
    ]
    numbers = np.random.default_rng(width).integers(-3, 4, (many, width))
    env = {vector: [int(n) for n in row] for vector, row in zip(vectors, numbers)}
    found = scanned(Running(op, whole), vectors)
    assert all(one.dtype is dtype for one in found)
    scan = {Ops.ADD: np.add, Ops.MUL: np.multiply, Ops.MAX: np.maximum}[op].accumulate
    wanted = scan(numbers.reshape(-1))
    if not whole:
        first = {Ops.ADD: 0, Ops.MUL: 1, Ops.MAX: dtypes.int.min}[op]
        wanted = np.concatenate([[first], wanted[:-1]])
    assert [lane for one in found for lane in lanes_of(one, env)] == wanted.tolist()


@pytest.mark.parametrize("arch, shifts", [("x86-64-v4", 4), ("x86-64-v3", 6)])
def test_lanes_take_steps_and_make_no_choices(arch, shifts):
    """One vector of sixteen takes four; two of eight take three each."""
    assert counted(empty(100, 16).cumsum(1), arch) == (shifts, 0)
    assert counted(empty(100, 16).flip(1).cummax(1), arch) == (shifts, 0)
    assert counted(empty(100, 16, dtype="int32").cumprod(1, dtype="int32"), arch) == (shifts, 0)
    assert counted(empty(100, 16, dtype="float64").cumsum(1)) == (6, 0)


def test_other_reductions_are_no_prefix_scan():
    """Another length, terms apart in memory, a condition that is another one."""
    assert counted(empty(64, 3).cumsum(1))[0] == 0
    seen = Tensor.arange(16, device="REF") < Tensor.arange(16, device="REF").unsqueeze(-1) + 2
    assert counted(seen.where(empty(1, 16), 0).sum(1))[0] == 0
    assert counted(seen.where(empty(1, 16), 1).sum(1))[0] == 0


@pytest.mark.parametrize("device, dtype", [
    ("CPU", "float32"), ("CPU", "float64"), ("CPU", "int8"), ("REF:vector", "float32"),
    ("REF:vector", "int32"),
])  # fmt: skip
@pytest.mark.parametrize("name", SCANS)
def test_scans_along_rows(device, dtype, name):
    """Along rows, from either end."""
    for length in LENGTHS if device == "CPU" else LENGTHS[:4]:
        random = np.random.default_rng(length)
        x = random.integers(-4, 5, (3, length)).astype(dtype)
        if name == "cumprod":
            x = np.where(x < 0, -1, 1).astype(dtype)
        given = Tensor(x, device=device)
        found = getattr(given, name)(1).numpy()
        np.testing.assert_array_equal(found, SCANS[name](x, axis=1).astype(found.dtype))
        found = getattr(given.flip(1), name)(1).flip(1).numpy()
        wanted = SCANS[name](x[:, ::-1], axis=1)[:, ::-1]
        np.testing.assert_array_equal(found, wanted.astype(found.dtype))


@pytest.mark.parametrize("device", ["CPU", "REF:vector"])
def test_later_elements_do_not_affect_earlier_results(device):
    """Neither NaN nor infinity reaches back; the sum of -0.0 alone is what NumPy says."""
    for length in (16, 300) if device == "CPU" else (16,):
        for at in (0, 3, length - 1):
            x = np.ones((2, length), np.float32)
            x[0, at], x[1, at] = np.nan, np.inf
            for name, scan in SCANS.items():
                found = getattr(Tensor(x, device=device), name)(1).numpy()
                np.testing.assert_array_equal(found, scan(x, axis=1))
    if device == "CPU":  # where the generic choice does not vectorise it, a sum begins with 0.0
        zeros = Tensor(np.full((2, 16), -0.0, np.float32), device=device).cumsum(1).numpy()
        assert np.signbit(zeros).all()
