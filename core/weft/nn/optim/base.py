"""Optimisers: one lazy assignment per parameter, all realised together by `step`.

An optimiser's own numbers (momentum, moving averages, the learning rate) are tensors, so that a
recorded training step may be replayed. They are kept in float32 when parameters are narrower.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from weft.base.arguments import real
from weft.base.dtype import DType, dtypes
from weft.base.errors import ArgumentError, DTypeError, GradientError, IndexingError
from weft.base.promotion import least_upper_dtype
from weft.base.settings import settings
from weft.engine.capture import recording
from weft.nn.input_checks import missing_name
from weft.nn.optim.param_groups import ParamGroup, Params, groups_of, set_rate
from weft.nn.optim.state_dicts import load, per_parameter, saved
from weft.nn.suggested_names import OF_OPTIMISERS
from weft.nn.training_mode import take_defaulted
from weft.schedule.structural_key import traversal
from weft.tensor import Tensor
from weft.tensor.jit import Jit
from weft.tensor.live_tensors import waiting_tensors
from weft.uop import Ops, UOp


class Optimizer:
    """The base class of optimisers; subclasses override `_change`, and `_advance` if necessary.

    `params` may be all tensors of a model: those with `requires_grad=False` are kept as `buffers`
    (running statistics, say) and realised with every step; the others are trained, and
    `requires_grad` is switched on for them.

    `params` may be dicts instead, `{"params": ..., "lr": ...}`, each a group with options of its
    own: see `param_groups`.

    `lr` is a tensor of one element. It can be set to a number at any time: `optimiser.lr = 0.01`.

    >>> w = Tensor([1.0])
    >>> optimizer = nn.optim.SGD([w], lr=0.5)
    >>> optimizer.lr = 0.25
    >>> optimizer.lr.item(), w.requires_grad
    (0.25, True)

    The state of an optimiser consists of tensors: `weft.nn.state.get_state_dict(optimiser)` can be
    saved, and loaded into a new optimiser of the same kind to continue the training.

    Parameters may be on several devices: each is updated on its device, and the numbers of the
    optimiser itself are on the device of the first parameter.

    Raises ArgumentError for parameters that are none, and for rates below 0; DTypeError for
    parameters that are not floating-point.
    """

    # of a kind, not of those that are derived from it: whether its `_change` builds the same graph
    # at every step, without large values of its own
    _is_plain = False

    # PyTorch's names for the lists that hold one tensor for each parameter
    state_names: ClassVar[Mapping[str, str]] = {}
    # tensors whose rows belong to the parameters
    state_rows: ClassVar[tuple[str, ...]] = ()
    # options of which the value is one number
    _numbers: ClassVar[frozenset[str]] = frozenset({"momentum", "weight_decay", "dampening", "eps"})

    def __init__(self, params: Params, lr: float | Tensor = 1e-3, **options: Any) -> None:
        who = type(self).__name__
        given = groups_of(params, who)
        self.defaults = {"lr": _checked_rate(who, lr), "maximize": False, **options}
        tensors = [each for group in given for each in group["params"]]
        self.buffers = [each for each in tensors if each.requires_grad is False]
        self.params = [each for each in tensors if each.requires_grad is not False]
        _check_trainable(who, self.params, len(tensors))
        self.device = self.params[0].device
        for each in self.params:
            each.requires_grad_(True)
        self.dtype = least_upper_dtype(dtypes.float32, *(each.dtype for each in self.params))
        self.param_groups: list[ParamGroup] = [self._group(group) for group in given]
        rates = [group.rate for group in self.param_groups]
        Tensor.realize(*self.params, *self.buffers, *rates)

    def _group(self, given: dict[str, Any]) -> ParamGroup:
        """A group of these parameters and options, with the defaults for what it does not say."""
        options: dict[str, Any] = {**self.defaults, **given}
        for name in self._numbers & options.keys():
            options[name] = real(options[name], name)
        rate = self._number(_checked_rate(type(self).__name__, options.pop("lr")))
        params = [each for each in options.pop("params") if each.requires_grad is not False]
        return ParamGroup(params, rate, options)

    def _add_defaults(self, **options: Any) -> None:
        """Options that a derived kind adds, for the groups that do not give them."""
        self.defaults.update(options)
        for group in self.param_groups:
            vars(group).update({**options, **vars(group)})

    def options(self, index: int) -> ParamGroup:
        """The group of the parameter of this number in `params`; its options are attributes.

        :raises IndexingError: where none of several groups has that parameter.

        >>> groups = [{"params": [Tensor([1.0])]}, {"params": [Tensor([2.0])], "momentum": 0.5}]
        >>> optimizer = nn.optim.SGD(groups, lr=0.1, momentum=0.9)
        >>> optimizer.options(0).momentum, optimizer.options(1).momentum
        (0.9, 0.5)
        """
        if len(self.param_groups) == 1:
            return self.param_groups[0]
        rest = index
        for group in self.param_groups:
            if rest < len(group.params):
                return group
            rest -= len(group.params)
        raise IndexingError(
            "an optimiser has no parameter of this number",
            asked=f"{type(self).__name__}.options({index})",
            because=f"it has {len(self.params)} parameters",
        )

    if not TYPE_CHECKING:  # a checker reports a name that is not there

        def __getattr__(self, name: str) -> Any:
            groups = self.__dict__.get("param_groups")
            if groups and name in self.__dict__["defaults"]:
                return vars(groups[0])[name]
            if name.startswith("_"):
                raise AttributeError(name)
            known = [each for each in dir(self) if not each.startswith("_")]
            raise missing_name(f"{type(self).__name__}(...)", name, known, OF_OPTIMISERS)

    def __setattr__(self, name: str, value: Any) -> None:
        if name != "lr" and "param_groups" in self.__dict__ and name in self.defaults:
            for group in self.param_groups:
                vars(group)[name] = value
        else:
            object.__setattr__(self, name, value)

    def _members(self, persistent: bool = True) -> Iterator[tuple[str, Any]]:
        """What `nn.state.get_state_dict` finds: all tensors, each by one name."""
        for name, value in vars(self).items():
            if name == "param_groups":
                for number, group in enumerate(value):
                    yield ("_rate" if number == 0 else f"_rate{number}"), group.rate
            else:
                yield name, value

    def __repr__(self) -> str:
        groups = "".join(f"  {group!r}\n" for group in self.param_groups)
        return f"{type(self).__name__}(\n{groups})"

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """More parameters, with options of their own.

        >>> optimizer = nn.optim.SGD([Tensor([1.0])], lr=0.5)
        >>> optimizer.add_param_group({"params": [Tensor([2.0])], "lr": 0.1})
        >>> [group["lr"] for group in optimizer.param_groups]
        [0.5, 0.1]
        """
        who = type(self).__name__
        (given,) = groups_of([param_group], who)
        old = {id(each) for each in (*self.params, *self.buffers)}
        new = [each for each in given["params"] if each.requires_grad is not False]
        _check_trainable(who, new, len(given["params"]))
        if any(id(each) in old for each in given["params"]):
            raise ArgumentError(
                "a parameter is in two groups", asked=f"{who}.add_param_group",
                because="this optimiser has it already",
            )  # fmt: skip
        lists = per_parameter(self)
        for each in new:
            each.requires_grad_(True)
        for name, tensors in lists.items():
            tensors += self._new_state(name, new)
        for name in self.state_rows:
            rows = getattr(self, name, None)
            if rows is not None:
                more = Tensor.zeros(len(new), *rows.shape[1:], dtype=rows.dtype, device=rows.device)
                setattr(self, name, rows.cat(more).contiguous().realize())
        self.params += new
        self.buffers += [each for each in given["params"] if each.requires_grad is False]
        self.param_groups.append(self._group(given))
        self._make_state()

    def state_dict(self) -> dict[str, Any]:
        """The state of the optimiser in the layout of PyTorch: copies of the tensors of each
        parameter, and the options of each group. `weft.save` can store it.

        >>> optimizer = nn.optim.SGD([Tensor([1.0])], lr=0.5, momentum=0.9)
        >>> state = optimizer.state_dict()
        >>> state["param_groups"][0]["lr"], list(state["state"][0])
        (0.5, ['momentum_buffer'])
        """
        return saved(self)

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Restore a `state_dict`, also of PyTorch's optimiser of the same kind. The next steps are
        bit for bit those of the saved optimiser.

        All options of the groups are restored. A parameter without saved state gets the state of a
        new optimiser.

        :raises WrongKind: for any other object. :raises ArgumentError: for groups of other sizes.
        :raises ShapeError: for other shapes.

        >>> old = nn.optim.SGD([Tensor([1.0])], lr=0.25, momentum=0.9)
        >>> new = nn.optim.SGD([Tensor([1.0])], lr=0.5, momentum=0.5)
        >>> new.load_state_dict(old.state_dict())
        >>> new.lr.item(), new.momentum
        (0.25, 0.9)
        """
        load(self, state_dict)

    def translated(self, number: int, found: dict[str, Any]) -> dict[str, Any]:
        """Convert the saved state of the parameter `number` from PyTorch's form to ours.

        `load_state_dict` calls it. PyTorch's Adam keeps the step, weft's keeps 1 - beta**step.

        >>> optimizer = nn.optim.Adam([Tensor([1.0])], betas=(0.9, 0.999))
        >>> optimizer.translated(0, {"step": 1})["averages_of_one"].tolist()
        [0.1, 0.001, 1.0]
        """
        return found

    def exported(self, found: dict[str, Tensor]) -> dict[str, Tensor]:
        """Add to the state of a parameter what PyTorch expects in it. `state_dict` calls it.

        >>> optimizer = nn.optim.Adam([Tensor([1.0])])
        >>> optimizer.exported({"averages_of_one": Tensor([0.1, 0.001, 1.0])})["step"].item()
        1.0
        """
        return found

    @property
    def lr(self) -> Tensor:
        """The learning rate, shape (1,), of the first group; setting it sets that of all.

        >>> optimizer = nn.optim.SGD([Tensor([1.0])], lr=0.5)
        >>> optimizer.lr = 0.25
        >>> optimizer.lr.item()
        0.25
        """
        return self.param_groups[0].rate

    @lr.setter
    def lr(self, value: float | Tensor) -> None:
        for group in self.param_groups:
            set_rate(group.rate, value)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients, so that the next backward starts from nothing.

        With set_to_none=False they become zeros.

        >>> w = Tensor([1.0], requires_grad=True)
        >>> _ = (w * w).sum().backward()
        >>> nn.optim.SGD([w]).zero_grad()
        >>> w.grad is None
        True
        """
        for each in self.params:
            each.grad = None if set_to_none or each.grad is None else each.grad.zeros_like()

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update every parameter that has a gradient.

        closure: called first; it computes the loss and calls `backward`. Its result is returned.

        Raises GradientError if no parameter has a gradient. Outside `Tensor.train()`, it also
        raises if a layer with a training mode, such as Dropout, was called without a mode being
        set (see `weft.nn.training_mode`).

        >>> w = Tensor([4.0])
        >>> optimizer = nn.optim.SGD([w], lr=0.25)
        >>> with Tensor.train():
        ...     _ = (w * w).sum().backward()
        ...     optimizer.step()
        >>> w.item()
        2.0
        """
        loss = None if closure is None else closure()
        self._make_state()
        gradients = self._gradients()
        if not vars(type(self)).get("_is_plain") or recording() is not None or not settings.JIT:
            Tensor.realize(*self._record(gradients))
            return loss
        Tensor.realize(*self._below(gradients))
        try:
            for each in self.params:
                each.grad = None  # new ones at every step would be state that changes
            self._replayed(*gradients)
        finally:
            for each, gradient in zip(self.params, gradients):
                each.grad = gradient
        return loss

    def schedule_step(self) -> list[Tensor]:
        """Record a step without running it; gives all tensors that must be realised together.

        >>> w = Tensor([4.0])
        >>> optimizer = nn.optim.SGD([w], lr=0.25)
        >>> with Tensor.train():
        ...     loss = (w * w).sum().backward()
        ...     _ = loss.realize(*optimizer.schedule_step())
        >>> loss.item(), w.item()
        (16.0, 2.0)
        """
        self._make_state()
        return self._record(self._gradients())

    def _gradients(self) -> list[Tensor | None]:
        """The gradient of each parameter. Raises as `step` does."""
        layer = take_defaulted()
        if layer is not None and not Tensor.training:
            raise GradientError(
                "a step outside training",
                asked=f"{type(self).__name__}.step()",
                because=f"a {layer} acts otherwise in training, and was called in inference mode: "
                "neither train() nor eval() of its module was called, and Tensor.training is False",
                try_="model.train() before the training loop, or with Tensor.train(): ...",
            )
        found = [each.grad for each in self.params]
        if all(gradient is None for gradient in found):
            raise GradientError(
                "no parameter has a gradient",
                asked=f"{type(self).__name__}.step() on {len(self.params)} parameters",
                because="loss.backward() was not called since zero_grad, or the loss does not "
                "depend on them",
                try_="call loss.backward() first",
            )
        return found

    def _record(self, gradients: Sequence[Tensor | None]) -> list[Tensor]:
        """A step along these, lazily; gives all tensors that must be realised together."""
        ready = [index for index, gradient in enumerate(gradients) if gradient is not None]
        state = self._advance(ready)
        for index in ready:
            parameter, given = self.params[index], gradients[index]
            value = parameter.detach().cast(self._wide(parameter))
            gradient = given.detach().cast(value.dtype)  # type: ignore[union-attr]
            climbs = self.options(index).maximize
            change, moved = self._change(index, value, -gradient if climbs else gradient)
            parameter.assign((value - change).cast(parameter.dtype))
            state += moved
        return [*self.params, *self.buffers, *state]

    def _replay(self, *gradients: Tensor | None) -> None:
        Tensor.realize(*self._record(gradients))

    # A step is the same for all gradients: it is recorded once, and replayed from then on.
    _replayed = Jit(_replay, quiet=True)

    def _below(self, gradients: Sequence[Tensor | None]) -> list[Tensor]:
        """What is to be computed before the parameters move: the gradients, and what still waits
        for the old values, in one schedule."""
        found = [*[each for each in gradients if each is not None], *self.buffers]
        requested = {id(each) for each in found}
        waiting = [each for each in waiting_tensors() if id(each) not in requested]
        read = {n for each in self.params for n in traversal(each.uop) if n.op is Ops.BUFFER}
        for node in traversal(UOp(Ops.SINK, src=tuple(dict.fromkeys([t.uop for t in waiting])))):
            for source in node.src:
                if source in read:
                    read.add(node)
                    break
        found += [each for each in waiting if each.uop in read]
        return found

    def _make_state(self) -> None:
        """Make the state tensors that the options need and that are not there yet: options may be
        set, loaded or brought by a new group at any time."""

    def _advance(self, ready: list[int]) -> list[Tensor]:
        """Update what does not depend on the gradients, for the parameters of the given numbers;
        gives the tensors touched."""
        return []

    def _change(self, index: int, value: Tensor, gradient: Tensor) -> tuple[Tensor, list[Tensor]]:
        """(what to subtract from `value`, the state tensors touched) for one parameter."""
        raise NotImplementedError(f"{type(self).__name__} does not say how a parameter changes")

    def _beside(self, number: Tensor, value: Tensor) -> Tensor:
        """A number of the optimiser's own where `value` is, in its dtype."""
        there = number if number.device == value.device else number.to(value.device)
        return there.cast(value.dtype)

    def _rate_for(self, value: Tensor, index: int = 0) -> Tensor:
        """The learning rate of a parameter beside `value`, as a scalar: it broadcasts without
        adding an axis."""
        return self._beside(self.options(index).rate, value).reshape(())

    def _number(self, value: float) -> Tensor:
        return Tensor.full(
            (1,), value, dtype=self.dtype, device=self.device, requires_grad=False
        ).contiguous()

    def _among(self, ready: list[int], moved: Tensor, still: Tensor) -> Tensor:
        """Rows of `moved` for the given parameters, of `still` for the others."""
        if len(ready) == len(self.params):
            return moved
        rows = Tensor([index in ready for index in range(len(self.params))], device=self.device)
        return rows.reshape(-1, *(1,) * (moved.ndim - 1)).where(moved, still)

    def _new_state(self, name: str, params: Sequence[Tensor]) -> list[Any]:
        """The first state of the list of this name for some parameters."""
        return self._zeros(params)

    def _wide(self, parameter: Tensor) -> DType:
        return least_upper_dtype(dtypes.float32, parameter.dtype)

    def _zeros(self, params: Sequence[Tensor] | None = None) -> list[Tensor]:
        """One realised tensor of zeros for each parameter, in parts where the parameter is."""
        state = []
        for each in self.params if params is None else params:
            kind = self._wide(each)
            zeros = Tensor.zeros(*each.shape, dtype=kind, device=each.device, requires_grad=False)
            state.append(zeros.shard_like(each).clone())
        Tensor.realize(*state)
        return state


def _checked_rate(who: str, lr: Any) -> float:
    rate = float(lr.item()) if isinstance(lr, Tensor) else float(real(lr, "lr"))
    if not rate >= 0:
        raise ArgumentError(
            "a learning rate is a number from 0",
            asked=f"{who}(lr={lr})",
            because="a step goes against the gradient",
            try_="to climb, give maximize=True or negate the loss",
        )
    return rate


def _check_trainable(who: str, params: Sequence[Tensor], given: int) -> None:
    if not params:
        raise ArgumentError(
            "there is nothing to train",
            asked=f"{who} of {given} tensors",
            because="none of them may have a gradient" if given else "no tensor was given",
            try_="give weft.nn.state.get_parameters(model)",
        )
    for each in params:
        if not dtypes.is_float(each.dtype):
            raise DTypeError(
                "only floating-point tensors can be trained",
                asked=f"{who} of a tensor of {each.dtype}",
                because="a step moves a value by a fraction",
                try_="make that tensor with requires_grad=False, or leave it out",
            )
