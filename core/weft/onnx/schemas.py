"""Function bodies of operators, from the schemas of the package `onnx`.

An operator that is not registered is computed by the function that its schema gives. Some bodies
depend on the attributes and on the types of the inputs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.base.interrupts import let_through
from weft.onnx.errors import OnnxError
from weft.onnx.external_data import ExternalData
from weft.onnx.graph import ELEMENT_TYPES, Context, Function, Graph, Node
from weft.onnx.protobuf import Parser, import_onnx
from weft.onnx.small_types import Coded, dtype_name
from weft.tensor import Tensor

_NUMBERS = {name: number for number, name in ELEMENT_TYPES.items()}


class Schemas:
    """The schemas of the installed package `onnx`."""

    def __init__(self, context: Context) -> None:
        self._onnx = import_onnx()
        self._context = context
        self._known: dict[tuple[str, str, int], Any] = {}

    def has_body(self, node: Node) -> bool:
        """Whether the schema of a node's operator has a function body."""
        schema = self._schema(node)
        if schema is None:
            return False
        return bool(schema.has_function or schema.has_context_dependent_function)

    def body(self, node: Node, types: tuple[Any, ...]) -> Function | None:
        """Return the function body for inputs of these types; None if there is none."""
        schema = self._schema(node)
        if schema is None:
            return None
        proto = self._onnx.FunctionProto()
        if schema.has_function:
            proto.CopyFrom(schema.function_body)
        elif schema.has_context_dependent_function:
            inputs = [self._type_proto(each) for each in types]
            text = schema.get_context_dependent_function(self._node_proto(node), inputs)
            proto.ParseFromString(text)
        else:
            return None
        parser = Parser(self._onnx, ExternalData(None, node.op), node.op, self._context)
        return parser.function(proto, {node.domain: node.opset})

    def type_of(self, value: Any) -> Any:
        """Return element type and rank of a value, which a body may depend on."""
        if isinstance(value, Tensor | Coded):
            return (dtype_name(value), len(value.shape))
        if isinstance(value, np.ndarray):
            return (value.dtype.name if value.dtype != object else "string", value.ndim)
        return None

    def _schema(self, node: Node) -> Any:
        key = (node.domain, node.op, node.opset)
        if key not in self._known:
            try:
                self._known[key] = self._onnx.defs.get_schema(node.op, node.opset, node.domain)
            except Exception as error:  # a SchemaError of the installed version
                let_through(error)
                self._known[key] = None
        return self._known[key]

    def _node_proto(self, node: Node) -> bytes:
        """Return the message of a node, serialized."""
        if any(isinstance(each, Graph) for each in node.attributes.values()):
            raise OnnxError(f"{node.op} has subgraphs", asked=str(node))
        helper, numpy_helper = self._onnx.helper, self._onnx.numpy_helper
        attributes = {
            name: numpy_helper.from_array(each) if isinstance(each, np.ndarray) else each
            for name, each in node.attributes.items()
        }
        made = helper.make_node(
            node.op, list(node.inputs), list(node.outputs), domain=node.domain, **attributes
        )
        return made.SerializeToString()

    def _type_proto(self, kind: Any) -> bytes:
        if kind is None:
            return b""
        number = _NUMBERS.get(kind[0], 1)
        shape = [None] * kind[1]
        return self._onnx.helper.make_tensor_type_proto(number, shape).SerializeToString()
