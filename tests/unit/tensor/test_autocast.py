"""Automatic mixed precision: which dtype each kind of operation computes in."""

import threading

import numpy as np
import pytest

import weft
import weft.nn.functional as F
from weft import Tensor, amp, autocast, dtypes, jit, nn, settings
from weft.base.errors import ArgumentError, DTypeError
from weft.tensor.autocast import FLOAT32

LOW, WIDE = dtypes.bfloat16, dtypes.float32


def _some(*shape, dtype=None):
    count = int(np.prod(shape))
    values = (np.arange(count) % 7 - 3) / 4
    return Tensor(values.reshape(shape).astype(np.float32), dtype=dtype)


PRODUCTS = {
    "matmul": lambda x: x @ _some(6, 3),
    "rmatmul": lambda x: _some(3, 4) @ x,
    "linear": lambda x: x.linear(_some(6, 3), _some(3)),
    "mm": lambda x: x.mm(_some(6, 3)),
    "mv": lambda x: x.mv(_some(6)),
    "bmm": lambda x: x.reshape(1, 4, 6).bmm(_some(1, 6, 2)),
    "addmm": lambda x: _some(4, 3).addmm(x, _some(6, 3)),
    "einsum": lambda x: Tensor.einsum("ij,jk->ik", x, _some(6, 3)),
    "conv2d": lambda x: x.reshape(1, 1, 4, 6).conv2d(_some(2, 1, 3, 3), _some(2)),
    "conv_transpose2d": lambda x: x.reshape(1, 1, 4, 6).conv_transpose2d(_some(1, 2, 3, 3)),
    "conv_transpose2d in steps": lambda x: x.reshape(1, 1, 4, 6).conv_transpose2d(
        _some(1, 2, 3, 3), _some(2), stride=2
    ),
    "attention": lambda x: x.scaled_dot_product_attention(x, x, is_causal=True),
    "F.linear": lambda x: F.linear(x, _some(3, 6), _some(3)),
    "F.bilinear": lambda x: F.bilinear(x, x, _some(2, 6, 6), _some(2)),
    "F.conv1d": lambda x: F.conv1d(x.reshape(1, 4, 6), _some(2, 4, 3), _some(2)),
    "F.attention": lambda x: F.scaled_dot_product_attention(x, x, x),
    "nn.Linear": lambda x: nn.Linear(6, 3)(x),
    "nn.Conv1d": lambda x: nn.Conv1d(4, 2, 3)(x.reshape(1, 4, 6)),
}
KEPT = {
    "softmax": lambda x: x.softmax(-1),
    "log_softmax": lambda x: x.log_softmax(-1),
    "layernorm": lambda x: x.layernorm(),
    "nn.LayerNorm": lambda x: nn.LayerNorm(6)(x),
    "F.layer_norm": lambda x: F.layer_norm(x, (6,)),
    "F.rms_norm": lambda x: F.rms_norm(x, (6,), eps=1e-5),
    "F.group_norm": lambda x: F.group_norm(x.reshape(1, 4, 6), 2),
    "F.cross_entropy": lambda x: F.cross_entropy(x, Tensor([0, 1, 2, 3])),
    "F.kl_div": lambda x: F.kl_div(x.log_softmax(1), (x * 2).softmax(1), reduction="sum"),
    "sum": lambda x: x.sum(0),
    "mean": lambda x: x.mean(),
    "std": lambda x: x.std(1),
    "norm": lambda x: x.norm(),
    "cumsum": lambda x: x.cumsum(1),
    "exp": lambda x: x.exp(),
    "log": lambda x: (x.square() + 1).log(),
    "pow": lambda x: x**3,
    "2 to the power": lambda x: 2**x,
    "cross_entropy": lambda x: x.cross_entropy(Tensor([0, 1, 2, 3])),
    "mse_loss": lambda x: x.mse_loss(_some(4, 6)),
}
OTHERS = {
    "relu": lambda x: x.relu(),
    "gelu": lambda x: x.gelu(),
    "add": lambda x: x + 1,
    "max": lambda x: x.max(0),
    "reshape": lambda x: x.reshape(6, 4),
}


@pytest.mark.parametrize("given", [WIDE, LOW, dtypes.float16], ids=str)
@pytest.mark.parametrize("name", PRODUCTS)
def test_products_compute_in_the_low_dtype(name, given):
    x = _some(4, 6, dtype=given)
    with autocast(dtype="bfloat16"):
        low = PRODUCTS[name](x)
    assert low.dtype is LOW
    if not name.startswith("nn."):
        got, expected = low.float(), PRODUCTS[name](x.float())
        Tensor.realize(got, expected)
        assert got.numpy() == pytest.approx(expected.numpy(), rel=0.03, abs=0.03)
    if given is WIDE:
        assert PRODUCTS[name](x).dtype is WIDE


