"""The networks of the examples: PyTorch's numbers on the same weights."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from models.lstm import SequenceLSTM
from models.mlp import MLP
from models.resnet import ResNet
from models.unet import UNet
from models.vit import ViT

from weft import Tensor

torch = pytest.importorskip("torch")
functional = torch.nn.functional

IMAGES = np.random.default_rng(3).random((4, 1, 8, 8), dtype=np.float32)


@pytest.fixture(autouse=True)
def _seeded() -> None:
    Tensor.manual_seed(11)


def own(x: Tensor | None) -> Any:
    return None if x is None else torch.tensor(x.numpy())


def linear(layer: Any, x: Any) -> Any:
    return functional.linear(x, own(layer.weight), own(layer.bias))


def conv(layer: Any, x: Any, **how: Any) -> Any:
    return functional.conv2d(x, own(layer.weight), own(layer.bias), **how)


def layer_norm(layer: Any, x: Any) -> Any:
    return functional.layer_norm(x, x.shape[-1:], own(layer.weight), own(layer.bias))


def group_norm(layer: Any, x: Any) -> Any:
    return functional.group_norm(x, 4, own(layer.weight), own(layer.bias))


def batch_norm(layer: Any, x: Any) -> Any:
    """As in training: by what the batch says."""
    return functional.batch_norm(x, None, None, own(layer.weight), own(layer.bias), training=True)


def close(ours: Tensor, theirs: Any) -> None:
    np.testing.assert_allclose(ours.numpy(), theirs.numpy(), atol=1e-4, rtol=1e-4)


def test_mlp() -> None:
    network = MLP((64, 16, 12, 10))
    x = torch.tensor(IMAGES).flatten(1)
    x = linear(network.layers[1], linear(network.layers[0], x).relu()).relu()
    close(network(Tensor(IMAGES)), linear(network.layers[2], x))


def test_resnet() -> None:
    network = ResNet((4, 8))
    x = batch_norm(network.norm, conv(network.first, torch.tensor(IMAGES), padding=1)).relu()
    for block, stride in zip(network.blocks, (1, 2)):
        out = batch_norm(block.norm1, conv(block.conv1, x, stride=stride, padding=1)).relu()
        out = batch_norm(block.norm2, conv(block.conv2, out, padding=1))
        if block.short is not None:
            x = batch_norm(block.short_norm, conv(block.short, x, stride=stride))
        x = (out + x).relu()
    with Tensor.train():
        ours = network(Tensor(IMAGES))
    close(ours, linear(network.last, x.mean((2, 3))))


def attention(query: Any, key: Any, value: Any) -> Any:
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    return scores.softmax(-1) @ value


def test_vision_transformer() -> None:
    network = ViT(features=16, heads=2, layers=1)
    x = conv(network.patches, torch.tensor(IMAGES), stride=2).flatten(2).transpose(1, 2)
    x = torch.cat([own(network.summary).expand(4, 1, 16), x], 1) + own(network.places)
    (block,) = network.blocks
    layer = block.attention
    parts = functional.linear(
        layer_norm(block.norm1, x), own(layer.in_proj_weight), own(layer.in_proj_bias)
    ).chunk(3, -1)
    heads = (p.reshape(4, -1, 2, 8).transpose(1, 2) for p in parts)
    x = x + linear(layer.out_proj, attention(*heads).transpose(1, 2).reshape(x.shape))
    wide = functional.gelu(linear(block.wide, layer_norm(block.norm2, x)), approximate="tanh")
    x = x + linear(block.narrow, wide)
    close(network(Tensor(IMAGES)), linear(network.last, layer_norm(network.norm, x)[:, 0]))


def test_lstm() -> None:
    network = SequenceLSTM(3, 5, 2)
    x = np.random.default_rng(5).standard_normal((2, 4, 3)).astype(np.float32)
    cell = torch.nn.LSTMCell(3, 5)
    for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
        getattr(cell, name).data = own(getattr(network.cell, name))
    state, seen = None, []
    with torch.no_grad():
        for place in range(4):
            state = cell(torch.tensor(x[:, place]), state)
            seen.append(state[0])
        close(network(Tensor(x)), linear(network.last, torch.stack(seen, 1)))


def test_unet() -> None:
    network = UNet(channels=4, time=8)
    times = np.array([0.0, 10.5, 400.0, 999.0], np.float32)
    rates = torch.exp(torch.arange(4) * (-math.log(10000.0) / 4))
    angles = torch.tensor(times)[:, None] * rates
    time = linear(network.time, torch.cat([angles.sin(), angles.cos()], -1))

    def residual(block: Any, x: Any) -> Any:
        out = conv(block.conv1, functional.silu(group_norm(block.norm1, x)), padding=1)
        out = out + linear(block.time, functional.silu(time))[:, :, None, None]
        out = conv(block.conv2, functional.silu(group_norm(block.norm2, out)), padding=1)
        return out + (x if block.short is None else conv(block.short, x))

    fine = residual(network.down, conv(network.first, torch.tensor(IMAGES), padding=1))
    coarse = residual(network.middle, conv(network.smaller, fine, stride=2, padding=1))
    spatial = network.attention
    parts = conv(spatial.into, group_norm(spatial.norm, coarse)).reshape(4, 3, 8, 16)
    seen = attention(*(parts[:, i].transpose(1, 2) for i in range(3)))
    coarse = coarse + conv(spatial.out, seen.transpose(1, 2).reshape(coarse.shape))
    larger = functional.interpolate(coarse, scale_factor=2, mode="nearest")
    x = residual(network.up, torch.cat([fine, larger], 1))
    close(network(Tensor(IMAGES), Tensor(times)), conv(network.last, x, padding=1))
