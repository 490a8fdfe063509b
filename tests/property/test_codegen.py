"""Random kernels equal NumPy under any loop transformations."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from helpers.example_counts import examples
from helpers.races import races
from helpers.random_lookups import RandomLookup
from helpers.random_products import RandomProduct
from helpers.simd import with_simd
from weft.base.dtype import DType, dtypes
from weft.base.settings import settings
from weft.codegen.opt.kernel import Kernel
from weft.codegen.opt.opts import Opt, OptError, OptKind
from weft.codegen.pipeline import lower, nothing
from weft.device.capabilities import Feature, Target
from weft.device.packed_dot import PairDot
from weft.device.program import CompiledProgram, LinearProgram
from weft.device.tensor_core import FragmentLayout, TensorCore
from weft.shape.tracker import ShapeTracker
from weft.testing.kernels import RandomKernel
from weft.testing.reference import KINDS
from weft.testing.reference.renderer import PythonRenderer
from weft.testing.reference.runner import PythonCompiler, PythonRunner
from weft.uop import AxisKind, GroupOp, Ops, UOp

PLAIN, GENERIC, GRID = (
    Target(KINDS[kind], GroupOp.ALU, None, "py", kind)
    for kind in (*list(KINDS)[:1], "vector", "grid")
)
VECTOR = with_simd(GENERIC)
KINDS_OF_OPT = (
    OptKind.UPCAST, OptKind.UNROLL, OptKind.VECTOR, OptKind.SPLIT, OptKind.SWAP, OptKind.STAGE,
    OptKind.PADTO,
)  # fmt: skip
KINDS_ON_A_GRID = (
    *KINDS_OF_OPT, OptKind.LOCAL, OptKind.GROUP, OptKind.GROUP, OptKind.GROUPTOP, OptKind.STAGE,
)  # fmt: skip
# Four lanes: each has two neighbours of a row of A, two of a column of B, a square of C.
UNIT = TensorCore(
    "small", (4, 4, 2), 4, dtypes.half, dtypes.float,
    a=FragmentLayout(((1, 0), (2, 0)), ((0, 1),)),
    b=FragmentLayout(((0, 1), (0, 2)), ((1, 0),)),
    c=FragmentLayout(((2, 0), (0, 2)), ((0, 1), (1, 0))),
)  # fmt: skip
UNITS = replace(GRID, compute=replace(GRID.compute, tensor_cores=(UNIT,)))
# One processor whose threads share loops, and that adds two products of narrow integers at once.
THREADED = replace(
    VECTOR,
    compute=replace(
        VECTOR.compute,
        features=VECTOR.compute.features | {Feature.THREADS},
        pair_dots=(PairDot(dtypes.int16, dtypes.int32, (2, 3, 4, 8)),),
    ),
)
# One that adds two or four products of narrow integers to each lane, and has memory for panels.
WORDS = replace(
    VECTOR,
    compute=replace(
        VECTOR.compute,
        limits=replace(VECTOR.compute.limits, scratch_bytes=1 << 16),
        pair_dots=(
            PairDot(dtypes.int16, dtypes.int32, (VECTOR.compute.vector_bytes // 4,)),
            PairDot(dtypes.uint8, dtypes.int32, (VECTOR.compute.vector_bytes // 4,), dtypes.int8),
        ),
    ),
)
KINDS_WITH_THREADS = (*KINDS_OF_OPT, OptKind.THREAD, OptKind.THREAD, OptKind.THREAD)
# One with everything that one processor may have.
WHOLE = replace(
    WORDS,
    compute=replace(
        WORDS.compute,
        features=THREADED.compute.features,
        pair_dots=(
            *WORDS.compute.pair_dots,
            *THREADED.compute.pair_dots,
            PairDot(dtypes.bfloat16, dtypes.float32, (2, 3, 4, 8)),
        ),
    ),
)
ALL_KINDS = (*KINDS_WITH_THREADS, OptKind.KEEP, OptKind.PACK)
SEEDS = st.integers(0, 1 << 32)
SOME = hypothesis_settings(max_examples=examples(30))


def run(
    program: LinearProgram, arrays: dict[int, np.ndarray], values: tuple[int, ...] = ()
) -> None:
    source = PythonRenderer().render(program)
    binary = PythonCompiler().compile(source, program.name)
    runner = PythonRunner(CompiledProgram(program.name, binary, source, program))
    handles = [memoryview(arrays[slot].reshape(-1)).cast("B") for slot in program.globals]
    sizes = program.global_size, program.local_size
    runner(handles, global_size=sizes[0], local_size=sizes[1], values=values)


def random_choice(seed: int, kinds: tuple[OptKind, ...] = KINDS_OF_OPT):
    """A random choice of legal optimisations."""

    def choose(kernel: Kernel) -> list[Opt]:
        pick = random.Random(seed)
        for _ in range(pick.randint(0, 8)):
            if kernel.axes:
                axis = pick.randrange(len(kernel.axes))
                opt = Opt(pick.choice(kinds), axis, pick.choice((0, 1, 2, 3, 4, 8)))
                try:
                    kernel.apply(opt)
                except OptError:
                    pass
        return kernel.applied

    return choose


def tiled_choice(seed: int, kinds: tuple[OptKind, ...]):
    """Random optimisations in an order in which tiles, matrix units and STAGE are often legal."""

    def choose(kernel: Kernel) -> list[Opt]:
        pick = random.Random(seed)

        def attempt(kind: OptKind, axis: int, amount: int) -> bool:
            try:
                kernel.apply(Opt(kind, axis, amount))
            except OptError:
                return False
            return True

        def one_of(kinds: tuple[OptKind, ...], times: int) -> None:
            for _ in range(pick.randint(0, times)):
                amount = pick.choice((0, 2, 2, 3, 4, 4, 8))
                attempt(pick.choice(kinds), pick.randrange(len(kernel.axes)), amount)

        def each_of(kind: OptKind, of: AxisKind, chance: float, amounts: tuple[int, ...]) -> None:
            for place in reversed(range(len(kernel.axes))):
                if kernel.axes[place].kind is of and pick.random() < chance:
                    attempt(kind, place, pick.choice(amounts))

        if not kernel.axes:
            return kernel.applied
        outer = (
            AxisKind.LOOP if kernel.target.compute.limits.global_size is None else AxisKind.GLOBAL
        )
        if pick.random() < 0.7:
            each_of(OptKind.PADTO, outer, 0.9, (2, 4, 4, 8))
            each_of(OptKind.PADTO, AxisKind.REDUCE, 0.8, (2, 4, 8))
        if pick.random() < 0.7:
            each_of(OptKind.TC, AxisKind.REDUCE, 1, (0,))
        tiled = pick.random() < 0.6
        if tiled:
            each_of(OptKind.UPCAST, outer, 0.3, (2, 3, 4))
            each_of(OptKind.LOCAL, AxisKind.GLOBAL, 0.7, (2, 2, 4, 0))
            each_of(OptKind.SPLIT, AxisKind.REDUCE, 0.7, (2, 4))
        one_of(kinds, 2 if tiled else 5)
        if tiled:
            places = pick.sample(range(len(kernel.axes)), len(kernel.axes))
            any(attempt(OptKind.STAGE, place, 0) for place in places)
        if OptKind.THREAD in kinds:
            each_of(OptKind.THREAD, AxisKind.LOOP, 0.8, (0,))
        return kernel.applied

    return choose


def kept_choice(seed: int):
    """Random optimisations; the last ones are partial accumulators, packing and threads."""

    def choose(kernel: Kernel) -> list[Opt]:
        pick = random.Random(seed)
        for _ in range(pick.randint(0, 4) if kernel.axes else 0):
            kind, place = pick.choice(ALL_KINDS), pick.randrange(len(kernel.axes))
            kernel.attempt(kind, place, pick.choice((0, 1, 2, 2, 3, 4, 5, 8)))
        for place in reversed(range(len(kernel.axes))):
            if kernel.axes[place].kind is AxisKind.REDUCE:
                kernel.attempt(OptKind.SPLIT, place, pick.choice((0, 2, 3, 4)))
        places = range(len(kernel.axes))
        pairs = [(sum_, output) for sum_ in places for output in places]
        pick.shuffle(pairs)
        any(kernel.attempt(OptKind.KEEP, *pair) for pair in pairs[: pick.choice((0, 12))])
        brought = pick.choice((OptKind.PACK, OptKind.STAGE))
        places = pick.sample(places, len(places))
        any(kernel.attempt(brought, place, 0) for place in places[: pick.choice((0, 8))])
        for place in range(pick.randint(0, len(kernel.axes))):
            kernel.attempt(OptKind.THREAD, place, 0)
        return kernel.applied

    return choose


def check(seed: int, target: Target, choose=None, prepared: bool | None = None) -> None:
    dtype = dtypes.float32 if seed % 2 else dtypes.int32
    compare(RandomKernel(seed, dtype), target, choose, prepared)


def check_product(
    seed: int,
    target: Target,
    choose=None,
    prepared: bool | None = None,
    half: DType = dtypes.half,
) -> None:
    narrow = (None, dtypes.half, half, dtypes.int8)[seed % 4]
    total = dtypes.int32 if narrow is dtypes.int8 else dtypes.float32
    compare(RandomProduct(seed // 4, total, narrow), target, choose, prepared)


def check_lookup(seed: int, target: Target, choose=None, prepared: bool | None = None) -> None:
    program = RandomLookup(seed)
    arrays: dict[object, np.ndarray] = {}
    for item in program.result.schedule():
        for buffer in item.bufs:
            if buffer not in arrays:
                buffer.allocate()
                arrays[buffer] = buffer.numpy().copy()
        with settings.override(SPEC=1):
            kernel = lower(item.ast, target, choose, prepared)
        run(kernel, {slot: arrays[buffer] for slot, buffer in enumerate(item.bufs)})
        assert races(kernel) == []
        result = arrays[item.bufs[0]]
    np.testing.assert_array_equal(result.reshape(program.expected.shape), program.expected)


def compare(
    kernel: RandomKernel, target: Target, choose=None, prepared: bool | None = None
) -> None:
    arrays = {slot: array.copy() for slot, array in kernel.inputs.items()}
    for slot, array in kernel.outputs.items():
        arrays[slot] = np.full(array.shape, 77, array.dtype)
    with settings.override(SPEC=1):
        program = lower(kernel.ast, target, choose, prepared)
    run(program, arrays)
    assert races(program) == []
    for slot, array in kernel.outputs.items():
        np.testing.assert_array_equal(arrays[slot], array)


@given(SEEDS)
def test_without_optimisations(seed: int) -> None:
    check(seed, PLAIN, nothing)


@given(SEEDS)
def test_with_the_heuristic(seed: int) -> None:
    check(seed, VECTOR)


@given(SEEDS)
def test_with_the_generic_choice(seed: int) -> None:
    check(seed, (PLAIN, GENERIC)[seed % 2])


@given(SEEDS, SEEDS)
def test_with_any_legal_optimisations(seed: int, choice: int) -> None:
    check(seed, (VECTOR, GENERIC)[seed % 2], random_choice(choice))


@given(SEEDS, SEEDS)
def test_with_any_legal_optimisations_and_threads(seed: int, choice: int) -> None:
    check(seed, THREADED, random_choice(choice, KINDS_WITH_THREADS))


@given(SEEDS)
def test_on_a_launch_grid(seed: int) -> None:
    check(seed, GRID)


@given(SEEDS, SEEDS)
def test_with_any_legal_optimisations_on_a_launch_grid(seed: int, choice: int) -> None:
    check(seed, GRID, random_choice(choice, KINDS_ON_A_GRID))


@given(SEEDS)
def test_sums_of_products_with_the_heuristic(seed: int) -> None:
    check_product(seed, (VECTOR, GRID, UNITS, GENERIC)[seed % 4])


@given(SEEDS, SEEDS)
def test_sums_of_products_in_tiles(seed: int, choice: int) -> None:
    check_product(seed, VECTOR, tiled_choice(choice, KINDS_OF_OPT))


@given(SEEDS, SEEDS)
def test_sums_of_products_in_tiles_that_threads_share(seed: int, choice: int) -> None:
    check_product(seed, THREADED, tiled_choice(choice, KINDS_WITH_THREADS))


@SOME
@given(SEEDS, SEEDS)
def test_sums_that_are_kept_and_packed(seed: int, choice: int) -> None:
    """Over the loops as they are, and as the heuristic and a search have them."""
    prepared = choice % 3 == 0
    if choice % 4 == 0:
        check(seed, WHOLE, kept_choice(choice), prepared)
    else:
        check_product(seed, WHOLE, kept_choice(choice), prepared, dtypes.bfloat16)


@SOME
@given(SEEDS)
def test_random_lookups(seed: int) -> None:
    check_lookup(seed, (PLAIN, VECTOR, WHOLE, GRID)[seed % 4])


@SOME
@given(SEEDS, SEEDS)
def test_random_lookups_with_any_legal_optimisations(seed: int, choice: int) -> None:
    target, kinds = ((WHOLE, ALL_KINDS), (GRID, KINDS_ON_A_GRID))[seed % 2]
    check_lookup(seed, target, random_choice(choice, kinds), prepared=choice % 3 == 0)


@given(SEEDS, SEEDS)
def test_sums_over_words_in_tiles(seed: int, choice: int) -> None:
    """Two or four narrow numbers in a word, in loops of any form."""
    pick = random.Random(seed)
    m, k, n = pick.choice((32, 33)), pick.choice((4, 8)), pick.randint(4, 6)
    kinds = tuple(pick.choice((dtypes.int8, dtypes.uint8, dtypes.int16)) for _ in range(2))
    result, *factors = (
        UOp(Ops.DEFINE_GLOBAL, dtype.ptr(size), (), slot)
        for slot, (dtype, size) in enumerate(
            ((dtypes.int32, m * n), (kinds[0], m * k), (kinds[1], k * n))
        )
    )
    rows = ShapeTracker.from_shape((m, 1, k)).expand((m, n, k))
    columns = ShapeTracker.from_shape((k, n)).permute((1, 0)).reshape((1, n, k)).expand((m, n, k))
    a, b = (
        factor.view(view).load().cast(dtypes.int32)
        for factor, view in zip(factors, (rows, columns))
    )
    total = (a * b).reduce(Ops.ADD, (2,))
    ast = UOp.sink(result.view(ShapeTracker.from_shape((m, n, 1))).store(total))
    draw = np.random.default_rng(seed)
    given_ = [
        draw.integers(int(kind.min), int(kind.max), shape, endpoint=True)
        for kind, shape in zip(kinds, ((m, k), (k, n)))
    ]
    arrays = {
        slot: array.astype(f"{'u' if dtypes.is_unsigned(kind) else ''}int{8 * kind.itemsize}")
        for slot, (array, kind) in enumerate(zip(given_, kinds), start=1)
    }
    arrays[0] = np.full((m, n), 77, np.int32)
    with settings.override(SPEC=1):
        program = lower(
            ast, WORDS, tiled_choice(choice, KINDS_OF_OPT) if choice % 4 else None, prepared=True
        )
    run(program, arrays)
    np.testing.assert_array_equal(arrays[0], (given_[0] @ given_[1]).astype(np.int32))


@given(SEEDS, SEEDS)
def test_sums_of_products_in_tiles_of_a_group(seed: int, choice: int) -> None:
    check_product(seed, UNITS, tiled_choice(choice, KINDS_ON_A_GRID))


@pytest.mark.parametrize("target", [PLAIN, VECTOR], ids=["plain", "vector"])
@pytest.mark.parametrize("rows", [1, 3, 8, 10])
def test_extents_that_are_variables(target: Target, rows: int) -> None:
    n = UOp.variable("n", 1, 10)
    whole = ShapeTracker.from_shape((n, 4))
    data = np.arange(40, dtype=np.float32).reshape(10, 4)

    def pointer(slot: int, size: int) -> UOp:
        return UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(size), (), slot)

    value = pointer(2, 40).view(whole).load()
    total = value.reduce(Ops.ADD, (0,))
    spread = total.view(ShapeTracker.from_shape((1, 4)).expand((n, 4)))
    ast = UOp.sink(
        pointer(0, 40).view(whole).store(value * 2.0 + spread),
        pointer(1, 4).view(ShapeTracker.from_shape((1, 4))).store(total),
    )
    out, sums = np.zeros((10, 4), np.float32), np.zeros((1, 4), np.float32)
    with settings.override(SPEC=1):
        run(lower(ast, target), {0: out, 1: sums, 2: data}, (rows,))
    want = data[:rows].sum(0, keepdims=True)
    np.testing.assert_array_equal(sums, want)
    np.testing.assert_array_equal(out[:rows], data[:rows] * 2 + want)
    assert not out[rows:].any()


@pytest.mark.parametrize("size", [5, 17, 63, 130, 1003])
def test_sizes_that_nothing_divides(size: int) -> None:
    rng = np.random.default_rng(size)
    data = rng.integers(-4, 5, (3, size)).astype(np.float32)
    st_ = ShapeTracker.from_shape((3, size))
    value = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(3 * size), (), 2).view(st_).load()
    back = ShapeTracker.from_shape((3, 1)).expand((3, size))
    total, most = value.reduce(Ops.ADD, (1,)), value.reduce(Ops.MAX, (1,))
    both = value * total.view(back) - most.view(back)
    out = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(3 * size), (), 0).view(st_).store(both)
    sums = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(3), (), 1)
    ast = UOp.sink(out, sums.view(ShapeTracker.from_shape((3, 1))).store(total))
    got, got_sums = np.zeros((3, size), np.float32), np.zeros((3, 1), np.float32)
    run(lower(ast, VECTOR), {0: got, 1: got_sums, 2: data})
    want = data.sum(1, keepdims=True)
    np.testing.assert_array_equal(got_sums, want)
    np.testing.assert_array_equal(got, data * want - data.max(1, keepdims=True))


@pytest.mark.parametrize(
    "seed, choice", [(1626, 1626), (4410, 4410), (6126, 6126), (12139, 84974), (7279, 50954)]
)
def test_seeds_that_once_failed(seed: int, choice: int) -> None:
    check(seed, VECTOR, random_choice(choice))


@pytest.mark.parametrize(
    "seed, choice", [(49, 344), (297, 2080), (50329, 352304), (50412, 352885), (100173, 701212)]
)
def test_products_that_once_failed(seed: int, choice: int) -> None:
    check_product(seed, UNITS, tiled_choice(choice, KINDS_ON_A_GRID))
