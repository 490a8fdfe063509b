"""Functions at the level of weft: PyTorch's names and order of arguments."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import weft
from helpers.stubs import functions_stub
from weft import Tensor, functions
from weft.base.errors import ArgumentError, MissingName, WrongKind
from weft.functions import defined
from weft.testing.golden import Golden

X = np.random.default_rng(0).uniform(0.1, 0.9, (3, 4)).astype(np.float32)
CALLS = [
    "zeros(2, 3)", "ones((2,))", "full((2, 2), 7.0)", "arange(5)", "arange(1, 7, 2)", "eye(3)",
    "linspace(0, 1, 5)", "zeros_like(x)", "full_like(x, 2.0)", "tensor([[1.0, 2.0]])",
    "tensor([1, 2], dtype=lib.float64)", "cat([x, y])", "cat((x, y), dim=1)", "stack([x, y], 1)",
    "hstack([x, y])", "vstack((x, y))", "column_stack([x[:, 0], y])", "where(x > 0.5, x, y)",
    "where(x > 0.5)[0]", "einsum('ij,kj->ik', x, y)", "sum(x)", "sum(x, 1)", "sum(x, dim=0)",
    "mean(x, 1, True)", "exp(x)", "exp(input=x)", "matmul(x, y.T)", "mm(x, t(y))", "max(x)",
    "min(x)", "maximum(x, y)", "clamp(x, 0.2, 0.5)", "clamp(x, min=0.4)", "argmax(x, 1)",
    "var(x, 0)", "std(x)", "softmax(x, 1)", "log_softmax(x, dim=0)", "relu(x - 0.5)", "sigmoid(x)",
    "transpose(x, 0, 1)", "permute(x, (1, 0))", "reshape(x, (4, 3))", "flatten(x)",
    "split(x, 2)[1]", "chunk(x, 2, 1)[0]", "squeeze(x[None])", "unsqueeze(x, 1)", "flip(x, (0,))",
    "roll(x, 1, 0)",
    "tril(x)", "cumsum(x, 0)", "sort(x, 1)[0]", "topk(x, 2)[0]", "gather(x, 1, i)", "norm(x)",
    "logsumexp(x, 1)", "isnan(x)", "logical_and(x > 0.2, x < 0.6)", "pow(x, 2)", "abs(x - 0.5)",
    "allclose(x, x)", "is_tensor(x)", "numel(x)", "dot(x[0], y[0])", "outer(x[0], y[0])",
    "conv1d(x[None], x[None], None)", "meshgrid(x[0], y[0], indexing='ij')[1]", "arccos(x)",
    "randint(3, 4, (2, 3))", "randint(1, (2,))", "cartesian_prod(x[0], y[0])", "from_numpy(n)",
    "as_tensor(n)", "tensor(3.0).shape", "dropout(x, 0.5, False)", "any(x > 2)", "all(x < 2)",
]  # fmt: skip


@pytest.mark.parametrize("call", CALLS)
def test_a_call_equals_pytorch(call: str) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch says what the values are")
    found = []
    for lib, made in ((weft, Tensor), (torch, torch.tensor)):
        index = made(np.array([[0, 1], [2, 3], [1, 1]]))
        names = {"lib": lib, "x": made(X), "y": made(X[::-1].copy()), "i": index, "n": X}
        text = f"lib.{call}".replace("t(y)", "lib.t(y)")
        result = eval(text, names)
        found.append(result.numpy() if hasattr(result, "numpy") else result)
    if isinstance(found[1], np.ndarray):
        assert found[0].shape == found[1].shape
        np.testing.assert_allclose(found[0], found[1], rtol=1e-5, atol=1e-6)
    else:
        assert found[0] == (tuple(found[1]) if isinstance(found[1], tuple) else found[1])


def test_random_numbers_and_their_state() -> None:
    weft.manual_seed(7)
    state = weft.get_rng_state()
    drawn = [weft.rand(5).tolist(), weft.randn(2, 2).tolist(), weft.randperm(6).tolist()]
    weft.set_rng_state(state)
    again = [weft.rand(5).tolist(), weft.randn(2, 2).tolist(), weft.randperm(6).tolist()]
    assert again == drawn
    assert weft.randint(2, 5, size=(1000,)).min().item() >= 2
    assert weft.normal(Tensor([100.0]), 0.0).tolist() == [100.0]
    with pytest.raises(ArgumentError):
        weft.set_rng_state({"seed": "x"})


@pytest.mark.parametrize("name", ["max", "min"])
def test_extremes_are_pytorchs(name: str) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch says what they give")
    x, theirs = Tensor(X), torch.tensor(X)
    ours = getattr(weft, name)
    for arguments, named in [
        ((1,), {}),
        ((), {"dim": 0}),
        ((-1, True), {}),
        ((0,), {"keepdim": True}),
    ]:
        found, expected = (
            ours(x, *arguments, **named),
            getattr(torch, name)(theirs, *arguments, **named),
        )
        np.testing.assert_array_equal(found.values.numpy(), expected.values.numpy())
        np.testing.assert_array_equal(found.indices.numpy(), expected.indices.numpy())
    other = X[::-1].copy()
    np.testing.assert_array_equal(
        ours(x, Tensor(other)).numpy(), getattr(torch, name)(theirs, torch.tensor(other)).numpy()
    )
    assert ours(x).item() == getattr(np, name)(X)
    np.testing.assert_array_equal(ours(x, axis=1).numpy(), getattr(np, name)(X, axis=1))
    found, expected = getattr(weft, f"cum{name}")(x, 0), getattr(torch, f"cum{name}")(theirs, 0)
    np.testing.assert_array_equal(found.indices.numpy(), expected.indices.numpy())
    with pytest.raises(WrongKind, match=f"input of {name} is a tensor"):
        ours([1.0])


def test_functions_that_make_tensors_take_a_size_and_write_out() -> None:
    assert weft.zeros(size=(2, 3)).shape == weft.rand(size=[2, 3]).shape == (2, 3)
    assert weft.full(size=(2,), fill_value=3).tolist() == [3, 3]
    assert weft.arange(start=1, end=4).tolist() == [1, 2, 3]
    assert weft.linspace(0, end=1, steps=3).tolist() == [0.0, 0.5, 1.0]
    out = weft.zeros(2)
    assert weft.add(Tensor([1.0, 2.0]), 1, out=out) is out and out.tolist() == [2.0, 3.0]
    assert weft.ones(2, out=out) is out and out.tolist() == [1.0, 1.0]
    values, places = weft.zeros(2), weft.zeros(2, dtype=weft.int32)
    weft.sort(Tensor([2.0, 1.0]), out=(values, places))
    assert values.tolist() == [1.0, 2.0] and places.tolist() == [1, 0]
    assert weft.add(Tensor([1.0]), 1, out=None).tolist() == [2.0]
    with pytest.raises(ArgumentError, match="out is a tensor"):
        weft.add(Tensor([1.0]), 1, out=3)


@pytest.mark.parametrize(
    "call", ["rand(2, {})", "randn(2, {})", "randint(3, (2,), {})", "zeros(2, {})"]
)
def test_arguments_that_mean_nothing_are_refused_where_they_are_meant(call: str) -> None:
    for name, value in (("generator", None), ("pin_memory", False), ("layout", None)):
        assert eval(f"weft.{call.format(f'{name}={value}')}").shape == (2,)
    with pytest.raises(ArgumentError, match="has no 'generator'") as error:
        eval(f"weft.{call.format('generator=object()')}")
    assert "manual_seed" in str(error.value.try_)


def test_shapes_broadcast_and_stack() -> None:
    a, b = weft.broadcast_tensors(Tensor([[1], [2]]), Tensor([3, 4]))
    assert a.tolist() == [[1, 1], [2, 2]] and b.tolist() == [[3, 4], [3, 4]]
    assert weft.broadcast_shapes((2, 1), (3,), 1) == (2, 3)
    with pytest.raises(ValueError):
        weft.broadcast_shapes((2,), (3,))
    with pytest.raises(WrongKind):
        weft.broadcast_tensors([1.0])
    torch = pytest.importorskip("torch", reason="PyTorch says what is stacked how")
    for shape in ((), (2,), (2, 3), (2, 3, 4)):
        array = np.arange(int(np.prod(shape)), dtype=np.float32).reshape(shape)
        expected = torch.dstack([torch.tensor(array)] * 2).numpy()
        np.testing.assert_array_equal(weft.dstack([Tensor(array)] * 2).numpy(), expected)
        assert weft.atleast_3d(Tensor(array)).shape == tuple(
            torch.atleast_3d(torch.tensor(array)).shape
        )
    assert weft.row_stack is weft.vstack
    with pytest.raises(WrongKind, match="input of dstack"):
        weft.dstack([1.0])


def test_constants_and_types() -> None:
    assert weft.pi == np.pi and weft.e == np.e and weft.inf == np.inf and weft.nan != weft.nan
    assert weft.newaxis is None and Tensor([1, 2])[:, weft.newaxis].shape == (2, 1)
    assert isinstance(weft.float32, weft.dtype) and weft.Size([2, 3]) == (2, 3)
    assert isinstance(weft.zeros(2).shape, weft.Size)


def test_packages_that_can_be_called_stay_packages() -> None:
    code = (
        "import weft\n"
        "assert weft.tensor([1]).tolist() == [1] and weft.device('ref', 1) == 'REF:1'\n"
        "import weft.tensor.rng as rng, weft.device.registry as registry, weft.functions as f\n"
        "assert f.tensor([2]).tolist() == [2] and f.device('ref') == 'REF'"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def test_modes_dtypes_and_version() -> None:
    x = weft.tensor([1.0], requires_grad=True)
    with weft.no_grad():
        assert not (x * 2).requires_grad and not weft.is_grad_enabled()
        with weft.enable_grad():
            assert (x * 2).requires_grad
    assert weft.float32 is weft.dtypes.float32 and weft.long is weft.dtypes.int64
    assert weft.zeros(1, dtype=weft.bfloat16).dtype is weft.dtypes.bfloat16
    text = (Path(__file__).parents[3] / "core" / "pyproject.toml").read_text(encoding="utf-8")
    assert re.search(r'^version = "(.*)"', text, re.M)[1] == weft.__version__
    assert weft.optim is weft.nn.optim


def test_weft_optim_can_be_imported() -> None:
    code = (
        "import weft.optim as optim; import weft, weft.optim.lr_scheduler as schedules\n"
        "from weft.optim.lr_scheduler import StepLR; from weft.optim import AdamW\n"
        "assert optim is weft.nn.optim is weft.optim and schedules.StepLR is optim.StepLR is StepLR"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def test_all_names_are_there() -> None:
    assert all(hasattr(weft, name) for name in functions.__all__)
    assert {"exp", "float32", "where", "Tensor"} <= set(dir(weft))
    assert defined.cat is weft.cat and weft.concat is weft.cat
    assert weft.exp.__name__ == "exp" and weft.exp.__doc__ == Tensor.exp.__doc__


def test_non_tensors_are_refused() -> None:
    with pytest.raises(WrongKind, match="input of exp is a tensor"):
        weft.exp([1.0])
    with pytest.raises(WrongKind, match="input of cat"):
        weft.cat([[1.0]])
    with pytest.raises(WrongKind):
        weft.sum()
    with pytest.raises(ArgumentError, match="bound"):
        weft.randint(3)
    with pytest.raises(WrongKind):
        weft.from_numpy([1])


def test_a_miss_names_the_nearest() -> None:
    with pytest.raises(MissingName, match="did you mean 'matmul'"):
        weft.matmull  # noqa: B018
    with pytest.raises(MissingName) as caught:
        weft.compile  # noqa: B018
    assert caught.value.try_ == "weft.jit"
    assert not hasattr(weft, "__wrapped__")


def test_the_stub_is_what_the_tables_say(request):
    path = Path(functions.__file__).with_suffix(".pyi")
    assert functions_stub() == Golden(path, request.config.getoption("--update-golden"))
