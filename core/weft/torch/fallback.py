"""Graphs with operators that weft lacks: divided into parts for weft and for eager PyTorch.

Source: PyTorch, `torch.fx.passes.infra.partitioner` (capability-based partitioning).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

from torch import nn
from torch.fx import GraphModule, Node
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.operator_support import OperatorSupportBase

from weft.torch.compiled_graph import CompiledGraph
from weft.torch.errors import UnsupportedOperatorsWarning
from weft.torch.program import branches_of, is_convertible, unsupported
from weft.torch.registry import Converter
from weft.torch.strided_views import bind_strided_views


class _Support(OperatorSupportBase):
    def __init__(self, converters: Mapping[str, Converter]) -> None:
        self._converters = converters

    def is_node_supported(self, submodules: Mapping[str, nn.Module], node: Node) -> bool:
        if node.op != "call_function" or branches_of(node):  # a part takes no graphs as inputs
            return False
        return is_convertible(node, self._converters, traced=True)


class _Compiled(nn.Module):
    """A part that weft computes, as a module of the divided graph."""

    def __init__(self, graph: CompiledGraph) -> None:
        super().__init__()
        self._graph = graph

    def forward(self, *inputs: Any) -> Any:
        return self._graph(*inputs)


def compile_with_fallback(
    graph_module: GraphModule, converters: Mapping[str, Converter]
) -> Callable[..., Any]:
    """Return a callable for a graph. Operators that weft lacks are computed by eager PyTorch.

    They are reported by one warning, `UnsupportedOperatorsWarning`.
    """
    bind_strided_views(graph_module)
    missing = unsupported(graph_module.graph.nodes, converters, traced=True)
    if not missing:
        return CompiledGraph(graph_module, converters)
    warnings.warn(
        f"eager PyTorch computes what weft cannot: {', '.join(missing)}; "
        "weft.torch.register adds converters",
        UnsupportedOperatorsWarning,
        stacklevel=2,
    )
    partitioner = CapabilityBasedPartitioner(
        graph_module, _Support(converters), allows_single_node_partition=False
    )
    divided = partitioner.fuse_partitions(partitioner.propose_partitions())
    for name, part in list(divided.named_children()):
        if isinstance(part, GraphModule) and name.startswith("fused_"):
            divided.add_submodule(name, _Compiled(CompiledGraph(part, converters)))
    return divided
