"""What the mixins may assume of a tensor, and the funnel through which all of them record nodes.

`TensorBase` owns the slots of a tensor; every mixin derives from it and adds methods alone.
`record` builds one node and remembers which method of the user's made it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextvars import ContextVar, Token
from functools import wraps
from types import CodeType
from typing import TYPE_CHECKING, Any, ClassVar, ParamSpec, Self, TypeVar

from weft.base.arguments import flag
from weft.base.dtype import DType, any_images
from weft.base.promotion import read_as
from weft.base.provenance import Metadata
from weft.base.settings import settings
from weft.tensor.alias import (
    COMBINED,
    RESIZED,
    Combined,
    Steps,
    Views,
    apply_steps,
    first_view,
    is_view,
    rederive_views,
    steps_between,
)
from weft.tensor.live_tensors import register_tensor
from weft.uop import GroupOp, Ops, UOp, memo_slot

if TYPE_CHECKING:
    from weft.tensor.ops.overloads import MixinMethods
    from weft.tensor.tensor import Tensor
else:
    MixinMethods = object

TensorT = TypeVar("TensorT", bound="TensorBase")
Kind = TypeVar("Kind", bound="TensorBase")
P = ParamSpec("P")
R = TypeVar("R")

_TENSOR_FOLDER = os.path.dirname(os.path.abspath(__file__)) + os.sep
_PACKAGE = os.path.dirname(_TENSOR_FOLDER[:-1]) + os.sep
_OUTSIDE, _HERE, _ELSEWHERE = 0, 1, 2
_BITCAST = Ops.BITCAST
_COPYING = frozenset({Ops.RESHAPE, RESIZED})
_COMPUTES = GroupOp.ALU | {Ops.REDUCE_AXIS}

_set_meta = memo_slot("meta")
_kind_of_file: dict[str, int] = {}
_metadata: dict[tuple[str, int, int], tuple[Metadata, CodeType]] = {}
_read_tracing, _read_checking = settings.getter("TRACEMETA"), settings.getter("CHECK")
_grad_enabled: ContextVar[bool] = ContextVar("weft_grad_enabled", default=True)


grad_enabled = _grad_enabled.get
"""Whether operations on tensors that require gradients are recorded as differentiable."""


def in_grad_mode(enabled: bool, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """`function(...)` with gradients recorded only where `enabled`.

    The frame that set the mode restores it, even if a signal handler raises. A with-block cannot
    guarantee that, since a handler may run before the first line of `__exit__`.
    """
    before = _grad_enabled.get()
    try:
        _grad_enabled.set(enabled)
        return function(*args, **kwargs)
    finally:
        _grad_enabled.set(before)


class grad_mode:
    """Results inside the block, or of the function, require gradients only where `enabled`.

    One object may be entered often, and within itself.
    """

    def __init__(self, enabled: bool) -> None:
        self._enabled = enabled
        self._tokens: list[Token[bool]] = []

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        enabled = self._enabled

        @wraps(function)
        def with_mode(*args: P.args, **kwargs: P.kwargs) -> R:
            return in_grad_mode(enabled, function, *args, **kwargs)

        return with_mode

    def __enter__(self) -> None:
        before, depth = _grad_enabled.get(), len(self._tokens)
        try:
            self._tokens.append(_grad_enabled.set(self._enabled))
        except BaseException:  # of a signal handler: the block is not entered
            _grad_enabled.set(before)
            del self._tokens[depth:]
            raise

    def __exit__(self, *exception: object) -> None:
        try:
            _grad_enabled.reset(self._tokens[-1])
        finally:
            self._tokens.pop()


class set_grad_enabled(grad_mode):
    """`grad_mode` from now on; a with-block, or a function that it decorates, ends it.

    >>> mode = weft.set_grad_enabled(False)
    >>> weft.is_grad_enabled()
    False
    >>> _ = weft.set_grad_enabled(True)
    """

    def __init__(self, mode: bool) -> None:
        super().__init__(flag(mode, "mode"))
        self._former = _grad_enabled.get()
        _grad_enabled.set(self._enabled)

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        _grad_enabled.set(self._former)
        return super().__call__(function)

    def __enter__(self) -> None:
        """The mode is set already."""

    def __exit__(self, *exception: object) -> None:
        _grad_enabled.set(self._former)


def _classify(filename: str) -> int:
    if filename.startswith(_TENSOR_FOLDER):
        kind = _HERE
    else:
        kind = _ELSEWHERE if filename.startswith(_PACKAGE) else _OUTSIDE
    _kind_of_file[filename] = kind
    return kind


def provenance(depth: int = 1) -> Metadata:
    """The outermost running method of this package, and the user's line that called it.

    Inspecting the stack costs nothing where no node is made, unlike a decorator on every method.
    """
    frame = sys._getframe(depth + 1)
    kinds = _kind_of_file
    name = ""
    inside = True
    while frame is not None:
        code = frame.f_code
        filename = code.co_filename
        kind = kinds.get(filename)
        if kind is None:
            kind = _classify(filename)
        if kind == _OUTSIDE:
            break
        if inside and kind == _HERE:
            name = code.co_name
        else:
            inside = False
        frame = frame.f_back
    else:
        return Metadata(name)
    place = name, id(code), frame.f_lasti  # the line takes longer to find
    known = _metadata.get(place)
    if known is None:
        if len(_metadata) > 8192:
            _metadata.clear()
        made = Metadata(name, (filename, frame.f_lineno, code.co_name))
        known = _metadata[place] = made, code  # the code lives: no other one gets its id
    return known[0]


def named_after(function: Callable[..., Any]) -> Callable[[Callable[..., Any]], Any]:
    """For wrappers of methods: `functools.wraps`, and provenance reads the method's name too."""

    def dressed(wrapper: Any) -> Any:
        wrapper.__code__ = wrapper.__code__.replace(co_name=function.__name__)
        return wraps(function)(wrapper)

    return dressed


