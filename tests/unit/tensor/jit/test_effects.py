"""Side effects of a captured function: what a run stored, and what a replay has to store again."""

from helpers.traces import run
from weft import Tensor
from weft.tensor.jit.effects import RebindTensor, StoreGrad, StoreItem
from weft.tensor.jit.pytree import ExistingLeaf, NewLeaf


def test_effects():
    box = {"w": Tensor([1.0, 2.0]).realize(), "new": None}

    def function(x):
        box["w"] = box["w"] + x
        box["new"] = [x * 2, 3]
        x.grad = x * 4

    x = Tensor([1.0, 2.0])
    made = run(function, x)
    stores = {e.key: e.tree for e in made.effects if isinstance(e, StoreItem)}
    assert stores["w"] == NewLeaf(0) and stores["new"].items[1] == 3
    assert [e.number for e in made.effects if isinstance(e, StoreGrad)] == [0]
    assert made.swaps is None  # a list has come where there was none


def test_a_tensor_that_takes_the_place_of_another_is_a_swap():
    box = {"w": Tensor([1.0, 2.0]).realize()}

    def function(x):
        box["w"] = box["w"] + x

    assert len(run(function, Tensor([1.0, 2.0])).swaps) == 1


def test_a_tensor_that_turns_to_other_memory():
    view = Tensor([[1.0, 2.0], [3.0, 4.0]]).realize()
    view.replace(view.permute(1, 0))
    made = run(lambda v: v.assign(v + 1), view)
    assert [type(e) for e in made.effects] == [RebindTensor] and made.replay.written == []


def test_writes_in_place_are_no_effects():
    made = run(lambda x: x.assign(x + 1), Tensor([1.0]))
    assert made.effects == [] and made.replay.written == [0] and made.tree == ExistingLeaf(0)
