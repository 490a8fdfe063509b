"""Guards on conditions of variables: one trace for each outcome, not for each value."""

from types import SimpleNamespace

import pytest

from weft import Tensor, Variable, jit
from weft.base.errors import ArgumentError
from weft.tensor.jit.conditions import MAX_CONDITIONS, merged, outcomes

N, M = Variable("n", 1, 8), Variable("m", 1, 8)
ROWS = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]


def calls(step, *values):
    return [step(Tensor(ROWS), N.bind(n)).item() for n in values]


def test_a_trace_for_each_outcome():
    step = jit(lambda x, n: x[:n].sum() if n > 4 else x[:n].max())
    assert calls(step, 2, 3, 4, 1) == [2, 3, 4, 1]
    assert step.replays == 1 and not step.read_variables
    assert calls(step, 5, 6, 7, 8) == [15, 21, 28, 36]
    assert calls(step, 4, 8) == [4, 36]
    assert step.replays == 5 and len(step._cache) == 2


def test_windows_of_a_variable_number_of_rows_have_one_trace():
    step = jit(lambda x, n: x[:n].unfold(0, 2, 1).unfold(0, 2, 1).sum())
    n = Variable("n", 2, 8)
    totals = [step(Tensor(ROWS), n.bind(rows)).item() for rows in (3, 5, 4, 8, 6)]
    assert totals == [8, 36, 20, 108, 56]
    assert step.replays == 2 and step.reason is None
    with pytest.raises(ArgumentError, match="windows"):
        step(Tensor(ROWS), n.bind(2))
    assert step(Tensor(ROWS), n.bind(7)).item() == 80 and step.replays == 3


def test_a_value_that_is_read_has_a_trace_of_its_own():
    step = jit(lambda x, n: x[:n].sum() * int(n) if n > 2 else x[0])
    assert calls(step, 1, 2, 1, 2) == [1, 1, 1, 1] and step.replays == 1
    assert calls(step, 3, 3, 3, 3) == [18] * 4 and step.read_variables == {N}
    assert calls(step, 4, 4, 4, 3) == [40, 40, 40, 18]


@pytest.mark.filterwarnings("ignore:.*is recorded at every call")
def test_a_condition_over_an_argument_and_a_closure():
    state = SimpleNamespace(rows=Tensor(ROWS)[: M.bind(3)])

    @jit
    def step(x, n):
        return x[:n].sum() if n > state.rows.shape[0] else state.rows.sum()

    for m, expected in ((3, [6, 6, 10, 15, 6, 10]), (4, [10, 10, 10, 15, 10, 10])):
        state.rows = Tensor(ROWS)[: M.bind(m)]
        assert calls(step, 2, 3, 4, 5, 3, 4) == expected


@pytest.mark.filterwarnings("ignore:.*is recorded at every call")
def test_many_conditions_become_a_read_of_the_value():
    def count(x, n):
        rows = 0
        while n > rows:
            rows += 1
        return x.sum() + rows

    step = jit(count)
    for _ in range(4):
        assert calls(step, *range(1, 9)) == [37, 38, 39, 40, 41, 42, 43, 44]
    assert step.replays


def test_an_expression_of_variables_as_an_argument():
    step = jit(lambda x, n, end: x[n:end].sum())
    n = Variable("n", 1, 6)
    for value, expected in ((2, 7), (3, 9), (4, 11), (5, 13)):
        bound = n.bind(value)
        assert step(Tensor(ROWS), bound, bound + 2).item() == expected
    assert step.replays == 2


def test_merged_expressions():
    conditions = [N < value for value in range(2, 3 + MAX_CONDITIONS)]
    few = frozenset(conditions[:2])
    assert merged(few, frozenset([M])) == {*few, M}
    assert merged(few, frozenset([N])) == {N}
    assert merged(few, frozenset(conditions)) == {N}


def test_outcomes_of_known_variables():
    read = [N, N < 3, N < M]
    assert outcomes(read, {N: 2}) == [(N, 2), (N < 3, True)]
    assert outcomes(read, {N: 2, M: 2})[-1] == (N < M, False)
