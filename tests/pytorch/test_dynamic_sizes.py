"""Models with dynamic sizes: one compilation and one trace serve all of them.

By default small models run. WEFT_TEST_EXAMPLES=1000 adds those of transformers.
"""

import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the package torch is not installed")
sys.path.insert(0, str(Path(__file__).parent))

import dynamic_models
import torch
import torch._dynamo
from torchvision_import import define_operators_of_torchvision

import weft
import weft.torch
from helpers.example_counts import examples
from weft.torch import backend
from weft.torch.compiled_graph import CompiledGraph

SIZES = (5, 7, 9, 12, 6)
EVERY = {**dynamic_models.MODELS, **dynamic_models.TRANSFORMERS}
CHOSEN = EVERY if examples(1) >= 1000 else dynamic_models.MODELS


def build(name):
    if name in dynamic_models.TRANSFORMERS:
        define_operators_of_torchvision()
        pytest.importorskip("transformers", reason="the package transformers is not installed")
    torch._dynamo.reset()
    torch.manual_seed(0)
    model, axes, inputs = EVERY[name]()
    axes = (axes,) if isinstance(axes, int) else axes
    return model.double(), axes, lambda size: _in_float64(inputs(size))


def _in_float64(x):
    return x.double() if x.is_floating_point() else x


@pytest.fixture
def graphs(monkeypatch):
    """The graphs that are compiled."""
    made = []

    def compiled(graph_module, converters):
        made.append(CompiledGraph(graph_module, converters))
        return made[-1]

    monkeypatch.setattr(backend, "compile_with_fallback", compiled)
    return made


def loss_of(output):
    tensors = [output] if isinstance(output, torch.Tensor) else output
    return sum(each.square().mean() for each in tensors)


def gradients(model, run, x):
    model.zero_grad()
    loss = loss_of(run(x))
    loss.backward()
    found = {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}
    return loss.detach(), found


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CHOSEN)
def test_compiled_model(name, graphs):
    model, axes, inputs = build(name)
    model.eval()
    fast = torch.compile(model, backend="weft")
    for size in SIZES:
        x = inputs(size)
        for axis in axes:
            torch._dynamo.mark_dynamic(x, axis)
        loss, ours = gradients(model, fast, x)
        expected, theirs = gradients(model, model, x)
        torch.testing.assert_close(loss, expected)
        for key, each in ours.items():
            scale = float(theirs[key].abs().max())
            assert float((each - theirs[key]).abs().max()) <= 1e-6 * scale + 1e-9, key
    forward, backward = graphs  # PyTorch has compiled once
    for graph in (forward, backward):
        assert graph.size_reason is None
        assert graph.replays == len(SIZES) - 2


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CHOSEN)
def test_exported_model(name):
    model, axes, inputs = build(name)
    model.eval()
    least = min(inputs(4).shape[axis] for axis in axes) - 1  # smaller sizes have other graphs
    dims = {axis: torch.export.Dim(f"size{axis}", min=least, max=96) for axis in axes}
    exported = torch.export.export(model, (inputs(4),), dynamic_shapes=(dims,), strict=False)
    predict = weft.torch.from_exported(exported).jit()
    for size in (*SIZES, 32):
        x = inputs(size)
        results, expected = predict(weft.from_torch(x)), model(x)
        if isinstance(expected, torch.Tensor):
            results, expected = [results], [expected]
        for result, each in zip(results, expected, strict=True):
            assert tuple(result.shape) == tuple(each.shape)
            torch.testing.assert_close(
                torch.from_dlpack(result), each.detach(), atol=1e-6, rtol=1e-6
            )
    assert predict.size_reason is None
    assert predict.replays == len(SIZES) - 1
