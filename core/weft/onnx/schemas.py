"""Function bodies of operators, from the schemas of the package `onnx`.

An operator that is not registered is computed by the function that its schema gives. Some bodies
depend on the attributes and on the types of the inputs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.base.interrupts import let_through
from weft.onnx.external_data import ExternalData
from weft.onnx.graph import ELEMENT_TYPES, Function, ModelGraph, Node
from weft.onnx.protobuf import Parser, import_onnx
from weft.onnx.small_types import Coded, dtype_name
from weft.tensor import Tensor

_NUMBERS = {name: number for number, name in ELEMENT_TYPES.items()}


class Schemas:
    """The schemas of the installed package `onnx`."""

    def __init__(self, model: ModelGraph) -> None:
        self._onnx = import_onnx()
        self._context = model.context
        self._opsets = {"": self._onnx.defs.onnx_opset_version()} | model.opsets
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
        defaults = [each.default_value for each in schema.attributes.values()]
        names = {each.name for each in proto.attribute_proto}
        proto.attribute_proto.extend(
            each for each in defaults if each.type and each.name not in names
        )
        parser = Parser(self._onnx, ExternalData(None, node.op), node.op, self._context)
        return parser.function(proto, self._opsets | {node.domain: node.opset})

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
        if node.message is None:
            raise node.refuse(
                "its function body depends on a message that is not there", "load a file"
            )
        return node.message.SerializeToString()

    def _type_proto(self, kind: Any) -> bytes:
        if kind is None:
            return b""
        number = _NUMBERS.get(kind[0], 1)
        shape = [None] * kind[1]
        return self._onnx.helper.make_tensor_type_proto(number, shape).SerializeToString()
