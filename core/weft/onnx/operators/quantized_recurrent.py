"""LSTM with quantized weights: DynamicQuantizeLSTM of the domain com.microsoft.

Inputs and hidden states are quantized to 8 bits before each product, as by DynamicQuantizeLinear.
The products are added in int32. States and gates are float32.

Source: ONNX Runtime, contributed operators: DynamicQuantizeLSTM.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from weft.base.dtype import DType, dtypes
from weft.onnx.graph import Node
from weft.onnx.operators.integer_products import matmul_integer
from weft.onnx.operators.quantization import dynamic_quantize_linear
from weft.onnx.operators.recurrent import Layer, Weights, lstm_layer
from weft.onnx.operators.recurrent_activations import activations_of
from weft.onnx.registry import operator
from weft.tensor import Tensor


@dataclass(frozen=True)
class QuantizedWeights(Weights):
    """A matrix of 8-bit weights.

    :ivar scale: one number, or one for each row. :ivar zero: the zero points, in the same shape.
    """

    node: Node
    scale: Tensor
    zero: Tensor

    def times(self, x: Tensor) -> Tensor:
        codes, scale, zero = dynamic_quantize_linear(self.node, x)
        total = matmul_integer(self.node, codes, self.matrix.T, zero, self.zero)
        return total.cast(dtypes.float32) * (scale * self.scale)


@dataclass(frozen=True)
class QuantizedLayer(Layer):
    """A layer whose weights are 8-bit numbers.

    :ivar factors: scale and zero point of the inputs' weights, then those of the hidden states'.
    """

    factors: Sequence[Tensor] = ()

    def weights(self, number: int, dtype: DType) -> tuple[Weights, Weights]:
        w_scale, w_zero, r_scale, r_zero = (each[number] for each in self.factors)
        return (
            QuantizedWeights(self.weight[number], self.node, w_scale, w_zero),
            QuantizedWeights(self.recurrence[number], self.node, r_scale, r_zero),
        )


@operator("DynamicQuantizeLSTM", domain="com.microsoft")
def dynamic_quantize_lstm(
    node: Node, x: Tensor, w: Tensor, r: Tensor, b: Tensor | None, sequence_lens: Tensor | None,
    initial_h: Tensor | None, initial_c: Tensor | None, p: Tensor | None, w_scale: Tensor,
    w_zero_point: Tensor, r_scale: Tensor, r_zero_point: Tensor, *,
    activations: Sequence[str] = (), activation_alpha: Sequence[float] = (),
    activation_beta: Sequence[float] = (), clip: float | None = None,
    direction: str = "forward", hidden_size: int | None = None, input_forget: int = 0,
) -> tuple[Tensor, ...]:  # fmt: skip
    """Long short-term memory with quantized weights, stored as (directions, inputs, 4 * hidden).

    Scales and zero points are (directions,) or (directions, 4 * hidden).
    """
    functions = activations_of(
        node, activations, activation_alpha, activation_beta, clip, direction,
        ("Sigmoid", "Tanh", "Tanh"), gates=2,
    )  # fmt: skip
    layer = QuantizedLayer(
        node, x, w.transpose(1, 2), r.transpose(1, 2), b, sequence_lens, direction, 0, hidden_size,
        p, factors=(w_scale, w_zero_point, r_scale, r_zero_point),
    )  # fmt: skip
    return lstm_layer(layer, [initial_h, initial_c], functions, input_forget)
