"""The oracle: a tensor graph evaluated node by node with NumPy, without scheduler or compiler.

It is the reference that schedules and devices are compared with. Semantics are those of
`weft.uop.evaluate`: integers wrap, IDIV and MOD truncate and are 0 for a divisor of 0, MAX gives
NaN where either operand is, every result is rounded to its dtype.

    evaluate(node) -> array         with evaluated_by_oracle(): t.numpy()
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from weft.autograd import history
from weft.base.dtype import DType, dtypes
from weft.base.errors import SpecError
from weft.base.scalars import truncate
from weft.device import Buffer, binding, numpy_dtype
from weft.engine.host_functions import HOST_FUNCTIONS
from weft.tensor import realize
from weft.uop import GroupOp, HostCall, Ops, UOp, identity_element
from weft.uop.symbolic.sint import as_node, variable_and_value

if TYPE_CHECKING:
    import numpy

_IDENTITY = GroupOp.Identity | {Ops.CONTIGUOUS, Ops.COPY}


def evaluate(root: UOp, known: dict[UOp, Any] | None = None) -> numpy.ndarray:
    """The value of a tensor graph, in the NumPy dtype of its dtype.

    :param known: values of nodes that are not to be computed, such as BUFFER nodes without memory.
    :raises SpecError: for a node that is no part of a tensor graph.
    """
    return evaluate_all([root], known)[0]


def evaluate_all(roots: Sequence[UOp], known: dict[UOp, Any] | None = None) -> list[Any]:
    """The values of several graphs; what they share is computed once."""
    values: dict[UOp, Any] = dict(known or {})
    variables = _bindings(roots)
    for root in roots:
        for node in root.toposort(gate=lambda u: u not in values):
            if node not in values:
                values[node] = _value(node, values, variables)
    return [values[root] for root in roots]


@contextmanager
def evaluated_by_oracle() -> Iterator[None]:
    """Inside the block tensors are realized by the oracle instead of by the engine."""
    before = realize.realize_tensors
    realize.realize_tensors = _realize
    try:
        yield
    finally:
        realize.realize_tensors = before


def _realize(tensors: Sequence[Any]) -> None:
    pending = [t for t in tensors if t._uop.base.op not in (Ops.BUFFER, Ops.CONST)]
    arrays = evaluate_all([t._uop for t in pending])
    stored: dict[UOp, UOp] = {}
    for tensor, array in zip(pending, arrays):
        u = tensor._uop
        if u not in stored:
            node = UOp.new_buffer(tensor.device, array.size, u.dtype)
            buffer = Buffer(tensor.device, array.size, u.dtype).allocate()
            buffer.copy_in(array.tobytes())
            binding.bind(node, buffer)
            stored[u] = node if u.shape == (array.size,) else node.reshape(array.shape)
            if tensor._requires_grad and not tensor.is_leaf:
                history.save_graph(node, u.reshape((array.size,)))
        tensor._uop = stored[u]


def _bindings(roots: Sequence[UOp]) -> dict[UOp, int]:
    found: dict[UOp, int] = {}
    for root in roots:
        for node in root.toposort():
            if node.op is Ops.BIND:
                variable, value = variable_and_value(node)
                found[variable] = value
    return found


def _value(node: UOp, values: dict[UOp, Any], variables: dict[UOp, int]) -> Any:
    import numpy as np

    op = node.op
    if op in (Ops.DEVICE, Ops.UNIQUE):
        return None
    if op is Ops.CONST:
        return np.array(node.arg, dtype=numpy_dtype(node.dtype))
    if op is Ops.IOTA:
        return np.arange(node.arg).astype(numpy_dtype(node.dtype))
    if op is Ops.DEFINE_VAR:
        return np.array(variables.get(node, node.arg.low), dtype=numpy_dtype(node.dtype))
    if op is Ops.BIND:
        return values[node.src[1]]
    if op is Ops.BUFFER:
        return binding.buffer_of(node).numpy(window=False)
    if op is Ops.BUFFER_VIEW:
        raw = values[node.src[0]].reshape(-1).view(numpy_dtype(node.dtype))
        return raw[node.arg.offset : node.arg.offset + node.arg.size]
    src = [values[s] for s in node.src]
    if op in _IDENTITY:
        return src[0]
    if op is Ops.HOST_CALL:
        return _called(node.arg, src, numpy_dtype(node.dtype))
    if op in GroupOp.Movement:
        return _moved(node, src[0], variables)
    if op is Ops.REDUCE_AXIS:
        return _reduced(node.arg.op, node.dtype, src[0], node.arg.axes)
    if op is Ops.CAST:
        return converted(src[0], node.src[0].dtype, node.dtype)
    if op is Ops.BITCAST:
        return _bitcast(node, src[0])
    if op is Ops.ASSIGN:
        return _assigned(node, src)
    if op in GroupOp.ALU:
        return _computed(node, src)
    raise SpecError(f"{op} is no part of a tensor graph", asked=f"the value of a {op} node")


# ---- movement and storage ------------------------------------------------------------------------


def _plain(arg: Any, variables: dict[UOp, int]) -> Any:
    """An arg of movement with its symbolic ints evaluated."""
    if isinstance(arg, tuple):
        return tuple(_plain(item, variables) for item in arg)
    if isinstance(arg, UOp):
        bound = {u: u.src[1] for u in arg.toposort() if u.op is Ops.BIND}
        free = arg.substitute(bound)
        return int(free.substitute({v: as_node(n) for v, n in variables.items()}))
    return arg


def _moved(node: UOp, x: Any, variables: dict[UOp, int]) -> Any:
    import numpy as np

    arg = _plain(node.arg, variables)
    match node.op:
        case Ops.RESHAPE:
            return x.reshape(arg)
        case Ops.PERMUTE:
            return x.transpose(arg)
        case Ops.EXPAND:
            return np.broadcast_to(x, arg)
        case Ops.PAD:
            return np.pad(x, arg)
        case Ops.SHRINK:
            return x[tuple(slice(start, stop) for start, stop in arg)]
        case _:
            return x[tuple(slice(None, None, -1 if turned else 1) for turned in arg)]


def _bitcast(node: UOp, x: Any) -> Any:
    import numpy as np

    flat = np.ascontiguousarray(x)
    if node.dtype.itemsize == node.src[0].dtype.itemsize:
        return flat.reshape(x.shape).view(numpy_dtype(node.dtype))
    return flat.view(numpy_dtype(node.dtype)).reshape(node.shape)


def _assigned(node: UOp, src: Sequence[Any]) -> Any:
    import numpy as np

    target, value = src
    if node.arg is None:
        return value.reshape(target.shape)
    flat = np.array(target).reshape(-1)
    view = node.arg.st.simplify().views[0]
    window = np.lib.stride_tricks.as_strided(
        flat[view.offset :], view.shape, [s * flat.itemsize for s in view.strides]
    ) if all(s >= 0 for s in view.strides) else _window(flat, view)  # fmt: skip
    window[...] = value
    return flat.reshape(target.shape)


def _window(flat: Any, view: Any) -> Any:
    """A window with negative strides: they are counted from the last element instead."""
    import numpy as np

    start = view.offset + sum((n - 1) * s for n, s in zip(view.shape, view.strides) if s < 0)
    low = np.lib.stride_tricks.as_strided(
        flat[start:], view.shape, [abs(s) * flat.itemsize for s in view.strides]
    )
    return low[tuple(slice(None, None, -1 if s < 0 else 1) for s in view.strides)]


def _called(call: HostCall, src: Sequence[Any], dtype: Any) -> Any:
    """All results of a host function in one array."""
    import numpy as np

    value = np.zeros(call.size, dtype)
    inputs = [array.reshape(shape) for array, shape in zip(src, call.inputs)]
    pairs = zip(call.windows, call.outputs)
    outputs = [value[start:stop].reshape(shape) for (start, stop), shape in pairs]
    HOST_FUNCTIONS[call.function](inputs, outputs, **dict(call.parameters))
    return value


# ---- arithmetic ----------------------------------------------------------------------------------


def converted(x: Any, source: DType, target: DType) -> Any:
    """A cast, as `weft.base.scalars.truncate` does it."""
    import numpy as np

    to = numpy_dtype(target)
    if dtypes.is_float(source) and dtypes.is_int(target):
        return _float_to_int(x.astype(np.float64), target).astype(to)
    with np.errstate(all="ignore"):
        if target is dtypes.bool:
            return x.astype(np.float64) != 0 if dtypes.is_float(source) else x != 0
        if to.kind == "V" or source.fmt is None or target.fmt is None:
            if dtypes.is_float(target) and target.fmt is None:
                return _each(lambda v: truncate(v, target), x, to)
            return x.astype(np.float32).astype(to)
        return x.astype(to)


def _float_to_int(x: Any, target: DType) -> Any:
    import numpy as np

    wide = 32 if target.bitsize < 32 or target is dtypes.int32 else 64
    least = -(1 << (wide - 1))
    above = float(1 << (64 if target is dtypes.uint64 else wide - 1))
    whole = np.trunc(x)
    fits = np.isfinite(x) & (whole >= least) & (whole < above)
    whole = np.where(fits, whole, 0.0)
    big = whole >= 2.0**63
    low = np.where(big, whole - 2.0**63, whole).astype(np.int64).astype(np.uint64)
    bits = np.where(big, low + np.uint64(1 << 63), low)
    bits = np.where(fits, bits, np.uint64(least & ((1 << 64) - 1)))
    return bits & np.uint64((1 << target.bitsize) - 1) if target.bitsize < 64 else bits


def _each(function: Callable[[Any], Any], x: Any, to: Any) -> Any:
    import numpy as np

    flat = [function(v) for v in np.asarray(x).reshape(-1).astype(object).tolist()]
    return np.array(flat, dtype=np.float32).astype(to).reshape(np.shape(x))


def _reduced(op: Ops, dtype: DType, x: Any, axes: tuple[int, ...]) -> Any:
    import numpy as np

    wide = x.astype(np.float64) if dtypes.is_float(dtype) else x
    to = numpy_dtype(dtype)
    start = identity_element(op, dtype)
    with np.errstate(all="ignore"):
        if op is Ops.MAX:
            if wide.dtype == np.bool_:
                return wide.any(axis=axes, keepdims=True)
            return wide.max(axis=axes, keepdims=True, initial=start).astype(to)
        if dtype is dtypes.bool:
            join = np.any if op is Ops.ADD else np.all
            return join(wide, axis=axes, keepdims=True)
        join = np.sum if op is Ops.ADD else np.prod
        return join(wide, axis=axes, keepdims=True, dtype=wide.dtype).astype(to)


def _computed(node: UOp, src: Sequence[Any]) -> Any:
    import numpy as np

    op, dtype = node.op, node.dtype
    operand = node.src[-1].dtype
    if dtypes.is_float(operand) and op is not Ops.WHERE:
        src = [s.astype(np.float64) if s.dtype.kind != "b" else s for s in src]
    with np.errstate(all="ignore"):
        made = _ALU[op](*src) if op in _ALU else _integer(op, operand, src)
    made = np.asarray(made)
    to = numpy_dtype(dtype)
    if dtypes.is_float(dtype) and dtype.fmt is None and made.dtype != to:
        return _each(lambda v: truncate(v, dtype), made, to)
    with np.errstate(all="ignore"):
        return made if made.dtype == to else made.astype(to)


def _integer(op: Ops, dtype: DType, src: Sequence[Any]) -> Any:
    """Operations whose meaning for integers is not NumPy's."""
    import numpy as np

    a, b = src
    if op in (Ops.SHL, Ops.SHR):
        width = dtype.bitsize
        inside = (b >= 0) & (b < width)
        by = np.where(inside, b, 0).astype(a.dtype)
        if op is Ops.SHL:
            return np.where(inside, np.left_shift(a, by), 0).astype(a.dtype)
        # one type throughout: a mix of int64 and uint64 would go through float64
        filled = np.where(a < 0, ~np.zeros_like(a), np.zeros_like(a))
        return np.where(inside, np.right_shift(a, by), filled)
    if op is Ops.THREEFRY:
        return _threefry(a, b)
    if dtypes.is_float(dtype):  # MOD
        return np.fmod(a, b)
    zero = b == 0
    divisor = np.where(zero, 1, b).astype(b.dtype)
    rest = np.fmod(a, divisor)
    if op is Ops.MOD:
        return np.where(zero, 0, rest).astype(a.dtype)
    down = np.floor_divide(a, divisor)
    exact = np.floor_divide((a - rest).astype(a.dtype), divisor)
    return np.where(zero, 0, np.where(rest == 0, down, exact)).astype(a.dtype)


