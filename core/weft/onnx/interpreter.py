"""The interpreter: calls the operators of a graph in the order of evaluation.

in:  a `ModelGraph` and the values of its inputs      out: the values of its outputs

A node whose inputs are all on the host is computed by NumPy where `registry.py` has such an
operator (shape arithmetic). Otherwise arrays become tensors. An operator without a function is
replaced by a function of the model, or by the function body of its schema.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weft.base.errors import WeftError
from weft.base.interrupts import let_through
from weft.engine.capture import recording
from weft.onnx import symbolic_sizes
from weft.onnx.errors import OnnxError
from weft.onnx.graph import Graph, Initializer, ModelGraph, Node
from weft.onnx.implementations import Implementation, Implementations
from weft.onnx.registry import Operator
from weft.onnx.values import Constants
from weft.tensor import Tensor

DEEPEST = 48
"""Levels of subgraphs and functions that may be nested."""

_RANDOM = frozenset({"Bernoulli", "Multinomial", "Dropout"})


class Scope:
    """The values of a graph by name; names that are not there are those of the outer graph."""

    __slots__ = ("outer", "values")

    def __init__(self, outer: Scope | None = None) -> None:
        self.values: dict[str, Any] = {}
        self.outer = outer

    def get(self, name: str) -> Any:
        """Return a value."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.values:
                return scope.values[name]
            scope = scope.outer
        raise KeyError(name)


@dataclass(eq=False)
class BoundGraph:
    """A subgraph with the values around it: the `Body` that an operator receives."""

    interpreter: Interpreter
    graph: Graph
    scope: Scope

    def __call__(self, *inputs: Any) -> list[Any]:
        return self.interpreter.run(self.graph, inputs, self.scope)


