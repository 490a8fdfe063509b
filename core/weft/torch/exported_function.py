"""Exported programs as traced functions: one trace serves all dynamic sizes.

in:  the arguments of a call      out: outputs, with the numbers of this call as sizes
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from weft.base.sequences import prod
from weft.device import Buffer, registry, transfer
from weft.export import first_elements, memory_of, tensor_over
from weft.tensor import Tensor
from weft.tensor.jit import Jit
from weft.torch.symbolic_sizes import SizedCalls, SymbolicSizes
from weft.uop import UOp
from weft.uop.symbolic.sint import evaluate_sint, high_of, sprod

_MOST_SHAPES = 64


class ExportedFunction:
    """A traced function, called with weft Tensors.

    :param function: of flat arguments, which returns flat outputs.
    :param examples: its arguments, as PyTorch recorded them.
    :param flatten: returns the flat arguments of a call; it checks them.
    :param unflatten: returns outputs in their containers.
    """

    def __init__(
        self,
        function: Callable[[Sequence[Any]], Sequence[Any]],
        examples: Sequence[Any],
        flatten: Callable[[tuple[Any, ...], dict[str, Any]], Sequence[Any]],
        unflatten: Callable[[list[Any]], Any],
    ) -> None:
        self._function, self._flatten, self._unflatten = function, flatten, unflatten
        self._traces: dict[str, Jit[Any, Any]] = {}
        self._calls = SizedCalls(SymbolicSizes(examples), self._traces)

    @property
    def size_reason(self) -> str | None:
        """Why the values of some sizes have traces of their own. None: one trace serves all."""
        return self._calls.reason

    @property
    def replays(self) -> int:
        """The number of calls that only launched kernels."""
        return sum(each.replays for each in self._traces.values())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return the outputs.

        :raises TorchError: if the arguments have another structure than those of the export.
        :raises ShapeError: if a size that is not dynamic is another one.
        """
        arguments = self._flatten(args, kwargs)
        outputs = self._calls(arguments, lambda sizes: self._computed(arguments, sizes))
        return self._unflatten([_with_numbers(each) for each in outputs])

    def _computed(self, arguments: Sequence[Any], sizes: Sequence[Any]) -> Sequence[Any]:
        traced = self._traces.setdefault("", Jit(self._function, limit=_MOST_SHAPES, quiet=True))
        return traced([_sized(each, size) for each, size in zip(arguments, sizes, strict=True)])


def _sized(value: Any, size: Any) -> Any:
    """Return an argument with symbolic sizes: its elements are the first ones of larger memory."""
    if size is None or not isinstance(value, Tensor):
        return value if size is None else size
    if registry.capabilities(value.device).memory.alignment is None:
        return value  # it has no windows
    content = memory_of(value.contiguous().clone().realize())
    largest = Buffer(content.device, prod(map(high_of, size)), content.dtype)
    if content.size:
        window = largest.view(content.size, content.dtype, 0)
        transfer.copy(window if content.size < largest.size else largest, content)
    flat = tensor_over(largest, (largest.size,))
    return flat.shrink(((0, sprod(size)),)).reshape(size)


def _with_numbers(output: Any) -> Any:
    """Return an output with numbers as sizes, over the same memory."""
    if isinstance(output, UOp):
        return evaluate_sint(output, {})
    if not isinstance(output, Tensor) or all(isinstance(size, int) for size in output.shape):
        return output
    shape = tuple(evaluate_sint(size, {}) for size in output.shape)
    return first_elements(memory_of(output.contiguous().realize()), shape)
