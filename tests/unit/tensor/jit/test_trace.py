"""One recorded run: what it finds to be done, and why something cannot be replayed."""

import threading

from helpers.traces import run
from weft import Tensor, Variable
from weft.tensor.jit.pytree import ExistingLeaf, NewLeaf


def test_results_and_their_memory():
    x = Tensor([1.0, 2.0])
    made = run(lambda x: (x + 1, x, x[1:]), x)
    assert made.reason is None and made.tree.items == (NewLeaf(0), ExistingLeaf(0), NewLeaf(1))
    assert [t.memory for t in made.specs] == [(1,), (0,)]
    assert len(made.outputs) == 1 and made.effects == []
    assert made.result[0].tolist() == [2.0, 3.0]


def test_equal_runs_have_equal_patterns():
    def function(x):
        return (x * 2).sum() + Tensor([1.0, 2.0])

    patterns = [run(function, Tensor([float(i), 1.0])).pattern for i in range(2)]
    assert patterns[0] == patterns[1]


kept = []


def test_visible_and_hidden_side_effects():
    assert run(lambda x: kept.append(x * 2), Tensor([1.0, 2.0])).reason is None
    assert len(kept) == 1
    made = run(lambda x: setattr(threading.main_thread(), "w", x * 2), Tensor([1.0, 2.0]))
    del threading.main_thread().w
    assert "cannot be seen" in made.reason


def test_rings_are_nobodys():
    def function(x):
        ring = [x * 2]
        ring.append(ring)
        return x + 1

    assert run(function, Tensor([1.0, 2.0])).reason is None


def test_a_container_of_the_arguments_that_is_changed():
    made = run(lambda xs: xs.append(1), [Tensor([1.0]).realize()])
    assert "changes a container" in made.reason


def test_a_variable_that_is_bound_to_another_value_inside():
    n = Variable("n", 1, 4)
    table = Tensor([1.0, 2.0, 3.0, 4.0]).realize()
    made = run(lambda m: table[: n.bind(3)].sum(), n.bind(2))
    assert "'n'" in made.reason


def test_draws_are_noted():
    Tensor.manual_seed(1)
    made = run(lambda x: x + Tensor.rand(2), Tensor([1.0, 2.0]))
    assert [draw[3] for draw in made.rng_draws] == [2]
