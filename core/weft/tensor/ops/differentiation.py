"""Gradients of tensors: `gradient` for given targets, `backward` into `.grad` of the leaves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, ParamSpec, Self, TypeVar, overload
from weakref import ref

from weft.autograd import Paths
from weft.autograd.history import has_moved_owners
from weft.base.arguments import flag, kind_of, shown
from weft.base.dtype import dtypes
from weft.base.errors import GradientError, ShapeError
from weft.base.promotion import read_as
from weft.base.sequences import prod
from weft.tensor.alias import break_alias, detach_views, is_view
from weft.tensor.gradient_cache import cached_gradient
from weft.tensor.leaf_identities import former_identities, versions
from weft.tensor.live_tensors import (
    leaf_nodes,
    live_tensors,
    mark_leaf,
    set_node,
    unmark_leaf,
)
from weft.tensor.ops import gradient_hooks
from weft.tensor.ops.gradient_hooks import has_hooks, hooks_on_the_way, through_hooks
from weft.tensor.protocol import TensorBase, grad_mode
from weft.tensor.types import ArrayLike
from weft.uop import GroupOp, Ops, UOp

P = ParamSpec("P")
R = TypeVar("R")


class DifferentiationMixin(TensorBase):
    """Methods that differentiate."""

    __slots__ = ()

    # ---- gradients: flags ---------------------------------------------------------------------

    @property
    def requires_grad(self) -> bool | None:
        """Whether gradients are accumulated in `.grad`; None if undecided.

        >>> Tensor([1.0]).requires_grad is None
        True
        >>> Tensor([1.0], requires_grad=True).requires_grad
        True
        """
        return self._requires_grad

    @requires_grad.setter
    def requires_grad(self, value: bool | None) -> None:
        if value:
            self.requires_grad_()
        else:
            self._as_constant(value)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Decide whether gradients are accumulated; returns self.

        A leaf gets an identity of its own, so that the gradients of equal values stay apart.

        :raises GradientError: if it does not hold floats.

        >>> x = Tensor([3.0]).requires_grad_()
        >>> _ = (x * x).sum().backward()
        >>> x.grad.item()
        6.0
        """
        if not requires_grad:
            return self._as_constant(False)
        if not dtypes.is_float(self._uop.dtype):
            raise GradientError(
                "only floats have gradients",
                asked=f"requires_grad of {self._uop.dtype!r} {self.shape}",
                because="an integer does not change by a small step",
                try_="x.float()",
            )
        if not self._requires_grad:
            if is_view(self):
                break_alias(self)
            else:
                detach_views(self)
            self._requires_grad, self.is_leaf = True, True
            set_node(self, self._own_identity(self._uop))
            mark_leaf(self._uop)
        return self

    def _as_constant(self, flag: bool | None) -> Self:
        """self, which requires no gradient from now on."""
        self._requires_grad, self.is_leaf = flag, True
        unmark_leaf(self._uop)
        return self

    def _with_flag(self, requires_grad: bool | None) -> Self:
        """self, a new tensor, with the given gradient flags."""
        if requires_grad is None or requires_grad is False:
            self._requires_grad = requires_grad
            return self
        return self.requires_grad_(flag(requires_grad, "requires_grad"))

    @overload
    @staticmethod
    def no_grad(function: None = None) -> grad_mode: ...
    @overload
    @staticmethod
    def no_grad(function: Callable[P, R]) -> Callable[P, R]: ...
    @staticmethod
    def no_grad(function: Callable[..., Any] | None = None) -> Any:
        """A with-block, or a decorator, whose results do not require gradients: to all that
        follows they are constants.

        >>> x = Tensor([1.0], requires_grad=True)
        >>> with Tensor.no_grad():
        ...     y = x * 2
        >>> y.requires_grad is True
        False
        >>> _ = (x * y).sum().backward()
        >>> x.grad.tolist()
        [2.0]
        """
        return grad_mode(False) if function is None else grad_mode(False)(function)

    @overload
    @staticmethod
    def enable_grad(function: None = None) -> grad_mode: ...
    @overload
    @staticmethod
    def enable_grad(function: Callable[P, R]) -> Callable[P, R]: ...
    @staticmethod
    def enable_grad(function: Callable[..., Any] | None = None) -> Any:
        """A with-block, or a decorator, inside `no_grad` whose results may require gradients again.

        >>> x = Tensor([1.0], requires_grad=True)
        >>> with Tensor.no_grad():
        ...     with Tensor.enable_grad():
        ...         y = x * 2
        >>> y.requires_grad
        True
        """
        return grad_mode(True) if function is None else grad_mode(True)(function)

    # ---- gradients ---------------------------------------------------------------------------

    def gradient(
        self,
        *targets: TensorBase,
        gradient: ArrayLike | None = None,
        materialize_grads: bool = False,
    ) -> list[Self]:
        """The gradients of self with respect to each target, as lazy tensors.

        :param gradient: of something with respect to self; needed unless self is one element.
        :param materialize_grads: zeros for targets that self does not depend on.
        :raises GradientError: if self does not depend on a target, or is not one float, or if a
            target is not of floats.

        >>> x = Tensor([2.0, 3.0], requires_grad=True)
        >>> (gradient,) = (x * x * x).sum().gradient(x)
        >>> gradient.tolist()
        [12.0, 27.0]
        """
        if any(getattr(target, "_interleaved", None) is not None for target in targets):
            options = {"gradient": gradient, "materialize_grads": materialize_grads}
            return self._complex_class._gradients_of_targets(self, targets, options)
        upstream = self._upstream(gradient)
        for target in targets:
            if not isinstance(target, TensorBase):
                raise GradientError(
                    "gradients are with respect to tensors",
                    asked=f"gradient({shown(target)})",
                    because=f"that is {kind_of(target)}",
                    try_="gradient(*tensors) for a list of them",
                )
            if not dtypes.is_float(target._uop.dtype):
                raise GradientError(
                    "only floats have gradients",
                    asked="the gradient with respect to a tensor of "
                    f"{target._uop.dtype!r} {target.shape}",
                    because="between two integers there is nothing to take a derivative of",
                    try_="y = x.float(), then compute from y, and take the gradient of y",
                )
            if target._uop.op is Ops.CONST:
                raise GradientError(
                    "a constant has no gradient",
                    asked=f"the gradient with respect to {target!r}",
                    because="equal constants are one node: their gradients cannot be separated",
                    try_="make it with requires_grad=True",
                )
        leaves_of = _nodes_of(self._uop, [t for t in targets if t._requires_grad and t.is_leaf])
        nodes = {target._uop: None for target in targets} | dict.fromkeys(leaves_of)
        hooks = hooks_on_the_way(live_tensors()) if has_hooks() else {}
        parts = _gradients(self._uop, list(nodes), upstream, _stops(leaves_of), hooks)
        found = dict(zip(nodes, parts))
        result = []
        for target in targets:
            own = [node for node, leaves in leaves_of.items() if any(t is target for t in leaves)]
            node = _sum([found[n] for n in own or [target._uop]], target)
            if node is None and not materialize_grads:
                raise GradientError(
                    "self does not depend on this target",
                    asked="the gradient with respect to a tensor of "
                    f"{target._uop.dtype!r} {target.shape}",
                    because="no differentiable path leads from one to the other",
                    try_="x.requires_grad_() before values are computed, or materialize_grads=True "
                    "for zeros",
                )
            # not a leaf: gradients of it can be computed after it is realized
            made = target.zeros_like() if node is None else self._from_node(node, None, True)
            if target.is_leaf and node is not None and has_hooks():
                made = through_hooks(target, made)
            result.append(made)
        return result

    def backward(
        self,
        gradient: ArrayLike | None = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: Sequence[TensorBase] | TensorBase | None = None,
    ) -> Self:
        """Add the gradient of self to `.grad` of every leaf below that requires gradients, and of
        every tensor between them for which `retain_grad` was called.

        A leaf that no name refers to any more gets none. `backward` may be called again, which
        adds the same once more, and before or after self and what it was computed of have been
        read: values in memory are used from there.

        :param gradient: weights of the elements; needed unless self is one element.
        :param retain_graph: has no effect: graphs stay.
        :param create_graph: refused: `gradient` gives gradients that gradients flow through.
        :param inputs: the tensors that get their gradients; all leaves by default.
        :raises GradientError: if self is not one float and no `gradient` is given, or if no leaf
            can be reached.

        >>> x = Tensor([1.0, 2.0, 3.0], requires_grad=True)
        >>> _ = (x * x).sum().backward()
        >>> x.grad.tolist()
        [2.0, 4.0, 6.0]
        """
        if create_graph:
            raise GradientError(
                "gradients in .grad are constants",
                asked="backward(create_graph=True)",
                because=".grad of a leaf is added to, and would hold its own graph",
                try_="weft.autograd.grad(y, x, create_graph=True), or y.gradient(x)",
            )
        upstream = self._upstream(gradient)
        candidates = [t for t in live_tensors() if t._requires_grad]
        receivers = [t for t in candidates if t.is_leaf or t.retains_grad]
        if inputs is not None:
            chosen = {id(t) for t in ([inputs] if isinstance(inputs, TensorBase) else inputs)}
            receivers = [t for t in candidates if id(t) in chosen]
        leaves_of = _nodes_of(self._uop, [t for t in receivers if t.is_leaf])
        ends = _stops(leaves_of)
        for receiver in receivers:
            if not receiver.is_leaf:
                leaves_of.setdefault(receiver._uop, []).append(receiver)
        paths = Paths(self._uop, list(dict.fromkeys([*leaves_of, *leaf_nodes()])), ends)
        reached = {id(t) for node in paths.reached for t in leaves_of.get(node, ())}
        receivers = [t for t in receivers if id(t) in reached]
        lost = [t for t in candidates if not t.is_leaf and _is_cut_off(t._uop, paths)]
        if lost or self._uop not in paths.nodes:
            raise GradientError(
                "the way back to the leaves is gone" if lost else "there is no leaf to reach",
                asked=f"backward from a tensor of shape {self.shape}",
                because=f"of a value of shape {lost[0].shape} that leads to them it is not known "
                "how it was computed"
                if lost
                else "nothing that self was computed of by differentiable steps requires gradients",
                try_="x.detach() where no gradient is meant to flow"
                if lost
                else "Tensor(..., requires_grad=True), or x.requires_grad_()",
            )
        nodes = [node for node in leaves_of if node in paths.reached]
        hooks = hooks_on_the_way(candidates) if has_hooks() else {}
        parts = _gradients(self._uop, nodes, upstream, ends, hooks)
        gathered: dict[int, list[UOp | None]] = {id(receiver): [] for receiver in receivers}
        for node, part in zip(nodes, parts):
            for receiver in leaves_of[node]:
                gathered[id(receiver)].append(part)
        for receiver in receivers:
            node = _sum(gathered[id(receiver)], receiver)
            if node is None:
                continue
            made = self._from_node(node, False)
            if receiver.is_leaf and has_hooks():
                made = through_hooks(receiver, made)
            total: Any = made if receiver.grad is None else receiver.grad + made
            total._requires_grad = False
            receiver.grad = total
        return self

    def retain_grad(self) -> Self:
        """Have `backward` add the gradient to `.grad` of this tensor too, which is no leaf.

        Leaves that require gradients have theirs anyway. Returns self.

        :raises GradientError: if it does not require gradients.

        >>> x = Tensor([1.0, 2.0], requires_grad=True)
        >>> y = (x * x).retain_grad()
        >>> _ = (y * 3).sum().backward()
        >>> y.grad.tolist(), x.grad.tolist()
        ([3.0, 3.0], [6.0, 12.0])
        """
        if not self._requires_grad:
            raise GradientError(
                "a tensor that does not require gradients has none to retain",
                asked=f"retain_grad() of a tensor of shape {self.shape}",
                because="it was computed from nothing that requires gradients",
                try_="x.requires_grad_() for a leaf, before it is computed with",
            )
        if not self.is_leaf:
            _retaining.setdefault(id(self), ref(self, partial(_retaining.pop, id(self))))
        return self

    @property
    def retains_grad(self) -> bool:
        """Whether `retain_grad` was called on this tensor, which is no leaf.

        >>> x = Tensor([1.0], requires_grad=True)
        >>> (x * 2).retains_grad, (x * 2).retain_grad().retains_grad
        (False, True)
        """
        return not self.is_leaf and id(self) in _retaining

    def _upstream(self, gradient: Any) -> UOp:
        if not dtypes.is_float(self._uop.dtype):
            raise GradientError(
                "only floats have gradients",
                asked=f"the gradient of {self._uop.dtype!r} {self.shape}",
            )
        if gradient is None:
            if self.numel() != 1:
                raise GradientError(
                    "only one number has a gradient by itself",
                    asked=f"the gradient of a tensor of shape {self.shape}",
                    because="each of its elements has one",
                    try_="x.sum().backward(), or backward(gradient=...) to weigh the elements",
                )
            return self.ones_like(dtype=self._uop.dtype)._uop
        weights = self.__class__._as_tensor(gradient, self).cast(self._uop.dtype)
        if weights.shape != self.shape:
            raise ShapeError(
                "the weights of a gradient have the shape of what it is of",
                asked=f"weights {weights.shape} for {self.shape}",
                because="there is one for each element",
                try_="gradient.expand(...) or gradient.reshape(...)",
            )
        return weights._uop

    register_hook = gradient_hooks.register_hook


