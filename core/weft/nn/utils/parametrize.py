"""Parametrizations: a tensor of a module as a function of other parameters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from weft.base.errors import ArgumentError, ShapeError
from weft.nn.containers import ModuleDict
from weft.nn.module import Module
from weft.nn.parameter import Buffer, Parameter, parameter
from weft.nn.utils.computed_attributes import (
    compute_attribute,
    is_computed,
    original_class,
    restore_attribute,
)  # fmt: skip
from weft.tensor import Tensor

__all__ = [
    "ParametrizationList", "cached", "is_parametrized", "register_parametrization",
    "remove_parametrizations", "type_before_parametrizations",
]  # fmt: skip

_cache: ContextVar[dict[tuple[int, str], Tensor] | None] = ContextVar("_cache", default=None)


class ParametrizationList(Module):
    """Modules that are called one after the other, and what the first one is called with:
    `original`, or original0, original1, ... where its `right_inverse` gives several tensors."""

    def __init__(self, modules: Sequence[Module], original: Tensor, unsafe: bool = False) -> None:
        value: Any = original
        for each in reversed(modules):
            inverse = getattr(each, "right_inverse", None)
            if inverse is not None:
                value = inverse(value.detach() if value is original else value)
        self.is_tensor = isinstance(value, Tensor)
        self.ntensors = 1 if self.is_tensor else len(value)
        keep = parameter if isinstance(original, Parameter) else Buffer
        for name, each in zip(self._names(), [value] if self.is_tensor else value, strict=True):
            kept = each if each is original else keep(each.detach().clone().realize())
            if isinstance(kept, Parameter):
                kept.requires_grad_(bool(original.requires_grad))
            setattr(self, name, kept)
        self._count = 0
        for each in modules:
            self.append(each)

    def _names(self) -> list[str]:
        if self.is_tensor:
            return ["original"]
        return [f"original{number}" for number in range(self.ntensors)]

    def append(self, module: Module) -> None:
        """One more, called with what the last one gives."""
        setattr(self, str(self._count), module)
        self._count += 1

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: int) -> Any:
        return getattr(self, str(range(self._count)[index]))

    def __iter__(self) -> Iterator[Any]:
        return (self[index] for index in range(self._count))

    def forward(self) -> Tensor:
        """The tensor that the module reads."""
        value: Any = self[0](*(getattr(self, name) for name in self._names()))
        for index in range(1, self._count):
            value = self[index](value)
        return value  # type: ignore[no-any-return]

    def right_inverse(self, value: Tensor) -> None:
        """Set the originals so that the module reads this value.

        :raises ArgumentError: where a parametrization has no right_inverse.
        """
        found: Any = value.detach()
        for each in reversed(list(self)):
            inverse = getattr(each, "right_inverse", None)
            if inverse is None:
                raise ArgumentError(
                    "this parametrization cannot be inverted",
                    asked=f"an assignment through {type(each).__name__}",
                    because="it has no method right_inverse",
                )
            found = inverse(found)
        for name, each in zip(self._names(), [found] if self.is_tensor else found, strict=True):
            getattr(self, name).assign(each.detach()).realize()


def register_parametrization(
    module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> Module:
    """Let a parameter or buffer be what `parametrization` computes from an original; gives the
    module. A second one is called with the result of the first.

    The original is `parametrization.right_inverse(value)` where there is that method, else the
    value itself. unsafe: shape and dtype may change, and nothing is checked.
    :raises ArgumentError: where the module has no such tensor. :raises ShapeError: where shape or
    dtype change.

    >>> class Symmetric(nn.Module):
    ...     def forward(self, x):
    ...         return x.triu() + x.triu(1).transpose(0, 1)
    >>> layer = nn.Linear(3, 3)
    >>> _ = nn.utils.parametrize.register_parametrization(layer, "weight", Symmetric())
    >>> bool((layer.weight == layer.weight.T).all().item()), list(layer.state_dict())
    (True, ['bias', 'parametrizations.weight.original'])
    """
    owner: Any = module
    if is_parametrized(module, tensor_name):
        present = getattr(module, tensor_name)
        if not unsafe:
            _check(tensor_name, present, parametrization(present))
        owner.parametrizations[tensor_name].append(parametrization)
        return module
    original = vars(module).get(tensor_name)
    if not isinstance(original, Parameter | Buffer):
        raise ArgumentError(
            "there is no such parameter or buffer",
            asked=f"register_parametrization of {type(module).__name__}.{tensor_name}",
        )
    made = ParametrizationList([parametrization], original, unsafe)
    if "training" in vars(module):
        made.train(module.training)
    if not unsafe:
        _check(tensor_name, original, made())
    del vars(module)[tensor_name]
    if "parametrizations" not in vars(module):
        owner.parametrizations = ModuleDict()
    owner.parametrizations[tensor_name] = made

    def get(owner: Any) -> Tensor:
        cache = _cache.get()
        if cache is None:
            return owner.parametrizations[tensor_name]()  # type: ignore[no-any-return]
        key = id(owner), tensor_name
        if key not in cache:
            cache[key] = owner.parametrizations[tensor_name]()
        return cache[key]

    compute_attribute(
        module, tensor_name, get,
        lambda owner, value: owner.parametrizations[tensor_name].right_inverse(value),
    )  # fmt: skip
    return module


def _check(name: str, before: Tensor, after: Tensor) -> None:
    if tuple(before.shape) != tuple(after.shape) or before.dtype != after.dtype:
        raise ShapeError(
            "a parametrization changes the shape or the dtype",
            asked=f"{name} of {before.shape} {before.dtype} as {after.shape} {after.dtype}",
            try_="unsafe=True if the module can do with it",
        )


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Whether a tensor of the module, or any, has a parametrization.

    >>> nn.utils.parametrize.is_parametrized(nn.Linear(2, 2))
    False
    """
    found = vars(module).get("parametrizations")
    if not isinstance(found, ModuleDict):
        return False
    return len(found) > 0 if tensor_name is None else tensor_name in found