def _threefry(counter: Any, key: Any) -> Any:
    """Threefry-2x32-20 over arrays of 64-bit counters and keys."""
    import numpy as np

    mask = np.uint64(0xFFFFFFFF)

    def words(x: Any) -> tuple[Any, Any]:
        return (x & mask).astype(np.uint32), (x >> np.uint64(32)).astype(np.uint32)

    x0, x1 = words(counter)
    k0, k1 = words(key)
    keys = (k0, k1, k0 ^ k1 ^ np.uint32(0x1BD11BDA))
    x0, x1 = x0 + keys[0], x1 + keys[1]
    turns = ((13, 15, 26, 6), (17, 29, 16, 24))
    for group in range(5):
        for turn in turns[group % 2]:
            x0 = x0 + x1
            x1 = (x1 << np.uint32(turn)) | (x1 >> np.uint32(32 - turn))
            x1 = x1 ^ x0
        x0 = x0 + keys[(group + 1) % 3]
        x1 = x1 + keys[(group + 2) % 3] + np.uint32(group + 1)
    return (x1.astype(np.uint64) << np.uint64(32)) | x0.astype(np.uint64)


def _maximum(a: Any, b: Any) -> Any:
    import numpy as np

    return np.where((a < b) | (b != b), b, a)


def _function(name: str) -> Callable[..., Any]:
    def call(*operands: Any) -> Any:
        import numpy as np

        return getattr(np, name)(*operands)

    return call