def _nodes_of(root: UOp, leaves: list[TensorBase]) -> dict[UOp, list[TensorBase]]:
    """By node the leaves whose node it is, or was before they were written."""
    if has_moved_owners():
        Paths(root, ())  # makes the former nodes below root
    found: dict[UOp, list[TensorBase]] = {}
    for leaf in leaves:
        for node in versions(leaf._uop):
            found.setdefault(node, []).append(leaf)
    for node, there in former_identities(leaves).items():
        known = found.setdefault(node, [])
        known += [leaf for leaf in there if not any(leaf is other for other in known)]
    return found


def _stops(leaves_of: Mapping[UOp, list[TensorBase]]) -> set[UOp]:
    """The nodes of leaves that have several: no gradient flows from one to another."""
    count = Counter(id(leaf) for leaves in leaves_of.values() for leaf in leaves)
    return {node for node, leaves in leaves_of.items() if any(count[id(t)] > 1 for t in leaves)}


def _sum(parts: list[UOp | None], target: TensorBase) -> UOp | None:
    """The sum of those that there are, as a gradient of `target`."""
    total = None
    for part in parts:
        if part is not None:
            part = _as_gradient_of(target, part)
            total = part if total is None else total + part
    return total


def _as_gradient_of(target: TensorBase, part: UOp) -> UOp:
    """A gradient in the shape and dtype of `target`, where `target` is.

    A leaf may have been moved, converted or replaced since it was read.

    :raises GradientError: where it was replaced by a tensor of another size.
    """
    own = target._uop
    if part.shape != own.shape:
        if prod(part.shape) != prod(own.shape):
            raise GradientError(
                "the gradient does not have the shape of its leaf",
                asked=f"a gradient of shape {part.shape} for a leaf of shape {target.shape}",
                because="the leaf was replaced by a tensor of another shape after it was used",
                try_="call backward before the leaf is replaced",
            )
        part = part.reshape(own.shape)
    dtype = read_as(own.dtype)
    part = part if part.dtype is dtype else part.cast(dtype)
    if part.device is None or part.device == own.device:
        return part
    return target._from_node(part, False).shard_like(target)._uop


def _is_cut_off(node: UOp, paths: Paths) -> bool:
    """Whether a value that self depends on is memory, and neither a leaf nor led on from it."""
    if node not in paths.order:
        return False
    while node not in paths.nodes:
        if node.op not in GroupOp.Movement:
            return node.op is Ops.BUFFER or node.op is Ops.MULTI
        node = node.src[0]
    return False


# tensors for which `retain_grad` was called, by identity
_retaining: dict[int, ref[TensorBase]] = {}

_gradients = cached_gradient
