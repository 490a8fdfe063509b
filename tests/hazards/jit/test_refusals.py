"""What cannot be captured is refused, with the name of what is in the way."""

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
