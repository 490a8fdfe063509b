"""Random kernels stay in their buffers, as they are lowered for processors: proved, whatever is in
memory, by the solver of weft[proof]."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from helpers.example_counts import examples
from helpers.proofs import unproven
from helpers.random_lookups import RandomLookup
from helpers.random_products import RandomProduct
from weft import Tensor
from weft.codegen.pipeline import lower
from weft.device import registry
from weft.device.capabilities import Target
from weft.testing.kernels import RandomKernel
from weft.uop import Ops, UOp

pytest.importorskip("z3", reason="the solver of weft[proof] is not installed")
pytest.importorskip("weft_cpu_clang", reason="there is no plugin for this processor")

EXAMPLES = examples(8)
SOME, FEW = (hypothesis_settings(max_examples=n) for n in (EXAMPLES, 1 + EXAMPLES // 3))
CASES = (st.sampled_from(("x86-64-v3", "x86-64-v4")), st.integers(0, 1 << 32))
SIZES = (1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 31, 32, 33, 40)


def target(arch: str) -> Target:
    """A processor whose last cache is small, so that larger arrays are prefetched."""
    found = registry.offline("CPU", arch).target
    return replace(found, compute=replace(found.compute, cache_bytes=1 << 12))


def check(arch: str, *asts: UOp) -> None:
    for ast in asts:
        program = lower(ast, target(arch))
        assert [str(one) for one in unproven(program, seconds=30)] == []


@SOME
@given(*CASES)
@example("x86-64-v4", 68277089)  # three masked neighbours next to lanes of sixteen
def test_random_kernels(arch: str, seed: int) -> None:
    check(arch, RandomKernel(seed).ast)


@SOME
@given(*CASES)
def test_sums_of_products(arch: str, seed: int) -> None:
    check(arch, RandomProduct(seed).ast)


@FEW
@given(*CASES)
def test_random_lookups(arch: str, seed: int) -> None:
    items = RandomLookup(seed).result.schedule()
    check(arch, *(item.ast for item in items if item.ast.op is Ops.SINK))


# ---- tensors -----------------------------------------------------------------------------------

Step = Callable[[Tensor, random.Random], Tensor]


def given_(*shape: int, dtype: str = "float32") -> Tensor:
    return Tensor.empty(*shape, dtype=dtype, device="REF")


def _padded(x: Tensor, pick: random.Random) -> Tensor:
    return x.pad(tuple((pick.randint(0, 4), pick.randint(0, 4)) for _ in x.shape))


def _window(x: Tensor, pick: random.Random) -> Tensor:
    return x[tuple(slice(pick.randint(0, n - 1), None, pick.choice((1, 1, 2, 3))) for n in x.shape)]


def _pooled(x: Tensor, pick: random.Random) -> Tensor:
    size, stride = pick.choice((2, 3)), pick.choice((1, 2, 3))
    if x.ndim < 2 or min(x.shape[-2:]) < size:
        return x
    return x.reshape((1, -1, *x.shape[-2:])).max_pool2d((size, size), stride=stride, padding=1)[0]


def _masked(x: Tensor, pick: random.Random) -> Tensor:
    below = Tensor.arange(x.shape[-1], device="REF") < pick.randint(0, x.shape[-1])
    return below.where(x, pick.choice((0, 1)))


def _picked(x: Tensor, pick: random.Random) -> Tensor:
    return x[given_(pick.choice(SIZES), dtype="int32")]


def _gathered(x: Tensor, pick: random.Random) -> Tensor:
    axis = pick.randrange(x.ndim)
    return x.gather(axis, given_(*x.shape, dtype="int32"))


def _scattered(x: Tensor, pick: random.Random) -> Tensor:
    axis, index = pick.randrange(x.ndim), given_(*x.shape, dtype="int32")
    put = x.scatter if pick.random() < 0.5 else x.scatter_add
    return put(axis, index, given_(*x.shape))


def _written(x: Tensor, pick: random.Random) -> Tensor:
    rows = pick.choice(SIZES)
    whole = given_(*x.shape)
    whole[given_(rows, dtype="int32")] = given_(rows, *x.shape[1:])
    return whole + x


STEPS: tuple[Step, ...] = (
    _padded, _padded, _window, _window, _pooled, _masked, _picked, _gathered, _scattered, _written,
    lambda x, pick: x.permute(pick.sample(range(x.ndim), x.ndim)),
    lambda x, pick: x.flip(pick.randrange(x.ndim)),
    lambda x, pick: x.roll(pick.randint(-5, 5), pick.randrange(x.ndim)),
    lambda x, pick: x.cat(given_(*x.shape), dim=pick.randrange(x.ndim)),
    lambda x, pick: x.sum(pick.randrange(x.ndim), keepdim=True) + x,
    lambda x, pick: x.cumsum(pick.randrange(x.ndim)),
    lambda x, pick: x.sort(pick.randrange(x.ndim))[0],
    lambda x, pick: x.softmax(pick.randrange(x.ndim)),
)  # fmt: skip


@SOME
@given(*CASES)
@example("x86-64-v3", 45683829)  # the last rows of a tile overlap, in a gate and in an address
def test_masks_windows_indices_and_sorts(arch: str, seed: int) -> None:
    pick = random.Random(seed)
    x = given_(*(pick.choice(SIZES) for _ in range(pick.randint(1, 3))))
    for _ in range(pick.randint(1, 4)):
        x = pick.choice(STEPS)(x, pick)
        if x.numel() > 1 << 16:
            break
    check(arch, *(item.ast for item in x.contiguous().schedule() if item.ast.op is Ops.SINK))
