"""The backend of torch.compile beside eager PyTorch: writes, aliases, memory, modes, fallback."""

import copy
import warnings

import pytest

pytest.importorskip("torch", reason="the package torch is not installed")

import torch
import torch._dynamo

import weft.torch
from weft.base.errors import ArgumentError

F = torch.nn.functional


@pytest.fixture(autouse=True)
def _fresh():
    torch._dynamo.reset()
    torch.manual_seed(0)


def compiled(function, **options):
    return torch.compile(function, backend="weft", **options)


def check(function, *inputs, calls=3, **options):
    """Compare outputs, and inputs after the call, with those of eager PyTorch."""
    fast = compiled(function, **options)
    for _ in range(calls):
        ours, theirs = copy.deepcopy(inputs), copy.deepcopy(inputs)
        result, expected = fast(*ours), function(*theirs)
        torch.testing.assert_close(result, expected, atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-5)


def test_the_backend_is_registered():
    assert "weft" in torch._dynamo.list_backends(None)


def test_outputs_of_any_structure():
    def function(x):
        return {"a": x + 1, "b": (x * 2, None, 3), "c": x}

    check(function, torch.randn(3))


def test_an_output_that_is_an_input():
    x = torch.randn(3)
    result = compiled(lambda x: (x, x + 1))(x)
    assert result[0] is x


def test_written_inputs():
    def function(x, y):
        x.add_(y)
        y[0] = 5
        return x * 2

    check(function, torch.randn(3), torch.randn(3))


def test_views_of_inputs_and_of_results():
    def function(x):
        y = x * 2
        return x[1:], y.view(-1), y.t()

    check(function, torch.randn(3, 4))


def test_views_that_are_written():
    def function(x):
        y = x.clone()
        y[:, 1].mul_(3)
        y.view(-1)[::2] = 0
        return y

    check(function, torch.randn(3, 4))


def test_aliased_inputs():
    def function(x, y):
        x.add_(1)
        return x + y

    base = torch.randn(4)
    fast = compiled(function)
    for _ in range(3):
        ours, theirs = base.clone(), base.clone()
        torch.testing.assert_close(fast(ours, ours[:]), function(theirs, theirs[:]))


@pytest.mark.parametrize(
    "x",
    [
        torch.randn(4, 3).t(), torch.randn(8)[::2], torch.randn(1, 3).expand(4, 3),
        torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last), torch.randn(0, 3),
        torch.arange(6).reshape(2, 3), torch.tensor([True, False]), torch.tensor(2.0),
    ],
    ids=["transposed", "steps", "expanded", "channels_last", "empty", "int", "bool", "no axes"],
)  # fmt: skip
def test_inputs(x):
    check(lambda x: (x * 2, (x > 0).sum(), x.clone()), x)


def test_strides_of_results_are_those_of_eager():
    x = torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last)
    fast = compiled(lambda x: (x.relu(), x.permute(3, 0, 1, 2) + 1))
    for result, expected in zip(fast(x), (x.relu(), x.permute(3, 0, 1, 2) + 1)):
        assert result.stride() == expected.stride()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
def test_dtypes(dtype):
    x = torch.randn(4, 5, dtype=dtype)
    result = compiled(lambda x: F.softmax(x @ x.t(), -1))(x)
    expected = F.softmax(x @ x.t(), -1)
    assert result.dtype == dtype
    torch.testing.assert_close(result, expected, atol=2e-2, rtol=2e-2)


def test_autocast():
    model, x = torch.nn.Linear(8, 4), torch.randn(2, 8)

    def function(x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return model(x)

    result, expected = compiled(function)(x), function(x)
    assert result.dtype == torch.bfloat16
    torch.testing.assert_close(result, expected, atol=2e-2, rtol=2e-2)


class Tied(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(10, 6)
        self.head = torch.nn.Linear(6, 10, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, x):
        return self.head(self.embedding(x))


def test_training_with_tied_weights():
    model = Tied()
    other, x = copy.deepcopy(model), torch.tensor([[1, 2, 3]])
    fast = compiled(model)
    losses = []
    for run, net in ((fast, model), (other, other)):
        optimizer = torch.optim.AdamW(net.parameters(), lr=0.1)
        for _ in range(4):
            optimizer.zero_grad()
            loss = F.cross_entropy(run(x).reshape(-1, 10), x.reshape(-1))
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    assert losses[:4] == pytest.approx(losses[4:], abs=1e-4)
    torch.testing.assert_close(model.state_dict(), other.state_dict(), atol=1e-4, rtol=0)


def test_batch_statistics():
    model = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4)).train()
    other, x = copy.deepcopy(model), torch.randn(4, 3, 6, 6)
    fast = compiled(model)
    for _ in range(3):
        torch.testing.assert_close(fast(x), other(x), atol=1e-5, rtol=0)
    torch.testing.assert_close(model.state_dict(), other.state_dict(), atol=1e-5, rtol=0)


def test_dropout_repeats_for_a_seed():
    x = torch.ones(1000, requires_grad=True)
    fast = compiled(lambda x: F.dropout(x, 0.25))
    torch.manual_seed(3)
    first, second = fast(x), fast(x)
    torch.manual_seed(3)
    assert torch.equal(first, fast(x)) and not torch.equal(first, second)
    assert 0.65 < (first > 0).float().mean() < 0.85
    (gradient,) = torch.autograd.grad(first.sum(), x)
    assert torch.equal(gradient, first.detach())


