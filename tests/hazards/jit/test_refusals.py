"""What cannot be captured is refused, with the name of what is in the way."""

import functools

import numpy as np
import pytest

from weft import Tensor, jit
from weft.base.errors import ArgumentError, CaptureError


def test_reading_a_value_inside():
    @jit
    def step(x):
        return x * 2 if x.sum().item() > 0 else x

    with pytest.raises(CaptureError) as caught:
        step(Tensor([1.0]))
    assert "item" in caught.value.asked and "step" in caught.value.asked
    assert "return the tensor" in caught.value.try_


@pytest.mark.parametrize(
    "make, kind",
    [
        (lambda: (i for i in range(3)), "generator"),
        (lambda: np.ones(3, np.float32), "ndarray"),
        (lambda: bytearray(3), "bytearray"),
    ],
)
def test_arguments_that_no_signature_can_tell(make, kind):
    step = jit(lambda x, options: x + 1)
    with pytest.raises(CaptureError) as caught:
        step(Tensor([1.0]), {"deep": [make()]})
    assert kind in str(caught.value)
    assert caught.value.asked.startswith("options['deep'][0] of ")


def test_results_that_cannot_be_made_again():
    step = jit(lambda x: (x + i for i in range(2)))
    with pytest.raises(CaptureError) as caught:
        step(Tensor([1.0]))
    assert "generator" in str(caught.value)


def test_errors_inside_leave_everything_as_it_was():
    w = Tensor([1.0, 2.0]).realize()
    fail = [True]

    @jit
    def step(x):
        made = x + w
        if fail[0]:
            raise KeyError("no")
        w.assign(made)
        return made * 2

    for _ in range(3):
        with pytest.raises(KeyError):
            step(Tensor([1.0, 1.0]))
    fail[0] = False
    assert [step(Tensor([1.0, 1.0])).tolist() for _ in range(4)] == [
        [2.0 * (1 + i), 2.0 * (2 + i)] for i in range(1, 5)
    ]
    assert step.replays == 2


def test_a_class_is_no_function():
    with pytest.raises(ArgumentError):
        jit(dict)


async def _computes_later(x):
    return x + 1


async def _gives_later(x):
    yield x + 1


class _CalledLater:
    async def __call__(self, x):
        return x + 1

    async def method(self, x):
        return x + 1


@pytest.mark.parametrize(
    "function",
    [
        _computes_later, _gives_later, _CalledLater(), _CalledLater().method,
        functools.partial(_computes_later),
    ],
)  # fmt: skip
def test_async_functions_are_refused_with_advice(function):
    with pytest.raises(ArgumentError, match="not a coroutine") as caught:
        jit(function)
    assert "async function" in caught.value.asked and "@jit on a def" in caught.value.try_
    with pytest.raises(ArgumentError, match="not a coroutine"):
        jit(limit=2)(function)


def test_an_async_method_is_refused_where_its_class_is_made():
    with pytest.raises(ArgumentError, match="not a coroutine"):

        class Model:
            @jit
            async def step(self, x):
                return x


def test_async_generators_are_refused():
    step = jit(lambda x: _gives_later(x))
    with pytest.raises(CaptureError, match="cannot return a async_generator"):
        step(Tensor([1.0]))


def test_jit_above_a_property_says_how_to_order_them():
    for kind in (property, functools.cached_property):
        with pytest.raises(ArgumentError) as caught:
            jit(kind(lambda self: self))
        assert caught.value.try_ == "@property above @jit"


def test_an_array_among_the_arguments_is_named_with_its_package():
    step = jit(lambda x, y: x)
    with pytest.raises(CaptureError, match=r"cannot take a numpy\.ndarray"):
        step(Tensor([1.0]), np.ones(3))
    torch = pytest.importorskip("torch", reason="another library's Tensor")
    with pytest.raises(CaptureError, match=r"cannot take a torch\.Tensor") as caught:
        step(Tensor([1.0]), [torch.ones(3)])
    assert "y[0] of " in caught.value.asked
