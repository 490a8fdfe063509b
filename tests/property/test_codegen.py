"""Random kernels give what NumPy gives, whatever is done to their loops."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.base.dtype import dtypes
from weft.base.settings import settings
from weft.codegen.opt.kernel import Kernel
from weft.codegen.opt.opts import Opt, OptError, OptKind
from weft.codegen.pipeline import lower, nothing
from weft.device.capabilities import Target
from weft.device.program import CompiledProgram, LinearProgram
from weft.testing.kernels import RandomKernel
from weft.testing.reference import KINDS
from weft.testing.reference.renderer import PythonRenderer
from weft.testing.reference.runner import PythonCompiler, PythonRunner
from weft.uop import GroupOp

PLAIN, VECTOR, GRID = (
    Target(KINDS[kind], GroupOp.ALU, None, "py", kind)
    for kind in (*list(KINDS)[:1], "vector", "grid")
)
KINDS_OF_OPT = (
    OptKind.UPCAST, OptKind.UNROLL, OptKind.VECTOR, OptKind.SPLIT, OptKind.SWAP,
)  # fmt: skip
SEEDS = st.integers(0, 1 << 32)


def run(program: LinearProgram, arrays: dict[int, np.ndarray]) -> None:
    source = PythonRenderer().render(program)
    binary = PythonCompiler().compile(source, program.name)
    runner = PythonRunner(CompiledProgram(program.name, binary, source, program))
    handles = [memoryview(arrays[slot].reshape(-1)).cast("B") for slot in program.globals]
    runner(handles, global_size=program.global_size, local_size=program.local_size)


def random_choice(seed: int):
    """A choice of whatever random optimisations are legal."""

    def choose(kernel: Kernel) -> list[Opt]:
        pick = random.Random(seed)
        for _ in range(pick.randint(0, 8)):
            if kernel.axes:
                axis = pick.randrange(len(kernel.axes))
                opt = Opt(pick.choice(KINDS_OF_OPT), axis, pick.choice((0, 1, 2, 3, 4, 8)))
                try:
                    kernel.apply(opt)
                except OptError:
                    pass
        return kernel.applied

    return choose


def check(seed: int, target: Target, choose=None) -> None:
    kernel = RandomKernel(seed, dtypes.float32 if seed % 2 else dtypes.int32)
    arrays = {slot: array.copy() for slot, array in kernel.inputs.items()}
    for slot, array in kernel.outputs.items():
        arrays[slot] = np.full(array.shape, 77, array.dtype)
    with settings.override(SPEC=1):
        run(lower(kernel.ast, target, choose), arrays)
    for slot, array in kernel.outputs.items():
        np.testing.assert_array_equal(arrays[slot], array)


@given(SEEDS)
def test_without_optimisations(seed: int) -> None:
    check(seed, PLAIN, nothing)


@given(SEEDS)
def test_with_the_heuristic(seed: int) -> None:
    check(seed, VECTOR)


@given(SEEDS, SEEDS)
def test_with_any_legal_optimisations(seed: int, choice: int) -> None:
    check(seed, VECTOR, random_choice(choice))


@given(SEEDS)
def test_on_a_launch_grid(seed: int) -> None:
    check(seed, GRID)


@pytest.mark.parametrize("seed", [1626, 4410, 6126])
def test_seeds_that_once_failed(seed: int) -> None:
    check(seed, VECTOR, random_choice(seed))
