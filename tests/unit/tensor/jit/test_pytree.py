"""Results flattened and built again."""

from collections import OrderedDict, namedtuple
from dataclasses import dataclass

import pytest

from weft import Tensor, Variable
from weft.base.errors import CaptureError
from weft.tensor.jit.pytree import ExistingLeaf, NewLeaf, flatten, instantiate, spec_of, unflatten

Pair = namedtuple("Pair", "a b")


@dataclass
class Made:
    x: object
    y: object = 2


def test_containers_of_all_kinds_are_made_again():
    one, two, old = Tensor([1.0]), Tensor([2.0]), Tensor([3.0])
    value = [one, (two, {"k": old}), Pair(one, 5), Made(two), OrderedDict(z=None), "text", [], 1.5]
    new = {}
    tree = flatten(value, {id(old): 7}, new, "it")
    assert list(new.values()) == [one, two] and tree.items[0] == NewLeaf(0)
    assert tree.items[1].items[1].items == (ExistingLeaf(7),)
    fresh = [Tensor([8.0]), Tensor([9.0])]
    again = unflatten(tree, [None] * 7 + [old], fresh)
    assert again[0] is fresh[0] and again[2].a is fresh[0] and again[1][0] is fresh[1]
    assert again[1][1]["k"] is old and type(again[2]) is Pair and type(again[3]) is Made
    assert type(again[4]) is OrderedDict and again[5:] == ["text", [], 1.5]
    assert again[6] is not value[6]


def test_other_objects_are_given_back_as_they_are():
    thing = object()
    assert unflatten(flatten(thing, {}, {}, "it"), [], []) is thing


class Holder:
    def __init__(self):
        self.x = Tensor([1.0])


@pytest.mark.parametrize("make", [lambda: (i for i in range(2)), lambda: iter([1]), Holder])
def test_unsupported_containers_are_refused(make):
    with pytest.raises(CaptureError) as caught:
        flatten({"a": [make()]}, {}, {}, "the result")
    assert "the result['a'][0]" in caught.value.asked


def leaf_spec(tensor):
    return spec_of(tensor, lambda node: 0)


def test_templates_hold_no_memory_and_are_placed_on_other():
    x = Tensor([1.0, 2.0, 3.0, 4.0]).realize()
    how = leaf_spec(x.reshape(2, 2).permute(1, 0)[1:])
    assert x.uop.base not in how.value.toposort() and how.moves is not None
    other = Tensor([5.0, 6.0, 7.0, 8.0]).realize()
    made = Tensor._from_node(instantiate(how, [other.uop.base], {}))
    assert made.tolist() == [[6.0, 8.0]]


def test_templates_with_variables():
    n = Variable("n", 1, 4)
    x = Tensor([1.0, 2.0, 3.0, 4.0]).realize()
    how = leaf_spec(x[: n.bind(2)])
    made = Tensor._from_node(instantiate(how, [x.uop.base], {n: 3}))
    assert made.sum().item() == 6.0


def test_templates_of_constants():
    how = leaf_spec(Tensor.ones(2, 2))
    assert (
        how.memory == ()
        and Tensor._from_node(instantiate(how, [], {})).tolist() == [[1.0, 1.0]] * 2
    )
