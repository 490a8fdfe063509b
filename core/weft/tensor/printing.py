"""The text of a tensor: its values in NumPy's layout, where looking at them computes nothing.

    Tensor([[1., 2.],
            [3., 4.]], dtype=float32, device='CPU')
    Tensor(shape=(2, 2), dtype=float32, device='CPU', pending)

Values are read where they are known: in memory (also through views, on files, on several devices),
of constants, and below copies that are not made yet. Only the elements that are shown are read: of
a large tensor NumPy shows the ends of every axis (`numpy.printoptions`), which are a few windows of
its buffer. Everything else is pending. `settings.REPR` selects another form.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft.base.dtype import DType, ImageDType, dtypes
from weft.base.errors import WeftError
from weft.base.interrupts import let_through
from weft.base.scalars import pack, truncate, unpack
from weft.base.settings import settings
from weft.device import Buffer, binding, registry
from weft.engine.capture import recording
from weft.schedule import is_counter
from weft.shape.movement import say_shape
from weft.uop import Ops, UOp, exec_alu, parts_of
from weft.uop.symbolic.sint import evaluate_sint

if TYPE_CHECKING:
    import numpy

# Nodes that have the value of their first source.
_SAME_VALUE = frozenset(
    {Ops.COPY, Ops.CONTIGUOUS, Ops.CONTIGUOUS_BACKWARD, Ops.DETACH, Ops.FUSE, Ops.NOOP}
)
_GAP = 256  # bytes between two elements up to which they are read as one window
_WHOLE = 1 << 16  # bytes of a buffer without windows up to which it is read whole
_SHORT_DIGITS = 4  # digits of dtypes with short mantissas that NumPy does not have


class Unknown(Exception):
    """The values cannot be read without computing; its message is the state of the tensor."""


def text_of(tensor: Any) -> str:
    """`repr` of a tensor; no exception leaves it.

    >>> Tensor([[1.0, 2.0], [3.0, 4.0]], device="REF")
    Tensor([[1., 2.],
            [3., 4.]], dtype=float32, device='REF')
    >>> Tensor([1, 2], device="REF") + 1
    Tensor(shape=(2,), dtype=int32, device='REF', pending)
    """
    if settings.REPR == "graph":
        return graph_form(tensor)
    name = type(tensor).__name__
    shape = tensor._uop.shape
    try:
        if settings.REPR == "values" and recording() is None:
            tensor.realize()
        extents = tuple(evaluate_sint(size, {}) for size in shape)
        options = _print_options()
        body = _body(tensor._uop, extents, f"{name}(", options)
    except Unknown as unknown:
        return f"{name}(shape={say_shape(shape)}, {_facts(tensor)}, {unknown})"
    except Exception as error:  # a lost device, a file that is gone: printing never fails
        let_through(error)
        reason = error.summary if isinstance(error, WeftError) else str(error)
        reason = " ".join(f"{type(error).__name__}: {reason}".split())
        return (
            f"{name}(shape={say_shape(shape)}, {_facts(tensor)}, values cannot be read: {reason})"
        )
    facts = _facts(tensor)
    if 0 in extents or _is_summarised(extents, options) or extents != tuple(shape):
        facts = f"shape={say_shape(shape)}, {facts}"
    text = f"{name}({body},"
    last_line = text.rpartition("\n")[2]
    fits = len(last_line) + len(facts) + 2 <= options["linewidth"]
    return text + (" " if fits else "\n" + " " * (len(name) + 1)) + facts + ")"


def text_of_complex(tensor: Any) -> str:
    """`repr` of a complex tensor; no exception leaves it.

    >>> Tensor([1 + 2j, 3], device="REF")
    Tensor([1.+2.j, 3.+0.j], dtype=complex64, device='REF')
    """
    import numpy

    facts = f"dtype={dtype_name(tensor.dtype)}, device={tensor.device!r}"
    shape, whole = tuple(tensor.shape), tensor._interleaved
    facts += ", requires_grad=True" if tensor._requires_grad else ""
    name = tensor._real_class.__name__
    if settings.REPR == "graph":
        return graph_form(whole)
    try:
        if settings.REPR == "values" and recording() is None:
            tensor.realize()
        extents = tuple(evaluate_sint(size, {}) for size in shape)
        options = _print_options()
        body = _body(
            whole._uop, extents, f"{name}(", options, numpy.dtype(dtype_name(tensor.dtype))
        )
    except Unknown as unknown:
        return f"{name}(shape={say_shape(shape)}, {facts}, {unknown})"
    except Exception as error:  # as above
        let_through(error)
        return f"{name}(shape={say_shape(shape)}, {facts}, values cannot be read: {error})"
    if 0 in extents or _is_summarised(extents, options):
        facts = f"shape={say_shape(shape)}, {facts}"
    return f"{name}({body}, {facts})"


def graph_form(tensor: Any) -> str:
    """The node behind a tensor, and the memory behind that: `settings.REPR` "graph"."""
    u = tensor._uop
    buffer = u.base.realized if u.base.op in (Ops.BUFFER, Ops.MULTI) else None
    kind = f"<{u.base.op}: {u.base.op.value}>"
    node = f"<UOp {u.device} {say_shape(u.shape)} {u.dtype.name} ({kind}, {buffer})>"
    grad = None if tensor.grad is None else tensor.grad.uop.base.op
    return f"<Tensor {node} on {tensor.device} with grad {grad}>"


def values_text(tensor: Any) -> str | None:
    """The values alone as text, with line breaks; None where they cannot be read."""
    try:
        extents = tuple(evaluate_sint(size, {}) for size in tensor._uop.shape)
        return _body(tensor._uop, extents, "", _print_options())
    except Exception as error:
        let_through(error)
        return None


def dtype_name(dtype: DType) -> str:
    """The name of a dtype with its width: float32, int64."""
    return _NAMES.get(dtype) or repr(dtype).removeprefix("dtypes.")


_NAMES = {
    dtypes.int8: "int8", dtypes.uint8: "uint8", dtypes.int16: "int16", dtypes.uint16: "uint16",
    dtypes.int32: "int32", dtypes.uint32: "uint32", dtypes.int64: "int64",
    dtypes.uint64: "uint64", dtypes.float16: "float16", dtypes.float32: "float32",
    dtypes.float64: "float64",
}  # fmt: skip


def _facts(tensor: Any) -> str:
    """What is said behind the values."""
    facts = f"dtype={dtype_name(tensor._uop.dtype)}, device={tensor.device!r}"
    return facts + ", requires_grad=True" if tensor._requires_grad else facts


# ---- layout ------------------------------------------------------------------------------------


def _print_options() -> dict[str, Any]:
    import numpy

    options: dict[str, Any] = numpy.get_printoptions()  # type: ignore[assignment]
    return options


def _is_summarised(shape: tuple[int, ...], options: dict[str, Any]) -> bool:
    count = 1
    for size in shape:
        count *= size
    return count > options["threshold"]


def _body(
    node: UOp, shape: tuple[int, ...], prefix: str, options: dict[str, Any], pairs: Any = None
) -> str:
    """The values as NumPy lays them out. :raises Unknown: if they cannot be read.

    pairs: the dtype of NumPy that two neighbours are together, of complex numbers.
    """
    import numpy

    if 0 in shape:
        return "[]"
    if recording() is not None and node.base.op is not Ops.CONST:
        raise Unknown("captured by jit")
    summarised, edge = _is_summarised(shape, options), options["edgeitems"]
    axes = [_shown_places(size, edge) if summarised else numpy.arange(size) for size in shape]
    flat = numpy.zeros((), numpy.int64)
    for places, size in zip(axes, shape):
        flat = flat[..., None] * size + places
    dtype = node.dtype
    if isinstance(dtype, ImageDType):  # the dtype in memory, not that of computations
        dtype = dtypes.float16 if dtype.itemsize == 2 else dtypes.float32
    if pairs is None:
        values = _values(_elements(node, flat.reshape(-1)), dtype).reshape(flat.shape)
    else:
        places = (flat[..., None] * 2 + numpy.arange(2)).reshape(-1)
        values = _elements(node, places).reshape(-1).view(pairs).reshape(flat.shape)
    more: dict[str, Any] = {"threshold": 0, "edgeitems": edge} if summarised else {}
    if dtype in (dtypes.bfloat16, dtypes.fp8e4m3, dtypes.fp8e5m2):
        more["precision"] = min(options["precision"], _SHORT_DIGITS)
    return numpy.array2string(values, separator=", ", prefix=prefix, suffix=",", **more)


def _shown_places(size: int, edge: int) -> Any:
    """The positions of an axis that are shown, and one where NumPy prints dots."""
    import numpy

    if size <= 2 * edge:
        return numpy.arange(size)
    ends = [*range(edge), edge - 1 if edge else 0, *range(size - edge, size)]
    return numpy.array(ends, numpy.int64)


def _values(raw: numpy.ndarray[Any, Any], dtype: DType) -> Any:
    """Rows of bytes as an array that NumPy prints."""
    import numpy

    if dtype is dtypes.bool:
        return raw.reshape(-1) != 0
    if dtype in _NAMES:
        return raw.view(_NAMES[dtype]).reshape(-1)
    return numpy.array(unpack(raw.tobytes(), dtype), numpy.float32)


# ---- elements ----------------------------------------------------------------------------------


def _elements(node: UOp, flat: Any) -> Any:
    """The bytes of elements of a node, a row for each; `flat` counts them in row-major order.

    :raises Unknown: if they are not known without computing.
    """
    import numpy

    base = node.base
    tracked = node.st
    seen = numpy.ones(flat.shape, bool)
    if base is not node and tracked is not None:
        for view in reversed(tracked.views):
            flat, seen = _through(view, flat, seen)
        flat = numpy.where(seen, flat, 0)
    found = _elements_of_base(base, flat)
    found[~seen] = 0
    return found


def _through(view: Any, flat: Any, seen: Any) -> tuple[Any, Any]:
    """Positions below a view, and whether they are inside its mask."""
    import numpy

    shape = [evaluate_sint(size, {}) for size in view.shape]
    strides = [evaluate_sint(stride, {}) for stride in view.strides]
    below = numpy.full(flat.shape, evaluate_sint(view.offset, {}), numpy.int64)
    for axis in range(len(shape) - 1, -1, -1):
        flat, place = flat // shape[axis], flat % shape[axis]
        below += place * strides[axis]
        if view.mask is not None:
            low, high = (evaluate_sint(bound, {}) for bound in view.mask[axis])
            seen = seen & (place >= low) & (place < high)
    return below, seen


def _elements_of_base(node: UOp, flat: Any) -> Any:
    import numpy

    if node.op is Ops.CONST or (node.device is None and node.op is not Ops.BUFFER):
        return _constant(node, len(flat))
    if node.op in _SAME_VALUE:
        return _elements(node.src[0], flat)
    if node.op is Ops.BITCAST:
        return _reinterpreted(node, flat)
    if node.op is Ops.MULTI:
        return _of_shards(node, flat)
    if is_counter(node):  # `realize` stores none
        return _counted(node, flat)
    buffer = _memory(node)
    size = node.dtype.itemsize
    if not len(flat):
        return numpy.zeros((0, size), numpy.uint8)
    return _read(buffer, flat * size, size)


def _memory(node: UOp) -> Buffer:
    """The memory of a BUFFER node. :raises Unknown: if there is none."""
    if node.op is not Ops.BUFFER:
        raise Unknown("pending")
    buffer = binding.realized(node)
    if isinstance(buffer, Buffer):
        return buffer
    # what outlives the process is there before it is opened
    if isinstance(node.device, str) and registry.capabilities(node.device).memory.persistent:
        return binding.buffer_of(node)
    raise Unknown("uninitialized")


def _constant(node: UOp, count: int) -> Any:
    import numpy

    if node.op is not Ops.CONST:  # symbolic ints beside no tensor: their variables are bound
        bound = {u: u.src[1] for u in node.toposort() if u.op is Ops.BIND}
        node = node.substitute(bound).simplify()
        if node.op is not Ops.CONST:
            raise Unknown("pending")
    raw = numpy.frombuffer(bytes(pack((node.arg,), node.dtype)), numpy.uint8)
    return numpy.tile(raw, (count, 1))


def _counted(node: UOp, flat: Any) -> Any:
    """Elements of a counter, and of few steps of arithmetic on one."""
    import numpy

    if node.op is Ops.IOTA:
        values = flat.tolist()
    else:
        sources = [unpack(_elements(x, flat).tobytes(), x.dtype) for x in node.src]
        if node.op is Ops.CAST:
            values = [dtypes.as_const(x, node.dtype) for x in sources[0]]
        else:
            values = [exec_alu(node.op, node.dtype, each) for each in zip(*sources)]
    raw = pack([truncate(x, node.dtype) for x in values], node.dtype)
    return numpy.frombuffer(bytearray(raw), numpy.uint8).reshape(-1, node.dtype.itemsize)


def _reinterpreted(node: UOp, flat: Any) -> Any:
    """Elements of a BITCAST: each is a part of one below, or made of several."""
    import numpy

    size, below = node.dtype.itemsize, node.src[0].dtype.itemsize
    if size >= below:
        parts = size // below
        places = flat[:, None] * parts + numpy.arange(parts)
        return _elements(node.src[0], places.reshape(-1)).reshape(-1, size)
    lanes = below // size
    whole = _elements(node.src[0], flat // lanes).reshape(-1, lanes, size)
    return whole[numpy.arange(len(flat)), flat % lanes]


def _of_shards(node: UOp, flat: Any) -> Any:
    """Elements of a value on several devices, each from the part that it is in."""
    import numpy

    parts, cuts = parts_of(node), node.arg.cuts
    if not cuts:
        return _elements(parts[0], flat)
    shape = [evaluate_sint(size, {}) for size in node.shape]
    places = list(numpy.unravel_index(flat, shape))
    owner = numpy.zeros(len(flat), numpy.intp)
    for cut in cuts:
        owner += cut.stride * (numpy.searchsorted(cut.bounds, places[cut.axis], side="right") - 1)
    found = numpy.zeros((len(flat), node.dtype.itemsize), numpy.uint8)
    for number in numpy.unique(owner):
        chosen, part = owner == number, parts[number]
        own = [place[chosen] for place in places]
        for cut in cuts:
            own[cut.axis] = own[cut.axis] - cut.window(int(number))[0]
        extents = tuple(evaluate_sint(size, {}) for size in part.shape)
        found[chosen] = _elements(part, numpy.ravel_multi_index(own, extents))
    return found


def _read(buffer: Buffer, starts: Any, size: int) -> Any:
    """`size` bytes of a buffer from each of several places; near places are read as one window."""
    import numpy

    order, back = numpy.unique(starts, return_inverse=True)
    found = numpy.empty((len(order), size), numpy.uint8)
    step = registry.capabilities(buffer.device).memory.alignment
    if step is None or isinstance(buffer.dtype, ImageDType):
        if buffer.nbytes > _WHOLE:
            raise Unknown("in memory of which no part can be read")
        raw = numpy.frombuffer(buffer.copy_out(), numpy.uint8)
        return raw[starts[:, None] + numpy.arange(size)]
    cuts = numpy.flatnonzero(numpy.diff(order) > max(_GAP, step) + size) + 1
    for near in numpy.split(numpy.arange(len(order)), cuts):
        low = int(order[near[0]]) // step * step
        part = buffer.view(int(order[near[-1]]) + size - low, dtypes.uint8, low)
        raw = numpy.frombuffer(part.copy_out(), numpy.uint8)
        found[near] = raw[(order[near] - low)[:, None] + numpy.arange(size)]
    return found[back.reshape(-1)]
