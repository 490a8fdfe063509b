"""Data from outside: lists, bytes, arrays and files become nodes; memory becomes arrays and lists.

Data is copied to the staging device first (Python's own memory, found by its role) and copied to
where it is wanted: COPY(BUFFER on staging, device).
"""

from __future__ import annotations

import errno
import os
import sys
from array import array
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from weft.base.arguments import DEEPEST, kind_of, shown, too_deep
from weft.base.download import DOWNLOADED
from weft.base.dtype import DType, dtypes, to_dtype
from weft.base.errors import (
    ArgumentError,
    CapabilityError,
    DTypeError,
    FileError,
    OutOfMemory,
    ShapeError,
    UnknownDevice,
)
from weft.base.interrupts import let_through
from weft.base.promotion import least_upper_dtype
from weft.base.regular_file import check_regular
from weft.base.scalars import check_range, pack
from weft.base.sequences import prod
from weft.device import Buffer, binding, numpy_dtype, registry, storage
from weft.tensor import dlpack
from weft.tensor.protocol import TensorBase, record
from weft.uop import Ops, UOp
from weft.uop.symbolic.sint import fold, high_of, sprod

_NUMBERS = frozenset({bool, int, float})

if TYPE_CHECKING:
    import numpy


def host_node(memory: Any, dtype: DType, shape: tuple[int, ...]) -> UOp:
    """Python memory as a node on the staging device, in place: nothing is copied."""
    device = registry.canonical(registry.staging())
    node = UOp.new_buffer(device, prod(shape), dtype)
    if prod(shape):
        binding.bind(node, Buffer.wrap(memory, dtype))
    return node if shape == (prod(shape),) else record(Ops.RESHAPE, dtype, (node,), shape)


def moved(node: UOp, device: str | tuple[str, ...]) -> UOp:
    """`node` on `device`, on each where they are several; itself where it is there already."""
    if node.device == device:
        return node
    if node.op is Ops.CONST:
        return UOp.const(node.dtype, node.arg, device)
    if node.device is None:  # made of variables alone: it is everywhere
        return node
    if node.op is Ops.IOTA and isinstance(device, str):
        return node.replace(src=(UOp(Ops.DEVICE, arg=device),))
    if any(isinstance(size, UOp) for size in node.shape):
        return _moved_padded(node, device)
    return UOp(Ops.COPY, node.dtype, (node, UOp(Ops.DEVICE, arg=device)))


def padded_to_largest(node: UOp) -> UOp:
    """A value of symbolic shape, padded along each axis to its largest size."""
    return node.pad(tuple((0, fold(high_of(size) - size)) for size in node.shape))


def _moved_padded(node: UOp, device: str | tuple[str, ...]) -> UOp:
    """A value of symbolic shape, copied into a buffer of its largest sizes."""
    if isinstance(node.device, tuple):
        there = moved(padded_to_largest(node), device)
        return there.shrink(tuple((0, size) for size in node.shape))
    count = sprod(node.shape)
    largest = prod(high_of(size) for size in node.shape)
    flat = node.reshape((count,)).pad(((0, fold(largest - count)),))
    return moved(flat, device).shrink(((0, count),)).reshape(node.shape)


def from_scalar(value: Any, dtype: DType | None, device: str | tuple[str, ...]) -> UOp:
    """A Python number: a constant of rank 0, which takes no memory.

    :raises OutOfRange: if the dtype cannot represent it.
    """
    kind = dtype or dtypes.from_py(value)
    return UOp.const(kind, check_range(value, kind), device)


def from_bytes(data: bytes | bytearray | memoryview, dtype: DType | None) -> UOp:
    """The bytes as 1-d elements of `dtype` (uint8), copied unless they are `bytes`."""
    kind = dtype or dtypes.uint8
    raw = data if isinstance(data, bytes) else bytes(data)
    return host_node(raw, kind, (_count_of(len(raw), kind, "a tensor of bytes"),))


def _count_of(nbytes: int, kind: DType, what: str) -> int:
    """How many elements so many bytes are. :raises ArgumentError: if some are left over."""
    count, left = divmod(nbytes, kind.itemsize)
    if left:
        raise ArgumentError(
            f"{nbytes} bytes are no whole number of {kind!r}",
            asked=f"{what}, {nbytes} of them, as {kind!r}",
            because=f"each element takes {kind.itemsize} bytes, and {left} would be left over",
            try_="dtype=dtypes.uint8, then a slice and x.bitcast(...) of what is wanted",
        )
    return count


def from_array(array: numpy.ndarray, dtype: DType | None) -> UOp:
    """A NumPy array, in its own dtype unless another is given. Its memory is copied: the array may
    change afterwards."""
    import numpy

    own = to_dtype(array.dtype)
    # flat, since of one number without an axis NumPy does not show the bytes of every dtype
    node = host_node(numpy.array(array, order="C").reshape(-1), own, array.shape)
    return node if dtype is None or dtype is own else record(Ops.CAST, dtype, (node,))