class Interpreter:
    """Evaluates the graphs of one model.

    :ivar constants: the constants of the model on its device.
    :ivar is_folding: whether nodes that depend on constants alone are computed once.
    :ivar keeps_sizes: whether nodes that take the value of a symbolic size are refused.
    """

    def __init__(self, model: ModelGraph, constants: Constants) -> None:
        self.model = model
        self.constants = constants
        self.implementations = Implementations(model)
        context = model.context
        context.device = constants.device
        context.to_tensor = constants.to_tensor
        context.to_host = constants.to_host
        self.is_folding = True
        self.keeps_sizes = False
        self._folded: dict[Node, Sequence[Any]] = {}
        self._depth = 0
        self._prepared: set[Graph] = set()
        self._last_uses: dict[Graph, list[tuple[str, ...]]] = {}

    def run(self, graph: Graph, inputs: Sequence[Any], outer: Scope | None = None) -> list[Any]:
        """Return the outputs of a graph for its inputs, in the order of the graph."""
        scope = self.scope_of(graph, inputs, outer)
        self._prepare(graph)
        self._depth += 1
        try:
            if self._depth > DEEPEST:
                raise OnnxError(
                    "the graphs of this model are nested too deep",
                    asked=f"evaluate the graph {graph.name!r}",
                    because=f"more than {DEEPEST} graphs and functions are nested",
                    try_="inline the functions of the model",
                )
            self.evaluate_graph(graph, scope)
            return [self.resolved(scope.get(each.name)) for each in graph.outputs]
        finally:
            self._depth -= 1

    def _prepare(self, graph: Graph) -> None:
        """Make the constants that the nodes of a graph use, before its first evaluation."""
        if graph not in self._prepared:
            self._prepared.add(graph)
            used = dict.fromkeys(name for node in graph.nodes for name in node.inputs)
            constants = graph.initializers
            self.constants.prepare(constants[name] for name in used if name in constants)

    def run_main(self, graph: Graph, values: Mapping[str, Any]) -> list[Any]:
        """Return the outputs of the main graph for inputs by name. Inputs with a default may be
        left out."""
        constants = graph.initializers
        inputs = [
            values[each.name] if each.name in values else constants.get(each.name)
            for each in graph.inputs
        ]
        return self.run(graph, inputs)

    def run_whole(self, graph: Graph, values: Mapping[str, Any]) -> list[Any]:
        """Return the outputs of the main graph, evaluated node by node."""
        return self.run_main(graph, values)

    def scope_of(self, graph: Graph, inputs: Sequence[Any], outer: Scope | None) -> Scope:
        """Return a scope with the inputs and constants of a graph."""
        if len(inputs) > len(graph.inputs):
            raise OnnxError(
                f"the graph {graph.name!r} has {len(graph.inputs)} inputs",
                asked=f"evaluate it with {len(inputs)} inputs",
                because="the numbers differ",
                try_="check the node that contains the graph",
            )
        scope = Scope(outer)
        scope.values.update(graph.initializers)
        scope.values.update({each.name: value for each, value in zip(graph.inputs, inputs)})
        return scope

    def evaluate_graph(self, graph: Graph, scope: Scope) -> None:
        """Evaluate all nodes. Values are dropped after their last use."""
        for node, unused in zip(graph.nodes, self._unused_after(graph)):
            self.evaluate(node, scope)
            for name in unused:
                scope.values.pop(name, None)

    def _unused_after(self, graph: Graph) -> list[tuple[str, ...]]:
        """Return for each node the values that are not used after it."""
        found = self._last_uses.get(graph)
        if found is None:
            seen = {each.name for each in graph.outputs}
            found = []
            for node in reversed(graph.nodes):
                names = dict.fromkeys([*node.used_names, *filter(None, node.outputs)])
                found.append(tuple(name for name in names if name not in seen))
                seen.update(names)
            found.reverse()
            self._last_uses[graph] = found
        return found

    # ---- nodes ----------------------------------------------------------------------------------

    def evaluate(self, node: Node, scope: Scope) -> None:
        """Evaluate a node, and store its outputs in the scope.

        :raises OnnxError: if the operator cannot be run; a WeftError of the operation gets a note.
        """
        values = [scope.get(name) if name else None for name in node.inputs]
        folded = self._folded.get(node)
        try:
            results = folded or self._results(node, values, scope)
            if folded is None and self.is_folding and _is_constant(node, values):
                results = self._fold(node, results)
        except OnnxError:
            raise
        except WeftError as error:
            if not getattr(error, "__notes__", None):
                error.add_note(f"in {node}")
            raise
        except Exception as error:
            let_through(error)
            why = f"{type(error).__name__}: {error}"[:500]
            raise node.refuse(why, "check the types and shapes of its inputs") from error
        if self.keeps_sizes and (under_way := recording()) is not None and under_way.read:
            raise node.refuse("it takes the value of a symbolic size", "one program for each size")
        if len(results) < len(node.outputs):
            raise node.refuse(
                f"it has {len(node.outputs)} outputs, and {len(results)} are computed",
                "leave out the last outputs of the node",
            )
        for name, value in zip(node.outputs, results):
            if name:
                scope.values[name] = value

    def _fold(self, node: Node, results: Sequence[Any]) -> Sequence[Any]:
        """Compute results that depend on constants alone. They are constants from now on."""
        if not all(isinstance(each, Tensor) for each in results):
            return results
        made = [self.constants.folded(node.op, each) for each in results]
        if None in made:
            return results
        self._folded[node] = made
        return made

    def _results(self, node: Node, values: list[Any], scope: Scope) -> Sequence[Any]:
        found = self.implementations.of(node)
        if found.body is not None:
            return self.run(found.body, [self.resolved(each) for each in values])
        attributes = node.attributes
        if found.has_subgraphs:
            attributes = {name: self._bound(each, scope) for name, each in attributes.items()}
        if found.host is not None and (arrays := self._all_on_host(values)) is not None:
            if any(map(symbolic_sizes.is_symbolic, arrays)):
                result = symbolic_sizes.compute(node, found.host.function, arrays, attributes)
                if result is not NotImplemented:
                    return [np.asarray(each) for each in _as_tuple(result)]
                arrays = [None if each is None else node.concrete(each) for each in arrays]
            result = _call(found.host, node, arrays, attributes)
            if result is not NotImplemented:
                return [np.asarray(each) for each in _as_tuple(result)]  # NumPy may give scalars
        if found.operator is None:
            return self._by_schema(node, found, values, scope)
        return _as_tuple(_call(found.operator, node, self._promoted(found.operator, node, values),
                               attributes))  # fmt: skip

    def _by_schema(
        self, node: Node, found: Implementation, values: list[Any], scope: Scope
    ) -> Sequence[Any]:
        """Evaluate the function body of an operator's schema."""
        inputs = [self.resolved(each) for each in values]
        graph = self.implementations.schema_body(node, inputs)
        if graph is None:
            raise node.refuse(
                "it is computed on the host only, and an input is a tensor"
                if found.host is not None
                else "no function computes it for these types",
                f'weft.onnx.register("{node.domain}", "{node.op}")',
            )
        return self.run(graph, inputs)

    def _bound(self, value: Any, scope: Scope) -> Any:
        if isinstance(value, Graph):
            return BoundGraph(self, value, scope)
        if isinstance(value, list):
            return [self._bound(each, scope) for each in value]
        return value

    # ---- values ---------------------------------------------------------------------------------

    def resolved(self, value: Any) -> Any:
        """Return a constant as an array if it is one on the host, else as a tensor."""
        if isinstance(value, Initializer):
            constants = self.constants
            on_host = constants.is_on_host(value)
            return constants.array(value) if on_host else constants.tensor(value)
        return value

    def _all_on_host(self, values: list[Any]) -> list[Any] | None:
        """Return the inputs as arrays; None if one is on a device."""
        arrays = []
        for value in values:
            if isinstance(value, Initializer):
                if not self.constants.is_on_host(value):
                    return None
                value = self.constants.array(value)
            if not (value is None or isinstance(value, np.ndarray)):
                return None
            arrays.append(value)
        return arrays

    def _promoted(self, operator: Operator, node: Node, values: list[Any]) -> list[Any]:
        """Return the inputs as tensors, and the operator's `host_inputs` as arrays."""
        promoted = []
        for place, value in enumerate(values):
            name = operator.inputs[place] if place < len(operator.inputs) else ""
            on_host = name in operator.host_inputs
            if isinstance(value, Initializer):
                constants = self.constants
                value = constants.array(value) if on_host else constants.tensor(value)
            elif on_host:
                if value is not None and not _stays_symbolic(node, value):
                    value = node.host(value)
            elif isinstance(value, list):
                value = [node.tensor(each) for each in value]
            else:
                value = node.tensor(value)
            promoted.append(value)
        return promoted


