"""Gradients against central differences in float64, and the rules where they are not smooth."""

import numpy as np
import pytest

from weft import Tensor
from weft.base.errors import GradientError


def random(*shape, seed=0, low=-2.0, high=2.0):
    return np.random.default_rng(seed).uniform(low, high, shape)


def check(function, *arrays, step=1e-5, rtol=1e-6, atol=1e-7):
    """The gradients of a weighed sum of `function` with respect to every array."""
    tensors = [Tensor(a, requires_grad=True) for a in arrays]
    out = function(*tensors)
    weights = random(*out.shape, seed=9)
    (out * Tensor(weights)).sum().backward()

    def value(*changed):
        with Tensor.no_grad():
            made = function(*(Tensor(c) for c in changed)).numpy()
        return float((made * weights).sum())

    for place, (array, tensor) in enumerate(zip(arrays, tensors)):
        expected = np.zeros_like(array)
        for index in np.ndindex(*array.shape):
            up, down = [a.copy() for a in arrays], [a.copy() for a in arrays]
            up[place][index] += step
            down[place][index] -= step
            expected[index] = (value(*up) - value(*down)) / (2 * step)
        if tensor.grad is None:  # it has no influence
            np.testing.assert_allclose(expected, 0, atol=atol)
            continue
        assert tensor.grad.dtype is tensor.dtype
        np.testing.assert_allclose(tensor.grad.numpy(), expected, rtol=rtol, atol=atol)


UNARY = {
    "neg": (-2, 2),
    "exp": (-2, 2),
    "exp2": (-2, 2),
    "log": (0.1, 2),
    "log2": (0.1, 2),
    "log1p": (-0.5, 2),
    "expm1": (-1, 1),
    "sqrt": (0.1, 2),
    "rsqrt": (0.1, 2),
    "reciprocal": (0.5, 2),
    "sin": (-3, 3),
    "cos": (-3, 3),
    "tan": (-1, 1),
    "asin": (-0.9, 0.9),
    "acos": (-0.9, 0.9),
    "atan": (-3, 3),
    "sinh": (-2, 2),
    "cosh": (-2, 2),
    "tanh": (-2, 2),
    "asinh": (-2, 2),
    "acosh": (1.2, 3),
    "atanh": (-0.8, 0.8),
    "erf": (-2, 2),
    "sigmoid": (-3, 3),
    "relu": (-2, 2),
    "gelu": (-2, 2),
    "silu": (-2, 2),
    "mish": (-2, 2),
    "softplus": (-2, 2),
    "elu": (-2, 2),
    "logsigmoid": (-2, 2),
    "leaky_relu": (-2, 2),
    "softsign": (-2, 2),
    "abs": (-2, 2),
    "square": (-2, 2),
    "hardswish": (-2, 2),
    "quick_gelu": (-2, 2),
    "celu": (-2, 2),
    "selu": (-2, 2),
}


@pytest.mark.parametrize("name", sorted(UNARY))
def test_functions_of_one_argument(name):
    low, high = UNARY[name]
    check(lambda x: getattr(x, name)(), random(5, low=low, high=high))


BINARY = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / (b + 5),
    "maximum": lambda a, b: a.maximum(b),
    "minimum": lambda a, b: a.minimum(b),
    "pow": lambda a, b: (a + 3) ** b,
    "lerp": lambda a, b: a.lerp(b, 0.3),
    "where": lambda a, b: (a > 0).where(a * 2, b * b),
    "mod": lambda a, b: a % (b + 5),
    "copysign": lambda a, b: a.copysign(b),
}


@pytest.mark.parametrize("name", sorted(BINARY))
def test_functions_of_two_arguments_that_broadcast(name):
    check(BINARY[name], random(2, 3), random(3, seed=1))


