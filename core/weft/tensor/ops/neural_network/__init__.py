"""Neural-network methods: activations, convolutions, normalization, attention, losses."""

from __future__ import annotations

from weft.tensor.ops.neural_network import (
    activations,
    attention,
    convolution,
    losses,
    normalization,
    pooling,
    resizing,
)
from weft.tensor.protocol import TensorBase


class NeuralNetworkMixin(TensorBase):
    """The functions of this package as methods."""

    __slots__ = ()

    relu = activations.relu
    sigmoid = activations.sigmoid
    logsigmoid = activations.logsigmoid
    hardsigmoid = activations.hardsigmoid
    elu = activations.elu
    celu = activations.celu
    selu = activations.selu
    silu = activations.silu
    swish = activations.silu
    relu6 = activations.relu6
    hardswish = activations.hardswish
    hardtanh = activations.hardtanh
    gelu = activations.gelu
    quick_gelu = activations.quick_gelu
    leaky_relu = activations.leaky_relu
    mish = activations.mish
    softplus = activations.softplus
    softsign = activations.softsign
    softmin = activations.softmin
    glu = activations.glu
    prelu = activations.prelu
    hardshrink = activations.hardshrink
    softshrink = activations.softshrink
    tanhshrink = activations.tanhshrink
    threshold = activations.threshold

    conv2d = convolution.conv2d
    image_conv2d = convolution.image_conv2d
    conv_transpose2d = convolution.conv_transpose2d
    avg_pool2d = pooling.avg_pool2d
    max_pool2d = pooling.max_pool2d
    max_unpool2d = pooling.max_unpool2d
    adaptive_avg_pool2d = pooling.adaptive_avg_pool2d
    adaptive_max_pool2d = pooling.adaptive_max_pool2d
    interpolate = resizing.interpolate

    layernorm = normalization.layernorm
    batchnorm = normalization.batchnorm
    dropout = normalization.dropout
    sequential = normalization.sequential
    scaled_dot_product_attention = attention.scaled_dot_product_attention

    binary_crossentropy = losses.binary_crossentropy
    binary_crossentropy_logits = losses.binary_crossentropy_logits
    binary_cross_entropy = losses.binary_cross_entropy
    sparse_categorical_crossentropy = losses.sparse_categorical_crossentropy
    cross_entropy = losses.cross_entropy
    nll_loss = losses.nll_loss
    mse_loss = losses.mse_loss
    l1_loss = losses.l1_loss
    smooth_l1_loss = losses.smooth_l1_loss
    huber_loss = losses.huber_loss
    kl_div = losses.kl_div
    soft_margin_loss = losses.soft_margin_loss
    hinge_embedding_loss = losses.hinge_embedding_loss
    margin_ranking_loss = losses.margin_ranking_loss
    cosine_embedding_loss = losses.cosine_embedding_loss
    triplet_margin_loss = losses.triplet_margin_loss
    poisson_nll_loss = losses.poisson_nll_loss
    gaussian_nll_loss = losses.gaussian_nll_loss