def _add(a: Any, b: Any) -> Any:
    return a | b if a.dtype.kind == "b" else a + b


def _power(a: Any, b: Any) -> Any:
    import numpy as np

    if a.dtype.kind == "f":
        return np.power(a, b)
    whole = np.where(b < 0, 0, b)
    inverse = np.where(a == 1, 1, np.where(a == -1, np.where(b % 2 == 0, 1, -1), 0))
    return np.where(b < 0, inverse, np.power(a, whole))


def _multiply_add(a: Any, b: Any, c: Any) -> Any:
    """a * b + c, rounded once: the digits that the product of two doubles loses are added last."""
    import numpy as np

    if a.dtype.kind != "f":
        return a * b + c
    wide = np.longdouble
    plain = a.astype(wide) * b.astype(wide) + c.astype(wide)
    high = a * b
    exact = high.astype(wide) + c.astype(wide) + _lost_digits(a, b, high)
    return np.where(np.isfinite(exact), exact, plain).astype(np.float64)


def _lost_digits(a: Any, b: Any, product: Any) -> Any:
    """a * b - product, by halves of the digits (Dekker, 1971); not finite beyond 2**990."""
    a_high, b_high = (x * 134217729.0 - (x * 134217729.0 - x) for x in (a, b))
    a_low, b_low = a - a_high, b - b_high
    return ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