SHAPED = {
    "sum": lambda x: x.sum(1),
    "mean": lambda x: x.mean((0, 2)),
    "max": lambda x: x.max(2),
    "min": lambda x: x.min(0),
    "prod": lambda x: x.prod(1),
    "var": lambda x: x.var(2),
    "std": lambda x: x.std(1),
    "softmax": lambda x: x.softmax(-1),
    "log_softmax": lambda x: x.log_softmax(1),
    "logsumexp": lambda x: x.logsumexp(0),
    "cumsum": lambda x: x.cumsum(1),
    "cumprod": lambda x: x.cumprod(2),
    "reshape": lambda x: x.reshape(4, 6),
    "permute": lambda x: x.permute(2, 0, 1),
    "pad": lambda x: x.pad(((1, 0), (0, 2), (1, 1))),
    "flip": lambda x: x.flip((0, 2)),
    "shrink": lambda x: x[1:, :2, ::2],
    "expand": lambda x: x.unsqueeze(1).expand(2, 5, 3, 4),
    "cat": lambda x: x.cat(x * 2, dim=1),
    "roll": lambda x: x.roll(1, 2),
    "layernorm": lambda x: x.layernorm(),
    "index": lambda x: x[:, [0, 2, 0]],
    "gather": lambda x: x.gather(2, Tensor(np.ones((2, 3, 2), np.int32))),
    "sort": lambda x: x.sort(-1)[0],
    "topk": lambda x: x.topk(2, 1)[0],
    "pool": lambda x: x.avg_pool2d((2, 2), 1),
    "max_pool": lambda x: x.max_pool2d((2, 2), 1),
    "triu": lambda x: x.triu(),
    "repeat": lambda x: x.repeat(1, 2, 1),
    "reflect": lambda x: x.pad((1, 1), mode="reflect"),
    "resize": lambda x: x.interpolate(6),
    "diagonal": lambda x: x[:, :, :3][0].diagonal(),
    "contiguous": lambda x: (x * 2).contiguous().contiguous_backward(),
}


@pytest.mark.parametrize("name", sorted(SHAPED))
def test_functions_that_move_and_reduce(name):
    check(SHAPED[name], random(2, 3, 4), rtol=1e-5)


def test_products():
    check(lambda a, b: a @ b, random(2, 3), random(3, 4, seed=1))
    check(lambda a, b: a @ b, random(3), random(2, 3, 4, seed=1))
    check(
        lambda x, w: x.conv2d(w, padding=1, stride=2),
        random(1, 2, 5, 4),
        random(3, 2, 3, 3, seed=1),
    )
    check(
        lambda x, w: x.conv_transpose2d(w, stride=2), random(1, 2, 3, 3), random(2, 1, 2, 2, seed=1)
    )
    check(
        lambda q, k, v: q.scaled_dot_product_attention(k, v, is_causal=True),
        random(3, 4),
        random(3, 4, seed=1),
        random(3, 2, seed=2),
        rtol=1e-5,
    )


def test_scatter_and_functional_writes():
    index = Tensor(np.int32([0, 2]))
    check(lambda x, y: x.scatter(0, index, y), random(3), random(2, seed=1))
    check(lambda x, y: x.scatter_reduce(0, index, y, "sum"), random(3), random(2, seed=1))

    def write(x, y):
        z = x * 1
        z[1:] = y
        return z * z

    check(write, random(3), random(2, seed=1))


def grads(function, *values):
    tensors = [Tensor(v, requires_grad=True) for v in values]
    function(*tensors).sum().backward()
    return [t.grad.tolist() for t in tensors]


def test_ties_and_corners():
    assert grads(lambda a, b: a.maximum(b), [1.0, 2.0], [1.0, 1.0]) == [[0.5, 1.0], [0.5, 0.0]]
    assert grads(lambda a: a.max(), [3.0, 1.0, 3.0]) == [[0.5, 0.0, 0.5]]
    assert grads(lambda a: a.relu(), [-1.0, 0.0, 2.0]) == [[0.0, 0.0, 1.0]]
    assert grads(lambda a: a.abs(), [-1.0, 0.0, 2.0]) == [[-1.0, 0.0, 1.0]]
    assert grads(lambda a: a.clamp(0, 1), [-1.0, 0.0, 1.0, 2.0]) == [[0.0, 1.0, 1.0, 0.0]]
    assert grads(lambda a: a.sqrt(), [0.0]) == [[np.inf]]
    assert grads(lambda a: a.trunc() + a.floor() + a.round() + a.ceil(), [0.7]) == [[0.0]]
    assert grads(lambda a: a.prod(), [2.0, 0.0, 5.0]) == [[0.0, 10.0, 0.0]]
    assert grads(lambda a: a.prod(), [0.0, 0.0, 5.0]) == [[0.0, 0.0, 0.0]]
    assert grads(lambda a: a.prod(), [2.0, 3.0]) == [[3.0, 2.0]]
    assert grads(lambda a: a.sigmoid(), [0.0, 200.0, -200.0]) == [[0.25, 0.0, 0.0]]
    assert grads(lambda a: a**2, [0.0, 3.0]) == [[0.0, 6.0]]


