"""`weft.nn.optim` under a shorter name: the same module object."""

import sys

from weft.nn import optim
from weft.nn.optim import *  # noqa: F403  (for type checkers)

sys.modules[__name__] = optim
sys.modules[f"{__name__}.lr_scheduler"] = optim.lr_scheduler
sys.modules[f"{__name__}.swa_utils"] = optim.swa_utils
