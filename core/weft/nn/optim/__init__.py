"""Optimisers, schedules of their learning rate, and clipping of gradients.

The same module as `weft.optim`.
"""

# ruff: noqa: F403, F405 - each module has its public names in __all__

from typing import TYPE_CHECKING, NoReturn

from weft.nn.input_checks import missing_name
from weft.nn.optim import lr_scheduler, swa_utils
from weft.nn.optim.adafactor import Adafactor
from weft.nn.optim.adam import Adam, AdamW
from weft.nn.optim.adam_variants import Adamax, NAdam, RAdam
from weft.nn.optim.adaptive_rates import Adadelta, Adagrad, RMSprop
from weft.nn.optim.averaged_sgd import ASGD
from weft.nn.optim.base import Optimizer
from weft.nn.optim.clip import clip_grad_norm_, clip_grad_value_
from weft.nn.optim.combined_schedules import *
from weft.nn.optim.cyclic_schedules import *
from weft.nn.optim.lbfgs import LBFGS
from weft.nn.optim.muon import Muon
from weft.nn.optim.optimizer_group import OptimizerGroup
from weft.nn.optim.plateau import ReduceLROnPlateau
from weft.nn.optim.rprop import Rprop
from weft.nn.optim.schedules import *
from weft.nn.optim.sgd import SGD
from weft.nn.optim.trust_ratio import LAMB, LARS
from weft.nn.suggested_names import OPTIMISERS

__all__ = [
    "ASGD", "LAMB", "LARS", "LBFGS", "SGD", "Adadelta", "Adafactor", "Adagrad", "Adam", "AdamW",
    "Adamax", "ChainedScheduler", "ConstantLR", "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts", "CyclicLR", "ExponentialLR", "LRSchedule", "LambdaLR",
    "LinearLR", "MultiStepLR", "MultiplicativeLR", "Muon", "NAdam", "OneCycleLR", "Optimizer",
    "OptimizerGroup", "PolynomialLR", "RAdam", "RMSprop", "ReduceLROnPlateau", "Rprop",
    "SequentialLR", "StepLR", "clip_grad_norm_", "clip_grad_value_", "lr_scheduler",
    "swa_utils",
]  # fmt: skip


if not TYPE_CHECKING:  # a checker reports a name that is not there

    def __getattr__(name: str) -> NoReturn:
        raise missing_name("weft.optim", name, __all__, OPTIMISERS)
