"""Module: the optional base class of layers and models, with the interface of PyTorch.

Parameters, buffers and submodules are attributes of those types. There is no other registry, so
`super().__init__()` may be left out. A plain Tensor is neither parameter nor buffer, as in PyTorch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from weft.base.arguments import kind_of, shown
from weft.base.dtype import dtypes
from weft.base.errors import ArgumentError, WrongKind
from weft.device import catalogue
from weft.nn import state, tree
from weft.nn.hooks import Hook
from weft.nn.input_checks import missing_attribute
from weft.nn.parameter import Buffer, Held, Parameter, Transient, destination, held, is_parameter
from weft.nn.training_mode import take_defaulted
from weft.tensor import Tensor
from weft.tensor.ops.attribute_suggestions import device_mover

_HOOKS = ("_forward_hooks", "_forward_pre_hooks")


class IncompatibleKeys(NamedTuple):
    """What `Module.load_state_dict` could not match."""

    missing_keys: list[str]
    unexpected_keys: list[str]


class Module:
    """The base class of layers and models. Derive from it, and define `forward`.

    Attributes that are `Parameter`, `Buffer` or Module, or lists, tuples or dicts of them, or plain
    objects that can be called, belong to it. Names are as in PyTorch, so that the state of a model
    of PyTorch's loads.

    Mode: `train()` and `eval()` set `training` for a module and all within it. Where neither was
    called, `training` is `Tensor.training`. A class of yours that derives from Module alone starts
    in training mode, as in PyTorch, and so does what is assigned to its attributes.

    >>> class Net(nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.first, self.last = nn.Linear(4, 8), nn.Linear(8, 2)
    ...
    ...     def forward(self, x):
    ...         return self.last(self.first(x).relu())
    >>> net = Net()
    >>> net
    Net(
      (first): Linear(in_features=4, out_features=8, bias=True)
      (last): Linear(in_features=8, out_features=2, bias=True)
    )
    >>> net(Tensor.ones(3, 4)).shape, list(net.state_dict())
    ((3, 2), ['first.weight', 'first.bias', 'last.weight', 'last.bias'])
    """

    _starts_in_training = False
    training: bool

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        above = [kind for kind in cls.__mro__ if kind is not Module and issubclass(kind, Module)]
        cls._starts_in_training = not any(kind.__module__.startswith("weft.") for kind in above)

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """An instance without attributes, but for the mode."""
        made = super().__new__(cls)
        if cls._starts_in_training:
            made.__dict__["training"] = True
        return made

    # ---- calling -----------------------------------------------------------------------------

    def __init__(self) -> None:
        pass

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What a call computes; to be defined by each class. :raises NotImplementedError: here."""
        raise NotImplementedError(f"{type(self).__name__} defines no forward")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        own = self.__dict__
        if "_forward_hooks" in own or "_forward_pre_hooks" in own:
            return self._call_with_hooks(args, kwargs)
        return self.forward(*args, **kwargs)

    def _call_with_hooks(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        for hook in list(self.__dict__.get("_forward_pre_hooks", ())):
            changed = hook(self, args)
            if changed is not None:
                args = changed if isinstance(changed, tuple) else (changed,)
        result = self.forward(*args, **kwargs)
        for hook in list(self.__dict__.get("_forward_hooks", ())):
            changed = hook(self, args, result)
            result = result if changed is None else changed
        return result

    def register_forward_hook(self, hook: Callable[[Any, Any, Any], Any]) -> Hook:
        """Call `hook(module, args, result)` after each forward; what it returns, unless None,
        replaces the result.

        >>> seen = []
        >>> layer = nn.ReLU()
        >>> handle = layer.register_forward_hook(lambda module, args, y: seen.append(y.shape))
        >>> _ = layer(Tensor.ones(2, 3))
        >>> handle.remove()
        >>> seen
        [(2, 3)]
        """
        return self._add_hook("_forward_hooks", hook)

    def register_forward_pre_hook(self, hook: Callable[[Any, Any], Any]) -> Hook:
        """Call `hook(module, args)` before each forward; what it returns, unless None, replaces the
        arguments."""
        return self._add_hook("_forward_pre_hooks", hook)

    def _add_hook(self, where: str, hook: Callable[..., Any]) -> Hook:
        return Hook(self.__dict__.setdefault(where, []), hook)

    # ---- attributes --------------------------------------------------------------------------

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, Tensor):
            old = self.__dict__.get(name)
            # a name keeps its meaning: the new value of a parameter or buffer is one as well
            if isinstance(old, Held) and type(value) is Tensor:
                if isinstance(old, Parameter) and not value.is_leaf:
                    raise WrongKind(
                        "a computed tensor is no parameter",
                        asked=f"{type(self).__name__}.{name} = {shown(value)}",
                        because="it has a history of operations, and a parameter is a leaf",
                        try_=f"nn.Parameter(value.detach()), or del self.{name} first",
                    )
                held(type(old), value)
                if isinstance(old, Parameter) and value.requires_grad is None:
                    if dtypes.is_float(value.dtype):
                        value.requires_grad_(bool(old.requires_grad))
        elif "training" in self.__dict__ and not isinstance(value, tree.PLAIN):
            for each in _modules_within(value):
                each._start_in(self.__dict__["training"])
        object.__setattr__(self, name, value)

    if TYPE_CHECKING:  # a checker reports a name that is not there
        training: bool
    else:

        def __getattr__(self, name: str) -> Any:
            if name == "training":
                return Tensor.training
            own = getattr(type(self), name, None)
            if isinstance(own, property):  # it raised an AttributeError, which says more
                return own.fget(self)
            if name.startswith("_"):
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            if name.upper() in catalogue:
                return device_mover(self, name.upper())
            raise missing_attribute(self, name)

    def _start_in(self, mode: bool) -> None:
        for module in self.modules():
            module.__dict__.setdefault("training", mode)

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """`setattr(self, name, param)`, checked: a Parameter, or None where there is none.

        :raises ArgumentError: for a name that is taken, or has a dot.
        :raises WrongKind: for what is no Parameter.
        """
        self._check_new(name, param, Parameter, "nn.Parameter(tensor)")
        setattr(self, name, param)

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Give this module a tensor that is not trained. persistent: it is in the `state_dict`.

        >>> module = nn.Module()
        >>> module.register_buffer("steps", Tensor.zeros(1))
        >>> list(module.state_dict())
        ['steps']
        """
        self._check_new(name, tensor, Tensor, "Tensor(values)")
        if tensor is None:
            setattr(self, name, None)
            return
        kept = tensor
        if type(tensor) is Tensor:
            kept = held(Buffer if persistent else Transient, tensor)
        kept.requires_grad = False
        setattr(self, name, kept)

    def register_module(self, name: str, module: Module | None) -> None:
        """`setattr(self, name, module)`; names may be numbers. See `add_module`."""
        self._check_new(name, module, Module, "an object of a class that derives from nn.Module")
        setattr(self, name, module)

    add_module = register_module

    def _check_new(self, name: str, value: Any, kind: type, try_: str) -> None:
        what = f"{type(self).__name__}: {name!r}"
        if not isinstance(name, str) or not name or "." in name:
            raise ArgumentError(
                "this is no name for an attribute", asked=what, because="dots join names of modules"
            )
        if value is not None and not isinstance(value, kind):
            raise WrongKind(
                f"{kind.__name__} is expected here", asked=f"{what} = {shown(value)}",
                because=f"that is {kind_of(value)}", try_=try_,
            )  # fmt: skip
        if name not in self.__dict__ and hasattr(type(self), name):
            raise ArgumentError(
                "the class has an attribute of this name", asked=what, try_="another name"
            )

    # ---- what belongs to it ------------------------------------------------------------------

    def _members(self, persistent: bool = True) -> Iterator[tuple[str, Any]]:
        """(name, value) of what belongs to this module: parameters, buffers, then the rest."""
        others, buffers = [], []
        for name, value in self.__dict__.items():
            if isinstance(value, tree.PLAIN) or name in _HOOKS:
                continue
            if isinstance(value, Parameter):
                yield name, value
            elif isinstance(value, Buffer):
                if not (persistent and isinstance(value, Transient)):
                    buffers.append((name, value))
            elif isinstance(value, Module) or tree.is_layer(value):
                others.append((name, value))
            elif tree.is_container(value):
                others.append((name, _held_within(value, (id(value),))))
        yield from buffers
        yield from others

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """(name, module) of the modules directly within this one; each module once."""
        seen: set[int] = set()
        for name, module in _submodules(self):
            if id(module) not in seen:
                seen.add(id(module))
                yield name, module

    def children(self) -> Iterator[Module]:
        """The modules directly within this one."""
        return (module for _, module in self.named_children())

    def named_modules(self, prefix: str = "") -> Iterator[tuple[str, Module]]:
        """(name, module) of this module, named `prefix`, and of all within it; each module once.

        >>> [name for name, _ in nn.Sequential(nn.ReLU(), nn.Sequential()).named_modules()]
        ['', '0', '1']
        """
        return _named_modules(self, prefix)

    def modules(self) -> Iterator[Module]:
        """This module and all within it; each once."""
        return (module for _, module in self.named_modules())

    def get_submodule(self, target: str) -> Module:
        """The module of this dotted name. :raises MissingName: where there is none."""
        for name, module in self.named_modules():
            if name == target:
                return module
        raise missing_attribute(self, target)

    def named_parameters(
        self, prefix: str = "", recurse: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """(name, tensor) of all parameters, each tensor once.

        >>> [(name, p.shape) for name, p in nn.Linear(4, 2).named_parameters()]
        [('weight', (2, 4)), ('bias', (2,))]
        """
        return self._named(prefix, recurse, True)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """All parameters, each once: what an optimiser takes."""
        return (tensor for _, tensor in self.named_parameters(recurse=recurse))

    def named_buffers(self, prefix: str = "", recurse: bool = True) -> Iterator[tuple[str, Tensor]]:
        """(name, tensor) of all buffers, each tensor once."""
        return self._named(prefix, recurse, False)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """All buffers, each once."""
        return (tensor for _, tensor in self.named_buffers(recurse=recurse))

    def _named(self, prefix: str, recurse: bool, trained: bool) -> Iterator[tuple[str, Any]]:
        seen: set[int] = set()
        for name, tensor in tree.named_tensors(self, prefix, persistent=False):
            own = name.removeprefix(f"{prefix}.") if prefix else name
            if id(tensor) in seen or is_parameter(tensor) != trained:
                continue
            if recurse or "." not in own:
                seen.add(id(tensor))
                yield name, tensor

    def state_dict(self, prefix: str = "") -> dict[str, Tensor]:
        """Every parameter and persistent buffer by its name: what `weft.save` and `safe_save` take.

        The tensors are those of the module, detached, over the same memory.
        """
        found = tree.named_tensors(self, prefix.strip("."))
        return {name: each.detach() for name, each in found}

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True
    ) -> IncompatibleKeys:
        """Copy saved tensors into this module; NumPy arrays and PyTorch's tensors are taken too.

        Gives the names that are missing in the saved state and those the module lacks.
        :raises ArgumentError: where a shape differs or, if `strict`, a name. See
        `nn.state.load_state_dict`.

        >>> nn.Linear(1, 1).load_state_dict({"weight": Tensor([[1.0]])}, strict=False)
        IncompatibleKeys(missing_keys=['bias'], unexpected_keys=[])
        """
        state.load_state_dict(self, state_dict, strict)
        own = state.get_state_dict(self)
        return IncompatibleKeys(
            [name for name in own if name not in state_dict],
            [name for name in state_dict if name not in own],
        )

    # ---- changing all of it ------------------------------------------------------------------

    def train(self, mode: bool = True) -> Self:
        """Set `training` of this module and all within it. Gives self.

        :raises WrongKind: for a mode that is no bool.
        """
        if not isinstance(mode, bool):
            raise WrongKind("a mode is True or False", asked=f"train({shown(mode)})")
        for module in self.modules():
            module.__dict__["training"] = mode
        take_defaulted()
        return self

    def eval(self) -> Self:
        """`train(False)`: dropout does nothing, normalisation uses its running statistics."""
        return self.train(False)

    def apply(self, fn: Callable[[Module], Any]) -> Self:
        """Call `fn` with every module within this one, innermost first, and with itself."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Whether the parameters get gradients. Gives self."""
        for each in self.parameters():
            each.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients of all parameters; with set_to_none=False they become zeros."""
        for each in self.parameters():
            each.grad = None if set_to_none or each.grad is None else each.grad.zeros_like()

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """Move all tensors to a device, and convert those of floats to a dtype. Gives self.

        `to(device)`, `to(dtype)`, `to(device, dtype)` or `to(tensor)`; the tensors remain the same
        objects, so that an optimiser that has them keeps them.

        >>> nn.Linear(2, 1).to(dtypes.float16).weight.dtype
        dtypes.half
        """
        device, dtype = destination(args, kwargs)
        changed = []
        for tensor in {
            id(t): t for _, t in tree.named_tensors(self, "", persistent=False)
        }.values():
            value = tensor.detach()
            if device is not None:
                value = value.to(device)
            if dtype is not None and dtypes.is_float(tensor.dtype):
                value = value.cast(dtype)
            if value.device != tensor.device or value.dtype is not tensor.dtype:
                changed.append((tensor, value))
        if changed:
            Tensor.realize(*(value for _, value in changed))
        for tensor, value in changed:
            tensor.uop = value.uop
            if tensor.grad is not None:
                grad = tensor.grad.detach().cast(value.dtype)
                tensor.grad = grad if device is None else grad.to(device)
        return self

    def half(self) -> Self:
        """Floats become float16."""
        return self.to(dtypes.half)

    def bfloat16(self) -> Self:
        """Floats become bfloat16."""
        return self.to(dtypes.bfloat16)

    def float(self) -> Self:
        """Floats become float32."""
        return self.to(dtypes.float32)

    def double(self) -> Self:
        """Floats become float64."""
        return self.to(dtypes.float64)

    # ---- printing ----------------------------------------------------------------------------

    def extra_repr(self) -> str:
        """The arguments of this module in its `repr`."""
        return ""

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        nested = [(f"({name}): ", module) for name, module in _submodules(self)]
        if not nested and len(lines) < 2:
            return f"{type(self).__name__}({extra})"
        lines += [prefix + repr(module).replace("\n", "\n  ") for prefix, module in nested]
        inside = "\n".join(f"  {line}" for line in lines)
        return f"{type(self).__name__}(\n{inside}\n)"

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), "training"]


def _submodules(module: Module) -> Iterator[tuple[str, Module]]:
    """(name, module) of the nearest modules below one."""
    for name, child in module._members():
        yield from _modules_below(name, child, ())


def _modules_below(name: str, value: Any, above: tuple[int, ...]) -> Iterator[tuple[str, Module]]:
    """The nearest modules at or below `value`, which is named so."""
    if isinstance(value, Module):
        yield name, value
    elif not isinstance(value, Tensor) and not isinstance(value, tree.PLAIN):
        if id(value) not in above:
            for key, child in tree.children(value):
                yield from _modules_below(f"{name}.{key}", child, (*above, id(value)))


def _modules_within(value: Any) -> list[Module]:
    if isinstance(value, Module):
        return [value]
    if tree.is_container(value) or tree.is_layer(value):
        return [module for _, module in _modules_below("", value, ())]
    return []


def _held_within(values: Any, above: tuple[int, ...]) -> Any:
    """A dict of those items of a container that belong to a module: what a list that hangs in a
    module holds of modules, layers and tensors that are `Held`."""
    found: dict[str, Any] = {}
    for name, value in tree.children(values):
        if isinstance(value, Held | Module) or tree.is_layer(value):
            found[name] = value
        elif tree.is_container(value) and id(value) not in above:
            found[name] = _held_within(value, (*above, id(value)))
    return found


def _named_modules(module: Module, prefix: str) -> Iterator[tuple[str, Module]]:
    """Depth first, by a list of what is left instead of recursion: models may be long chains."""
    seen = {id(module)}
    yield prefix, module
    levels = [(prefix, _submodules(module))]
    while levels:
        path, found = levels[-1]
        for name, child in found:
            if id(child) not in seen:
                seen.add(id(child))
                there = f"{path}.{name}" if path else name
                yield there, child
                levels.append((there, _submodules(child)))
                break
        else:
            levels.pop()


class Family(Module):
    """The base of classes that differ in class attributes: `class Conv1d(_Conv, axes=1)`."""

    def __init_subclass__(cls, **attributes: Any) -> None:
        super().__init_subclass__()
        for name, value in attributes.items():
            setattr(cls, name, value)


class Layer(Family):
    """A module from one tensor to one tensor."""

    if TYPE_CHECKING:

        def forward(self, input: Tensor) -> Tensor: ...

        def __call__(self, input: Tensor) -> Tensor: ...
