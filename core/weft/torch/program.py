"""A graph of PyTorch as a list of calls of converters.

`Program` reads an `fx.GraphModule` of ATen operators once. A call evaluates it with weft Tensors:
it builds weft's graph, and computes nothing by itself.

Source: PyTorch, `torch.fx.Interpreter`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, cast

import torch
from torch.fx import GraphModule, Node

from weft.base.dtype import DType
from weft.tensor import Tensor
from weft.torch.dtypes import from_torch_dtype, is_supported
from weft.torch.errors import UnsupportedOperators
from weft.torch.exchange import from_torch_tensor
from weft.torch.operators import register_all
from weft.torch.operators.random_numbers import RANDOM
from weft.torch.registry import Converter, converter, find, name_of
from weft.torch.size_functions import function_of_sizes, is_function_of_sizes
from weft.torch.strided_views import bind_strided_views, is_bound

PLACEMENT = frozenset(
    ("device", "layout", "pin_memory", "memory_format", "non_blocking", "implicit", "generator")
)
"""Keyword arguments that converters do not get."""

_CHECKS = frozenset(
    "aten::" + name
    for name in (
        "_assert_scalar", "_assert_tensor_metadata", "_assert_async", "_assert_async.msg",
        "sym_constrain_range", "sym_constrain_range_for_size",
    )
)  # fmt: skip
"""Operators that compute nothing."""

_READS_VALUES = frozenset(("aten::nonzero", "aten::_local_scalar_dense", "aten::item"))
"""Operators that read values of tensors, so that they cannot be traced."""

_COND = "torch.ops.higher_order::cond"


class Value(NamedTuple):
    """The value of a node, in the arguments of a step."""

    place: int
    is_fraction: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """A call of a converter.

    :ivar place: of the result. :ivar dead: places of values that no later step reads.
    :ivar dtypes: of the result; a tuple of them for several results, None where it has none.
    :ivar name: of the operator.
    """

    function: Callable[..., Any]
    args: Any
    kwargs: dict[str, Any]
    place: int
    dtypes: Any
    dead: tuple[int, ...]
    name: str


class Program:
    """A graph of ATen operators that is called with weft Tensors, and returns its outputs.

    :ivar outputs: the nodes that are returned; constants as they are.
    :ivar constants: tensors of the graph module, which are the first inputs of a call.
    :ivar is_random: whether it draws random numbers.
    :raises UnsupportedOperators: if operators have no converter, with all of them.
    """

    def __init__(
        self, graph_module: GraphModule, converters: Mapping[str, Converter] | None = None
    ) -> None:
        register_all()
        bind_strided_views(graph_module)
        check_supported(graph_module, converters)
        self.constants: list[torch.Tensor] = []
        self.is_random = False
        self.outputs: list[Any] = []
        self._converters = converters or {}
        self._steps: list[Step] = []
        nodes = _live_nodes(graph_module)
        inputs = [node for node in nodes if node.op == "placeholder"]
        stored = [node for node in nodes if node.op == "get_attr"]
        self._branches: dict[Node, Branch] = {}
        for node in tuple(stored):
            attribute = _attribute(graph_module, str(node.target))
            if isinstance(attribute, GraphModule):
                stored.remove(node)
                self._branches[node] = branch = Branch(attribute, converters)
                self.is_random |= branch.is_random
        self.constants = [_attribute(graph_module, str(node.target)) for node in stored]
        self._places = {node: place for place, node in enumerate((*stored, *inputs))}
        last_use = {
            used: node
            for node in nodes
            for used in node.all_input_nodes
            if used not in self._branches
        }
        dead: dict[Node, list[int]] = {}
        for node in nodes:
            if node.op == "call_function":
                self._add_step(node)
        for used, user in last_use.items():
            if user.op == "call_function":
                dead.setdefault(user, []).append(self._places[used])
        at = {self._places[node]: tuple(places) for node, places in dead.items()}
        self._steps = [replace(s, dead=at.get(s.place, ())) for s in self._steps]

    def _add_step(self, node: Node) -> None:
        target = node.target
        place = self._places[node] = len(self._places)
        function = find(target, self._converters)
        if name_of(target) in _CHECKS:
            function = _nothing
        elif target is operator.getitem:
            function = operator.getitem
        elif function is None:
            function = function_of_sizes(cast(Callable[..., Any], target), node.meta.get("val"))
        name = name_of(target)
        self.is_random |= name in RANDOM or name.partition(".")[0] in RANDOM
        kwargs = {
            key: self._template(value) for key, value in node.kwargs.items() if key not in PLACEMENT
        }
        kwargs = {"from_" if key == "from" else key: value for key, value in kwargs.items()}
        dtypes = dtypes_of(node.meta.get("val"))
        args = self._template(node.args)
        self._steps.append(Step(function, args, kwargs, place, dtypes, (), name))

    def _template(self, argument: Any) -> Any:
        """Return an argument with values in place of nodes, and dtypes of weft."""
        if isinstance(argument, Node):
            branch = self._branches.get(argument)
            if branch is not None:
                return branch
            is_fraction = isinstance(argument.meta.get("val"), torch.SymFloat)
            return Value(self._places[argument], is_fraction)
        if isinstance(argument, (tuple, list)):
            return tuple(map(self._template, argument))
        if isinstance(argument, slice):
            parts = (argument.start, argument.stop, argument.step)
            return slice(*map(self._template, parts))
        return from_torch_dtype(argument) if isinstance(argument, torch.dtype) else argument

    def __call__(self, inputs: Sequence[Any]) -> list[Any]:
        """Return the outputs for constants and inputs: tensors and sizes, or None."""
        values = [*inputs, *[None] * (len(self._places) - len(inputs))]

        def resolve(argument: Any, dtype: Any = None) -> Any:
            if isinstance(argument, Value):
                value = values[argument.place]
                return _cast(value, dtype) if argument.is_fraction else value
            if isinstance(argument, tuple):
                return [resolve(each, dtype) for each in argument]
            if isinstance(argument, slice):
                return slice(*map(resolve, (argument.start, argument.stop, argument.step)))
            return argument

        for step in self._steps:
            kind = step.dtypes if isinstance(step.dtypes, DType) else None
            args = [resolve(each, kind) for each in step.args]
            kwargs = {key: resolve(each, kind) for key, each in step.kwargs.items()}
            try:
                values[step.place] = _cast(step.function(*args, **kwargs), step.dtypes)
            except Exception as error:
                error.add_note(f"in the operator {step.name}")
                raise
            for place in step.dead:
                values[place] = None
        return [resolve(self._template(each)) for each in self.outputs]

    def set_outputs(self, outputs: Iterable[Any]) -> None:
        """Choose the nodes to return."""
        self.outputs = list(outputs)
        kept = {self._places[each] for each in self.outputs if isinstance(each, Node)}
        self._steps = [
            replace(s, dead=tuple(place for place in s.dead if place not in kept))
            for s in self._steps
        ]


class Branch:
    """A graph inside of a graph: one of the two functions of `torch.cond`."""

    def __init__(
        self, graph_module: GraphModule, converters: Mapping[str, Converter] | None = None
    ) -> None:
        self._program = Program(graph_module, converters)
        output = next(n for n in graph_module.graph.nodes if n.op == "output").args[0]
        self._program.set_outputs(cast(Iterable[Any], output))
        self.is_random = self._program.is_random

    @cached_property
    def _constants(self) -> tuple[Tensor, ...]:
        """Its tensors, taken at the first call: PyTorch compiles without values."""
        return tuple(map(from_torch_tensor, self._program.constants))

    def __call__(self, operands: Sequence[Any]) -> list[Any]:
        """Return the outputs for these operands."""
        return self._program([*self._constants, *operands])


@converter(_COND)
def cond(predicate: Any, on_true: Branch, on_false: Branch, operands: Sequence[Any] = ()) -> Any:
    """Return the results of one of two graphs. Both are computed where a tensor decides."""
    if not isinstance(predicate, Tensor):
        return (on_true if predicate else on_false)(operands)
    pairs = zip(on_true(operands), on_false(operands), strict=True)
    return [predicate.where(yes, no) if isinstance(yes, Tensor) else yes for yes, no in pairs]


def _nothing(*args: Any, **kwargs: Any) -> None:
    """Check nothing: sizes and dtypes are checked when the graph is traced."""


def _live_nodes(graph_module: GraphModule) -> list[Node]:
    nodes = list(graph_module.graph.nodes)
    return [node for node in nodes if node.op != "get_attr" or node.users]


def _attribute(graph_module: GraphModule, path: str) -> Any:
    found: Any = graph_module
    for name in path.split("."):
        found = getattr(found, name)
    return found


def _cast(result: Any, dtypes: Any) -> Any:
    """Cast results to the dtypes that PyTorch gives them."""
    if isinstance(result, Tensor):
        return result if dtypes is None or result.dtype is dtypes else result.cast(dtypes)
    if isinstance(result, (tuple, list)) and isinstance(dtypes, tuple):
        return [_cast(each, dtype) for each, dtype in zip(result, dtypes, strict=True)]
    return result


def dtypes_of(value: Any) -> DType | tuple[Any, ...] | None:
    """Return the dtypes of an example of a value: of a tensor, or of each of several."""
    if isinstance(value, torch.Tensor):
        return from_torch_dtype(value.dtype)
    if isinstance(value, (tuple, list)):
        return tuple(map(dtypes_of, value))
    return None


# ---- what can be converted --------------------------------------------------------------------


def check_supported(
    graph_module: GraphModule, converters: Mapping[str, Converter] | None = None
) -> None:
    """Check that all operators have converters.

    :raises UnsupportedOperators: with the names of all that have none.
    """
    missing = unsupported(graph_module.graph.nodes, converters)
    if missing:
        listed = ", ".join(missing)
        error = UnsupportedOperators(
            f"{len(missing)} operators have no converter: {listed}",
            asked="convert a graph of PyTorch",
            because="weft computes core ATen operators of real numbers",
            try_="converters={torch.ops.mylib.op: function}, or weft.torch.register(...); with "
            'torch.compile(backend="weft") such operators are computed by eager PyTorch',
        )
        error.operators = tuple(missing)
        raise error


def unsupported(
    nodes: Iterable[Node], converters: Mapping[str, Converter] | None = None, traced: bool = False
) -> list[str]:
    """Return the names of operators that cannot be converted, sorted.

    :param traced: whether operators that read values of tensors cannot be converted.
    """
    missing = set()
    for node in nodes:
        if node.op in ("call_module", "call_method"):
            missing.add(f"{node.op}::{node.target}")
        elif node.op == "call_function" and not is_convertible(node, converters, traced):
            inner = {
                name
                for branch in branches_of(node)
                for name in unsupported(branch.graph.nodes, converters, traced)
            }
            missing |= inner or {name_of(node.target)}
    return sorted(missing)


def is_convertible(
    node: Node, converters: Mapping[str, Converter] | None = None, traced: bool = False
) -> bool:
    """Return whether a call can be computed by weft."""
    register_all()
    examples = [node.meta.get("val"), *(used.meta.get("val") for used in node.all_input_nodes)]
    if not all(_has_dtype(example) for example in examples):
        return False
    target, name = node.target, name_of(node.target)
    if not is_bound(node) or (traced and (name in _READS_VALUES or _reads_mask(node, name))):
        return False
    if name == _COND:
        return all(
            is_convertible(inner, converters, traced)
            for branch in branches_of(node)
            for inner in branch.graph.nodes
            if inner.op == "call_function"
        )
    if name in _CHECKS or find(target, converters) is not None:
        return True
    return target is operator.getitem or is_function_of_sizes(target)


def branches_of(node: Node) -> list[GraphModule]:
    """Return the graphs that a node calls: the two of `torch.cond`; none for other operators."""
    if name_of(node.target) != _COND:
        return []
    owner = cast(GraphModule, node.graph.owning_module)
    return [_attribute(owner, str(cast(Node, each).target)) for each in node.args[1:3]]


def _has_dtype(example: Any) -> bool:
    if isinstance(example, (tuple, list)):
        return all(map(_has_dtype, example))
    if not isinstance(example, torch.Tensor):
        return True
    return is_supported(example.dtype) and example.layout is torch.strided


def _reads_mask(node: Node, name: str) -> bool:
    """Return whether the shape of an indexing operator depends on the values of a mask."""
    if name not in ("aten::index.Tensor", "aten::index_put", "aten::_unsafe_index.Tensor"):
        return False
    indices = [each for each in node.args[1] if isinstance(each, Node)]  # type: ignore[union-attr]
    masks = [each for each in indices if each.meta["val"].dtype in (torch.bool, torch.uint8)]
    if name != "aten::index_put" or not masks:
        return bool(masks)
    value = node.args[2]
    assert isinstance(value, Node)
    return len(indices) > 1 or value.meta["val"].numel() != 1
