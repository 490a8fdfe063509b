"""Weight quantisation of a model: linear layers keep their weights as blocks of small integers.

in:  a module      out: the same module, changed, and the error of each layer

Source: T. Dettmers and L. Zettlemoyer, "The case for 4-bit precision" (ICML 2023): quantisation of
weights by blocks, without training.
"""

from __future__ import annotations

from weft.nn.linear import Linear
from weft.nn.module import Module
from weft.nn.parameter import Buffer
from weft.quantization import block_format
from weft.quantization import quantize as quantized
from weft.tensor import Tensor


def quantize(model: Module, format: str = "q4_k", short: str = "q8_0") -> dict[str, float]:
    """Quantise the weights of all linear layers in place; the relative error of each, by name.

    format: a block format of `weft.quantization`. short: the one for layers whose number of inputs
    is no whole number of blocks of `format`; layers that fit neither stay as they are. The error is
    the root mean square of the difference, relative to that of the weights. Quantised weights are
    buffers: they are saved with the model, and not trained.

    :raises ArgumentError: for a format that is not known, and for weights that are not finite.

    >>> model = nn.Sequential(nn.Linear(256, 8), nn.ReLU(), nn.Linear(8, 2))
    >>> errors = nn.quantize(model, "q4_k")
    >>> list(errors), errors["0"] < 0.1
    (['0'], True)
    """
    formats = [block_format(format), block_format(short)]
    errors: dict[str, float] = {}
    for name, module in model.named_modules():
        if not isinstance(module, Linear):
            continue
        fitting = (one for one in formats if module.weight.shape[-1] % one.length == 0)
        layout = next(fitting, None)
        if layout is not None:
            weight = module.weight.detach()
            made = quantized(weight, layout)
            errors[name] = _relative_error(made, weight)
            module.weight = Buffer(made)
    return errors


def _relative_error(made: Tensor, exact: Tensor) -> float:
    """The root mean square of the difference, relative to that of the exact values."""
    power = exact.float().square().mean()
    difference = (made - exact).square().mean()
    return float((difference / power.maximum(1e-30)).sqrt().item())
