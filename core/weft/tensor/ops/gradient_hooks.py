"""Hooks of tensors: functions that see, and may change, the gradient of a tensor.

The hooks of a leaf are called with its gradient of one `backward` (or `gradient`), those of a
computed tensor with the gradient that flows through its node, before it flows on. Equal expressions
are one node: hooks of one are hooks of all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any
from weakref import ref

from weft.base.arguments import kind_of, shown
from weft.base.errors import GradientError, ShapeError, WrongKind
from weft.tensor.protocol import TensorBase
from weft.uop import UOp

GradientHook = Callable[[Any], Any]
"""Of the gradient, which gives another one of its shape, or None where it stays."""

_hooks: dict[int, tuple[ref[TensorBase], list[GradientHook]]] = {}
"""The hooks of tensors, by identity."""


class HookHandle:
    """What `register_hook` gives: `remove()` takes the hook away."""

    __slots__ = ("_hook", "_hooks")

    def __init__(self, hooks: list[GradientHook], hook: GradientHook) -> None:
        self._hooks, self._hook = hooks, hook

    def remove(self) -> None:
        """Take the hook away."""
        if self._hook in self._hooks:
            self._hooks.remove(self._hook)


def register_hook(self: TensorBase, hook: GradientHook) -> HookHandle:
    """Have `hook` called with the gradient of this tensor in every `backward` and `gradient`.

    It gives another gradient of the same shape, or None where the gradient stays as it is.
    Returns a handle whose `remove()` takes the hook away.

    :raises GradientError: if self does not require gradients.
    :raises WrongKind: if `hook` cannot be called.

    >>> x = Tensor([1.0, 2.0], requires_grad=True)
    >>> y = x * 3
    >>> handle = y.register_hook(lambda gradient: gradient * 10)
    >>> _ = y.sum().backward()
    >>> x.grad.tolist()
    [30.0, 30.0]
    >>> handle.remove()
    """
    if not self._requires_grad:
        raise GradientError(
            "a tensor that does not require gradients has none to change",
            asked=f"register_hook of a tensor of shape {self.shape}",
            because="it was computed from nothing that requires gradients",
            try_="x.requires_grad_() for a leaf, before it is computed with",
        )
    if not callable(hook):
        raise WrongKind(
            "a hook is a function",
            asked=f"register_hook({shown(hook)})",
            because=f"that is {kind_of(hook)}",
            try_="x.register_hook(lambda gradient: ...)",
        )
    key = id(self)
    _, hooks = _hooks.setdefault(key, (ref(self, partial(_forget, key)), []))
    hooks.append(hook)
    return HookHandle(hooks, hook)


def _forget(key: int, _reference: Any) -> None:
    _hooks.pop(key, None)


def has_hooks() -> bool:
    """Whether any tensor has one."""
    return bool(_hooks)


def through_hooks(tensor: TensorBase, gradient: Any) -> Any:
    """The gradient of a tensor after its hooks. :raises ShapeError: for one of another shape."""
    found = _hooks.get(id(tensor))
    for hook in list(found[1]) if found else ():
        given = hook(gradient)
        if given is None:
            continue
        if not isinstance(given, TensorBase) or given.shape != gradient.shape:
            raise ShapeError(
                "a hook gives a gradient of the same shape, or None",
                asked=f"a hook for a gradient of shape {gradient.shape}",
                because=f"it gave shape {given.shape}"
                if isinstance(given, TensorBase)
                else f"it gave {kind_of(given)}",
            )
        gradient = given.cast(gradient.dtype)  # type: ignore[attr-defined]
    return gradient


def hooks_on_the_way(tensors: Iterable[TensorBase]) -> dict[UOp, Callable[[UOp], UOp]]:
    """By node the hooks of computed tensors, as functions of nodes."""
    found: dict[UOp, list[TensorBase]] = {}
    for tensor in tensors:
        if id(tensor) in _hooks and not tensor.is_leaf:
            found.setdefault(tensor._uop, []).append(tensor)
    return {node: partial(_changed, hooked) for node, hooked in found.items()}


def _changed(tensors: list[TensorBase], node: UOp) -> UOp:
    gradient: Any = tensors[0]._from_node(node, False)
    for tensor in tensors:
        gradient = through_hooks(tensor, gradient)
    result: UOp = gradient._uop
    return result
