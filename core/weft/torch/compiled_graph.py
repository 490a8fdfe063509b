"""A graph of ATen operators that is called with tensors of PyTorch and computed by weft.

weft's `jit` traces the calls: with equal shapes only kernels run. Dynamic sizes are variables
(`symbolic_sizes.py`): one trace serves all of them. Where an operator needs the value of a size,
each size has a trace.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch.fx import GraphModule, Node

from weft.base.sequences import prod
from weft.tensor import Tensor, rng
from weft.tensor.jit import Jit
from weft.torch.exchange import (
    ExchangeCache,
    Order,
    from_torch_tensor,
    inverse,
    memory_order,
    take_padded,
    to_torch_tensor,
)
from weft.torch.program import Program
from weft.torch.registry import Converter
from weft.torch.symbolic_sizes import SizedCalls, SymbolicSizes, hint_of
from weft.uop import UOp
from weft.uop.symbolic.sint import evaluate_sint

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
        sizes = SymbolicSizes([node.meta.get("val") for node in placeholders])
        self._traced: dict[tuple[Order, ...], Jit[Any, Any]] = {}
        self._calls = SizedCalls(sizes, self._traced)
        self._evaluate = sizes.evaluate
        # what is returned: an input by its place, a view of an input or of another result, an
        # expression of sizes, a computed value by its number, or a constant
        self._plan: list[tuple[str, Any]] = []
        computed: list[Node] = []
        sources = {**_storages(_dense_results(results, place_of)), **_storages(placeholders)}
        for each in results:
            source = _source_of(each, sources)
            if source is not None:
                is_input = source in place_of
                place = place_of[source] if is_input else results.index(source)
                examples = (source.meta["val"], each.meta["val"])
                self._plan.append(("view", (is_input, place, *examples)))
            elif each in place_of:
                self._plan.append(("input", place_of[each]))
            elif isinstance(each, Node) and sizes.knows(each.meta.get("val")):
                self._plan.append(("size", each.meta["val"]))
            elif isinstance(each, Node):
                self._plan.append(("computed", len(computed)))
                computed.append(each)
            else:
                self._plan.append(("constant", each))
        self._output_orders = [_order_of(node) for node in computed]
        self._are_tensors = [isinstance(each.meta.get("val"), torch.Tensor) for each in computed]
        program.set_outputs(computed)

    @property
    def size_reason(self) -> str | None:
        """Why the values of some sizes have traces of their own. None: one trace serves all."""
        return self._calls.reason

    @property
    def replays(self) -> int:
        """The number of calls that only launched kernels."""
        return sum(each.replays for each in self._traced.values())

    def __call__(self, *inputs: Any) -> Any:
        """Compute the outputs."""
        computed = self._calls(inputs, lambda sizes: self._computed(*self._taken(inputs, sizes)))
        results = []
        for kind, value in self._plan:
            if kind == "computed":
                value = computed[value]
            elif kind == "input":
                value = inputs[value]
            elif kind == "size":
                value = self._evaluate(value, inputs)
            results.append(value)
        for number, (kind, value) in enumerate(self._plan):
            if kind == "view":
                is_input, place, base, example = value
                source = inputs[place] if is_input else results[place]
                results[number] = self._view(source, base, example, inputs)
        return results[0] if self._is_single else results

    def _view(self, source: Any, base: Any, example: Any, inputs: Sequence[Any]) -> Any:
        """Return the view of a tensor that an example is of the example `base`.

        A tensor with other strides than `base`, or at another offset, is taken as well.
        """

        def known(size: Any) -> int:
            return size if isinstance(size, int) else self._evaluate(size, inputs)

        strides = tuple(map(known, base.stride()))
        if source.stride() != strides:
            arranged = torch.empty_strided(tuple(source.shape), strides, dtype=source.dtype)
            source = arranged.copy_(source.detach())
        start = known(example.storage_offset()) - known(base.storage_offset())
        return source.as_strided(
            tuple(map(known, example.size())), tuple(map(known, example.stride())),
            source.storage_offset() + start,
        )  # fmt: skip

    def _taken(
        self, inputs: Sequence[Any], sizes: Sequence[Any]
    ) -> tuple[list[Any], tuple[Order, ...]]:
        """Return constants and inputs for weft, and the orders of their axes.

        :param sizes: of the inputs, where variables are sizes; otherwise None.
        """
        constants = self._program.constants
        sizes = (*[None] * len(constants), *sizes)
        taken: list[Any] = []
        orders: list[Order] = []
        for each, size in zip((*constants, *inputs), sizes, strict=True):
            order: Order = None
            if isinstance(each, float):  # a fraction of sizes, which may differ at every call
                each = from_torch_tensor(torch.tensor(each, dtype=torch.float64))
            elif not isinstance(each, torch.Tensor):
                each = each if size is None else size
            elif size is None:
                each, order = _cache.take(each)
            else:
                each, order = take_padded(each, size)
            taken.append(each)
            orders.append(order)
        return taken, tuple(orders)

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
        plan = zip(outputs, self._output_orders, self._are_tensors, strict=True)
        return [_returned(*each) for each in plan]

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


def _storages(nodes: Iterable[Node]) -> dict[int, Node]:
    """Return the first of the nodes for each memory."""
    found: dict[int, Node] = {}
    for node in nodes:
        example = node.meta.get("val")
        if isinstance(example, torch.Tensor):
            found.setdefault(example.untyped_storage()._cdata, node)
    return found


def _dense_results(results: Sequence[Any], inputs: Container[Any]) -> Iterator[Node]:
    """Yield computed results that are all of their memory in row-major order."""
    for each in results:
        example = each.meta.get("val") if isinstance(each, Node) else None
        if isinstance(example, torch.Tensor) and each not in inputs:
            shape, strides = (list(map(hint_of, x)) for x in (example.shape, example.stride()))
            size = hint_of(example.untyped_storage().nbytes())
            if None in (*shape, size) or size != prod(shape) * example.element_size():
                continue
            if strides == [prod(shape[axis + 1 :]) for axis in range(len(shape))]:
                yield each


def _source_of(node: Any, sources: Mapping[int, Node]) -> Node | None:
    """Return the node whose memory a result is a view of; None if it has memory of its own.

    AOTAutograd makes outputs that are views from the memory of what they are views of, with the
    strides that the graph returns: these must be the ones of PyTorch.
    """
    example = node.meta.get("val") if isinstance(node, Node) else None
    if not isinstance(example, torch.Tensor) or example.is_sparse:
        return None
    source = sources.get(example.untyped_storage()._cdata)
    if source is None or source is node:
        return None
    return source if source.meta["val"].dtype == example.dtype else None


def _order_of(node: Node) -> Order:
    """Return the order of axes in memory that PyTorch gives to a result."""
    example = node.meta.get("val")
    if not isinstance(example, torch.Tensor):
        return None
    strides = list(map(hint_of, example.stride()))
    shape = list(map(hint_of, example.shape))
    if None in strides or None in shape:
        return None
    order = memory_order(shape, strides)
    if order is None or 0 in strides:
        return None
    return order


def _returned(value: Any, order: Order, is_tensor: bool) -> Any:
    """Return a tensor of PyTorch, or the number that a symbolic size or its fraction is."""
    if isinstance(value, UOp):
        return evaluate_sint(value, {})
    if not isinstance(value, Tensor):
        return value
    if not is_tensor:
        return value.item()
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
