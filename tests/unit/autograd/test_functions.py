"""Functions with a derivative of their own, and `grad`."""

from __future__ import annotations

import gc
from typing import Any

import pytest

import weft
from weft import Tensor, jit, nn
from weft.autograd import functions
from weft.base.errors import GradientError, MissingName, ShapeError, WrongKind
from weft.schedule.cache import schedules


class Cube(weft.autograd.Function):
    """x ** 3 times a factor, with a derivative that is off by the factor `wrong`, to be seen."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, factor: float, wrong: float = 1.0) -> Tensor:
        ctx.save_for_backward(x)
        ctx.factor, ctx.wrong = factor, wrong
        return x * x * x * factor

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        (x,) = ctx.saved_tensors
        return gradient * 3 * x * x * ctx.factor * ctx.wrong, None, None


class Reverse(weft.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return x

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        return -gradient


def leaf(*values: float) -> Tensor:
    return Tensor(list(values), requires_grad=True)


def test_the_derivative_is_that_of_backward() -> None:
    x = leaf(1.0, 2.0)
    y = Cube.apply(x, 2.0, 10.0)
    assert y.tolist() == [2.0, 16.0] and y.requires_grad and not y.is_leaf
    y.sum().backward()
    assert x.grad is not None and x.grad.tolist() == [60.0, 240.0]
    z = leaf(1.0)
    (Reverse.apply(z * 2) * 3).sum().backward()
    assert z.grad is not None and z.grad.tolist() == [-6.0]


def test_derivatives_of_derivatives() -> None:
    x = leaf(2.0)
    (first,) = weft.autograd.grad(Cube.apply(x, 1.0).sum(), x, create_graph=True)
    (second,) = weft.autograd.grad(first.sum(), x)
    assert first.tolist() == [12.0] and second.tolist() == [12.0]


def test_several_arguments_and_results() -> None:
    class Both(weft.autograd.Function):
        @staticmethod
        def forward(ctx: Any, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor]:
            ctx.save_for_backward(a, b)
            places = (a > b).cast("int32")
            ctx.mark_non_differentiable(places)
            return a * b, a + b, places

        @staticmethod
        def backward(ctx: Any, product: Tensor, total: Tensor, _: Any) -> Any:
            a, b = ctx.saved_tensors
            assert ctx.needs_input_grad == (True, True)
            return product * b + total, product * a + total

    a, b = leaf(1.0, 2.0), leaf(3.0, 4.0)
    product, total, places = Both.apply(a, b)
    (product * total).sum().backward()
    assert a.grad is not None and a.grad.tolist() == [15.0, 32.0]
    assert b.grad is not None and b.grad.tolist() == [7.0, 20.0]
    assert places.tolist() == [0, 0] and not places.requires_grad


def test_forward_without_a_context() -> None:
    class Scaled(weft.autograd.Function):
        @staticmethod
        def forward(x: Tensor, scale: float) -> Tensor:
            return x * scale

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.scale = inputs[1]

        @staticmethod
        def backward(ctx: Any, gradient: Tensor) -> Any:
            return gradient * ctx.scale, None

    x = leaf(1.0)
    Scaled.apply(x, 5.0).sum().backward()
    assert x.grad is not None and x.grad.tolist() == [5.0]


def test_missing_gradients_of_results_are_zeros_or_none() -> None:
    seen: list[Any] = []

    class Split(weft.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Tensor, zeros: bool) -> tuple[Tensor, Tensor]:
            ctx.set_materialize_grads(zeros)
            return x * 1, x * 2

        @staticmethod
        def backward(ctx: Any, first: Any, second: Any) -> Any:
            seen.append(None if second is None else second.tolist())
            return first, None

    x = leaf(1.0)
    for zeros in (True, False):
        Split.apply(x, zeros)[0].sum().backward()
    assert seen == [[0.0], None]


def test_without_gradients_the_value_alone_remains() -> None:
    assert Cube.apply(Tensor([2.0]), 1.0).requires_grad is not True
    x = leaf(2.0)
    with Tensor.no_grad():
        y = Cube.apply(x, 1.0)
    assert not y.requires_grad and y.tolist() == [8.0]
    with pytest.raises(GradientError):
        y.sum().backward()


def test_it_is_found_after_parts_were_computed_and_in_checkpoints() -> None:
    x = leaf(1.0, 2.0)
    inner = x * 2
    y = Cube.apply(inner, 1.0, 10.0) + 1
    inner.realize()
    y.realize()
    (y * 3).sum().backward()
    assert x.grad is not None and x.grad.tolist() == [720.0, 2880.0]
    z = leaf(1.0, 2.0)
    weft.checkpoint(lambda t: Cube.apply(t * 2, 1.0, 10.0), z).sum().backward()
    assert z.grad is not None and z.grad.tolist() == [240.0, 960.0]


def test_it_works_on_several_devices() -> None:
    x = Tensor([1.0, 2.0], device="REF").shard(("REF:1", "REF:2"), 0).requires_grad_()
    Cube.apply(x, 1.0, 10.0).sum().backward()
    assert x.grad is not None and x.grad.tolist() == [30.0, 120.0]


def test_steps_replay_and_schedules_are_found_again() -> None:
    layer = nn.Linear(2, 2)
    layer.weight.assign([[1.0, 0.0], [0.0, 1.0]])
    layer.bias.assign([0.0, 0.0])

    @jit
    def step(x: Tensor) -> Tensor:
        layer.zero_grad()
        Reverse.apply(layer(x)).sum().backward()
        assert layer.bias.grad is not None
        return layer.bias.grad

    for _ in range(4):
        assert step(Tensor([[1.0, 2.0]]).realize()).tolist() == [-1.0, -1.0]

    def once() -> None:
        x = leaf(1.0, 2.0)
        Cube.apply(x, 1.0).sum().backward()
        assert x.grad is not None
        x.grad.realize()

    once()
    before = schedules.misses
    once()
    assert schedules.misses == before, "the schedule of a step does not depend on the call"


def test_calls_go_with_their_graphs() -> None:
    gc.collect()
    before = len(functions.VJP_RULES)
    y = Cube.apply(leaf(1.0), 1.0)
    assert len(functions.VJP_RULES) == before + 1
    del y
    gc.collect()
    assert len(functions.VJP_RULES) == before


class Broken(weft.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, how: str) -> Any:
        if how == "dirty":
            ctx.mark_dirty(x)
        ctx.how = how
        return 3 if how == "number" else x * 1

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        if ctx.how == "count":
            return gradient
        return (gradient.sum() if ctx.how == "shape" else 3), None


def test_errors() -> None:
    x = leaf(1.0, 2.0)
    for how, kind, text in (
        ("number", WrongKind, "results of a function are tensors"),
        ("dirty", GradientError, "does not write"),
    ):
        with pytest.raises(kind, match=text):
            Broken.apply(leaf(1.0, 2.0), how)
    for how, wrong, text in (
        ("count", GradientError, "a gradient for each argument"),
        ("shape", ShapeError, "shape of its argument"),
        ("kind", ShapeError, "shape of its argument"),
    ):
        with pytest.raises(wrong, match=text):
            Broken.apply(x, how).sum().backward()
    y = Cube.apply(x, 1.0)
    functions.VJP_RULES.clear()
    with pytest.raises(GradientError, match="not known in this process"):
        y.sum().backward()
    with pytest.raises(NotImplementedError):
        weft.autograd.Function.apply(x)


# ---- grad ----------------------------------------------------------------------------------------


def test_grad_is_that_of_the_sum_of_all_outputs() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch says what it is")

    def found(lib: Any) -> list[Any]:
        x = lib.tensor([1.0, 2.0], requires_grad=True)
        y = lib.tensor([3.0, 4.0], requires_grad=True)
        z = lib.tensor([5.0], requires_grad=True)
        product, total = x * y, (x + y).sum()
        weights = lib.tensor([0.5, 2.0])
        results = [
            lib.autograd.grad(product, x, grad_outputs=weights, retain_graph=True),
            lib.autograd.grad(total, [x, y], retain_graph=True),
            lib.autograd.grad([product, total], (x, y), [weights, None], retain_graph=True),
            lib.autograd.grad(total, [x, z], retain_graph=True, allow_unused=True),
        ]
        return [[None if g is None else g.tolist() for g in result] for result in results]

    assert found(weft) == found(torch)


def test_gradients_of_grad_are_constants_unless_a_graph_is_wanted() -> None:
    x = leaf(2.0)
    (constant,) = weft.autograd.grad((x * x * x).sum(), x)
    (graph,) = weft.autograd.grad((x * x * x).sum(), x, create_graph=True)
    assert not constant.requires_grad
    assert graph.gradient(x)[0].tolist() == [12.0]
    with pytest.raises(GradientError):
        constant.sum().gradient(x)
    assert weft.autograd.grad(x.sum(), leaf(1.0), materialize_grads=True)[0].tolist() == [0.0]


def test_unsupported_arguments_of_grad() -> None:
    x = leaf(2.0, 3.0)
    with pytest.raises(GradientError, match="only one number"):
        weft.autograd.grad(x * 2, x)
    with pytest.raises(GradientError, match="only one number"):
        weft.autograd.grad([x * 2, x.sum()], x)
    with pytest.raises(GradientError, match="does not depend"):
        weft.autograd.grad(x.sum(), leaf(1.0))
    with pytest.raises(GradientError, match="weights for each output"):
        weft.autograd.grad([x.sum(), x.sum()], x, [None])
    with pytest.raises(WrongKind, match="are tensors"):
        weft.autograd.grad(3.0, x)
    with pytest.raises(GradientError, match="not batched"):
        weft.autograd.grad(x.sum(), x, is_grads_batched=True)


@pytest.mark.parametrize(
    "name, found",
    [("Functoin", "Function"), ("no_grad", "weft.no_grad"), ("functional", "gradient")],
)
def test_names_that_are_not_there(name: str, found: str) -> None:
    with pytest.raises(MissingName) as error:
        getattr(weft.autograd, name)
    assert found in str(error.value.try_)
