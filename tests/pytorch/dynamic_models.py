"""Models with dynamic sizes: a model, its dynamic axis or axes, and its inputs of a size."""

from __future__ import annotations

import model_cases
import torch
from torch import nn


def mlp():
    model = nn.Sequential(nn.Linear(4, 6), nn.LayerNorm(6), nn.GELU(), nn.Linear(6, 3))
    return model, 0, lambda size: torch.randn(size, 4)


def cnn():
    model = nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(8, 8, 3, stride=2), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
        nn.Linear(8, 5),
    )  # fmt: skip
    return model, 0, lambda size: torch.randn(size, 3, 16, 16)


def pixels():
    """Strided convolutions, pools and repetition over images of any height and width."""
    model = nn.Sequential(
        nn.Conv2d(3, 6, 3, stride=2, padding=1), nn.BatchNorm2d(6), nn.ReLU(),
        nn.MaxPool2d(2), nn.Conv2d(6, 6, 3, padding=1, groups=6), nn.SiLU(),
        nn.AvgPool2d(3, 2, 1), nn.Conv2d(6, 4, 1), nn.ConvTranspose2d(4, 2, 2, stride=2),
        nn.Upsample(scale_factor=2),
    )  # fmt: skip
    return model, (2, 3), lambda size: torch.randn(2, 3, size + 12, 2 * size + 9)


def mixed():
    """A model whose graph computes with sizes: slices, padding, fractions of sizes."""

    class Mixed(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = nn.Linear(4, 4)

        def forward(self, x):
            n = x.shape[0]
            y = torch.cat((self.first(x), x.flip(1)))[1:-1]
            z = nn.functional.pad(y, (0, 0, 1, n)) * (n / 2)
            places = torch.arange(n, dtype=x.dtype)
            return z.sum(0) + (places @ x) / n + y.reshape(2, n - 1, 4).mean((0, 1)), z

    return Mixed(), 0, lambda size: torch.randn(size, 4)


class _Logits(nn.Module):
    """A language model as a function of its tokens."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, tokens):
        output = self.model(input_ids=tokens)
        return output.logits if hasattr(output, "logits") else output.last_hidden_state


def _tokens(size):
    return torch.randint(3, 64, (2, size))


def bert():
    return _Logits(model_cases.bert()[0].eval()), 1, _tokens


def llama():
    model = model_cases.llama()[0].eval()
    model.config.use_cache = False
    return _Logits(model), 1, _tokens


MODELS = {"mlp": mlp, "cnn": cnn, "pixels": pixels, "mixed": mixed}
TRANSFORMERS = {"bert": bert, "llama": llama}
