"""Schedules of the learning rate under the name of PyTorch's module."""

# ruff: noqa: F403, F405 - each module has its public names in __all__

from typing import TYPE_CHECKING, NoReturn

from weft.nn.input_checks import missing_name
from weft.nn.optim.combined_schedules import *
from weft.nn.optim.cyclic_schedules import *
from weft.nn.optim.plateau import ReduceLROnPlateau
from weft.nn.optim.schedules import *
from weft.nn.optim.schedules import LRSchedule
from weft.nn.suggested_names import OPTIMISERS

LRScheduler = LRSchedule
"""The base class under PyTorch's name."""

__all__ = [
    "ChainedScheduler", "ConstantLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts",
    "CyclicLR", "ExponentialLR", "LRSchedule", "LRScheduler", "LambdaLR", "LinearLR",
    "MultiStepLR", "MultiplicativeLR", "OneCycleLR", "PolynomialLR", "ReduceLROnPlateau",
    "SequentialLR", "StepLR",
]  # fmt: skip


if not TYPE_CHECKING:  # a checker reports a name that is not there

    def __getattr__(name: str) -> NoReturn:
        raise missing_name("weft.optim.lr_scheduler", name, __all__, OPTIMISERS)