_ALU: dict[Ops, Callable[..., Any]] = {
    Ops.EXP2: _function("exp2"),
    Ops.LOG2: _function("log2"),
    Ops.SIN: _function("sin"),
    Ops.SQRT: _function("sqrt"),
    Ops.RECIP: lambda a: 1.0 / a,
    Ops.NEG: lambda a: a if a.dtype.kind == "b" else -a,
    Ops.TRUNC: _function("trunc"),
    Ops.ADD: _add,
    Ops.SUB: lambda a, b: a ^ b if a.dtype.kind == "b" else a - b,
    Ops.MUL: lambda a, b: a & b if a.dtype.kind == "b" else a * b,
    Ops.FDIV: lambda a, b: a / b,
    Ops.POW: _power,
    Ops.MAX: _maximum,
    Ops.CMPLT: lambda a, b: ~a & b if a.dtype.kind == "b" else a < b,
    Ops.CMPNE: lambda a, b: a != b,
    Ops.CMPEQ: lambda a, b: a == b,
    Ops.XOR: lambda a, b: a ^ b,
    Ops.OR: lambda a, b: a | b,
    Ops.AND: lambda a, b: a & b,
    Ops.WHERE: _function("where"),
    Ops.MULACC: lambda a, b, c: _multiply_add(a, b, c),
}
