"""Functions of networks with PyTorch's names, order of arguments and defaults.

    import weft.nn.functional as F

Each takes tensors and gives tensors, lazily. Where a method of Tensor of the same name differs (its
`linear` takes the weight transposed, its `gelu` is the tanh approximation), this is as in PyTorch.
"""

# ruff: noqa: F403 - each module has its public names in __all__

from typing import TYPE_CHECKING, NoReturn

from weft.nn.functional import (
    activations,
    attention,
    convolution,
    ctc,
    embedding_bags,
    folding,
    fractional_pooling,
    grid_sampling,
    in_place,
    layers,
    losses,
    margin_losses,
    normalization,
    pooling,
    rearrangement,
    resizing,
    unpooling,
)
from weft.nn.functional.activations import *
from weft.nn.functional.attention import *
from weft.nn.functional.convolution import *
from weft.nn.functional.ctc import *
from weft.nn.functional.embedding_bags import *
from weft.nn.functional.folding import *
from weft.nn.functional.fractional_pooling import *
from weft.nn.functional.grid_sampling import *
from weft.nn.functional.in_place import *
from weft.nn.functional.layers import *
from weft.nn.functional.losses import *
from weft.nn.functional.margin_losses import *
from weft.nn.functional.normalization import *
from weft.nn.functional.pooling import *
from weft.nn.functional.rearrangement import *
from weft.nn.functional.resizing import *
from weft.nn.functional.unpooling import *
from weft.nn.input_checks import missing_name
from weft.nn.suggested_names import FUNCTIONS

__all__: list[str] = []
__all__ += activations.__all__
__all__ += attention.__all__
__all__ += convolution.__all__
__all__ += ctc.__all__
__all__ += embedding_bags.__all__
__all__ += folding.__all__
__all__ += fractional_pooling.__all__
__all__ += grid_sampling.__all__
__all__ += in_place.__all__
__all__ += layers.__all__
__all__ += losses.__all__
__all__ += margin_losses.__all__
__all__ += normalization.__all__
__all__ += pooling.__all__
__all__ += rearrangement.__all__
__all__ += resizing.__all__
__all__ += unpooling.__all__


if not TYPE_CHECKING:  # a checker reports a name that is not there

    def __getattr__(name: str) -> NoReturn:
        raise missing_name("weft.nn.functional", name, __all__, FUNCTIONS)
