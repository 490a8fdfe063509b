"""Modules, functions, optimisers and state: what people build networks from."""

from typing import TYPE_CHECKING, NoReturn

from weft.nn import (
    activations,
    datasets,
    functional,
    init,
    losses,
    norm,
    optim,
    pooling,
    state,
    stateless,
    utils,
)
from weft.nn.activations import *  # noqa: F403
from weft.nn.attention import MultiHeadAttention
from weft.nn.containers import ModuleDict, ModuleList, ParameterDict, ParameterList
from weft.nn.conv import Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from weft.nn.embedding import Embedding
from weft.nn.input_checks import missing_name
from weft.nn.instance_norm import InstanceNorm1d, InstanceNorm2d, InstanceNorm3d
from weft.nn.linear import Bilinear, Linear
from weft.nn.losses import *  # noqa: F403
from weft.nn.module import Module
from weft.nn.norm import *  # noqa: F403
from weft.nn.parameter import Buffer, Parameter
from weft.nn.pooling import *  # noqa: F403
from weft.nn.recurrent_cells import GRUCell, LSTMCell, RNNCell
from weft.nn.recurrent_layers import GRU, LSTM, RNN
from weft.nn.sequential import Sequential
from weft.nn.stateless import *  # noqa: F403
from weft.nn.suggested_names import LAYERS
from weft.nn.transformer import (
    MultiheadAttention,
    Transformer,
    TransformerDecoder,
    TransformerDecoderLayer,
    TransformerEncoder,
    TransformerEncoderLayer,
)  # fmt: skip

__all__ = [
    "GRU", "LSTM", "RNN", "Bilinear", "Buffer", "Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d",
    "ConvTranspose2d", "ConvTranspose3d", "Embedding", "GRUCell", "InstanceNorm1d",
    "InstanceNorm2d", "InstanceNorm3d", "LSTMCell", "Linear", "Module", "ModuleDict", "ModuleList",
    "MultiHeadAttention", "MultiheadAttention", "Parameter", "ParameterDict", "ParameterList",
    "RNNCell", "Sequential", "Transformer", "TransformerDecoder", "TransformerDecoderLayer",
    "TransformerEncoder", "TransformerEncoderLayer", "datasets", "functional", "init", "optim",
    "state", "utils",
]  # fmt: skip
__all__ += activations.__all__
__all__ += losses.__all__
__all__ += norm.__all__
__all__ += pooling.__all__
__all__ += stateless.__all__


if not TYPE_CHECKING:  # a checker reports a name that is not there

    def __getattr__(name: str) -> NoReturn:
        raise missing_name("weft.nn", name, __all__, LAYERS)