def test_dynamic_sizes_are_compiled_once():
    graphs = []
    function = compiled(lambda x: (x * x.shape[0]).sum(0), dynamic=True)
    original = weft.torch.backend.compile_with_fallback

    def counted(graph, converters):
        graphs.append(graph)
        return original(graph, converters)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("weft.torch.backend.compile_with_fallback", counted)
        for size in (3, 5, 7, 5):
            x = torch.randn(size, 4)
            torch.testing.assert_close(function(x), (x * size).sum(0))
    assert len(graphs) == 1


def test_a_graph_break():
    def function(x):
        y = x * 2
        if y.sum().item() > 0:
            return y + 1
        return y - 1

    check(function, torch.ones(3))
    check(function, -torch.ones(3))


def test_unsupported_operators_are_computed_by_pytorch():
    def function(x):
        y = torch.fft.rfft(x * 2).abs()
        return y.relu() + 1, torch.nonzero(x > 0)

    x = torch.randn(8)
    with pytest.warns(weft.torch.UnsupportedOperatorsWarning, match="aten::_fft_r2c"):
        result = compiled(function)(x)
    torch.testing.assert_close(result[0], function(x)[0])
    assert torch.equal(result[1], function(x)[1])


def test_custom_operators():
    @torch.library.custom_op("weft_tests::cubed", mutates_args=())
    def cubed(x: torch.Tensor) -> torch.Tensor:
        return x**3

    cubed.register_fake(lambda x: torch.empty_like(x))
    x = torch.randn(3)

    def function(x):
        return cubed(x) + 1

    with warnings.catch_warnings():
        warnings.simplefilter("error", weft.torch.UnsupportedOperatorsWarning)
        options = {"converters": {torch.ops.weft_tests.cubed: lambda x: x * x * x}}
        torch.testing.assert_close(compiled(function, options=options)(x), function(x))
    with pytest.raises(Exception, match="no such option") as caught:
        compiled(function, options={"level": 3})(x)
    assert isinstance(caught.value, (ArgumentError, torch._dynamo.exc.BackendCompilerFailed))


def test_results_stay_when_the_function_is_called_again():
    fast = compiled(lambda x: x * 2)
    kept = [fast(torch.full((3,), float(n))) for n in range(6)]
    assert [each[0].item() for each in kept] == [0, 2, 4, 6, 8, 10]
    kept[0].add_(1)
    assert kept[0][0].item() == 1 and fast(torch.zeros(3))[0].item() == 0


def test_weights_that_are_written_are_seen():
    model, x = torch.nn.Linear(2, 1, bias=False), torch.ones(1, 2)
    fast = compiled(model)
    with torch.no_grad():
        for value in (1.0, 2.0, 3.0, 4.0):
            model.weight.fill_(value)
            assert fast(x).item() == 2 * value


def test_warm_calls_are_replayed(monkeypatch):
    made = []
    original = weft.torch.fallback.CompiledGraph

    def remembered(*args):
        made.append(original(*args))
        return made[-1]

    monkeypatch.setattr("weft.torch.fallback.CompiledGraph", remembered)
    fast = compiled(lambda x: (x * 2).sum())
    for _ in range(5):
        fast(torch.ones(3))
    (traced,) = made[0]._traced.values()
    assert traced.reason is None and traced.replays == 3


VIEWS = {
    "expand": lambda x: x.unsqueeze(0).expand(2, *x.shape),
    "steps": lambda x: x[:, 1::2],
    "diagonal": lambda x: x.diagonal(0, 1, 2),
    "permute": lambda x: x.permute(2, 0, 1),
    "select": lambda x: x[..., 1],
}


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("name", sorted(VIEWS))
def test_views_have_the_strides_of_pytorch(name, dynamic):
    view = VIEWS[name]
    for function in (view, lambda x: view(x.sin()), lambda x: (view(x), x * 2, view(x * 2))):
        torch._dynamo.reset()
        fast = torch.compile(function, backend="weft", dynamic=dynamic)
        for size in (3, 5):
            x = torch.randn(size, 4, 3, requires_grad=True)
            results, expected = fast(x), function(x)
            several = isinstance(results, tuple)
            pairs = zip(results, expected) if several else [(results, expected)]
            for one, other in pairs:
                torch.testing.assert_close(one, other)
            last, other = (results[-1], expected[-1]) if several else (results, expected)
            (found,) = torch.autograd.grad(last.square().sum(), x)
            (known,) = torch.autograd.grad(other.square().sum(), x)
            torch.testing.assert_close(found, known)


def test_views_of_an_input_that_begins_inside_of_its_memory():
    fast = torch.compile(lambda x: (x[1:], x * 2), backend="weft")
    memory = torch.arange(12.0)
    for start in (0, 3, 5):
        x = memory[start : start + 4]
        view, _ = fast(x)
        assert view.tolist() == x[1:].tolist()


def test_views_of_a_result_whose_elements_repeat():
    function = lambda x: (lambda y: (y.flip(1), y.flip(1)[:, 1:]))(x.sin().expand(3, 4))  # noqa: E731
    fast = torch.compile(function, backend="weft")
    x = torch.randn(3, 1)
    for found, expected in zip(fast(x), function(x), strict=True):
        torch.testing.assert_close(found, expected)
