"""Gradients and products with Jacobians of functions, against closed forms."""

import numpy as np
import pytest

import weft
from weft import Tensor, dtypes, func
from weft.base.errors import ArgumentError, DTypeError, GradientError, ShapeError, WrongKind

RANDOM = np.random.default_rng(11)


def numbers(*shape):
    return RANDOM.standard_normal(shape)


def close(found, expected):
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-9, atol=1e-12)


def test_grad_of_one_argument_and_of_several():
    x, y = numbers(4), numbers(4)
    product = lambda a, b: (a * b * b).sum()  # noqa: E731
    close(weft.grad(product)(Tensor(x), Tensor(y)), y * y)
    close(weft.grad(product, 1)(Tensor(x), Tensor(y)), 2 * x * y)
    close(weft.grad(product, -1)(Tensor(x), Tensor(y)), 2 * x * y)
    first, second = weft.grad(product, (0, 1))(Tensor(x), Tensor(y))
    close(first, y * y)
    close(second, 2 * x * y)


def test_a_tensor_that_is_passed_twice_has_two_gradients():
    x = Tensor(numbers(3))
    first, second = weft.grad(lambda a, b: (a * b * b).sum(), (0, 1))(x, x)
    close(first, x.numpy() ** 2)
    close(second, 2 * x.numpy() ** 2)
    assert x.requires_grad is not True and x.grad is None


def test_containers_and_other_values():
    params = {"w": Tensor(numbers(4, 2)), "b": [Tensor(numbers(2))]}
    x = Tensor(numbers(5, 4))

    def loss(params, x):
        y = x @ params["w"] + params["b"][0]
        return (y * y).sum(), {"mean": y.mean()}

    (value, other), gradient = weft.value_and_grad(loss, has_aux=True)(params, x)
    y = x.numpy() @ params["w"].numpy() + params["b"][0].numpy()
    close(value, (y * y).sum())
    close(other["mean"], y.mean())
    close(gradient["w"], 2 * x.numpy().T @ y)
    close(gradient["b"][0], 2 * y.sum(0))
    again, other = weft.grad(loss, has_aux=True)(params, x)
    close(again["w"], 2 * x.numpy().T @ y)
    close(func.grad_and_value(lambda v: (v * v).sum())(x)[1], (x.numpy() ** 2).sum())


def test_gradients_of_gradients():
    x = Tensor(1.5, dtype=dtypes.float64)
    found = weft.grad(weft.grad(weft.grad(lambda v: v**5)))(x)
    assert found.item() == pytest.approx(60 * 1.5**2, rel=1e-12)


def test_outer_gradients_flow_through():
    x = Tensor(numbers(3), requires_grad=True)
    weft.grad(lambda v: (v**3).sum())(x).sum().backward()
    close(x.grad, 6 * x.numpy())


def test_values_can_be_read_inside():
    seen = []

    def function(v):
        total = (v * v).sum()
        seen.append(total.item())
        return total if seen[-1] > 0 else -total

    close(weft.grad(function)(Tensor([1.0, 2.0], dtype=dtypes.float64)), [2.0, 4.0])
    assert seen == [5.0]


def test_an_argument_that_the_result_does_not_depend_on():
    assert weft.grad(lambda a, b: a.sum(), 1)(Tensor([1.0]), Tensor([2.0])).tolist() == [0.0]


def test_vjp():
    a, b, u = numbers(3, 4), numbers(4, 2), numbers(3, 2)
    value, pull_back = func.vjp(lambda x, y: x @ y, Tensor(a), Tensor(b))
    close(value, a @ b)
    first, second = pull_back(Tensor(u))
    close(first, u @ b.T)
    close(second, a.T @ u)
    result, pull_back, other = func.vjp(lambda x: ((x, x * x), "name"), Tensor(a), has_aux=True)
    assert other == "name" and isinstance(result, tuple)
    close(pull_back((Tensor(a), Tensor(a))), a + 2 * a * a)


def test_jvp():
    x, v = numbers(4), numbers(4)
    value, change = func.jvp(lambda t: t.exp() * t[0], (Tensor(x),), (Tensor(v),))
    close(value, np.exp(x) * x[0])
    close(change, np.exp(x) * (v * x[0] + v[0]))
    both, changes, other = func.jvp(
        lambda a, b: ({"product": a * b, "count": (a > 0).sum()}, 1), (Tensor(x), Tensor(v)),
        (Tensor(v), Tensor(x)), has_aux=True,
    )  # fmt: skip
    close(changes["product"], v * v + x * x)
    assert changes["count"].item() == 0 and both["count"].item() == (x > 0).sum() and other == 1


def test_jvp_computes_no_cotangents():
    x = Tensor(np.ones(4, np.float32)).realize()
    v = Tensor(np.ones(4, np.float32)).realize()
    _, change = func.jvp(lambda t: (t * t).sin(), (x,), (v,))
    before = weft.engine.stats.kernels
    change.realize()
    assert weft.engine.stats.kernels == before + 1


JACOBIANS = pytest.mark.parametrize("jacobian", [func.jacrev, func.jacfwd], ids=["rev", "fwd"])


@JACOBIANS
def test_jacobians(jacobian):
    x = numbers(4)
    close(jacobian(lambda v: v * v.sum())(Tensor(x)), np.diag([x.sum()] * 4) + np.outer(x, [1] * 4))
    a = numbers(2, 3)
    found = jacobian(lambda m: m.transpose(0, 1) * 2)(Tensor(a)).numpy()
    assert found.shape == (3, 2, 2, 3)
    np.testing.assert_allclose(found, 2 * np.einsum("il,jk->ijkl", np.eye(3), np.eye(2)))


