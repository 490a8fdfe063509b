"""Signatures of calls: what makes two calls one program, and what is refused."""

import enum
from dataclasses import dataclass

import numpy as np
import pytest

from weft import Tensor, Variable, dtypes
from weft.base.errors import CaptureError
from weft.tensor.jit.signature import (
    ByIdentity,
    Pending,
    Signature,
    UnsupportedArgument,
    memory_layout,
    path_of,
)


def key(*args, **kwargs):
    return Signature(args, kwargs).key


def tensor(*shape, dtype=dtypes.float32):
    return Tensor(np.zeros(shape), dtype=dtype).realize()


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


@dataclass
class Batch:
    x: Tensor
    name: str


EQUAL = [
    lambda: (tensor(2, 3),),
    lambda: ([tensor(2), (tensor(3), {"a": tensor(4)})],),
    lambda: (tensor(4).reshape(2, 2).permute(1, 0),),
    lambda: (Batch(tensor(2), "a"), Colour.RED, slice(1, None), dtypes.int8, range(3)),
    lambda: (1, 1.5, "a", None, True, b"x", 1j, ..., {1, 2}, np.float32(2)),
    lambda: (tensor(10)[: Variable("n", 1, 10).bind(int(np.random.randint(1, 10)))],),
]

DIFFERENT = [
    (tensor(2, 3), tensor(3, 2)),
    (tensor(2), tensor(2, dtype=dtypes.int32)),
    (tensor(2, 2), tensor(2, 2).permute(1, 0)),
    (tensor(3)[:2], tensor(3)[1:]),
    (tensor(2), tensor(2).requires_grad_()),
    (tensor(2), [tensor(2)]),
    ([tensor(2)], (tensor(2),)),
    ({"a": 1}, {"b": 1}),
    (1, 1.0),
    (1, True),
    (0.0, -0.0),
    ("1", 1),
    (Colour.RED, Colour.BLUE),
    ({1}, {2}),
    (np.float32(1), np.float64(1)),
    (Batch(tensor(2), "a"), Batch(tensor(2), "b")),
]


@pytest.mark.parametrize("make", EQUAL)
def test_one_program(make):
    assert key(*make()) == key(*make())
    hash(tuple(key(*make())))


@pytest.mark.parametrize("one, other", DIFFERENT)
def test_two_programs(one, other):
    assert key(one) != key(other)


def test_nan_is_one_value():
    assert key(float("nan")) == key(float("nan"))


def test_keywords_in_any_order():
    assert key(a=1, b=2) == key(b=2, a=1) != key(a=2, b=1)


def test_sharing_of_memory_is_seen():
    a, b = tensor(3), tensor(3)
    assert key(a, b) != key(a, a)
    assert key(a, a[1:]) != key(a, b[1:])
    assert key(a, a) != key(a, a.detach().realize())


def test_memory_and_values_are_found():
    n = Variable("n", 1, 10)
    a = tensor(10)
    found = Signature((a[: n.bind(4)], {"b": [a]}), {})
    assert list(found.nodes) == [a.uop.base] and found.values == {n: 4}
    assert len(found.tensors) == 2 and not found.pending


def test_pending_arguments():
    a = tensor(2)
    assert Signature((a + 1,), {}).pending
    assert Signature((Tensor(3.0),), {}).pending
    assert not Signature((a.reshape(1, 2), Tensor.arange(3), Tensor.zeros(0)), {}).pending
    with pytest.raises(Pending):
        memory_layout((a + 1).uop, {}, {})


def test_a_gradient_belongs_to_its_tensor():
    a, b = tensor(2).requires_grad_(), tensor(2).requires_grad_()
    b.grad = tensor(2)
    assert key(a) != key(b)
    assert len(Signature((b,), {}).tensors) == 2


def test_objects_with_attributes_are_left_to_the_state_traversal():
    class Model:
        pass

    model = Model()
    found = Signature((model, [model]), {})
    assert found.roots == [model, model] and found.key[0] == ByIdentity(model) != ByIdentity(
        Model()
    )


def test_one_variable_two_values():
    n = Variable("n", 1, 10)
    with pytest.raises(CaptureError) as caught:
        key(n.bind(2), tensor(10)[: n.bind(3)])
    assert "'n'" in str(caught.value)


@pytest.mark.parametrize(
    "make", [lambda: iter([1]), lambda: np.ones(2), lambda: {(1, 2)}, bytearray]
)
def test_refused(make):
    value = make()
    with pytest.raises(UnsupportedArgument) as caught:
        key([value])
    assert caught.value.value is value


def test_how_an_argument_is_written():
    wanted = object()
    batch = Batch(tensor(1), wanted)
    assert path_of(wanted, {"a": [0, (batch,)]}, "x") == "x['a'][1][0].name"
    assert path_of(wanted, [1], "x") is None
