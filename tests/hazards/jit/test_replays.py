"""What a replay saves, and that it saves nothing that was wanted."""

from helpers.jit_comparison import CALLS, both, numbers
from weft import Tensor, jit, settings
from weft.engine import stats


def test_constants_are_computed_once():
    @jit
    def step(x):
        table = (Tensor(numbers(4, 4)) @ Tensor(numbers(4, 4)).exp()).sum(0)
        return (x + table).contiguous().sum()

    x = Tensor(numbers(4)).realize()
    counts = []
    for _ in range(4):
        before = stats.kernels
        step(x)
        counts.append(stats.kernels - before)
    assert step.replays == 2 and counts[3] < counts[0]


def test_results_equal_without_the_planner():
    def program(wrap):
        @wrap
        def step(x):
            for i in range(5):
                x = (x @ x.T).contiguous().softmax(0).contiguous() + i
            return x

        return [step(Tensor(numbers(6, 6, seed=i))) for i in range(CALLS)]

    both(program, CALLS - 2)
    with settings.override(MEMORY_PLANNER=0):
        both(program, CALLS - 2)


def test_reset():
    step = jit(lambda x: x + 1)
    for _ in range(4):
        step(Tensor([1.0]))
    assert step.replays == 2
    step.reset()
    assert step(Tensor([1.0])).item() == 2.0 and step.replays == 0
