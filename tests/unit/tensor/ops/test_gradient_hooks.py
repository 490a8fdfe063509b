"""Hooks of gradients, and the parameters of `backward`."""

from __future__ import annotations

import gc
from typing import Any

import pytest

import weft
from weft import Tensor, jit
from weft.base.errors import GradientError, ShapeError, WrongKind
from weft.tensor.ops import gradient_hooks


def leaf(*values: float) -> Tensor:
    return Tensor(list(values), requires_grad=True)


def grad_of(x: Tensor) -> Any:
    assert x.grad is not None
    return x.grad.tolist()


def test_hooks_equal_pytorch() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch says when hooks are called")

    def found(lib: Any) -> list[Any]:
        seen: list[Any] = []
        x = lib.tensor([1.0, 2.0], requires_grad=True)
        w = lib.tensor([3.0, 4.0], requires_grad=True)
        y = x * w
        x.register_hook(lambda g: seen.append(("x", g.tolist())))
        first = y.register_hook(lambda g: g * 10)
        y.register_hook(lambda g: seen.append(("y", g.tolist())))
        y.retain_grad()
        (y * y).sum().backward(retain_graph=True)
        grads = [x.grad.tolist(), w.grad.tolist(), y.grad.tolist()]
        first.remove()
        x.grad = w.grad = y.grad = None
        (slope,) = lib.autograd.grad((y * 2).sum(), x, retain_graph=True)
        return [*seen, *grads, slope.tolist()]

    assert found(weft) == found(torch)


def test_a_hook_may_replace_the_gradient_of_a_leaf() -> None:
    x = leaf(1.0, -2.0)
    handle = x.register_hook(lambda g: g.clamp(-1, 1))
    (x * x).sum().backward()
    assert grad_of(x) == [1.0, -1.0]
    handle.remove()
    handle.remove()
    (x * x).sum().backward()
    assert grad_of(x) == [3.0, -5.0]


def test_hooks_are_called_after_values_were_computed_and_in_recorded_steps() -> None:
    x = leaf(1.0, 2.0)
    y = (x * 2).realize()
    y.register_hook(lambda g: g * 10)
    y.realize()
    (y * 3).sum().backward()
    assert grad_of(x) == [60.0, 60.0]

    w = leaf(1.0)

    @jit
    def step(scale: Tensor) -> Tensor:
        w.grad = None
        z = w * scale
        z.register_hook(lambda g: g * 2)
        z.sum().backward()
        assert w.grad is not None
        return w.grad

    for n in range(4):
        assert step(Tensor([float(n)]).realize()).tolist() == [2.0 * n]


def test_hooks_go_with_their_tensors() -> None:
    gc.collect()
    before = len(gradient_hooks._hooks)
    x = leaf(1.0)
    x.register_hook(lambda g: g)
    assert len(gradient_hooks._hooks) == before + 1
    del x
    gc.collect()
    assert len(gradient_hooks._hooks) == before


def test_errors() -> None:
    with pytest.raises(GradientError, match="does not require gradients") as error:
        Tensor([1.0]).register_hook(lambda g: g)
    assert "requires_grad_()" in str(error.value.try_)
    with pytest.raises(WrongKind, match="hook is a function"):
        leaf(1.0).register_hook(3)  # type: ignore[arg-type]
    x = leaf(1.0, 2.0)
    for hook in (lambda g: g.sum(), lambda g: 3):
        handle = x.register_hook(hook)
        with pytest.raises(ShapeError, match="same shape, or None"):
            x.sum().backward()
        handle.remove()


# ---- parameters of backward ----------------------------------------------------------------------


def test_graphs_are_retained_for_any_argument() -> None:
    x = leaf(1.0)
    y = (x * 3).sum()
    y.backward(retain_graph=True)
    y.backward(retain_graph=False)
    y.backward(None, True)
    assert grad_of(x) == [9.0]


def test_gradients_of_chosen_tensors() -> None:
    a, b = leaf(2.0), leaf(3.0)
    y = a * b
    (y * 2).sum().backward(inputs=[a])
    assert grad_of(a) == [6.0] and b.grad is None
    (y * 2).sum().backward(inputs=y)
    assert grad_of(y) == [2.0] and grad_of(a) == [6.0]


def test_gradients_that_gradients_flow_through_come_from_elsewhere() -> None:
    x = leaf(1.0)
    with pytest.raises(GradientError) as error:
        (x * x).sum().backward(create_graph=True)
    assert "x.gradient" not in str(error.value.try_) and "y.gradient(x)" in str(error.value.try_)