def record(op: Ops, dtype: DType, src: tuple[UOp, ...], arg: Any = None) -> UOp:
    """One node, marked with the method and line it is from (unless TRACEMETA and CHECK are 0)."""
    if any_images() and op in _COMPUTES:
        dtype, src = read_as(dtype), tuple([_read(source) for source in src])
    node = UOp(op, dtype, src, arg)
    if _read_tracing() or _read_checking():
        _set_meta(node, provenance())
    return node


def _read(source: UOp) -> UOp:
    """What is computed with: of what is stored as an image the floats in it."""
    plain = read_as(source.dtype)
    return source if plain is source.dtype else source.cast(plain)


_allocate = object.__new__


class TensorBase(MixinMethods):
    """The slots of a tensor, and how one tensor makes another.

    _uop            the graph node
    grad            the accumulated gradient, a tensor of the same shape, or None
    is_leaf         True unless it was computed from tensors that require gradients
    _alias          with whom it shares its value, see `alias`: None where it has no views
    """

    __slots__ = ("__weakref__", "_alias", "_requires_grad", "_uop", "grad", "is_leaf")

    _uop: UOp
    _requires_grad: bool | None
    grad: Tensor | None
    is_leaf: bool
    _alias: Any
    _view_class: ClassVar[type[TensorBase] | None] = None
    _complex_class: ClassVar[Any] = None
    """The class of complex tensors beside this class; set by `weft.tensor.complex`."""
    _interleaved: Any = None
    """Of a complex tensor the real tensor of its parts, with a last axis of 2."""
    _products: ClassVar[Any]
    """Of complex tensors the module of their products."""

    if TYPE_CHECKING:

        def __hash__(self) -> int: ...
    else:
        __hash__ = object.__hash__

    @classmethod
    def _from_node(cls, uop: UOp, requires_grad: bool | None = None, derived: bool = False) -> Self:
        """A tensor around a node: unchecked."""
        made = _allocate(cls)
        made._uop = uop
        made._requires_grad = requires_grad
        made._alias = made.grad = None
        made.is_leaf = not derived
        register_tensor(made)
        return made

    def _wrap(self, uop: UOp) -> Self:
        """A tensor computed from self alone."""
        made = _allocate(self.__class__)
        made._uop = uop
        made._alias = made.grad = None
        flag = self._requires_grad
        if flag and _grad_enabled.get():
            made._requires_grad = True
            made.is_leaf = False
        else:
            made._requires_grad = False if flag is False else None
            made.is_leaf = True
            if flag:  # what is done without gradients is a constant to all that follows
                made._uop = record(Ops.DETACH, uop.dtype, (uop,))
        register_tensor(made)
        return made

    def _viewed(self, node: UOp) -> Self:
        """A view of self, whose node is movement of that of self: they share their value."""
        alias = self._alias
        if alias.__class__ is Views:
            base: TensorBase = self
            steps: Steps = ()
            views = alias
        else:
            base, steps, views = self._base_and_steps()
        own = self._uop
        if node is not own:
            if node.src[0] is own and node.op is not _BITCAST:
                steps = (*steps, (node.op, node.arg))
            else:
                steps += steps_between(own, node)  # type: ignore[operator]
        # as `_wrap`, in line: views are many and short-lived
        made: Self = _allocate(self._view_class or self.__class__)  # type: ignore[arg-type]
        made.grad = None
        flag = self._requires_grad
        if flag and _grad_enabled.get():
            made._requires_grad = True
            made.is_leaf = False
        else:
            made._requires_grad = False if flag is False else None
            made.is_leaf = True
            if flag:
                node = record(Ops.DETACH, node.dtype, (node,))
                steps = (*steps, (Ops.DETACH, None))
        made._uop = node
        made._alias = (base, steps)
        views.append(register_tensor(made))
        if len(views) > 64 and len(views) > views.limit:
            views.prune()
        return made

    def _base_and_steps(self) -> tuple[TensorBase, Steps, Views]:
        """The base of self, the steps from there to self, and the views that the base has."""
        alias = self._alias
        if alias.__class__ is tuple:
            base, steps = alias
            # a view of a copy is no view of what was copied
            if len(steps) < 2 or steps[-1][0] not in _COPYING or is_view(self):
                return base, steps, base._alias
            alias = None
        if alias is None:
            with first_view:
                alias = self._alias
                if alias is None:
                    alias = self._alias = Views()
        return self, (), alias

    def _viewed_resized(self, node: UOp) -> Self:
        """A view of the bytes of self as elements of another size: see `alias.RESIZED`."""
        made = self._viewed(self._uop)
        base, steps = made._alias
        made._uop = node
        made._alias = base, (*steps, (RESIZED, (self._uop.dtype, node.dtype)))
        base._alias.has_resized()
        return made

    def _rederive_views(self) -> None:
        """Called of a base that has been computed: see `alias.rejoin`."""
        rederive_views(self)

    def _viewed_as(self, node: UOp, rows: tuple[tuple[int, ...], ...]) -> Self:
        """A view by moves that together make strides: see `alias.Combined`."""
        moves = steps_between(self._uop, node)
        if moves is None:
            return self._wrap(node)
        made = self._viewed(self._uop)
        base, steps = made._alias
        step = COMBINED, Combined((moves, node.shape, rows))
        made._uop = apply_steps(made._uop, (step,))
        made._alias = base, (*steps, step)
        return made

    def _as_kind(self, kind: type[Kind]) -> Kind:
        """A view of self of another class, with the flags of self."""
        made = kind._from_node(self._uop, self._requires_grad, not self.is_leaf)
        base, steps, views = self._base_and_steps()
        made._alias = (base, steps)
        views.note(made)
        return made

    def _wrap_with(self, uop: UOp, *others: TensorBase) -> Self:
        """A tensor computed from self and others."""
        chosen: TensorBase = self
        # the strongest flag decides: True before None before False
        for other in others:
            if not chosen._requires_grad and other._requires_grad is not False:
                chosen = other
        return chosen._wrap(uop)  # type: ignore[return-value]