def from_nested(data: Sequence[Any], dtype: DType | None) -> UOp:
    """Nested lists of numbers, all rows of one length.

    :raises ShapeError: for ragged rows.
    :raises DTypeError: for what is no number.
    :raises OutOfRange: for a number that the dtype cannot represent.
    """
    shape = _shape_of(data)
    flat = list(_leaves(data, len(shape)))
    flat = [x.item() if hasattr(x, "item") else x for x in flat]
    kind = dtype or dtypes.from_py(flat)
    return host_node(_packed(flat, kind), kind, shape)


def _holds_arrays(data: Sequence[Any]) -> bool:
    """Whether there are tensors or arrays with axes among nested lists."""
    if set(map(type, data)) <= _NUMBERS:
        return False
    rows = (x for x in data if _is_row(x))
    arrays = (x for x in data if isinstance(x, TensorBase) or getattr(x, "shape", ()) != ())
    return any(map(_holds_arrays, rows)) or any(True for _ in arrays)


def _of_arrays(data: Sequence[Any]) -> Any:
    """Lists with NumPy arrays among them as one array; None where there is something else.

    Numbers beside arrays are of the default dtypes, and dtypes promote.
    """
    import numpy

    parts = []
    for row in data:
        if _is_row(row):
            row = _of_arrays(row) if _holds_arrays(row) else _numbers(row)
        if not isinstance(row, numpy.ndarray):
            return None
        parts.append(as_array(row))
    if len({part.shape for part in parts}) > 1:
        return None
    dtype = numpy_dtype(least_upper_dtype(*(to_dtype(part.dtype) for part in parts)))
    return numpy.stack([part.astype(dtype, copy=False) for part in parts])


def _numbers(data: Sequence[Any]) -> Any:
    """Nested lists of numbers as an array."""
    import numpy

    shape = _shape_of(data)
    flat = list(_leaves(data, len(shape)))
    return numpy.array(flat, numpy_dtype(dtypes.from_py(flat))).reshape(shape)


def _of_rows(data: Sequence[Any], kind: DType | None, where: str | tuple[str, ...]) -> UOp:
    """Lists of tensors and arrays of one shape, stacked; of tensors nothing is computed."""
    if (array := _of_arrays(data)) is not None:
        return from_array(array, kind)
    parts = [x._uop if isinstance(x, TensorBase) else node_of(x, where, kind, False) for x in data]
    if len({part.shape for part in parts}) > 1:
        raise ShapeError(
            "the rows of nested lists differ in shape",
            asked="a tensor with rows of " + ", ".join(str(part.shape) for part in parts[:8]),
        )
    dtype = kind or least_upper_dtype(*(part.dtype for part in parts))
    total, shape = len(parts), parts[0].shape
    node = None
    for at, part in enumerate(parts):
        row = moved(part, where)
        row = row if row.dtype is dtype else row.cast(dtype)
        row = row.reshape((1, *shape)).pad(((at, total - at - 1), *((0, 0) for _ in shape)))
        node = row if node is None else node.alu(Ops.ADD, row)
    return node  # type: ignore[return-value]


def _of_lists(data: Sequence[Any], kind: DType | None, where: str | tuple[str, ...]) -> UOp:
    """Nested lists of numbers, tensors and arrays.

    :raises ArgumentError: for lists nested too deep, and for those that hold themselves.
    """
    try:
        return _of_rows(data, kind, where) if _holds_arrays(data) else from_nested(data, kind)
    except RecursionError as error:
        raise too_deep(data, "nested lists", error) from None


def _packed(flat: list[Any], kind: DType) -> Any:
    """Numbers as memory: what is made of Python's own needs no NumPy."""
    types = set(map(type, flat))
    if texts := {str, bytes}.intersection(types):
        name = texts.pop().__name__
        raise DTypeError(
            "a tensor holds numbers",
            asked=f"a tensor of {kind!r} of what has a {name} in it",
            because=f"a {name} is not read as a number",
            try_="float(...) or int(...) of each, first",
        )
    if kind.fmt is not None and kind is not dtypes.float16 and flat:
        try:
            if dtypes.is_float(kind) or all(kind.min <= x <= kind.max for x in flat):
                if not dtypes.is_int(kind) or not any(isinstance(x, float) for x in flat):
                    if types <= _NUMBERS:
                        is_bool = kind is dtypes.bool
                        return bytearray(map(bool, flat)) if is_bool else array(kind.fmt, flat)
                    import numpy

                    return numpy.array(flat, dtype=numpy_dtype(kind))
        except (OverflowError, TypeError):
            pass  # the slow way knows what to say
    for number in flat:
        check_range(number, kind)
    return pack(flat, kind)


