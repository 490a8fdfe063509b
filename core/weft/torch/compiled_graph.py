"""A graph of ATen operators that is called with tensors of PyTorch and computed by weft.

weft's `jit` traces the calls: with equal shapes only kernels run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch.fx import GraphModule, Node

from weft.tensor import Tensor, rng
from weft.tensor.jit import Jit
from weft.torch.exchange import (
    ExchangeCache,
    Order,
    inverse,
    memory_order,
    to_torch_tensor,
)
from weft.torch.program import Program
from weft.torch.registry import Converter

_MOST_SHAPES = 64
"""Specializations that are kept for one graph."""

_cache = ExchangeCache()


class CompiledGraph:
    """A callable for a graph module: tensors and sizes in, a list of tensors and sizes out.

    Outputs have the strides that PyTorch expects. An output that is an input is that input.
    """

    def __init__(
        self, graph_module: GraphModule, converters: Mapping[str, Converter] | None = None
    ) -> None:
        self._program = program = Program(graph_module, converters)
        placeholders = [n for n in graph_module.graph.nodes if n.op == "placeholder"]
        place_of = {node: place for place, node in enumerate(placeholders)}
        output = next(n for n in graph_module.graph.nodes if n.op == "output").args[0]
        self._is_single = not isinstance(output, (tuple, list))
        results: Sequence[Any] = (output,) if self._is_single else output
        # what is returned: an input by its place, a computed value by its number, or a constant
        self._plan: list[tuple[str, Any]] = []
        computed: list[Node] = []
        for each in results:
            if each in place_of:
                self._plan.append(("input", place_of[each]))
            elif isinstance(each, Node):
                self._plan.append(("computed", len(computed)))
                computed.append(each)
            else:
                self._plan.append(("constant", each))
        self._output_orders = [_order_of(node) for node in computed]
        program.set_outputs(computed)
        self._traced: dict[tuple[Order, ...], Jit[Any, Any]] = {}

    def __call__(self, *inputs: Any) -> Any:
        """Compute the outputs."""
        taken: list[Any] = []
        orders: list[Order] = []
        for each in (*self._program.constants, *inputs):
            if isinstance(each, torch.Tensor):
                tensor, order = _cache.take(each)
                taken.append(tensor)
                orders.append(order)
            else:
                taken.append(each)
                orders.append(None)
        computed = self._computed(taken, tuple(orders))
        results = []
        for kind, value in self._plan:
            if kind == "computed":
                value = computed[value]
            elif kind == "input":
                value = inputs[value]
            results.append(value)
        return results[0] if self._is_single else results

    def _computed(self, inputs: list[Any], orders: tuple[Order, ...]) -> list[Any]:
        if not self._output_orders:
            return []
        traced = self._traced.get(orders)
        if traced is None:
            traced = self._traced[orders] = self._trace(orders)
        if self._program.is_random:
            with _stream_of_torch():
                outputs = traced(inputs)
        else:
            outputs = traced(inputs)
        return [
            _returned(each, order) for each, order in zip(outputs, self._output_orders, strict=True)
        ]

    def _trace(self, orders: tuple[Order, ...]) -> Jit[Any, Any]:
        program, output_orders = self._program, self._output_orders

        def graph(inputs: list[Any]) -> list[Any]:
            arranged = [
                each if order is None else each.permute(inverse(order))
                for each, order in zip(inputs, orders, strict=True)
            ]
            outputs = program(arranged)
            return [
                each if order is None else each.permute(order).contiguous()
                for each, order in zip(outputs, output_orders, strict=True)
            ]

        return Jit(graph, limit=_MOST_SHAPES, quiet=True)


def _order_of(node: Node) -> Order:
    """Return the order of axes in memory that PyTorch gives to a result."""
    example = node.meta.get("val")
    if not isinstance(example, torch.Tensor):
        return None
    strides = example.stride()
    if not all(isinstance(each, int) for each in (*strides, *example.shape)):
        return None
    order = memory_order(example.shape, strides)
    if order is None or 0 in strides:
        return None
    return order


def _returned(value: Any, order: Order) -> Any:
    if not isinstance(value, Tensor):
        return value
    result = to_torch_tensor(value)
    return result if order is None else result.permute(inverse(order))


@contextmanager
def _stream_of_torch() -> Iterator[None]:
    """Draw weft's random numbers from a seed of PyTorch's generator: `torch.manual_seed` counts."""
    saved = rng.state()
    rng.restore((int(torch.randint(1 << 62, (), dtype=torch.int64)), {}))
    try:
        yield
    finally:
        rng.restore(saved)
