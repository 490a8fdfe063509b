"""The model as dataclasses: graphs, nodes, values, functions.

`protobuf.py` makes them from a file. Nothing here depends on the package `onnx`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from weft.base.arguments import kind_of
from weft.onnx.errors import OnnxError
from weft.tensor import Tensor
from weft.uop import UOp

ELEMENT_TYPES = {
    1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64",
    8: "string", 9: "bool", 10: "float16", 11: "float64", 12: "uint32", 13: "uint64",
    14: "complex64", 15: "complex128", 16: "bfloat16", 17: "float8e4m3fn", 18: "float8e4m3fnuz",
    19: "float8e5m2", 20: "float8e5m2fnuz", 21: "uint4", 22: "int4", 23: "float4e2m1",
    24: "float8e8m0", 25: "uint2", 26: "int2", 27: "float6e2m3", 28: "float6e3m2",
}  # fmt: skip
"""Name of each element type by its number in `TensorProto.DataType`."""

Size = int | str | None
"""Size of an axis: a number, the name of a symbolic size, or None where nothing is declared."""


@dataclass(frozen=True)
class ValueType:
    """The type of a value: a tensor, a sequence of values, or an optional value.

    :ivar kind: "tensor", "sequence", "optional", or "unknown" where nothing is declared.
    :ivar dtype: name of the element type; "" where nothing is declared.
    :ivar shape: sizes of the axes; None if the rank is unknown.
    :ivar element: the type of the elements of a sequence, or of the value of an optional.
    """

    kind: str = "unknown"
    dtype: str = ""
    shape: tuple[Size, ...] | None = None
    element: ValueType | None = None

    def __str__(self) -> str:
        if self.kind == "tensor":
            if self.shape is None:
                return f"{self.dtype}[...]"
            return f"{self.dtype}[{', '.join('?' if s is None else str(s) for s in self.shape)}]"
        return self.kind if self.element is None else f"{self.kind}({self.element})"


@dataclass(frozen=True)
class ValueInfo:
    """Name and type of an input or an output."""

    name: str
    type: ValueType

    @property
    def dtype(self) -> str:
        """Name of the element type."""
        return self.type.dtype

    @property
    def shape(self) -> tuple[Size, ...] | None:
        """Sizes of the axes; None if the rank is unknown."""
        return self.type.shape

    def __str__(self) -> str:
        return f"{self.name}: {self.type}"


def _to_host(value: Any) -> tuple[np.ndarray | None, bool]:
    return (np.asarray(value.numpy()), True) if isinstance(value, Tensor) else (None, False)


@dataclass(eq=False)
class Context:
    """What all nodes of one loaded model share.

    :ivar device: where constants become tensors; None: the default device.
    :ivar to_tensor: gives the tensor (or coded tensor) of an array on the host.
    :ivar to_host: gives the array of a tensor or of a coded tensor (None for other values), and
        whether it was read from the device.
    :ivar size_readers: nodes that have taken the value of a symbolic size.
    :ivar read_nodes: nodes that have read the value of a tensor on the host. They divide the graph
        into traced segments.
    """

    device: str | None = None
    to_tensor: Callable[[np.ndarray], Any] = Tensor
    to_host: Callable[[Any], tuple[np.ndarray | None, bool]] = _to_host
    read_nodes: set[Node] = field(default_factory=set)
    size_readers: dict[Node, None] = field(default_factory=dict)


@dataclass(eq=False)
class Node:
    """One application of an operator. Operators receive it as their first argument.

    :ivar op: name of the operator. :ivar domain: its domain; "" is the default one.
    :ivar opset: version of the domain that the model, or the function around the node, imports.
    :ivar inputs: names of values; "" for an optional input that is missing.
    :ivar outputs: names of values; "" for an output that is not used.
    :ivar attributes: Python values by name; a subgraph is a `Graph`.
    :ivar references: for nodes of functions: name of an attribute -> the function's attribute that
        gives its value.
    :ivar message: the message of the file; a function body of a schema may depend on it.
    """

    op: str
    domain: str = ""
    name: str = ""
    opset: int = 1
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    attributes: dict[str, Any] = field(default_factory=dict)
    references: dict[str, str] = field(default_factory=dict)
    context: Context = field(default_factory=Context)
    message: Any = None

    def host(self, value: Any) -> np.ndarray:
        """Return the value of an input as a NumPy array. A tensor is computed and copied.

        :raises OnnxError: if the value is no tensor.
        """
        if isinstance(value, np.ndarray | np.generic):
            return self.concrete(np.asarray(value))
        found, is_read = self.context.to_host(value)
        if is_read:
            self.context.read_nodes.add(self)
        if found is not None:
            return found
        raise self.refuse(
            f"an input is {kind_of(value)}, and a tensor is needed",
            "check the types of the values that the model passes to this node",
        )

    def concrete(self, array: np.ndarray) -> np.ndarray:
        """Return an array whose symbolic sizes are replaced by their present values."""
        if array.dtype != object or not any(isinstance(each, UOp) for each in array.flat):
            return array
        self.context.size_readers.setdefault(self)
        return np.asarray([int(each) for each in array.flat], np.int64).reshape(array.shape)

    def sizes(self, value: Any) -> tuple[Any, ...]:
        """Return the value of an input as sizes of a shape: ints, and expressions of variables.

        :raises OnnxError: if the elements are no integers.
        """
        if isinstance(value, np.ndarray) and value.dtype == object:
            return tuple(each if isinstance(each, UOp) else int(each) for each in value.flat)
        return self.ints(value)

    def ints(self, value: Any) -> tuple[int, ...]:
        """Return the value of an input as a tuple of ints: a shape, axes, or one number.

        :raises OnnxError: if the elements are no integers.
        """
        array = self.host(value)
        if array.dtype.kind not in "iub":
            raise self.refuse(
                f"an input has the dtype {array.dtype}, and integers are needed",
                "store shapes and axes as int64 in the model",
            )
        return tuple(int(each) for each in array.reshape(-1))

    def tensor(self, value: Any) -> Any:
        """Return the value as a tensor: an array on the host becomes one on the model's device."""
        if not isinstance(value, np.ndarray | np.generic):
            return value
        return self.context.to_tensor(self.concrete(np.asarray(value)))

    def refuse(self, because: str, try_: str) -> OnnxError:
        """Return the error that says why this node cannot be run. Use: `raise node.refuse(...)`."""
        return OnnxError(f"{self.op} cannot be run", asked=str(self), because=because, try_=try_)

    @cached_property
    def used_names(self) -> tuple[str, ...]:
        """Names of the values that the node needs: its inputs, and what its subgraphs capture."""
        found = [name for name in self.inputs if name]
        for graph in subgraphs(self):
            found.extend(graph.captured_names)
        return tuple(dict.fromkeys(found))

    @property
    def operator(self) -> str:
        """Domain and name of the operator: "Conv", "com.example.Op"."""
        return f"{self.domain}.{self.op}" if self.domain else self.op

    def __str__(self) -> str:
        name = f" {self.name!r}" if self.name else ""
        outputs = ", ".join(filter(None, self.outputs))
        return f"node{name}: {outputs} = {self.operator}({', '.join(self.inputs)})"