@JACOBIANS
def test_jacobians_of_several_arguments_and_results(jacobian):
    x, y = numbers(3), numbers(2)
    function = lambda a, b: {"sum": a.sum() * b, "outer": a.outer(b)}  # noqa: E731
    found = jacobian(function, (0, 1))(Tensor(x), Tensor(y))
    close(found["sum"][0], np.outer(y, np.ones(3)))
    close(found["sum"][1], np.eye(2) * x.sum())
    close(found["outer"][0], np.einsum("ik,j->ijk", np.eye(3), y))
    close(found["outer"][1], np.einsum("i,jk->ijk", x, np.eye(2)))


@JACOBIANS
@pytest.mark.parametrize("chunk_size", [1, 2, 9])
def test_jacobians_in_chunks(jacobian, chunk_size):
    x = numbers(5)
    found = jacobian(lambda v: (v.sin(), v), chunk_size=chunk_size, has_aux=True)(Tensor(x))
    close(found[0], np.diag(np.cos(x)))
    close(found[1], x)


@JACOBIANS
def test_jacobians_of_integers_are_zeros(jacobian):
    found = jacobian(lambda v: (v > 0).cast(dtypes.int32))(Tensor(numbers(3)))
    assert found.shape == (3, 3) and not found.numpy().any()


def test_hessian():
    x, y = numbers(3), numbers(3)
    product = np.prod(x) * (np.outer(1 / x, 1 / x) - np.diag(1 / x**2))
    found = func.hessian(lambda v: (v**4).sum() + v.prod())(Tensor(x))
    close(found, np.diag(12 * x**2) + product)
    found = func.hessian(lambda a, b: (a * b * b).sum(), (0, 1))(Tensor(x), Tensor(y))
    close(found[0][0], np.zeros((3, 3)))
    close(found[0][1], np.diag(2 * y))
    close(found[1][0], np.diag(2 * y))
    close(found[1][1], np.diag(2 * x))


def test_derivatives_of_each_sample():
    x = numbers(6, 3)
    close(weft.vmap(weft.grad(lambda v: (v**3).sum()))(Tensor(x)), 3 * x * x)
    rows = weft.vmap(func.jacrev(lambda v: v * v))(Tensor(x))
    close(rows, np.stack([np.diag(2 * row) for row in x]))
    close(weft.vmap(func.hessian(lambda v: (v**3).sum()))(Tensor(x)),
          np.stack([np.diag(6 * row) for row in x]))  # fmt: skip


def test_gradients_of_each_sample_of_a_layer():
    weight, x = Tensor(numbers(4, 2)), numbers(5, 4)
    loss = lambda w, v: ((v @ w).tanh() ** 2).sum()  # noqa: E731
    found = weft.vmap(weft.grad(loss), (None, 0))(weight, Tensor(x)).numpy()
    for number in range(5):
        one = weft.grad(loss)(weight, Tensor(x[number])).numpy()
        np.testing.assert_allclose(found[number], one, rtol=1e-9)


def test_captured():
    step = weft.jit(lambda x: weft.grad(lambda v: (v**3).sum())(x).realize())
    x = Tensor(numbers(4)).realize()
    found = [step(x).numpy() for _ in range(4)]
    assert step.replays == 2
    np.testing.assert_allclose(found[-1], 3 * x.numpy() ** 2)


X = Tensor([1.0, 2.0])


@pytest.mark.parametrize(
    ("error", "call"),
    [
        (GradientError, lambda: weft.grad(lambda x: x * 2)(X)),
        (GradientError, lambda: weft.grad(lambda x: 1.0)(X)),
        (GradientError, lambda: weft.grad(lambda x: (x > 1).sum())(X)),
        (DTypeError, lambda: weft.grad(lambda x: x.sum())(Tensor([1, 2]))),
        (ArgumentError, lambda: weft.grad(lambda x: x.sum(), 1)(X)),
        (ArgumentError, lambda: weft.grad(lambda x: x.sum(), ())(X)),
        (WrongKind, lambda: weft.grad(lambda x: x, 0)("text")),
        (WrongKind, lambda: weft.grad(lambda x: x.sum(), has_aux=True)(X)),
        (WrongKind, lambda: func.jvp(lambda x: x, X, X)),
        (ShapeError, lambda: func.jvp(lambda x: x, (X,), (Tensor([1.0]),))),
        (ArgumentError, lambda: func.jvp(lambda x: x, (X,), (X, X))),
        (ShapeError, lambda: func.vjp(lambda x: x, X)[1](Tensor([1.0]))),
    ],
)
def test_refusals(error, call):
    with pytest.raises(error):
        call()


def test_values_that_are_read_keep_their_graphs():
    x = Tensor(numbers(3))
    value, pull_back = func.vjp(lambda v: v * v, x)
    assert value.realize().shape == (3,)
    close(pull_back(Tensor(np.ones(3))), 2 * x.numpy())

    def outer(v):
        inner = weft.grad(lambda t: (t**3).sum())(v)
        assert inner.numpy().shape == (3,)
        return inner.sum()

    close(weft.grad(outer)(x), 6 * x.numpy())

    def reads_inside(v):
        def cube(t):
            found = (t * t).realize() * t
            assert found.numpy().shape == (3,)
            return found.sum()

        return weft.grad(cube)(v).sum()

    close(weft.grad(reads_inside)(x), 6 * x.numpy())
    rows = func.jacrev(lambda v: (v * v).realize() * v)(x)
    close(rows, np.diag(3 * x.numpy() ** 2))
    columns = func.jacfwd(lambda v: (v * v).realize() * v)(x)
    close(columns, np.diag(3 * x.numpy() ** 2))