@pytest.mark.parametrize("name", KEPT)
def test_operations_that_need_range_or_precision_stay_in_float32(name):
    x = _some(4, 6)
    with autocast(dtype="bfloat16"):
        found = KEPT[name](x.cast(LOW))
        assert KEPT[name](x).dtype is WIDE
    assert found.dtype is WIDE
    expected = KEPT[name](x)
    Tensor.realize(found, expected)
    assert found.numpy() == pytest.approx(expected.numpy(), rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("name", OTHERS)
def test_all_else_computes_in_the_dtype_of_its_operands(name):
    with autocast(dtype="bfloat16"):
        assert OTHERS[name](_some(4, 6)).dtype is WIDE
        assert OTHERS[name](_some(4, 6, dtype=LOW)).dtype is LOW
        assert (_some(4, 6, dtype=LOW) + _some(4, 6)).dtype is WIDE


def test_the_table_names_methods():
    assert [name for name in FLOAT32 if not hasattr(Tensor, name)] == []


@pytest.mark.parametrize("name", ["float64", "int32", "fp8e4m3"])
def test_dtypes_that_are_not_cast(name):
    x = _some(4, 4).cast(name)
    with autocast():
        assert (x @ x).dtype is x.dtype
        assert (x @ _some(4, 4)).dtype is (_some(4, 4) @ x).dtype is not LOW


def test_blocks_nest_and_end():
    x = _some(4, 4)
    with autocast(dtype="float16"):
        assert (x @ x).dtype is dtypes.float16
        assert amp.get_autocast_dtype() is dtypes.float16
        with autocast(enabled=False):
            assert (x @ x).dtype is WIDE
            assert not amp.is_autocast_enabled()
            with autocast("bfloat16"):
                assert (x @ x).dtype is LOW
        with pytest.raises(ZeroDivisionError), autocast(dtype="bfloat16"):
            raise ZeroDivisionError
        assert (x @ x).dtype is dtypes.float16
    assert (x @ x).dtype is WIDE
    assert amp.get_autocast_dtype() is None


def test_as_a_decorator_and_under_pytorchs_signature():
    @autocast("cpu", dtype=dtypes.bfloat16)
    def inside(x):
        """doc"""
        return x @ x if x.shape[0] < 8 else inside(x[:4, :4])

    assert inside(_some(4, 4)).dtype is inside(_some(8, 8)).dtype is LOW
    assert inside.__doc__ == "doc"
    with weft.amp.autocast("cuda", cache_enabled=True):
        assert (_some(4, 4) @ _some(4, 4)).dtype is LOW


def test_another_thread_is_not_affected():
    found = []
    x = _some(4, 4)
    with autocast():
        thread = threading.Thread(target=lambda: found.append((x @ x).dtype))
        thread.start()
        thread.join()
    assert found == [WIDE]


def test_by_the_setting():
    with settings.override(AUTOCAST="bfloat16"):
        assert (_some(4, 4) @ _some(4, 4)).dtype is LOW


def test_other_dtypes_are_refused():
    with pytest.raises(DTypeError, match="16 bits"):
        autocast(dtype="float32")
    with pytest.raises(ArgumentError, match="kind of device"):
        autocast(3)
    with pytest.raises(ArgumentError, match="AUTOCAST"):
        settings.override(AUTOCAST="float64")


def test_gradients_have_the_dtype_of_parameters():
    x, w, b = _some(4, 6), _some(6, 3), _some(3)
    for each in (w, b):
        each.requires_grad_()

    def loss():
        return (x.linear(w, b).relu().softmax(-1) * _some(4, 3)).sum()

    with autocast(dtype="bfloat16"):
        low = loss()
    low.backward()
    found = [each.grad for each in (w, b)]
    assert [each.dtype for each in found] == [WIDE, WIDE]
    w.grad = b.grad = None
    loss().backward()
    for mine, exact in zip(found, (w.grad, b.grad)):
        assert mine.numpy() == pytest.approx(exact.numpy(), rel=0.05, abs=0.02)
        assert mine.numpy() != pytest.approx(exact.numpy(), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("order", ["inside", "outside", "around the call"])
def test_captured_functions_tell_it_apart(order):
    w = _some(4, 4)

    def product(x):
        return x @ w

    if order == "inside":
        f = captured = jit(autocast()(product))
    elif order == "outside":
        captured = jit(product)
        f = autocast()(captured)
    else:
        f = captured = jit(product)
    kinds = []
    for turn in range(8):
        with autocast(dtype="bfloat16", enabled=bool(turn % 2)):
            y = f(_some(4, 4))
        kinds.append(y.dtype)
        assert y.float().numpy() == pytest.approx((_some(4, 4) @ w).numpy(), rel=0.02, abs=0.02)
    expected = [WIDE, LOW] * 4 if order == "around the call" else [LOW] * 8
    assert kinds == expected
    assert captured.replays >= 4 and captured.reason is None


def test_dtypes_of_methods_equal_pytorch():
    torch = pytest.importorskip("torch")

    x, t = _some(4, 6), torch.tensor(_some(4, 6).numpy())
    w, tw = _some(6, 3), torch.tensor(_some(6, 3).numpy())

    def network(x, w, log_softmax, exp):
        hidden = (x @ w).relu()
        return hidden, hidden.softmax(-1), exp(hidden), log_softmax(hidden + 1), hidden.sum()

    with autocast(dtype="bfloat16"):
        ours = network(x, w, lambda h: h.log_softmax(-1), Tensor.exp)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        theirs = network(t, tw, lambda h: h.log_softmax(-1), torch.exp)
    for mine, expected in zip(ours, theirs):
        assert mine.float().numpy() == pytest.approx(expected.float().numpy(), rel=0.02, abs=0.02)
    assert ours[0].dtype is LOW and theirs[0].dtype == torch.bfloat16