def _is_row(data: Any) -> bool:
    return isinstance(data, (list, tuple))


def _shape_of(data: Any) -> tuple[int, ...]:
    shape: list[int] = []
    level = data
    while _is_row(level):
        shape.append(len(level))
        if not level:
            break
        if len(shape) > DEEPEST:
            raise ShapeError(
                "nested lists are too deep for a tensor",
                asked=f"a tensor of lists nested more than {DEEPEST} deep",
                because=f"each level is an axis, and arrays have {DEEPEST} axes at most",
                try_="lists of fewer levels, and a reshape",
            )
        level = level[0]
    return tuple(shape)


def _leaves(data: Any, depth: int) -> Iterator[Any]:
    rows = [data]
    for _ in range(depth):
        lengths = {len(row) if _is_row(row) else -1 for row in rows}
        if len(lengths) > 1 or -1 in lengths:
            raise ShapeError(
                "the rows of nested lists differ in length",
                asked="a tensor with rows of "
                + " and ".join("no list" if n < 0 else str(n) for n in sorted(lengths)[:8])
                + " elements",
                because="every row of a tensor is as long as its neighbours",
                try_="rows filled up to one length, or a tensor for each",
            )
        rows = [item for row in rows for item in row]
    for item in rows:
        if _is_row(item):
            raise ShapeError(
                "the rows of nested lists differ in depth",
                asked="a tensor of numbers and lists side by side",
            )
        yield item


