"""Expression templates: a graph is built once for each kind of operand, and gets other operands.
Also: memoized graph construction.

in:  a function of tensors, and tensors of known shapes
out: what the function returns for them, by substitution of the sources of an earlier graph

A model has hundreds of weights of a few shapes. The expression of a product has some hundred
operations, which check and fold as they are built. A substitution only makes the nodes.

Source: D. Michie, "Memo functions and machine learning" (Nature 218, 1968): memoization.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import lru_cache
from typing import Any

from weft.tensor import Tensor
from weft.uop import UOp

_MOST = 256
"""Templates that are kept: some for each shape and format of the weights of a few models."""
_Kind = tuple[tuple[int, ...], Any, str]


def from_template(
    build: Callable[..., Tensor], operands: tuple[Tensor, ...], settings: tuple[Hashable, ...]
) -> Tensor:
    """``build(*operands, *settings)``, from the template of the operands' shapes and devices.

    build: a function without effects, which reads no value of its operands. Operands with symbolic
    shapes or on several devices are passed to it as they are.
    """
    kinds = tuple((each.shape, each.dtype, each.device) for each in operands)
    for shape, _, device in kinds:
        if not isinstance(device, str) or not all(isinstance(extent, int) for extent in shape):
            return build(*operands, *settings)
    places, form = _template(build, kinds, settings)
    return Tensor.from_uop(form.substitute(dict(zip(places, (each.uop for each in operands)))))


@lru_cache(_MOST)
def _template(
    build: Callable[..., Tensor], kinds: tuple[_Kind, ...], settings: tuple[Hashable, ...]
) -> tuple[list[UOp], UOp]:
    """The sources that stand for the operands, and the graph over them."""
    # no memory is allocated for what is never computed
    places = [Tensor.empty(*shape, dtype=dtype, device=device) for shape, dtype, device in kinds]
    return [place.uop for place in places], build(*places, *settings).uop
