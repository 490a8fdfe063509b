"""Optimisers, schedules of their learning rate, and clipping of gradients."""

from weft.nn.optim.adam import Adam, AdamW
from weft.nn.optim.base import Optimizer
from weft.nn.optim.clip import clip_grad_norm_, clip_grad_value_
from weft.nn.optim.group import OptimizerGroup
from weft.nn.optim.muon import Muon
from weft.nn.optim.plateau import ReduceLROnPlateau
from weft.nn.optim.schedules import (
    ConstantLR,
    CosineAnnealingLR,
    CosineAnnealingWarmRestarts,
    ExponentialLR,
    LambdaLR,
    LinearLR,
    LRSchedule,
    MultiStepLR,
    OneCycleLR,
    PolynomialLR,
    SequentialLR,
    StepLR,
)
from weft.nn.optim.sgd import SGD
from weft.nn.optim.trust import LAMB, LARS

__all__ = [
    "LAMB",
    "LARS",
    "SGD",
    "Adam",
    "AdamW",
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "ExponentialLR",
    "LRSchedule",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "Muon",
    "OneCycleLR",
    "Optimizer",
    "OptimizerGroup",
    "PolynomialLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
    "clip_grad_norm_",
    "clip_grad_value_",
]
