"""All samples of core ATen operators, and the operators that draw random numbers."""

from __future__ import annotations

import elementwise_samples  # noqa: F401
import image_samples  # noqa: F401
import network_samples  # noqa: F401
import shape_samples  # noqa: F401
import torch
from sample_table import SAMPLES, Generator

__all__ = ["DISTRIBUTIONS", "SAMPLES", "Generator"]

DISTRIBUTIONS = {
    "rand": lambda: ([4000],),
    "randn": lambda: ([4000],),
    "randperm": lambda: (50,),
    "native_dropout": lambda: (torch.ones(4000), 0.25, True),
    "bernoulli.p": lambda: (torch.ones(4000), 0.25),
    "rand_like": lambda: (torch.ones(4000),),
    "randn_like": lambda: (torch.ones(4000),),
    "randint.low": lambda: (-3, 5, [4000]),
    "rrelu_with_noise_functional": lambda: (
        -torch.ones(4000),
        torch.ones(4000),
        0.125,
        0.375,
        True,
    ),
}
"""Operators that draw random numbers: their results are compared as distributions."""