@dataclass(eq=False)
class Graph:
    """Nodes in the order of evaluation, with inputs, outputs and constants.

    :ivar initializers: functions that read a constant as a NumPy array, by name. Nothing is read
        before the first call.
    """

    name: str = ""
    nodes: tuple[Node, ...] = ()
    inputs: tuple[ValueInfo, ...] = ()
    outputs: tuple[ValueInfo, ...] = ()
    initializers: dict[str, Initializer] = field(default_factory=dict)

    @cached_property
    def captured_names(self) -> tuple[str, ...]:
        """Names of the values that a subgraph takes from outer graphs."""
        own = {each.name for each in self.inputs} | set(self.initializers)
        own.update(name for node in self.nodes for name in node.outputs)
        found = [name for node in self.nodes for name in node.used_names if name not in own]
        found.extend(each.name for each in self.outputs if each.name not in own)
        return tuple(dict.fromkeys(found))


@dataclass(eq=False)
class Initializer:
    """A constant of a graph that is read when it is used.

    :ivar dtype: name of the element type. :ivar shape: sizes of the axes.
    :ivar read: returns the values as a NumPy array.
    :ivar tensor: returns the values as a lazy tensor of a file; None if they lie in memory.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    read: Callable[[], np.ndarray]
    tensor: Callable[[], Tensor] | None = None

    @property
    def size(self) -> int:
        """Number of elements."""
        count = 1
        for size in self.shape:
            count *= size
        return count


@dataclass(eq=False)
class Function:
    """A function of the model, or the body that an operator's schema gives.

    :ivar attributes: names of attributes without a default; `defaults` holds the others.
    """

    domain: str
    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: tuple[str, ...] = ()
    defaults: dict[str, Any] = field(default_factory=dict)
    nodes: tuple[Node, ...] = ()
    opsets: dict[str, int] = field(default_factory=dict)


@dataclass(eq=False)
class ModelGraph:
    """A parsed model: the main graph, the imported opsets and the functions by domain and name.

    :ivar files: the files with external data, as paths in the folder of the model.
    """

    graph: Graph
    opsets: dict[str, int]
    functions: dict[tuple[str, str], Function] = field(default_factory=dict)
    metadata: dict[str, str] = field(default_factory=dict)
    context: Context = field(default_factory=Context)
    files: tuple[str, ...] = ()


class Body(Protocol):
    """A subgraph as an operator receives it: `body(*inputs)` returns the list of its outputs."""

    graph: Graph

    def __call__(self, *inputs: Any) -> list[Any]:
        """Evaluate the subgraph."""
        ...


def subgraphs(node: Node) -> Sequence[Graph]:
    """Return the graphs among the attributes of a node."""
    found: list[Graph] = []
    for value in node.attributes.values():
        if isinstance(value, Graph):
            found.append(value)
        elif isinstance(value, list):
            found.extend(each for each in value if isinstance(each, Graph))
    return found
