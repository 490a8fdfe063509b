"""The backend of `torch.compile`: `torch.compile(model, backend="weft")`.

TorchDynamo captures the functions of a model as graphs, AOTAutograd makes their forward and
backward graphs of ATen operators, and weft compiles these. Writes to inputs are outputs of the
graphs, which AOTAutograd copies to where they belong.

Source: PyTorch, "Custom backends" (TorchDynamo).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, cast

from functorch.compile import make_boxed_func  # pyright: ignore[reportPrivateImportUsage]
from torch._decomp import core_aten_decompositions
from torch._dynamo.backends.common import aot_autograd
from torch._dynamo.backends.registry import register_backend
from torch.fx import GraphModule

from weft.base.errors import ArgumentError
from weft.torch.fallback import compile_with_fallback
from weft.torch.operators.resizing import RESIZINGS
from weft.torch.registry import by_name

_KEPT = (
    "_fused_rms_norm", "_scaled_dot_product_flash_attention_for_cpu", "select_scatter",
    "slice_scatter", *RESIZINGS,
)  # fmt: skip
"""Operators with a converter that is better than their decomposition."""


@cache
def decompositions() -> dict[Any, Any]:
    """Return the decompositions to core ATen, except of operators that have good converters."""
    table = cast("dict[Any, Any]", core_aten_decompositions())
    return {op: rule for op, rule in table.items() if op._schema.name not in _kept_names()}


def _kept_names() -> frozenset[str]:
    return frozenset(f"aten::{name}" for name in _KEPT)


def compile_graph(
    graph_module: GraphModule,
    example_inputs: Sequence[Any],
    options: Mapping[str, Any] | None = None,
) -> Callable[..., Any]:
    """Compile a graph of TorchDynamo: the function that `backend="weft"` names.

    :param options: of `torch.compile(options=...)`. "converters": a map from custom operators to
        functions of weft Tensors.
    :raises ArgumentError: for other options.
    """
    given = dict(options or {})
    converters = by_name(given.pop("converters", None))
    if given:
        raise ArgumentError(
            "the backend has no such option",
            asked=f"torch.compile(backend='weft', options={{{', '.join(map(repr, given))}: ...}})",
            try_='options={"converters": {operator: function}}',
        )

    def compile_aten(graph: GraphModule, inputs: Sequence[Any]) -> Callable[..., Any]:
        return make_boxed_func(compile_with_fallback(graph, converters))

    backend = aot_autograd(fw_compiler=compile_aten, decompositions=decompositions())
    return backend(graph_module, example_inputs)


def register() -> None:
    """Register the backend where the entry point of the package is not installed."""
    from torch._dynamo import list_backends

    if "weft" not in list_backends(None):
        register_backend(compiler_fn=compile_graph, name="weft")
