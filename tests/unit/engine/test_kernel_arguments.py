"""Numbers as kernel arguments: how many kernels are compiled, and that results are never stale."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from weft import Tensor, jit, settings
from weft.base.errors import CompileError
from weft.engine import forget_programs, kernel_arguments, programs
from weft.uop import Ops

rng = np.random.default_rng(7)
ROWS = rng.random((60, 7), dtype=np.float32)
WHOLE = rng.integers(-50, 50, 200).astype(np.int32)


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The kernels that are built, in a process that has none."""
    forget_programs()
    found: list[Any] = []
    build = programs._build

    def noted(key: Any, *rest: Any) -> Any:
        found.append(key[0])
        return build(key, *rest)

    monkeypatch.setattr(programs, "_build", noted)
    yield found
    forget_programs()


def scaled(i: int) -> tuple[Tensor, Any]:
    number = (i - 20) / 7
    return Tensor(ROWS) * number + 2.5, ROWS * np.float32(number) + np.float32(2.5)


def of_double(i: int) -> tuple[Tensor, Any]:
    number = i / 7
    return Tensor(ROWS.astype(np.float64)) / (number + 1), ROWS.astype(np.float64) / (number + 1)


def of_half(i: int) -> tuple[Tensor, Any]:
    half = ROWS.astype(np.float16)
    return Tensor(half).maximum(i / 64), np.maximum(half, np.float16(i / 64))


def of_integers(i: int) -> tuple[Tensor, Any]:
    return (Tensor(WHOLE) * i).maximum(-i), np.maximum(WHOLE * i, -i)


def divided(i: int) -> tuple[Tensor, Any]:
    return Tensor(WHOLE) // (i + 2) + Tensor(WHOLE) % (i + 2), WHOLE // (i + 2) + WHOLE % (i + 2)


def chosen(i: int) -> tuple[Tensor, Any]:
    number, x = np.float32(i / 40), Tensor(ROWS)
    return (x > float(number)).where(x, float(number)), np.maximum(ROWS, number)


rows = Tensor(ROWS)


def row(i: int) -> tuple[Tensor, Any]:
    return rows[i] * 2, ROWS[i] * 2


def element(i: int) -> tuple[Tensor, Any]:
    return rows[i, 3] * rows[3, i % 7], ROWS[i, 3] * ROWS[3, i % 7]


def column(i: int) -> tuple[Tensor, Any]:
    return rows[:, i % 7].sum(), ROWS[:, i % 7].sum()


def window(i: int) -> tuple[Tensor, Any]:
    return (rows[i : i + 4] + 1).sum(0), (ROWS[i : i + 4] + 1).sum(0)


def prefix(i: int) -> tuple[Tensor, Any]:
    return rows[: i + 1].mean(0), ROWS[: i + 1].mean(0)


def length(i: int) -> tuple[Tensor, Any]:
    part = np.ascontiguousarray(ROWS[: i + 1, 0])
    return Tensor(part) * 2 + 1, part * 2 + 1


def product(i: int) -> tuple[Tensor, Any]:
    part = np.ascontiguousarray(ROWS[: i + 1])
    return Tensor(part) @ Tensor(part).T, part @ part.T


def padded(i: int) -> tuple[Tensor, Any]:
    part = np.ascontiguousarray(ROWS[:12, 0])
    return Tensor(part).pad(((i, 1),)) + 1, np.pad(part, (i, 1)) + 1


def rolled(i: int) -> tuple[Tensor, Any]:
    return rows.roll(i, 0) + 1, np.roll(ROWS, i, 0) + 1


def flipped(i: int) -> tuple[Tensor, Any]:
    return rows[: i + 1].flip(0) + 1, ROWS[: i + 1][::-1] + 1


PROGRAMS = [
    scaled, of_double, of_half, of_integers, divided, chosen, row, element, column, window, prefix,
    length, product, padded, rolled, flipped,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda each: each.__name__)
def test_few_kernels_serve_all_numbers(program: Callable[[int], Any], built: list[Any]) -> None:
    for i in range(40):
        got, want = program(i)
        np.testing.assert_allclose(got.numpy(), want, rtol=1e-5, atol=1e-6, err_msg=str(i))
    assert len(built) <= 8