def from_file(path: str | os.PathLike[str], dtype: DType | None = None) -> UOp:
    """The bytes at a path or URL as 1-d elements of `dtype` (uint8) where they are stored; nothing
    is read.

    :raises ArgumentError: if the file's size is no whole number of elements.
    :raises FileError: if there is no such file.
    :raises UnknownDevice: if no installed plugin stores such files.
    """
    kind = dtype or dtypes.uint8
    if isinstance(path, str) and "://" in path:
        held = storage.stored(path)
        count = _count_of(held.nbytes, kind, f"the bytes of {path}")
        return UOp.new_buffer(str(held.device), count, kind)
    try:
        check_regular(path)
        size = os.stat(path).st_size
        if not os.access(path, os.R_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        let_through(error)
        raise FileError.of(
            error,
            "this file cannot be opened",
            path=path,
            asked=f"a tensor of {os.fspath(path)}",
            try_="the path of a file that is there; one without a leading / is below os.getcwd()"
            if isinstance(error, FileNotFoundError)
            else "the path of a file that this process may read",
        ) from None
    count = _count_of(size, kind, f"the bytes of {os.fspath(path)}")
    return UOp.new_buffer(str(registry.locate(path)), count, kind)


def held_at(url: str) -> UOp | None:
    """The bytes that a plugin holds at a URL, where they are; None for those that are downloaded,
    and where no plugin holds it."""
    if not isinstance(url, str) or url.partition(":")[0].lower() in DOWNLOADED:
        return None
    try:
        registry.locate(url)
    except UnknownDevice:
        return None
    return from_file(url)


def from_blob(address: int, shape: Any, dtype: DType, where: str | tuple[str, ...]) -> UOp:
    """Memory of this process at an address: in place if the device can use it, else copied."""
    import ctypes

    extents = (shape,) if isinstance(shape, int) else tuple(shape)
    count = prod(extents)
    if not count:
        return _empty_node(dtype, where).reshape(extents)
    memory = (ctypes.c_uint8 * (count * dtype.itemsize)).from_address(address)
    if not isinstance(where, str):
        return moved(host_node(memory, dtype, extents), where)
    try:
        buffer = Buffer.wrap(memory, dtype, where)
    except CapabilityError:
        return moved(host_node(memory, dtype, extents), where)
    node = UOp.new_buffer(where, count, dtype)
    binding.bind(node, buffer)
    return node if extents == (count,) else record(Ops.RESHAPE, dtype, (node,), extents)


def is_array(data: Any) -> bool:
    """Whether this is a NumPy array or scalar, or something that becomes one by the protocol."""
    return hasattr(data, "__array__") or hasattr(data, "__array_interface__")


def _is_foreign(data: Any) -> bool:
    """Whether this is an array by any protocol of NumPy's, DLPack's or Python's own."""
    if is_array(data) or hasattr(data, "__dlpack__"):
        return True
    try:
        memoryview(data)
    except TypeError:
        return False
    return True


def as_array(data: Any) -> Any:
    """The NumPy array of something that has one, in the byte order of this machine.

    :raises DTypeError: if it cannot be read.
    """
    import numpy

    try:
        array = numpy.asarray(data)
    except Exception as error:  # whatever a foreign class raises
        let_through(error)
        raise DTypeError(
            "this array cannot be read", asked=f"a {type(data).__name__}", because=str(error)
        ) from None
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def from_foreign(data: Any, dtype: DType | None) -> UOp:
    """An array of any library, copied: by NumPy's protocols, or by DLPack where they fail.

    NumPy knows fewer dtypes than others do. :raises DTypeError: if it cannot be read.
    """
    try:
        return from_array(as_array(data), dtype)
    except DTypeError as error:
        refusal = error
    import numpy

    if isinstance(data, numpy.ndarray) or not hasattr(data, "__dlpack__"):
        raise refusal
    try:
        taken = dlpack.take(data, None)
    except Exception as error:  # whatever a foreign class raises: NumPy's words say it better
        let_through(error)
        raise refusal from None
    memory = taken.compact() if prod(taken.shape) else b""
    node = host_node(memory, taken.dtype, taken.shape)
    return node if dtype in (None, taken.dtype) else record(Ops.CAST, dtype, (node,))


def nested(values: list[Any], shape: tuple[int, ...]) -> Any:
    """Values in row-major order as nested lists; the value itself for rank 0."""
    if not shape:
        return values[0]
    if 0 in shape:
        return [nested([], shape[1:]) for _ in range(shape[0])]
    for extent in reversed(shape[1:]):
        values = [values[i : i + extent] for i in range(0, len(values), extent)]
    return values


# ---- anything at all ---------------------------------------------------------------------------


def node_of(data: Any, device: Any, kind: DType | None, unique: bool) -> UOp:
    """The graph node of `data`."""
    if isinstance(data, TensorBase):
        node = data._uop if kind is None else data.cast(kind)._uop
        return node if device is None else moved(node, registry.placement(device))
    if isinstance(data, UOp):
        return _of_node(data, device, kind)
    if isinstance(data, os.PathLike):
        node = from_file(data, kind)
        return node if device is None else moved(node, registry.placement(device))
    where = registry.placement(device)
    if data is None:
        return _empty_node(kind or dtypes.default_float, where)
    if isinstance(data, (int, float)) and not hasattr(data, "dtype"):
        if not unique:
            return from_scalar(data, kind, where)
        # a leaf is told from others of its value: it gets memory
        node = moved(from_nested([data], kind), where)
        return UOp(Ops.RESHAPE, node.dtype, (node,), ())
    if kind is not None:
        _check_numpy_scalar(data, kind)
    try:
        node = _of_numbers(data, kind, where)
    except OutOfMemory:
        raise
    except MemoryError as error:
        raise OutOfMemory.during(f"a tensor of {kind_of(data)}", error) from error
    return _on(node, where)


def _check_numpy_scalar(data: Any, kind: DType) -> None:
    """A NumPy scalar is a number, of which the dtype is to represent the value; an array is cast.

    :raises OutOfRange: if it cannot.
    """
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(data, numpy.generic):
        value = data.item()
        if isinstance(value, (int, float)):
            check_range(value, kind)


def _of_numbers(data: Any, kind: DType | None, where: str | tuple[str, ...]) -> UOp:
    """The node of a value with elements of its own, which are copied or used in place."""
    if isinstance(data, (bytes, bytearray, memoryview)):
        return from_bytes(data, kind)
    if isinstance(data, range):
        return from_nested(list(data), kind)
    if isinstance(data, (list, tuple)):
        return _of_lists(data, kind, where)
    if _is_foreign(data):
        return from_foreign(data, kind)
    raise DTypeError(
        f"no tensor can be made of {kind_of(data)}",
        asked=f"Tensor({shown(data)})",
        because="its elements are numbers",
        try_="a number, nested lists, bytes, a NumPy array, a pathlib.Path or a graph node",
    )


def _on(node: UOp, where: str | tuple[str, ...]) -> UOp:
    """Copied before it is reshaped or cast, so that the copy is of plain bytes."""
    if node.op in (Ops.RESHAPE, Ops.CAST):
        return UOp(node.op, node.dtype, (_on(node.src[0], where),), node.arg)
    return moved(node, where)


def _empty_node(kind: DType, where: str | tuple[str, ...]) -> UOp:
    return UOp.const(kind, 0, where).reshape((1,)).expand((0,))


def _of_node(node: UOp, device: Any, kind: DType | None) -> UOp:
    if node.op in (Ops.DEFINE_VAR, Ops.BIND) or (node.device is None and node.dtype is dtypes.int):
        # a symbolic integer is a value of rank 0
        node = node.simplify() if node.op is Ops.CONST else node
    if kind is not None:
        node = node.cast(kind)
    if node.device is None and node.op is Ops.CONST:
        return UOp.const(node.dtype, node.arg, registry.placement(device))
    return (
        node if device is None or node.device is None else moved(node, registry.placement(device))
    )
