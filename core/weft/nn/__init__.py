"""Modules, functions, optimisers and state: what people build networks from."""

# ruff: noqa: F403, F405 - each module has its public names in __all__

from typing import TYPE_CHECKING, NoReturn

from weft.nn import datasets, functional, init, optim, parallel, state, utils
from weft.nn.activations import *
from weft.nn.adaptive_softmax import AdaptiveLogSoftmaxWithLoss
from weft.nn.attention import MultiHeadAttention
from weft.nn.containers import ModuleDict, ModuleList, ParameterDict, ParameterList
from weft.nn.conv import Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from weft.nn.embedding import Embedding
from weft.nn.embedding_bag import EmbeddingBag
from weft.nn.folding import *
from weft.nn.input_checks import missing_name
from weft.nn.instance_norm import InstanceNorm1d, InstanceNorm2d, InstanceNorm3d
from weft.nn.lazy import *
from weft.nn.linear import Bilinear, Linear
from weft.nn.linear_cross_entropy import LinearCrossEntropyLoss
from weft.nn.losses import *
from weft.nn.margin_losses import *
from weft.nn.module import Module
from weft.nn.norm import *
from weft.nn.parameter import Buffer, Parameter
from weft.nn.pooling import *
from weft.nn.quantization import quantize
from weft.nn.recurrent_cells import GRUCell, LSTMCell, RNNCell
from weft.nn.recurrent_layers import GRU, LSTM, RNN
from weft.nn.sequential import Sequential
from weft.nn.stateless import *
from weft.nn.suggested_names import LAYERS
from weft.nn.sync_batch_norm import SyncBatchNorm
from weft.nn.transformer import (
    MultiheadAttention,
    Transformer,
    TransformerDecoder,
    TransformerDecoderLayer,
    TransformerEncoder,
    TransformerEncoderLayer,
)  # fmt: skip

__all__ = [
    "CELU", "ELU", "GELU", "GLU", "GRU", "LSTM", "RNN", "SELU", "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d", "AdaptiveAvgPool3d", "AdaptiveLogSoftmaxWithLoss", "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d", "AdaptiveMaxPool3d", "AlphaDropout", "AvgPool1d", "AvgPool2d",
    "AvgPool3d", "BCELoss", "BCEWithLogitsLoss", "BatchNorm", "BatchNorm1d", "BatchNorm2d",
    "BatchNorm3d", "Bilinear", "Buffer", "CTCLoss", "ChannelShuffle", "CircularPad1d",
    "CircularPad2d", "CircularPad3d", "ConstantPad1d", "ConstantPad2d", "ConstantPad3d",
    "Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d",
    "CosineEmbeddingLoss", "CosineSimilarity", "CrossEntropyLoss", "Dropout", "Dropout1d",
    "Dropout2d", "Dropout3d", "Embedding", "EmbeddingBag", "FeatureAlphaDropout", "Flatten",
    "Fold", "FractionalMaxPool2d", "FractionalMaxPool3d", "GRUCell", "GaussianNLLLoss",
    "GroupNorm", "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh", "HingeEmbeddingLoss",
    "HuberLoss", "Identity", "InstanceNorm", "InstanceNorm1d", "InstanceNorm2d",
    "InstanceNorm3d", "KLDivLoss", "L1Loss", "LPPool1d", "LPPool2d", "LPPool3d", "LSTMCell",
    "LayerNorm", "LayerNorm2d", "LazyBatchNorm1d", "LazyBatchNorm2d", "LazyBatchNorm3d",
    "LazyConv1d", "LazyConv2d", "LazyConv3d", "LazyConvTranspose1d", "LazyConvTranspose2d",
    "LazyConvTranspose3d", "LazyInstanceNorm1d", "LazyInstanceNorm2d", "LazyInstanceNorm3d",
    "LazyLinear", "LeakyReLU", "Linear", "LinearCrossEntropyLoss", "LocalResponseNorm",
    "LogSigmoid", "LogSoftmax", "MSELoss", "MarginRankingLoss", "MaxPool1d", "MaxPool2d",
    "MaxPool3d", "MaxUnpool1d", "MaxUnpool2d", "MaxUnpool3d", "Mish", "Module", "ModuleDict",
    "ModuleList", "MultiHeadAttention", "MultiLabelMarginLoss", "MultiLabelSoftMarginLoss",
    "MultiMarginLoss", "MultiheadAttention", "NLLLoss", "PReLU", "PairwiseDistance",
    "Parameter", "ParameterDict", "ParameterList", "PixelShuffle", "PixelUnshuffle",
    "PoissonNLLLoss", "RMSNorm", "RNNCell", "RReLU", "ReLU", "ReLU6", "ReflectionPad1d",
    "ReflectionPad2d", "ReflectionPad3d", "ReplicationPad1d", "ReplicationPad2d",
    "ReplicationPad3d", "Sequential", "SiLU", "Sigmoid", "SmoothL1Loss", "SoftMarginLoss",
    "Softmax", "Softmax2d", "Softmin", "Softplus", "Softshrink", "Softsign", "SyncBatchNorm",
    "Tanh", "Tanhshrink", "Threshold", "Transformer", "TransformerDecoder",
    "TransformerDecoderLayer", "TransformerEncoder", "TransformerEncoderLayer",
    "TripletMarginLoss", "TripletMarginWithDistanceLoss", "Unflatten", "Unfold", "Upsample",
    "UpsamplingBilinear2d", "UpsamplingNearest2d", "ZeroPad1d", "ZeroPad2d", "ZeroPad3d",
    "datasets", "functional", "init", "optim", "parallel", "quantize", "state", "utils",
]  # fmt: skip


if not TYPE_CHECKING:  # a checker reports a name that is not there

    def __getattr__(name: str) -> NoReturn:
        raise missing_name("weft.nn", name, __all__, LAYERS)