def remove_parametrizations(
    module: Module, tensor_name: str, leave_parametrized: bool = True
) -> Module:
    """Let a tensor be a parameter again, with the value that it has, or with
    leave_parametrized=False with the original's; gives the module.

    :raises ArgumentError: for a tensor without a parametrization, and where there are several
    originals and one is to be left.
    """
    if not is_parametrized(module, tensor_name) or not is_computed(module, tensor_name):
        raise ArgumentError(
            "this tensor has no parametrization",
            asked=f"remove_parametrizations of {type(module).__name__}.{tensor_name}",
        )
    owner: Any = module
    found = owner.parametrizations[tensor_name]
    originals = [getattr(found, name) for name in found._names()]
    if not leave_parametrized and not found.is_tensor:
        raise ArgumentError(
            "there are several originals",
            asked=f"remove_parametrizations({tensor_name!r}, leave_parametrized=False)",
            try_="leave_parametrized=True",
        )
    kept = originals[0]
    if leave_parametrized:
        value = getattr(module, tensor_name).detach().clone().realize()
        if found.is_tensor and value.dtype == kept.dtype:
            kept.replace(value)  # the same object: an optimiser may have it
        else:
            trained = bool(kept.requires_grad)
            kept = Parameter(value, trained) if isinstance(kept, Parameter) else Buffer(value)
    restore_attribute(module, tensor_name)
    del owner.parametrizations[tensor_name]
    if not len(owner.parametrizations):
        del owner.parametrizations
    setattr(module, tensor_name, kept)
    return module


def type_before_parametrizations(module: Module) -> type[Module]:
    """The class of a module without its parametrizations.

    >>> nn.utils.parametrize.type_before_parametrizations(nn.Linear(2, 2)).__name__
    'Linear'
    """
    return original_class(module)


@contextmanager
def cached() -> Iterator[None]:
    """Compute each parametrized tensor once within this block, however often it is read."""
    token = _cache.set({} if _cache.get() is None else _cache.get())
    try:
        yield
    finally:
        _cache.reset(token)
