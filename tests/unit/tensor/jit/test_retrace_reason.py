"""A captured function that is never replayed says what differs between its calls."""

import warnings

import pytest

from weft import Tensor, Variable, jit, settings
from weft.tensor.jit.retrace_reason import difference

X = Tensor([1.0, 2.0])


def warned_reason(step, *calls):
    """The warning of some calls, of which there is one."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for call in calls:
            call()
    (warning,) = caught
    assert warning.filename == __file__
    assert step.replays == 0 and step.reason is not None
    assert str(warning.message).endswith(step.reason)
    return step.reason


def test_a_list_that_grows():
    history = []

    @jit
    def step(x):
        history.append(1)
        return x + 1

    reason = warned_reason(step, *[lambda: step(X)] * 8)
    assert reason.endswith("history was a list of 3 items, then a list of 4 items")


def test_a_dict_that_grows():
    seen = {}

    @jit
    def step(x):
        seen[len(seen)] = 1
        return x + 1

    assert "seen was a dict of 3 items" in warned_reason(step, *[lambda: step(X)] * 8)


def test_an_argument():
    step = jit(lambda x, scale: x * scale)
    calls = [lambda n=n: step(X, scale=n / 2) for n in range(8)]
    assert warned_reason(step, *calls).endswith("scale was 1.5, then 2.0")


def test_a_value_inside_of_an_argument():
    step = jit(lambda x, options: x * options["scale"][0])
    calls = [lambda n=n: step(X, {"scale": [n]}) for n in range(8)]
    assert warned_reason(step, *calls).endswith("options['scale'][0] was 3, then 4")


def test_a_shape():
    step = jit(lambda x: x + 1)
    calls = [lambda n=n: step(Tensor.zeros(n + 1).realize()) for n in range(8)]
    reason = warned_reason(step, *calls)
    assert "x was a tensor of shape (4,), dtypes.float on " in reason
    assert "then a tensor of shape (5,)" in reason


def test_an_attribute():
    class Counter:
        count = 0

        def __init__(self):
            self.count = 0

    counter = Counter()

    @jit
    def step(x):
        counter.count += 1
        return x + counter.count

    assert "count" in warned_reason(step, *[lambda: step(X)] * 8)


def test_a_setting():
    step = jit(lambda x: x + 1)

    def call(n):
        with settings.override(MAX_KERNEL_BUFFERS=n + 8):
            step(X)

    calls = [lambda n=n: call(n) for n in range(8)]
    assert warned_reason(step, *calls).endswith("settings.MAX_KERNEL_BUFFERS was 11, then 12")


def test_memory_that_is_another_one_at_every_call():
    hidden = {}
    look = hidden.__getitem__  # a method in C: what it reaches is not seen

    @jit
    def step(x):
        return x + look("w")

    def call(n):
        hidden["w"] = Tensor([float(n), 0.0]).realize()
        step(X)

    calls = [lambda n=n: call(n // 3) for n in range(24)]
    assert "is another one at every call" in warned_reason(step, *calls)


def test_a_few_signatures_are_no_reason():
    step = jit(lambda x, k: x * k)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for k in [1, 2, 3, 4] * 3:
            step(X, k)
    assert step.replays == 4 and step.reason is None


def test_variables_are_no_reason():
    step = jit(lambda x, n: x[:n].sum())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for n in range(8):
            step(Tensor.ones(8).realize(), Variable("n", 1, 8).bind(n + 1))
    assert step.replays == 6


@pytest.mark.parametrize(
    "before, after, words",
    [
        ([("a", "1")], [("a", "1")], None),
        ([("a", "1")], [("a", "2")], "a was 1, then 2"),
        ([("a", "1")], [("a", "1"), ("b", "2")], "b is new: 2"),
        ([("a", "1"), ("b", "2")], [("a", "1")], "b was 2, and is not there any more"),
    ],
)
def test_the_first_difference(before, after, words):
    assert difference(before, after) == words


def test_the_value_of_a_variable_that_is_read():
    n = Variable("n", 1, 8)
    step = jit(lambda x, k: x + int(k) + 0 * int(k + 1))
    calls = [lambda k=k: step(X, n.bind(k)) for k in range(1, 8)]
    assert warned_reason(step, *calls).endswith("the value of n was 4, then 5")


def test_an_expression_of_variables_by_its_text():
    n = Variable("n", 1, 8)
    step = jit(lambda x, k: x + 1)
    calls = [lambda k=k: step(X, n.bind(2) * k) for k in range(2, 9)]
    assert warned_reason(step, *calls).endswith("k was (n*5), then (n*6)")
