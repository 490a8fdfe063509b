"""How many kernels well-known programs become, what they move, and that the numbers stay right."""

import numpy
import pytest

from weft import Tensor
from weft.base.settings import settings
from weft.nn import optim
from weft.uop import Ops

DEVICE = "REF"


def t(*shape):
    return Tensor.empty(*shape, device=DEVICE)


def p(*shape):
    return t(*shape).requires_grad_()


def count(*tensors):
    items = tensors[0].schedule(*tensors[1:])
    return sum(item.ast.op is Ops.SINK for item in items)


def rmsnorm(x):
    return x * (x.square().mean(-1, keepdim=True) + 1e-5).rsqrt()


def backward(function, *shapes):
    """The gradients of a function, its value computed before."""
    inputs = [p(*shape) for shape in shapes]
    out = function(*inputs)
    return out.gradient(*inputs, gradient=t(*out.shape))


def block(x, heads, new):
    """One block of a transformer."""
    batch, tokens, width = x.shape

    def linear(x, out):
        return x @ new(x.shape[-1], out) + new(out)

    def normalised(x):
        return x.layernorm() * new(width) + new(width)

    projected = linear(normalised(x), 3 * width)
    q, k, v = (
        projected[:, :, part * width : (part + 1) * width]
        .reshape(batch, tokens, heads, width // heads)
        .transpose(1, 2)
        for part in range(3)
    )
    mixed = q.scaled_dot_product_attention(k, v, is_causal=True)
    x = x + linear(mixed.transpose(1, 2).reshape(batch, tokens, width), width)
    return x + linear(linear(normalised(x), 4 * width).gelu(), width)


def trained_block():
    made = []

    def new(*shape):
        made.append(p(*shape))
        return made[-1]

    x = p(2, 32, 64)
    y = block(x, 4, new)
    return [y, *y.gradient(x, *made, gradient=t(*y.shape))]


ONE = {
    "softmax": lambda x: [x.softmax()],
    "log_softmax": lambda x: [x.log_softmax()],
    "layernorm": lambda x: [x.layernorm()],
    "rmsnorm": lambda x: [rmsnorm(x)],
    "variance": lambda x: [x.var(1)],
    "deviation": lambda x: [x.std(1)],
    "argmax": lambda x: [x.argmax(1)],
    "variance and mean": lambda x: [x.var(1), x.mean(1)],
    "sum and max of rows": lambda x: [x.sum(1), x.max(1)],
    "sum and max of columns": lambda x: [x.sum(0), x.max(0)],
    "sum and max of all": lambda x: [x.sum(), x.max()],
    "two outputs": lambda x: [x + 1, x * 2],
    "one upon the other": lambda x: [x + 1, (x + 1) * 2],
    "softmax and what is left": lambda x: [x.softmax(), 1 - x.softmax()],
}


@pytest.mark.parametrize("name", ONE)
def test_one_kernel_that_moves_each_input_and_output_once(name):
    x = t(48, 64)
    asked = ONE[name](x)
    items = asked[0].schedule(*asked[1:])
    assert len(items) == 1
    (item,) = items
    assert sum(buf.nbytes for buf in item.bufs) == x.nbytes() + sum(y.nbytes() for y in asked)


@pytest.mark.parametrize("name", ONE)
@pytest.mark.parametrize("device", ["REF", "REF:grid"])
def test_the_numbers_are_those_of_single_kernels(name, device):
    data = numpy.random.default_rng(1).standard_normal((6, 20)).astype(numpy.float32)
    found = []
    for grouped in (0, 1):
        x = Tensor(data, device=device)
        asked = ONE[name](x)
        with settings.override(GROUP_KERNELS=grouped):
            asked[0].realize(*asked[1:])
        found.append([y.numpy() for y in asked])
    for one, other in zip(*found):
        numpy.testing.assert_allclose(one, other, rtol=3e-6, atol=1e-6)


MORE = {
    "softmax backward": (2, lambda: backward(lambda x: x.softmax(), (64, 128))),
    "layernorm backward": (2, lambda: backward(lambda x: x.layernorm(), (64, 128))),
    "affine layernorm backward": (
        2,
        lambda: backward(lambda x, g, b: x.layernorm() * g + b, (64, 128), (128,), (128,)),
    ),
    "attention": (1, lambda: [t(2, 4, 128, 32).scaled_dot_product_attention(
        t(2, 4, 128, 32), t(2, 4, 128, 32))]),
    "conv and relu, forward and backward": (5, lambda: conv()),
    "running sum": (1, lambda: [t(4096).cumsum()]),
    "transformer block": (7, lambda: [block(t(2, 32, 64), 4, t)]),
    "transformer block, forward and backward": (20, trained_block),
    "adam over four tensors": (4, lambda: adam()),
}  # fmt: skip


def conv():
    x, w, b = p(4, 8, 16, 16), p(16, 8, 3, 3), p(16)
    y = x.conv2d(w, b, padding=1).relu()
    return [y, *y.gradient(x, w, b, gradient=t(*y.shape))]


def adam():
    weights = [p(*shape) for shape in ((8, 4), (16, 3), (5,), (7, 2))]
    with Tensor.train():
        step = optim.Adam(weights, lr=1e-3)
        for _ in range(2):
            for each in weights:
                each.grad = t(*each.shape)
            asked = step.schedule_step()
            if _ == 0:
                asked[0].realize(*asked[1:])
    return asked


@pytest.mark.parametrize("name", MORE)
def test_at_most_so_many_kernels(name):
    most, made = MORE[name]
    with settings.override(DEVICE=DEVICE):
        assert 0 < count(*made()) <= most


@pytest.mark.parametrize("device", ["REF", "REF:vector", "CPU"])
def test_the_numbers_of_attention_forward_and_backward(device):
    rng = numpy.random.default_rng(2)
    data = [rng.standard_normal((1, 2, 9, 9)).astype(numpy.float32) for _ in range(4)]
    found = []
    for grouped in (0, 1):
        with settings.override(GROUP_KERNELS=grouped):
            q, k, v = (Tensor(part, device=device).requires_grad_() for part in data[:3])
            y = q.scaled_dot_product_attention(k, v, is_causal=True)
            gradients = y.gradient(q, k, v, gradient=Tensor(data[3], device=device))
            y.realize(*gradients)
            found.append([each.numpy() for each in (y, *gradients)])
    for one, other in zip(*found):
        numpy.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)