def _call(operator: Operator, node: Node, values: list[Any], attributes: dict[str, Any]) -> Any:
    """Call an operator's function, after a comparison of its signature with the node."""
    known = operator.attributes
    if not operator.any_attribute:
        for name in attributes:
            if name not in known:
                raise node.refuse(
                    f"the attribute {name!r} is not supported for opset {node.opset}",
                    "convert the model with onnx.version_converter"
                    if not known
                    else f"attributes: {', '.join(sorted(known))}",
                )
    for name in operator.required:
        if name not in attributes:
            raise node.refuse(f"the attribute {name!r} is missing", "export the model again")
    if len(values) > len(operator.inputs) and not operator.variadic:
        given = len(values)
        while given > len(operator.inputs) and values[given - 1] is None:
            given -= 1
        if given > len(operator.inputs):
            raise node.refuse(
                f"it has {given} inputs, and {len(operator.inputs)} are possible",
                "export the model again",
            )
        values = values[:given]
    if len(values) < operator.needs_inputs:
        name = operator.inputs[len(values)]
        raise node.refuse(f"the input {name!r} is missing", "export the model again")
    return operator.function(node, *values, **attributes)


def _stays_symbolic(node: Node, value: Any) -> bool:
    """Whether an input on the host has symbolic sizes, which the operator takes."""
    return node.op in symbolic_sizes.TAKES_SIZES and symbolic_sizes.is_symbolic(value)


def _is_constant(node: Node, values: Sequence[Any]) -> bool:
    """Whether a node gives the same result at each call: it has constants and nothing else."""
    is_random = node.op.startswith("Random") or node.op in _RANDOM
    given = [each for each in values if each is not None]
    return bool(given) and not is_random and all(isinstance(each, Initializer) for each in given)


def _as_tuple(result: Any) -> Sequence[Any]:
    return result if isinstance(result, tuple) else (result,)
