"""Checkpoints: equal numbers with less memory, whenever values are computed."""

import gc

import numpy as np
import pytest

import weft
from weft import Tensor
from weft.base.errors import ArgumentError
from weft.device import binding
from weft.schedule import memory_planning
from weft.tensor.live_tensors import live_tensors
from weft.uop import Ops


def parameters(count=4, size=8):
    generator = np.random.default_rng(3)
    return [
        Tensor(generator.normal(0, 0.4, (size, size)), dtype="double").realize().requires_grad_()
        for _ in range(count)
    ]


def inputs(rows=3, size=8):
    return Tensor(np.random.default_rng(4).normal(size=(rows, size))).realize()


def block(h, *weights):
    inside = h
    for weight in weights:
        inside = (inside @ weight).gelu()
    return inside + h


def network(x, weights, around, each=2):
    for start in range(0, len(weights), each):
        x = around(block, x, *weights[start : start + each])
    return (x * x).mean()


def plainly(function, *args):
    return function(*args)


def gradients(around, read):
    weights, x = parameters(), inputs()
    loss = network(x, weights, around)
    if read:
        loss.item()
    loss.backward()
    return loss.item(), [w.grad.numpy() for w in weights]


@pytest.mark.parametrize("read", [False, True])
def test_the_gradients_are_the_same(read):
    value, expected = gradients(plainly, False)
    found, got = gradients(weft.checkpoint, read)
    assert found == pytest.approx(value, rel=1e-12)
    for a, b in zip(got, expected):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)


def stored():
    """Bytes of the memory of live tensors and of their history."""
    gc.collect()
    nodes, stack = set(), [t._uop for t in live_tensors()]
    while stack:
        node = stack.pop()
        if node not in nodes:
            nodes.add(node)
            kept = getattr(node, "_history", None)
            past = () if kept is None or kept.value is None else (kept.value,)
            stack.extend((*node.src, *past))
    buffers = (binding.buffer_of(n) for n in nodes if n.op is Ops.BUFFER and binding.is_bound(n))
    return sum({id(b): b.nbytes for b in buffers if b.is_allocated}.values())


def kept_after_forward(around):
    weights, x = parameters(16), inputs()
    before = stored()
    loss = network(x, weights, around, each=4).realize()
    kept = stored() - before
    loss.backward()
    assert all(w.grad is not None for w in weights)
    return kept


def test_less_is_kept_between_forward_and_backward():
    # of each block one result rather than all
    assert kept_after_forward(weft.checkpoint) <= kept_after_forward(plainly) * 0.6


def memory_needed(around, monkeypatch):
    """Bytes that the intermediates of a whole step need at once."""
    found = []
    allocate = memory_planning.Layout.allocate

    def noted(layout):
        arenas = allocate(layout)
        found.append(sum(arena.nbytes for arena in arenas))
        return arenas

    monkeypatch.setattr(memory_planning.Layout, "allocate", noted)
    weights, x = parameters(16), inputs(32)
    loss = network(x, weights, around, each=4).backward()
    Tensor.realize(loss, *(w.grad for w in weights))
    return max(found)


def test_checkpointing_needs_less_memory(monkeypatch):
    assert memory_needed(weft.checkpoint, monkeypatch) < memory_needed(plainly, monkeypatch) / 2


def test_random_numbers_are_drawn_once():
    x = inputs(64).requires_grad_()
    with Tensor.train():
        y = weft.checkpoint(lambda x: (x * 2).dropout(0.5), x)
    y.sum().backward()
    kept = y.numpy() != 0
    assert 0 < kept.mean() < 1
    np.testing.assert_array_equal(x.grad.numpy(), np.where(kept, 4.0, 0.0))


def test_one_inside_another():
    def inner(x, weight):
        return (x @ weight).tanh()

    def outer(x, a, b):
        return weft.checkpoint(inner, inner(x, a), b).sin()

    found = []
    for around in (plainly, weft.checkpoint):
        (a, b), x = parameters(2), inputs()
        around(outer, x, a, b).sum().backward()
        found.append([a.grad.numpy(), b.grad.numpy()])
    np.testing.assert_allclose(found[0], found[1], rtol=1e-10)


def test_arguments_and_results_in_containers():
    x = inputs().requires_grad_()

    def pair(given, scale=1.0):
        first, second = given["both"]
        return {"sum": (first + second) * scale, "more": [first * second, 3]}

    result = weft.checkpoint(pair, {"both": (x, x * 2)}, scale=2.0)
    assert result["more"][1] == 3
    (result["sum"].sum() + result["more"][0].sum()).backward()
    np.testing.assert_allclose(x.grad.numpy(), 6.0 + 4.0 * x.numpy(), rtol=1e-12)


def test_gradients_of_gradients():
    x = Tensor([0.5, 2.0], dtype="double", requires_grad=True)
    (first,) = weft.checkpoint(lambda x: (x * x * x).exp(), x).sum().gradient(x)
    (second,) = first.sum().gradient(x)
    value = x.numpy()
    expected = (6 * value + 9 * value**4) * np.exp(value**3)
    np.testing.assert_allclose(second.numpy(), expected, rtol=1e-10)


def test_checkpoint_without_gradients():
    x = inputs()
    y = weft.checkpoint(lambda x: x * 2, x)
    assert y.uop.op is Ops.MUL
    with Tensor.no_grad():
        z = weft.checkpoint(lambda x: x * 2, x.requires_grad_())
    assert not z.requires_grad and z.uop.op is Ops.DETACH


def test_a_value_is_no_function():
    with pytest.raises(ArgumentError, match="takes a function"):
        weft.checkpoint(Tensor([1.0]) * 2, Tensor([1.0]))