def test_equal_leaves_keep_their_gradients_apart():
    a, b = Tensor(1.0, requires_grad=True), Tensor(1.0, requires_grad=True)
    (a * 2 + b * 3).backward()
    assert (a.grad.item(), b.grad.item()) == (2.0, 3.0)
    c = Tensor.zeros(3, requires_grad=True)
    d = Tensor.zeros(3).requires_grad_()
    (c.sum() * 2 + d.sum() * 3).backward()
    assert c.grad.tolist() == [2.0] * 3 and d.grad.tolist() == [3.0] * 3
    base = Tensor([1.0, 2.0])
    e, f = base.detach().requires_grad_(), base.detach().requires_grad_()
    (e * 2 + f * 5).sum().backward()
    assert e.grad.tolist() == [2.0, 2.0] and f.grad.tolist() == [5.0, 5.0] and base.grad is None


def test_gradients_accumulate_and_stop_at_detach():
    x = Tensor([1.0, 2.0], requires_grad=True)
    (x * x).sum().backward()
    (x * 3).sum().backward()
    assert x.grad.tolist() == [5.0, 7.0]
    x.grad = None
    (x.detach() * x).sum().backward()
    assert x.grad.tolist() == [1.0, 2.0]
    x.grad = None
    x.sum().backward(Tensor(4.0))
    assert x.grad.tolist() == [4.0, 4.0]


def test_gradient_of_given_targets():
    x, y = Tensor([1.0, 2.0], requires_grad=True), Tensor([3.0, 4.0])
    loss = (x * y).sum()
    gx, gy = loss.gradient(x, y)
    assert gx.tolist() == [3.0, 4.0] and gy.tolist() == [1.0, 2.0]
    middle = x * 2
    assert (middle * middle).sum().gradient(middle)[0].tolist() == [4.0, 8.0]
    second = (x * x * x).sum().gradient(x)[0].sum().gradient(x)[0]
    assert second.tolist() == [6.0, 12.0]
    z = Tensor([1.0])
    with pytest.raises(GradientError):
        loss.gradient(z)
    assert loss.gradient(z, materialize_grads=True)[0].tolist() == [0.0]


def test_flags_flow_and_can_be_switched_off():
    x = Tensor([1.0], requires_grad=True)
    y = x * 2
    assert y.requires_grad and not y.is_leaf and x.is_leaf
    with Tensor.no_grad():
        assert not (x * 2).requires_grad
        with Tensor.enable_grad():
            assert (x * 2).requires_grad
    assert not x.detach().requires_grad and not (x > 0).requires_grad
    assert not x.cast("int").requires_grad and x.cast("half").requires_grad


def test_errors_of_values_without_gradient():
    x = Tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises(GradientError, match="one number"):
        x.backward()
    with pytest.raises(GradientError):
        Tensor([1.0]).sum().backward()
    with pytest.raises(GradientError):
        Tensor([1, 2], requires_grad=True)
    with pytest.raises(GradientError, match="constant"):
        c = Tensor(2.0)
        (c * 2).gradient(c)
    unknown = Tensor([1.0, 2.0]).realize()
    unknown._requires_grad, unknown.is_leaf = True, False  # as what a captured function gives
    with pytest.raises(GradientError, match="gone"):
        (unknown * 3).sum().backward()
    with pytest.raises(GradientError, match="no leaf"):
        (x.detach() * 2).sum().backward()
    with pytest.raises(GradientError):
        x.assign(x * 2)


def test_short_floats_and_conversions():
    x = Tensor([1.0, 2.0], dtype="half", requires_grad=True)
    (x.float() * 3).sum().backward()
    assert x.grad.dtype is x.dtype and x.grad.tolist() == [3.0, 3.0]
    big = Tensor.full((4096,), 1.0, dtype="half", requires_grad=True)
    scale = Tensor([1.0], dtype="half", requires_grad=True)
    (big * scale).sum().backward()
    assert scale.grad.item() == 4096.0
    i = Tensor([1.0], requires_grad=True)
    with pytest.raises(GradientError):
        i.cast("int").float().sum().gradient(i)


def test_a_deep_graph_is_no_problem():
    x = Tensor([1.0], requires_grad=True)
    y = x
    for _ in range(3000):
        y = y + x
    found = y.sum().gradient(x)[0]
    assert found.shape == (1,)


def test_nodes_of_a_gradient_know_where_they_are_from():
    x = Tensor([1.0], requires_grad=True)
    gradient = x.exp().sum().gradient(x)[0]
    # what does not depend on x is shared by all graphs, and keeps its first provenance
    nodes = [node for node in gradient.uop.toposort() if x.uop in node.toposort()]
    marks = [n.meta for n in nodes if getattr(n, "meta", None) is not None]
    assert any(m.backward and m.name == "exp" for m in marks)
    assert all(m.where is None or m.where[0].endswith("test_gradients.py") for m in marks)