@pytest.mark.parametrize("program", [scaled, of_double, of_half, divided, chosen, row, rolled])
def test_general_kernels_give_the_bits_of_others(program: Any, built: list[Any]) -> None:
    general = [program(i)[0].numpy().tobytes() for i in range(12)]
    forget_programs()
    with settings.override(KERNEL_ARGUMENTS=0):
        assert general == [program(i)[0].numpy().tobytes() for i in range(12)]
    assert len(built) >= 12


@pytest.mark.filterwarnings("ignore:.*recorded at every call")
def test_a_captured_function_never_uses_numbers_of_another_call(built: list[Any]) -> None:
    @jit
    def step(x: Tensor, i: int, number: float) -> Tensor:
        return (x[i] * number + i).realize()

    order = [(i % 9, (i % 5 + 1) / 3) for i in range(60)]
    random.Random(3).shuffle(order)
    for i, number in order:
        want = ROWS[i] * np.float32(number) + i
        np.testing.assert_allclose(step(rows, i, number).numpy(), want, rtol=1e-6)
    assert len(built) <= 8


def test_numbers_of_zero_and_signs_stay_apart(built: list[Any]) -> None:
    ones = Tensor([1.0, -1.0])
    for number in (0.0, -0.0, 2.0, -0.0, 3.0, 0.0, 1.0, -1.0, float("inf"), 5.0, float("nan")):
        with np.errstate(invalid="ignore"):
            want = np.float32([1.0, -1.0]) * np.float32(number)
        assert (ones * number).numpy().tobytes() == want.tobytes()


def test_long_kernels_are_general_after_more_of_them(built: list[Any]) -> None:
    many = Tensor(np.ones(kernel_arguments.SMALL * 2, np.float32)).realize()
    for number in range(2, 12):
        (many * float(number)).realize(many)  # together: no plan of its own
    assert len(built) == kernel_arguments.FROM_LONG + 1


def test_sizes_of_long_kernels_stay_constants(built: list[Any]) -> None:
    for size in range(kernel_arguments.SMALL + 1, kernel_arguments.SMALL + 6):
        assert (Tensor(np.ones(size, np.float32)) + 1).sum().item() == 2 * size
    assert len(built) >= 5


def test_kernels_that_cannot_be_general_are_compiled_for_their_sizes(
    built: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    build, refused = programs._build, list[Any]()

    def unable(key: Any, *rest: Any) -> Any:
        if any(node.op is Ops.DEFINE_VAR for node in key[0].toposort()):
            refused.append(key)
            raise CompileError("no variables here")
        return build(key, *rest)

    monkeypatch.setattr(programs, "_build", unable)
    for number in range(2, 8):
        assert (Tensor([1.0]) * float(number)).contiguous().tolist() == [number]
    assert len(refused) == 1 and len(built) == 6


def test_rows_of_changing_sizes(built: list[Any]) -> None:
    for size in range(2, 8):
        x = rng.random((2, size, 3), dtype=np.float32)
        scores = x @ x.transpose(0, 2, 1)
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        want = weights / weights.sum(-1, keepdims=True) @ x
        got = (Tensor(x) @ Tensor(x).transpose(-1, -2)).softmax(-1) @ Tensor(x)
        np.testing.assert_allclose(got.numpy(), want, rtol=1e-5, atol=1e-6)


def test_the_setting_keeps_numbers_in_the_source(built: list[Any]) -> None:
    with settings.override(KERNEL_ARGUMENTS=0):
        for number in range(2, 12):
            assert (Tensor([1.0]) * float(number)).item() == number
    assert len(built) == 10


def test_a_variable_of_the_user_stays_free(built: list[Any]) -> None:
    from weft import Variable

    index = Variable("i", 0, 50)
    for i in range(10):
        got = (rows[index.bind(i)] * (i + 2.5)).numpy()
        np.testing.assert_allclose(got, ROWS[i] * np.float32(i + 2.5), rtol=1e-6)
    assert len(built) <= 3


def test_replays_of_several_general_kernels(built: list[Any]) -> None:
    for i in range(5):

        @jit
        def steps(x: Tensor) -> Tensor:
            for number in range(6):
                x = (x * (i + number / 8 + 2.5)).contiguous()  # noqa: B023
            return x

        want = np.float32(ROWS)
        for number in range(6):
            want = want * np.float32(i + number / 8 + 2.5)
        for _ in range(5):
            np.testing.assert_allclose(steps(Tensor(ROWS)).numpy(), want, rtol=1e-5)
    assert len(built) <= 8
