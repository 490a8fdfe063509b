"""Parsing: a model file, its bytes or a parsed protobuf becomes the dataclasses of `graph.py`.

in:  a path, bytes, or `onnx.ModelProto`      out: `ModelFile`, and of it `ModelGraph`

The package `onnx` parses; only this module and `external_data.py` see its classes. Everything that
the file claims is checked before it is used: sizes of constants against the bytes that are there,
names against definitions, opsets against those that are known. Constants are read when they are
used.

Source: the ONNX specification, "Open Neural Network Exchange Intermediate Representation".
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from weft.base.arguments import kind_of
from weft.base.errors import DeviceError, FileError
from weft.base.interrupts import let_through
from weft.base.regular_file import check_regular
from weft.base.sequences import prod
from weft.onnx.errors import ModelFormatError, OnnxError
from weft.onnx.external_data import ExternalData
from weft.onnx.graph import (
    ELEMENT_TYPES,
    Context,
    Function,
    Graph,
    Initializer,
    ModelGraph,
    Node,
    ValueInfo,
    ValueType,
)
from weft.onnx.order import in_order_of_evaluation
from weft.onnx.registry import canonical

MOST_AXES = 64
_MOST_SPARSE = 1 << 26
_BITS = {"uint4": 4, "int4": 4, "float4e2m1": 4, "uint2": 2, "int2": 2}
_BYTES = {
    "float32": 4, "uint8": 1, "int8": 1, "uint16": 2, "int16": 2, "int32": 4, "int64": 8,
    "bool": 1, "float16": 2, "float64": 8, "uint32": 4, "uint64": 8, "complex64": 8,
    "complex128": 16, "bfloat16": 2, "float8e4m3fn": 1, "float8e4m3fnuz": 1, "float8e5m2": 1,
    "float8e5m2fnuz": 1, "float8e8m0": 1,
}  # fmt: skip
_FIELDS = {
    "float32": ("float_data", 1), "complex64": ("float_data", 2), "float64": ("double_data", 1),
    "complex128": ("double_data", 2), "int64": ("int64_data", 1), "uint64": ("uint64_data", 1),
    "uint32": ("uint64_data", 1), "string": ("string_data", 1),
}  # fmt: skip

Source = str | os.PathLike[str] | bytes | bytearray | memoryview | Any


def import_onnx() -> Any:
    """Import the package `onnx`. :raises OnnxError: if it is not installed."""
    try:
        import onnx
    except ImportError as error:
        raise OnnxError(
            "ONNX models are parsed by the package onnx, which is not installed",
            because=str(error),
            try_='pip install "weft[onnx]"',
        ) from None
    return onnx


@dataclass(frozen=True)
class ModelFile:
    """A model before it is parsed.

    :ivar data: the bytes of its file; None for a parsed message. :ivar message: that message.
    :ivar label: its name for messages. :ivar folder: where files with external data lie.
    """

    label: str
    data: bytes | None = None
    message: Any = None
    folder: str | None = None


def read(source: Source, folder: str | os.PathLike[str] | None = None) -> ModelFile:
    """Read a model.

    :param source: a path, the bytes of a file, or an `onnx.ModelProto`.
    :param folder: where files with external data lie; by default the folder of the model's file.
    :raises FileError: if the file cannot be read.
    :raises OnnxError: if the source is none of these.
    """
    given = None if folder is None else os.fspath(folder)
    if isinstance(source, bytes | bytearray | memoryview | str | os.PathLike):
        data, label, found = _bytes_of(source)
        return ModelFile(label, data, None, found if given is None else given)
    if hasattr(source, "SerializeToString") and isinstance(source, import_onnx().ModelProto):
        return ModelFile("a parsed model", None, source, given)
    raise OnnxError(
        "a model is loaded from a path, from bytes or from an onnx.ModelProto",
        asked=f"load {kind_of(source)}",
        try_='weft.onnx.load("model.onnx")',
    )


def parse(file: ModelFile) -> ModelGraph:
    """Parse a model.

    :raises ModelFormatError: if it is no valid model.
    :raises OnnxError: if the package `onnx` is not installed.
    """
    onnx = import_onnx()
    proto, label = file.message, file.label
    if proto is None:
        proto = onnx.ModelProto()
        try:
            proto.ParseFromString(file.data)
        except Exception as error:
            let_through(error)
            raise invalid(label, f"its bytes are no protobuf message: {error}") from None
    external = ExternalData(file.folder, label)
    try:
        return Parser(onnx, external, label).model(proto)
    except (OnnxError, FileError, DeviceError):
        raise
    except RecursionError:
        raise invalid(label, "its graphs are nested too deep") from None
    except Exception as error:
        let_through(error)
        why = f"{type(error).__name__}: {error}"[:300]
        raise invalid(label, f"a part of it cannot be read: {why}") from None


def invalid(label: str, because: str) -> ModelFormatError:
    """Return the error for a file that is no valid model."""
    return ModelFormatError(
        "this is no valid ONNX model",
        asked=f"load {label}",
        because=because,
        try_="export the model again, and check it with onnx.checker.check_model",
    )


def _bytes_of(source: Source) -> tuple[bytes, str, str | None]:
    """Return the bytes of a source, its name for messages, and the folder of its file."""
    if isinstance(source, bytes | bytearray | memoryview):
        return bytes(source), f"a model of {len(source)} bytes", None
    path = os.fspath(source)
    try:
        check_regular(path)
        with open(path, "rb") as file:
            return file.read(), path, os.path.dirname(os.path.abspath(path))
    except OSError as error:
        let_through(error)
        raise FileError.of(
            error, "the model cannot be read", path=path, asked=f"load {path}",
            try_="check the path and the permissions",
        ) from None  # fmt: skip


@dataclass(frozen=True)
class _Place:
    """Where a graph is: the opsets that hold there, and names that outer graphs define."""

    opsets: Mapping[str, int]
    outer: frozenset[str] = frozenset()


class Parser:
    """Converts the messages of one file."""

    def __init__(
        self, onnx: Any, external: ExternalData, label: str, context: Context | None = None
    ) -> None:
        self._onnx = onnx
        self._external = external
        self._label = label
        self._context = context or Context()
        self._names = {value: name for name, value in onnx.AttributeProto.AttributeType.items()}

    # ---- model ----------------------------------------------------------------------------------

    def model(self, proto: Any) -> ModelGraph:
        """Convert the whole model."""
        if not proto.HasField("graph"):
            raise invalid(self._label, "it has no graph")
        opsets = self._opsets(proto.opset_import)
        functions = {}
        for each in proto.functions:
            function = self.function(each, opsets)
            key = (function.domain, function.name)
            if key in functions:
                raise invalid(self._label, f"it has two functions {each.domain}.{each.name}")
            functions[key] = function
        graph = self.graph(proto.graph, _Place(opsets))
        metadata = {each.key: each.value for each in proto.metadata_props}
        files = tuple(sorted(self._external.files))
        return ModelGraph(graph, opsets, functions, metadata, self._context, files)

    def _opsets(self, imports: Iterable[Any]) -> dict[str, int]:
        """Return the version of each imported domain. A file without imports has opset 1."""
        opsets = {}
        newest = self._onnx.defs.onnx_opset_version()
        for each in imports:
            domain, version = canonical(each.domain), int(each.version)
            if version < 1 or version > 1 << 31:
                raise invalid(self._label, f"it imports opset {version} of {each.domain!r}")
            opsets[domain] = version
            if domain == "" and version > newest:
                raise OnnxError(
                    f"opset {version} is not known",
                    asked=f"load {self._label}",
                    because=f"the installed package onnx knows opsets up to {newest}",
                    try_="update the package onnx, or export the model for an older opset",
                )
        return opsets or {"": 1}

    def function(self, proto: Any, outer: Mapping[str, int]) -> Function:
        """Convert a function of a model, or of an operator's schema."""
        opsets = dict(outer) | (self._opsets(proto.opset_import) if proto.opset_import else {})
        self._no_duplicates(proto.input, f"inputs of the function {proto.name}")
        produced = [name for each in proto.node for name in each.output if name]
        self._no_duplicates([*proto.input, *produced], f"values of the function {proto.name}")
        place = _Place(opsets, frozenset([*proto.input, *produced]))
        nodes = [self.node(each, place) for each in proto.node]
        ordered = in_order_of_evaluation(nodes, set(proto.input), self._invalid)
        self._all_defined(
            proto.output, {*proto.input, *produced}, f"outputs of the function {proto.name}"
        )
        defaults = {each.name: self.attribute(each, place) for each in proto.attribute_proto}
        return Function(
            canonical(proto.domain), proto.name, tuple(proto.input), tuple(proto.output),
            tuple(proto.attribute), defaults, ordered, opsets,
        )  # fmt: skip

    # ---- graphs ---------------------------------------------------------------------------------

    def graph(self, proto: Any, place: _Place) -> Graph:
        """Convert a graph. Nodes `Constant` become initializers; nodes are sorted."""
        inputs = tuple(self.value(each) for each in proto.input)
        self._no_duplicates((each.name for each in inputs), f"inputs of the graph {proto.name!r}")
        initializers = self._initializers(proto)
        outer = place.outer | {each.name for each in inputs} | set(initializers)
        produced = [name for each in proto.node for name in each.output if name]
        self._no_duplicates([*produced, *initializers], f"values of the graph {proto.name!r}")
        clash = {each.name for each in inputs}.intersection(produced)
        if clash:
            raise self._invalid(f"a node computes the input {sorted(clash)[0]!r} again")
        inner = _Place(place.opsets, outer | frozenset(produced))
        nodes = []
        for each in proto.node:
            node = self.node(each, inner)
            constant = self._constant(node)
            if constant is None:
                nodes.append(node)
            else:
                initializers[node.outputs[0]] = constant
        known = set(outer) | set(initializers)
        outputs = tuple(self.value(each) for each in proto.output)
        names = [each.name for each in outputs]
        self._all_defined(names, known | set(produced), f"outputs of the graph {proto.name!r}")
        ordered = in_order_of_evaluation(nodes, known, self._invalid)
        return Graph(proto.name, ordered, inputs, outputs, initializers)

    def _initializers(self, proto: Any) -> dict[str, Initializer]:
        found: dict[str, Initializer] = {}
        for each in proto.initializer:
            if not each.name or each.name in found:
                raise self._invalid(f"two initializers have the name {each.name!r}")
            found[each.name] = self.initializer(each)
        for each in proto.sparse_initializer:
            name = each.values.name
            if not name or name in found:
                raise self._invalid(f"two initializers have the name {name!r}")
            array = self.sparse(each)
            dtype = ELEMENT_TYPES[each.values.data_type]
            found[name] = Initializer(name, dtype, array.shape, lambda array=array: array)
        return found

    def _constant(self, node: Node) -> Initializer | None:
        """Return the constant that a node `Constant` computes; None for other nodes."""
        if node.op != "Constant" or node.domain or node.references or len(node.outputs) != 1:
            return None
        if len(node.attributes) != 1:
            raise self._invalid(f"{node} has {len(node.attributes)} values, not one")
        array = constant_value(node)
        dtype = {"object": "string"}.get(str(array.dtype), str(array.dtype))
        return Initializer(node.outputs[0], dtype, array.shape, lambda: array)

    def node(self, proto: Any, place: _Place) -> Node:
        """Convert a node."""
        domain = canonical(proto.domain)
        attributes: dict[str, Any] = {}
        references: dict[str, str] = {}
        for each in proto.attribute:
            if each.name in attributes or each.name in references:
                raise self._invalid(f"a node {proto.op_type} has two attributes {each.name!r}")
            if each.ref_attr_name:
                references[each.name] = each.ref_attr_name
            else:
                attributes[each.name] = self.attribute(each, place)
        inputs = tuple(proto.input)
        if (domain, proto.op_type) == ("ai.onnx.preview.training", "Gradient"):
            inputs += (str(attributes.get("y", "")),)  # a name that is no input needs its value
        return Node(
            proto.op_type, domain, proto.name, place.opsets.get(domain, 1), inputs,
            tuple(proto.output), attributes, references, self._context, proto,
        )  # fmt: skip

    # ---- attributes and types -------------------------------------------------------------------

    def attribute(self, proto: Any, place: _Place) -> Any:
        """Convert the value of an attribute."""
        kind = self._names.get(proto.type, "UNDEFINED")
        convert = _ATTRIBUTES.get(kind)
        if convert is None:
            raise self._invalid(f"the attribute {proto.name!r} has the type {kind}")
        return convert(self, proto, place)

    def value(self, proto: Any) -> ValueInfo:
        """Convert name and type of an input or output."""
        if not proto.name:
            raise self._invalid("an input or output has no name")
        return ValueInfo(proto.name, self.type(proto.type))

    def type(self, proto: Any) -> ValueType:
        """Convert a type."""
        kind = proto.WhichOneof("value")
        if kind in ("tensor_type", "sparse_tensor_type"):
            tensor = getattr(proto, kind)
            dtype = ELEMENT_TYPES.get(tensor.elem_type, "")
            if not tensor.HasField("shape"):
                return ValueType("tensor", dtype)
            return ValueType("tensor", dtype, tuple(map(self._size, tensor.shape.dim)))
        if kind in ("sequence_type", "optional_type"):
            element = self.type(getattr(proto, kind).elem_type)
            return ValueType(kind.removesuffix("_type"), element.dtype, None, element)
        return ValueType()

    def _size(self, proto: Any) -> int | str | None:
        """Convert the size of an axis. Exporters write -1 or "?" for a size that is not known."""
        if proto.HasField("dim_value"):
            return int(proto.dim_value) if proto.dim_value >= 0 else None
        return proto.dim_param if proto.dim_param not in ("", "?") else None

    # ---- constants ------------------------------------------------------------------------------

    def initializer(self, proto: Any) -> Initializer:
        """Check a constant and return how it is read."""
        dtype = self._dtype(proto)
        shape = self._shape(proto.dims, f"the constant {proto.name!r}")
        self._check_bytes(proto, dtype, shape)
        if proto.data_location == self._onnx.TensorProto.EXTERNAL:
            entries = {each.key: each.value for each in proto.external_data}
            return self._external.initializer(
                proto.name, dtype, shape, _nbytes(dtype, prod(shape)), entries
            )
        return Initializer(proto.name, dtype, shape, lambda: self._array(proto))

    def tensor(self, proto: Any) -> np.ndarray:
        """Return the value of a tensor attribute."""
        return self.initializer(proto).read()

    def _array(self, proto: Any) -> np.ndarray:
        array = self._onnx.numpy_helper.to_array(proto)
        return _as_text(array) if array.dtype.kind in "OSU" else array

    def _dtype(self, proto: Any) -> str:
        dtype = ELEMENT_TYPES.get(proto.data_type)
        if dtype is None:
            raise self._invalid(f"{proto.name!r} has the element type {proto.data_type}")
        return dtype

    def _shape(self, dims: Iterable[int], what: str) -> tuple[int, ...]:
        shape = tuple(int(each) for each in dims)
        if any(each < 0 for each in shape):
            raise self._invalid(f"{what} has the shape {shape}")
        if len(shape) > MOST_AXES:
            raise self._invalid(f"{what} has {len(shape)} axes, and {MOST_AXES} are possible")
        return shape

    def _check_bytes(self, proto: Any, dtype: str, shape: tuple[int, ...]) -> None:
        """Compare the size that a constant claims with the data that is there."""
        if proto.HasField("segment"):
            raise self._invalid(f"the constant {proto.name!r} is stored in segments")
        if proto.data_location == self._onnx.TensorProto.EXTERNAL:
            if dtype == "string":
                raise self._invalid(f"the strings {proto.name!r} are external data")
            return
        count = prod(shape)
        if proto.HasField("raw_data") and dtype != "string":
            there, needed, what = len(proto.raw_data), _nbytes(dtype, count), "bytes"
        else:
            field, each = _FIELDS.get(dtype, ("int32_data", 1))
            per = 8 // _BITS[dtype] if dtype in _BITS else 1
            there, needed, what = len(getattr(proto, field)), -(-count // per) * each, "values"
        if there != needed:
            raise self._invalid(
                f"the constant {proto.name!r} of shape {shape} needs {needed} {what}, and "
                f"there are {there}"
            )

    def sparse(self, proto: Any) -> np.ndarray:
        """Return a sparse constant as a dense array."""
        values = self.tensor(proto.values)
        indices = self.tensor(proto.indices)
        shape = self._shape(proto.dims, "a sparse constant")
        if prod(shape) > _MOST_SPARSE or indices.dtype != np.int64 or not len(shape):
            raise self._invalid(f"a sparse constant has the shape {shape}")
        flat = indices if indices.ndim == 1 else _flat_indices(indices, shape)
        if values.ndim != 1 or flat.shape != values.shape:
            raise self._invalid("a sparse constant has other numbers of values and indices")
        if flat.size and (flat.min() < 0 or flat.max() >= prod(shape)):
            raise self._invalid(f"an index of a sparse constant is out of the shape {shape}")
        dense = np.zeros(prod(shape), values.dtype)
        dense[flat] = values
        return dense.reshape(shape)

    # ---- errors ---------------------------------------------------------------------------------

    def _invalid(self, because: str) -> ModelFormatError:
        return invalid(self._label, because)

    def _no_duplicates(self, names: Iterable[str], what: str) -> None:
        seen: set[str] = set()
        for name in names:
            if name in seen:
                raise self._invalid(f"two {what} have the name {name!r}")
            seen.add(name)

    def _all_defined(self, names: Iterable[str], known: set[str], what: str) -> None:
        for name in names:
            if name not in known:
                raise self._invalid(f"nothing computes {name!r}, one of the {what}")


def constant_value(node: Node) -> np.ndarray:
    """Return the value of a node `Constant`."""
    ((name, value),) = node.attributes.items()
    if name in ("value", "sparse_value") and isinstance(value, np.ndarray):
        return value
    dtypes = {"int": np.int64, "ints": np.int64, "float": np.float32, "floats": np.float32}
    kind = name.removeprefix("value_")
    if kind in dtypes:
        return np.asarray(value, dtypes[kind])
    if kind in ("string", "strings"):
        return np.asarray(value, object)
    raise node.refuse(f"its value is the attribute {name!r}", "use value, value_int, value_float")


def _nbytes(dtype: str, count: int) -> int:
    bits = _BITS.get(dtype)
    return count * _BYTES.get(dtype, 0) if bits is None else (count * bits + 7) // 8


def _flat_indices(indices: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Turn indices of shape (n, rank) into positions in row-major order; -1 if out of range."""
    if indices.ndim != 2 or indices.shape[1] != len(shape):
        return np.full(1, -1)
    inside = ((indices >= 0) & (indices < np.asarray(shape))).all(axis=1)
    strides = np.asarray([prod(shape[axis + 1 :]) for axis in range(len(shape))])
    return np.where(inside, (indices * strides).sum(axis=1), -1)


def _text(value: bytes) -> str:
    return value.decode("utf-8", errors="surrogateescape")


def _as_text(array: np.ndarray) -> np.ndarray:
    """Return strings as an array of Python strings."""
    texts = np.empty(array.shape, object)
    for index, each in np.ndenumerate(array):
        texts[index] = _text(each) if isinstance(each, bytes) else str(each)
    return texts


_Convert = Callable[[Parser, Any, _Place], Any]
_ATTRIBUTES: dict[str, _Convert] = {
    "FLOAT": lambda _, a, __: float(a.f),
    "INT": lambda _, a, __: int(a.i),
    "STRING": lambda _, a, __: _text(a.s),
    "TENSOR": lambda parser, a, _: parser.tensor(a.t),
    "GRAPH": lambda parser, a, place: parser.graph(a.g, place),
    "SPARSE_TENSOR": lambda parser, a, _: parser.sparse(a.sparse_tensor),
    "TYPE_PROTO": lambda parser, a, _: parser.type(a.tp),
    "FLOATS": lambda _, a, __: [float(each) for each in a.floats],
    "INTS": lambda _, a, __: [int(each) for each in a.ints],
    "STRINGS": lambda _, a, __: [_text(each) for each in a.strings],
    "TENSORS": lambda parser, a, _: [parser.tensor(each) for each in a.tensors],
    "GRAPHS": lambda parser, a, place: [parser.graph(each, place) for each in a.graphs],
}
