"""Tracing cache: the graph of a method is recorded once per signature, and instantiated afterwards.
Also: memoized tracing, graph templates, trace cache.

A composite method (`layernorm`, `conv2d`, `cross_entropy`) records tens of nodes, and finds shapes,
dtypes and broadcasts again at every call. The nodes depend on the signature alone: the shapes,
dtypes, devices and flags of the tensors, the other arguments, and the settings. At the second call
of a signature the method is traced over placeholders. Later calls make the nodes of this trace over
their own operands.

Nodes are interned, so a trace can be checked exactly: it is kept only if it gives the same node as
the method does. A method that looks at the graph below an operand fails this check, and is recorded
at each call.

in:  tensors whose shapes are numbers, on one device, and plain arguments
out: the tensor that the method gives

Source: R. Frostig, M. J. Johnson, C. Leary, "Compiling machine learning programs via high-level
tracing" (SysML 2018), and the caches of traces in JAX.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ParamSpec, TypeVar

from weft.base.dtype import DType, ImageDType
from weft.base.errors import SpecError
from weft.base.provenance import Metadata
from weft.base.settings import settings
from weft.engine.capture import recording
from weft.tensor.live_tensors import register_tensor
from weft.tensor.protocol import TensorBase, grad_enabled, named_after, provenance
from weft.uop import GraphTemplate, Ops, UOp

P = ParamSpec("P")
R = TypeVar("R")
_Class = TypeVar("_Class", bound=type)

METHODS = frozenset(
    "linear matmul dot __matmul__ __rmatmul__ "
    "gelu silu swish mish elu selu celu hardswish hardsigmoid quick_gelu softplus softsign "
    "logsigmoid softmax log_softmax softmin logsumexp "
    "layernorm batchnorm normalize norm mean var std cosine_similarity "
    "conv2d conv_transpose2d avg_pool2d max_pool2d unfold interpolate "
    "scaled_dot_product_attention "
    "cross_entropy sparse_categorical_crossentropy nll_loss binary_crossentropy "
    "binary_crossentropy_logits binary_cross_entropy mse_loss l1_loss smooth_l1_loss huber_loss "
    "kl_div tril triu cumsum cumprod cummax cummin argmax argmin gather one_hot masked_fill "
    "erf sinh cosh tan asin acos atan".split()
)
"""The methods of Tensor that record many nodes and depend on nothing but their arguments."""

_MOST_TRACES = 256
_MOST_NODES = 4096
_MOST_DEPTH = 4
_MOST_STAMPS, _MOST_VALUES = 64, 1024
_PLAIN = frozenset({int, bool, str, type(None)})
_SCALARS = frozenset({Ops.CONST, Ops.DEFINE_VAR, Ops.BIND})
_SEEN = object()
_tensor_class: Any = None
_operand_classes: set[type] = set()

_read_tracing, _read_checking = settings.getter("TRACEMETA"), settings.getter("CHECK")
_read_enabled = settings.getter("TRACING_CACHE")
_read_all = settings.reader(*(row.name for row in settings.table() if row.name != "SEED"))
_new_number = itertools.count()
_numbers_of_stamps: dict[object, int] = {}
_numbers_of_values: dict[tuple[Any, ...], int] = {}


def with_tracing_cache(cls: _Class) -> _Class:
    """A class decorator: the methods in METHODS are traced once per signature."""
    global _tensor_class
    _tensor_class = cls
    accept_operands(cls)
    for name in METHODS:
        method = inspect.getattr_static(cls, name, None)
        if inspect.isfunction(method):
            setattr(cls, name, traced_once(method))
    return cls


def accept_operands(cls: _Class) -> _Class:
    """A class decorator: operands of this class are traced as tensors of the base class."""
    _operand_classes.add(cls)
    return cls


def traced_once(function: Callable[P, R]) -> Callable[P, R]:
    """A decorator for functions of tensors and plain values that record one tensor and do nothing
    else: they are traced once per signature."""
    table: dict[Any, Any] = {}
    plain: Callable[..., Any] = function

    @named_after(function)
    def cached(*args: Any, **kwargs: Any) -> Any:
        nodes: list[UOp] = []
        key = _signature(args, kwargs, nodes)
        if key is None:
            return plain(*args, **kwargs)
        trace: Any = table.get(key)
        if trace.__class__ is _Trace:
            made = trace.instantiate(nodes)
            if _read_enabled() == 2:
                _check(made, plain(*args, **kwargs), plain.__name__)
            return made
        result = plain(*args, **kwargs)
        if trace is None:
            if len(table) >= _MOST_TRACES:
                table.clear()
            table[key] = _SEEN
        elif trace is _SEEN:
            table[key] = _trace(plain, args, kwargs, nodes, result)
        return result

    return cached


def _check(made: Any, recorded: Any, name: str) -> None:
    """:raises SpecError: if a trace gives another tensor than the method."""
    same = made._uop is recorded._uop and made._requires_grad is recorded._requires_grad
    if not same or made.is_leaf is not recorded.is_leaf:
        raise not_equal(f"the trace of {name}", name)


def not_equal(what: str, name: str) -> SpecError:
    """The error for a cached graph that is not the recorded one."""
    return SpecError(
        f"{what} is not what is recorded",
        asked=f"{name} with TRACING_CACHE=2",
        because="the graph depends on more than its signature",
        try_="TRACING_CACHE=0, and a report with the program",
    )


# ---- signatures ----------------------------------------------------------------------------------


class _NotPlainError(Exception):
    """An argument of which a signature cannot be made."""


def _signature(
    args: tuple[Any, ...], kwargs: Mapping[str, Any], nodes: list[UOp]
) -> tuple[Any, ...] | None:
    """What the nodes of a call depend on; None for calls that are recorded each time.

    nodes: gets those of the tensors among the arguments.
    """
    if not _read_enabled() or _read_checking():
        return None  # checked mode looks at the values of each call
    try:
        found = [_described(value, nodes, 0) for value in args]
        if kwargs:
            found += [(name, _described(value, nodes, 0)) for name, value in kwargs.items()]
    except _NotPlainError:
        return None
    if len(nodes) > 1:
        found.append(tuple([nodes.index(node) for node in nodes]))
    return (settings_number(), grad_enabled(), _tensor_class.training, *found)


def settings_number() -> int:
    """A number that is equal whenever all settings have equal values. A with-block has a new stamp
    each time that it is entered, but the values that it had before."""
    stamp = settings.stamp()
    number = _numbers_of_stamps.get(stamp)
    if number is None:
        if len(_numbers_of_stamps) >= _MOST_STAMPS:
            _numbers_of_stamps.clear()
        if len(_numbers_of_values) >= _MOST_VALUES:
            _numbers_of_values.clear()
        values = tuple(_read_all())
        number = _numbers_of_values.get(values)
        if number is None:
            number = _numbers_of_values[values] = next(_new_number)
        _numbers_of_stamps[stamp] = number
    return number


def _described(value: Any, nodes: list[UOp], depth: int) -> Any:
    kind = value.__class__
    if kind in _operand_classes:
        node: UOp = value._uop
        base = node.base.op
        if base in _SCALARS:
            raise _NotPlainError
        nodes.append(node)
        return (node.dtype, node.shape, node.device, value._requires_grad, node.op, base)
    if kind in _PLAIN or isinstance(value, DType):
        return kind, value
    if kind is float:
        return kind, value.hex()  # zeros of both signs are equal, and no NaN is
    if (kind is tuple or kind is list) and depth < _MOST_DEPTH:
        return (kind, *[_described(entry, nodes, depth + 1) for entry in value])
    raise _NotPlainError


# ---- traces --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Trace:
    """The nodes of a function over operands.

    :ivar constants: the operands behind those of the function.
    :ivar names: the methods that the nodes are from.
    """

    constants: tuple[UOp, ...]
    template: GraphTemplate
    names: tuple[str, ...]
    requires_grad: bool | None
    is_leaf: bool

    def instantiate(self, nodes: Sequence[UOp]) -> Any:
        """The result over these operands."""
        metas = None
        if _read_tracing() or _read_checking():
            place = provenance()
            metas = [_renamed(place, name) for name in self.names]
        made = object.__new__(_tensor_class)
        made._uop = self.node(nodes, metas)
        made._requires_grad = self.requires_grad
        made._alias = made.grad = None
        made.is_leaf = self.is_leaf
        register_tensor(made)
        return made

    def node(self, nodes: Sequence[UOp], metas: Sequence[Metadata] | None) -> UOp:
        """The node of the result. metas: the provenance of the nodes by their names."""
        return self.template.instantiate([*nodes, *self.constants], metas, replace=True)[-1]


def _trace(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    nodes: Sequence[UOp],
    result: Any,
) -> _Trace | bool:
    """The trace of a call whose result is known; False if it cannot be instantiated."""
    if result.__class__ is not _tensor_class or result._alias is not None:
        return False
    if recording() is not None:
        return False
    if not all(_is_static(node) for node in nodes):
        return False
    if _template(result._uop, nodes) is None:
        return False  # a second call of a function that draws random numbers would draw others
    placeholders = {node: _placeholder(node) for node in nodes}
    over = [_over(value, placeholders) for value in args]
    over_named = {name: _over(value, placeholders) for name, value in kwargs.items()}
    traced = function(*over, **over_named)
    inputs = [placeholders[node] for node in nodes]
    found = _template(traced._uop, inputs)
    if found is None:
        return False
    trace = _Trace(*found, traced._requires_grad, traced.is_leaf)
    flags = result._requires_grad, result.is_leaf
    is_same = trace.node(nodes, None) is result._uop
    return trace if is_same and flags == (traced._requires_grad, traced.is_leaf) else False


def _is_static(node: UOp) -> bool:
    """Whether a node has a shape of numbers with elements, and lies on one device."""
    if node.device.__class__ is not str or isinstance(node.dtype, ImageDType):
        return False
    return all(extent.__class__ is int and extent > 0 for extent in node.shape)


def _placeholder(node: UOp) -> UOp:
    """A node of the same shape, dtype and device over memory that no other node reads."""
    device = UOp(Ops.DEVICE, arg=node.device)
    memory = UOp(Ops.BUFFER, node.dtype, (device, UOp.unique()), node.size)
    return UOp(Ops.RESHAPE, node.dtype, (memory,), node.shape)


def _over(value: Any, placeholders: Mapping[UOp, UOp]) -> Any:
    """An argument with placeholders in the place of tensors."""
    if isinstance(value, TensorBase):
        return _tensor_class._from_node(placeholders[value._uop], value._requires_grad, True)
    if isinstance(value, (tuple, list)):
        return type(value)([_over(entry, placeholders) for entry in value])
    return value


def _template(
    node: UOp, inputs: Sequence[UOp]
) -> tuple[tuple[UOp, ...], GraphTemplate, tuple[str, ...]] | None:
    """The constants, the template and the names of a trace; None if it reads memory other than its
    operands."""
    ends = set(inputs)
    order = [each for each in node.toposort(gate=lambda each: each not in ends) if each not in ends]
    if node in ends or len(order) > _MOST_NODES:
        return None
    if any(each.op is Ops.BUFFER or each.op is Ops.UNIQUE for each in order):
        return None
    constants = tuple([each for each in order if not each.src or each.op is Ops.CONST])
    computed = [each for each in order if each.src and each.op is not Ops.CONST]
    places = {each: number for number, each in enumerate([*inputs, *constants, *computed])}
    names: dict[str, int] = {}

    def name_of(each: UOp) -> int:
        return names.setdefault("" if each.meta is None else each.meta.name, len(names))

    template = GraphTemplate.of(computed, places, name_of)
    return constants, template, tuple(names)


def _renamed(meta: Metadata, name: str) -> Metadata:
    """Provenance of the same line from another method."""
    if meta.name == name or not name:
        return meta
    return _metadata(name, meta.where)


@lru_cache(4096)
def _metadata(name: str, where: Any) -> Metadata:
    return Metadata(name, where)
