"""Weights in memory: tensors, and block-quantised weights whose bytes alone are kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from weft import Tensor, nn
from weft.quantization import dequantize, linear_int8, linear_int16
from weft.quantization.dequantization import BlockStorage

ROUNDED_PRODUCTS: Mapping[str, Callable[[Tensor, Tensor, Tensor | None], Tensor]] = {
    "int8": linear_int8, "int16": linear_int16,
}  # fmt: skip


class BlockWeight:
    """A block-quantised weight of shape `shape`.

    It keeps the bytes. The expression of the values is made where the weight is used, so that
    `jit`, which visits what a function reaches, finds one realized tensor and no graph.

    activations: what products of few rows round their activations to, "int8" or "int16", as
    `linear_int8` does; "float32" rounds nothing.
    """

    def __init__(self, storage: BlockStorage, activations: str = "float32") -> None:
        self.data, self.format, self.shape = storage.data, storage.format.name, storage.shape
        self.activations = activations

    def values(self) -> Tensor:
        """The values, an expression that kernels compute where they read it."""
        return dequantize(self.data, self.format, self.shape)


Weight: TypeAlias = Tensor | BlockWeight


def values_of(weight: Weight) -> Tensor:
    """The values of a weight as a tensor."""
    return weight.values() if isinstance(weight, BlockWeight) else weight


def product(x: Tensor, weight: Weight, bias: Tensor | None = None, exact: bool = False) -> Tensor:
    """x @ weight.T + bias, for x (..., inputs) and a weight (outputs, inputs).

    exact: round no activations, whatever the weight says.
    """
    if isinstance(weight, BlockWeight) and not exact:
        rounded = ROUNDED_PRODUCTS.get(weight.activations)
        if rounded is not None:
            return rounded(x, weight.values(), bias)
    y = x @ values_of(weight).transpose(0, 1)
    return y if bias is None else y + bias


def weights_of(network: nn.Module) -> list[Weight]:
    """The weights of all modules of a network."""
    return [
        each
        for module in network.modules()
        for each in vars(module).values()
        if isinstance(each, nn.Parameter | BlockWeight)
    ]


def tensors_of(network: nn.Module) -> list[Tensor]:
    """The tensors in memory of all weights of a network, each once."""
    found = [each.data if isinstance(each, BlockWeight) else each for each in weights_of(network)]
    return list({id(each): each for each in found}.values())


def description_of(network: nn.Module) -> str:
    """The class, the configuration and the formats of the weights of a network."""
    formats = [
        (each.format, each.shape, each.activations) if isinstance(each, BlockWeight) else ""
        for each in weights_of(network)
    ]
    return f"{type(network).__name__} {vars(network).get('config')!r} {formats}"


def nbytes(weight: Weight) -> int:
    """Bytes of a weight in memory."""
    return int((weight.data if isinstance(weight, BlockWeight) else weight).nbytes())
