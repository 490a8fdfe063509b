"""Models of transformers, torchvision and timm beside eager PyTorch: outputs and gradients.

By default one model of each package runs. WEFT_TEST_EXAMPLES=1000 runs all of them.
Gradients are compared in float64: in float32, a ReLU whose input is zero but for rounding may pass
a gradient in one of them and none in the other.
"""

import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the package torch is not installed")
sys.path.insert(0, str(Path(__file__).parent))

import model_cases
import torch
import torch._dynamo
from torchvision_import import define_operators_of_torchvision

from helpers.example_counts import examples

EVERY = [*model_cases.TRANSFORMERS, *model_cases.TORCHVISION, *model_cases.TIMM]
CHOSEN = EVERY if examples(1) >= len(EVERY) else ["llama", "squeezenet1_1", "mixer_s32_224"]
PACKAGES = {"transformers": model_cases.TRANSFORMERS, "torchvision": model_cases.TORCHVISION}


def loss_of(output):
    tensors = [each for each in model_cases.tensors_of(output) if each.is_floating_point()]
    return sum(each.square().mean() for each in tensors)


def gradients(model, run, inputs):
    model.zero_grad()
    loss_of(run(**inputs)).backward()
    return {name: p.grad for name, p in model.named_parameters() if p.grad is not None}


def in_float64(inputs):
    is_float = lambda each: isinstance(each, torch.Tensor) and each.is_floating_point()  # noqa: E731
    return {key: each.double() if is_float(each) else each for key, each in inputs.items()}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CHOSEN)
def test_model(name):
    package = next((key for key, names in PACKAGES.items() if name in names), "timm")
    define_operators_of_torchvision()
    pytest.importorskip(package, reason=f"the package {package} is not installed")
    torch._dynamo.reset()
    model, inputs = model_cases.build(name)
    fast = torch.compile(model, backend="weft")
    with torch.no_grad():
        results = model_cases.tensors_of(fast(**inputs))
        expected = model_cases.tensors_of(model(**inputs))
    for result, each in zip(results, expected, strict=True):
        scale = float(each.abs().max()) + 1e-6
        assert float((result - each).abs().max()) <= 1e-4 * scale
    model.double()
    inputs = in_float64(inputs)
    theirs = {key: each.clone() for key, each in gradients(model, model, inputs).items()}
    ours = gradients(model, fast, inputs)
    assert ours.keys() == theirs.keys()
    largest = max(float(each.abs().max()) for each in theirs.values())
    for key, each in theirs.items():
        assert float((ours[key] - each).abs().max()) <= 1e-3 * float(each.abs().max()) + (
            1e-9 * largest
        ), key
