"""Look-up: what computes each node of a model. All missing operators are reported at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from weft.onnx import host_movement, host_operators, registry  # noqa: F401
from weft.onnx.errors import OnnxError, UnsupportedOperators
from weft.onnx.graph import Function, Graph, ModelGraph, Node, ValueInfo, ValueType, subgraphs
from weft.onnx.operators import register_all
from weft.onnx.schemas import Schemas


@dataclass(frozen=True)
class Implementation:
    """What computes a node.

    :ivar operator: the function of tensors. :ivar host: the function of arrays.
    :ivar body: the graph of a function of the model.
    :ivar is_in_schema: whether the operator's schema has a function body.
    """

    operator: registry.Operator | None = None
    host: registry.Operator | None = None
    body: Graph | None = None
    is_in_schema: bool = False
    has_subgraphs: bool = False

    @property
    def is_there(self) -> bool:
        """Whether anything computes the node."""
        return bool(self.operator or self.host or self.body is not None or self.is_in_schema)


class Implementations:
    """The implementations of the nodes of one model.

    :ivar has_custom: whether a custom operator computes any of them.
    :raises UnsupportedOperators: if some operators have none, with a list of all of them.
    :raises OnnxError: if functions of the model call each other in a circle.
    """

    def __init__(self, model: ModelGraph) -> None:
        register_all()
        self.has_custom = False
        self._functions = model.functions
        self._found: dict[Node, Implementation] = {}
        self._schemas = Schemas(model)
        self._schema_bodies: dict[Any, Graph | None] = {}
        self._missing: dict[tuple[str, str, int], Node] = {}
        self._open: list[tuple[str, str]] = []
        self._check_graph(model.graph)
        if self._missing:
            raise _unsupported(self._missing)

    def of(self, node: Node) -> Implementation:
        """Return what computes a node."""
        found = self._found.get(node)
        if found is None:
            found = self._found[node] = self._find(node)
        return found

    def schema_body(self, node: Node, inputs: list[Any]) -> Graph | None:
        """Return the graph of a schema's function body for a node with these inputs."""
        types = tuple(self._schemas.type_of(each) for each in inputs)
        key = (node, types)
        if key not in self._schema_bodies:
            function = self._schemas.body(node, types)
            graph = None
            if function is not None:
                graph = instantiate(function, node)
                self._check_graph(graph)
                if self._missing:
                    raise _unsupported(self._missing)
            self._schema_bodies[key] = graph
        return self._schema_bodies[key]

    def used_schema_bodies(self, node: Node) -> list[Graph]:
        """Return the graphs that `schema_body` has returned for a node."""
        found = self._schema_bodies.items()
        return [graph for (each, _), graph in found if each is node and graph is not None]

    def _find(self, node: Node) -> Implementation:
        key = (node.domain, node.op)
        function = self._functions.get(key)
        if function is not None:
            return Implementation(body=instantiate(function, node))
        self.has_custom |= key in registry.custom()
        return Implementation(
            registry.find(node.domain, node.op, node.opset),
            registry.find_host(node.domain, node.op, node.opset),
            None,
            self._schemas.has_body(node),
            bool(subgraphs(node)),
        )

    # ---- check ----------------------------------------------------------------------------------

    def _check_graph(self, graph: Graph) -> None:
        for node in graph.nodes:
            found = self.of_checked(node)
            if not found.is_there:
                self._missing.setdefault((node.domain, node.op, node.opset), node)
            for inner in subgraphs(node):
                self._check_graph(inner)

    def of_checked(self, node: Node) -> Implementation:
        """Return what computes a node, after a check of the functions that it calls."""
        key = (node.domain, node.op)
        if key not in self._functions:
            return self.of(node)
        if key in self._open:
            raise OnnxError(
                "a function of this model calls itself",
                asked=str(node),
                because=" calls ".join(name for _, name in [*self._open, key]),
                try_="replace the recursion by a Loop",
            )
        self._open.append(key)
        found = self.of(node)
        if found.body is not None:
            self._check_graph(found.body)
        self._open.pop()
        return found


def instantiate(function: Function, node: Node) -> Graph:
    """Return the graph of a function with the attributes of a node that calls it."""
    given = dict(function.defaults) | node.attributes
    nodes = tuple(_with_attributes(each, given) for each in function.nodes)
    unknown = ValueType()
    count = len(node.outputs)
    return Graph(
        function.name,
        nodes,
        tuple(ValueInfo(name, unknown) for name in function.inputs),
        tuple(ValueInfo(name, unknown) for name in function.outputs[:count]),
    )


def _with_attributes(node: Node, given: Mapping[str, Any]) -> Node:
    """Return a copy of a node of a function, with references replaced by values."""
    attributes = {
        name: _graph_with_attributes(each, given) for name, each in node.attributes.items()
    }
    for name, reference in node.references.items():
        if reference in given:
            attributes[name] = given[reference]
    return replace(node, attributes=attributes, references={})


def _graph_with_attributes(value: Any, given: Mapping[str, Any]) -> Any:
    if not isinstance(value, Graph):
        return value
    return replace(value, nodes=tuple(_with_attributes(each, given) for each in value.nodes))


def _unsupported(missing: Mapping[tuple[str, str, int], Node]) -> UnsupportedOperators:
    lines = list(_lines(missing))
    error = UnsupportedOperators(
        f"{len(missing)} operators of this model are not supported"
        if len(missing) > 1
        else "an operator of this model is not supported",
        asked="\n".join(lines),
        because="no function is registered for them, and their schemas have no function body",
        try_='@weft.onnx.register("domain", "Operator") def function(node, x, *, attribute=0): ...',
    )
    error.operators = tuple(
        (domain, name, opset, node.name) for (domain, name, opset), node in missing.items()
    )
    return error


def _lines(missing: Mapping[tuple[str, str, int], Node]) -> Iterator[str]:
    for (domain, name, opset), node in missing.items():
        known = registry.versions(domain, name)
        newer = f" (supported from opset {known[0]})" if known else ""
        yield f"{domain or 'ai.onnx'}.{name}, opset {opset}{newer}: {node}"
