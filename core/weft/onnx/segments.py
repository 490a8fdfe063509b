"""Traced segments: the nodes of a graph that read no values are replayed by `jit`.

A node whose result shape or control flow depends on the value of a tensor (NonZero, If, Loop)
divides its graph. What needs no such node is one segment: a function of the values that flow in,
traced and replayed. What needs the results of one such node is the next segment, and so on. The
first evaluation with new shapes runs node by node; it shows which nodes read values, and computes
the constants.

Source: PyTorch, TorchDynamo (graph breaks).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from weft.base.errors import CaptureError
from weft.onnx.graph import Graph, ModelGraph, Node, subgraphs
from weft.onnx.interpreter import Interpreter, Scope
from weft.onnx.values import Constants, decode, encode, is_plain, signature
from weft.tensor.jit import Jit

_MOST_SIGNATURES = 256


@dataclass(eq=False)
class Segment:
    """A part of a graph.

    :ivar inputs: names of values that flow in. :ivar outputs: names of values that are used later.
    :ivar run: the traced function; None for one node that is evaluated as it is.
    """

    nodes: tuple[Node, ...]
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    run: Callable[..., Any] | None = None


class SegmentedInterpreter(Interpreter):
    """An interpreter that replays the parts of a graph between nodes that read values."""

    def __init__(self, model: ModelGraph, constants: Constants) -> None:
        super().__init__(model, constants)
        self._read_nodes = model.context.read_nodes
        self._plans: dict[Graph, tuple[int, list[Segment]]] = {}
        self._seen: dict[Graph, set[Any]] = {}
        self._used_inputs: dict[Graph, tuple[str, ...]] = {}
        self._is_traced = False

    def run_whole(self, graph: Graph, values: Mapping[str, Any]) -> list[Any]:
        before = self._is_traced
        self._is_traced = True
        try:
            return super().run_whole(graph, values)
        finally:
            self._is_traced = before

    def evaluate_graph(self, graph: Graph, scope: Scope) -> None:
        if self._is_traced or len(graph.nodes) == 0:
            super().evaluate_graph(graph, scope)
            return
        seen = self._seen.setdefault(graph, set())
        key = self._key(graph, scope)
        if key in seen:
            self._evaluate_segments(graph, scope)
            return
        if len(seen) < _MOST_SIGNATURES:
            seen.add(key)
        super().evaluate_graph(graph, scope)

    def _key(self, graph: Graph, scope: Scope) -> Any:
        names = self._used_inputs.get(graph)
        if names is None:
            used = {name for node in graph.nodes for name in node.used_names}
            used.update(each.name for each in graph.outputs)
            names = tuple(each.name for each in graph.inputs if each.name in used)
            self._used_inputs[graph] = names
        return tuple(signature(scope.values.get(name)) for name in names)

    # ---- plan -----------------------------------------------------------------------------------

    def _plan(self, graph: Graph) -> list[Segment]:
        """Return the segments of a graph. They are divided anew if another node has read values."""
        count, segments = self._plans.get(graph, (-1, []))
        if count != len(self._read_nodes):
            parts = self._parts(graph)
            if parts != [list(segment.nodes) for segment in segments]:
                segments = self._divided(graph, parts)
            self._plans[graph] = (len(self._read_nodes), segments)
        return segments

    def _divided(self, graph: Graph, parts: list[list[Node]]) -> list[Segment]:
        later = {each.name for each in graph.outputs}
        segments = []
        for part in reversed(parts):
            segments.append(self._segment(graph, part, later))
            later.update(name for node in part for name in node.used_names)
        return segments[::-1]

    def _parts(self, graph: Graph) -> list[list[Node]]:
        """Divide the nodes by the number of reading nodes that must run before them.

        The parts of one number are one segment, then its reading nodes one by one.
        """
        level_of: dict[str, int] = {}
        parts: dict[tuple[int, int], list[Node]] = {}
        for place, node in enumerate(graph.nodes):
            level = max((level_of.get(name, 0) for name in node.used_names), default=0)
            reads = self._reads(node)
            parts.setdefault((level, place + 1 if reads else 0), []).append(node)
            level_of.update(dict.fromkeys(node.outputs, level + reads))
        return [parts[key] for key in sorted(parts)]

    def _segment(self, graph: Graph, part: Sequence[Node], later: set[str]) -> Segment:
        if len(part) == 1 and self._reads(part[0]):
            return Segment(tuple(part))
        made = {name for node in part for name in node.outputs if name}
        used = dict.fromkeys(name for node in part for name in node.used_names)
        inputs = tuple(name for name in used if name not in made)
        inputs = tuple(name for name in inputs if name not in graph.initializers)
        outputs = tuple(name for name in dict.fromkeys(made) if name in later)
        return Segment(tuple(part), inputs, outputs, self._traced(part, inputs, outputs, graph))

    def _reads(self, node: Node) -> bool:
        """Whether a node, or one of its subgraphs or its function, reads the value of a tensor."""
        if node in self._read_nodes:
            return True
        graphs = list(subgraphs(node))
        body = self.implementations.of(node).body
        if body is not None:
            graphs.append(body)
        graphs.extend(self.implementations.used_schema_bodies(node))
        return any(self._reads(inner) for graph in graphs for inner in graph.nodes)

    def _traced(
        self, part: Sequence[Node], inputs: Sequence[str], outputs: Sequence[str], graph: Graph
    ) -> Callable[..., Any]:
        """Return the traced function of a part: encoded inputs to encoded outputs."""

        def segment(values: tuple[Any, ...]) -> list[Any]:
            scope = Scope()
            scope.values.update(graph.initializers)
            scope.values.update({name: decode(each) for name, each in zip(inputs, values)})
            self._is_traced, self.is_folding = True, False
            try:
                for node in part:
                    self.evaluate(node, scope)
            finally:
                self._is_traced, self.is_folding = False, True
            return [encode(self.resolved(scope.values[name])) for name in outputs]

        segment.__name__ = segment.__qualname__ = graph.name or "graph"
        return Jit(segment, limit=64, quiet=True)

    # ---- evaluation -----------------------------------------------------------------------------

    def _evaluate_segments(self, graph: Graph, scope: Scope) -> None:
        for segment in self._plan(graph):
            if segment.run is None or not self._replayed(segment, scope):
                for node in segment.nodes:
                    self.evaluate(node, scope)

    def _replayed(self, segment: Segment, scope: Scope) -> bool:
        """Evaluate a segment by its traced function; False if a node has read a value."""
        assert segment.run is not None
        count = len(self._read_nodes)
        values = tuple(encode(self.resolved(scope.get(name))) for name in segment.inputs)
        try:
            results = segment.run(values)
        except CaptureError:
            if len(self._read_nodes) == count:
                raise
            return False
        if all(map(is_plain, results)):
            segment.run = None  # shape arithmetic alone: nothing to replay
        scope.values.update({name: decode(each) for name, each in zip(segment.outputs, results)})
        return True
