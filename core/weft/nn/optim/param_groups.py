"""Parameter groups: parameters of one optimiser with options and a learning rate of their own."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from typing import Any

from weft.base.arguments import kind_of, real, shown
from weft.base.dtype import dtypes
from weft.base.errors import ArgumentError
from weft.tensor import Tensor

Params = Iterable[Tensor] | Iterable[tuple[str, Tensor]] | Iterable[Mapping[str, Any]]
"""What an optimiser takes: tensors, (name, tensor) pairs, or a dict for each group."""


class ParamGroup(MutableMapping[str, Any]):
    """What an optimiser knows of some of its parameters, as a mapping: "params", "lr", and the
    options of its kind, such as "weight_decay".

    The options are attributes as well. "lr" reads as a number; the tensor behind it is `rate`, of
    one element, which may be set inside a captured function too.

    >>> optimizer = nn.optim.SGD([Tensor([1.0])], lr=0.5)
    >>> optimizer.param_groups[0]["lr"] = 0.25
    >>> optimizer.param_groups[0]["lr"], optimizer.lr.item()
    (0.25, 0.25)
    """

    params: list[Tensor]
    rate: Tensor

    def __init__(self, params: list[Tensor], rate: Tensor, options: Mapping[str, Any]) -> None:
        vars(self).update(options, params=params, rate=rate)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"this group has no option {name!r}; it has {', '.join(self)}")

    def __getitem__(self, key: str) -> Any:
        if key == "lr":
            return number_of(self.rate)
        if key == "rate" or key not in vars(self):
            raise KeyError(key)
        return vars(self)[key]

    def __setitem__(self, key: str, value: Any) -> None:
        if key == "lr":
            set_rate(self.rate, value)
        else:
            vars(self)[key] = value

    def __delitem__(self, key: str) -> None:
        del vars(self)[key]

    def __iter__(self) -> Iterator[str]:
        yield "params"
        yield "lr"
        yield from (key for key in vars(self) if key not in ("params", "rate"))

    def __len__(self) -> int:
        return len(vars(self))

    def __repr__(self) -> str:
        said = ", ".join(f"{key}={value!r}" for key, value in self.items() if key != "params")
        return f"ParamGroup({len(self.params)} parameters, {said})"


def number_of(rate: Tensor) -> float:
    """The shortest number that gives this float32: 0.1, not 0.10000000149."""
    value = float(rate.item())
    if rate.dtype is not dtypes.float32:
        return value
    for digits in range(6, 9):
        short = float(f"{value:.{digits}g}")
        if struct.pack("f", short) == struct.pack("f", value):
            return short
    return value


def set_rate(rate: Tensor, value: float | Tensor) -> None:
    """Put a learning rate into its tensor."""
    if isinstance(value, Tensor):
        found = value
    else:
        found = Tensor([real(value, "lr")], dtype=rate.dtype, device=rate.device)
    rate.assign(found.reshape(1).cast(rate.dtype)).realize()


def groups_of(params: Any, who: str) -> list[dict[str, Any]]:
    """Dicts with a list of tensors under "params", of what an optimiser was given: tensors, (name,
    tensor) pairs, or dicts. :raises ArgumentError: for anything else.
    """
    if isinstance(params, Tensor | Mapping | str) or not isinstance(params, Iterable):
        raise _no_tensors(params, params, who)
    given = list(params)
    if not any(isinstance(each, Mapping) for each in given):
        return [{"params": tensors_of(given, who)}]
    made = []
    for each in given:
        if not isinstance(each, Mapping) or "params" not in each:
            raise ArgumentError(
                "a parameter group is a dict that has 'params'",
                asked=f"{who} with a group {shown(each)}",
                try_=f'{who}([{{"params": head.parameters(), "lr": 0.01}}, ...])',
            )
        inside = each["params"]
        inside = [inside] if isinstance(inside, Tensor) else inside
        made.append({**each, "params": tensors_of(inside, who)})
    seen: set[int] = set()
    for each in made:
        new = {id(tensor) for tensor in each["params"]}
        if seen & new:
            raise ArgumentError(
                "a parameter is in two groups",
                asked=f"{who} of {len(made)} groups",
                because="both would move it in one step",
                try_="give every parameter to one of them",
            )
        seen |= new
    return made


def tensors_of(params: Any, who: str) -> list[Tensor]:
    """Each of the tensors once. :raises ArgumentError: for anything else."""
    if isinstance(params, Tensor | Mapping | str) or not isinstance(params, Iterable):
        raise _no_tensors(params, params, who)
    found = {}
    for each in params:
        pair = isinstance(each, tuple) and len(each) == 2 and isinstance(each[0], str)
        tensor = each[1] if pair else each
        if not isinstance(tensor, Tensor):
            raise _no_tensors(params, each, who)
        found[id(tensor)] = tensor
    return list(found.values())


def _no_tensors(params: Any, each: Any, who: str) -> ArgumentError:
    alone = isinstance(each, Tensor)
    module = hasattr(params, "parameters")
    return ArgumentError(
        "an optimiser takes a list of tensors",
        asked=f"{who} of {'one tensor' if alone else kind_of(each)}",
        because="its rows would be taken for parameters"
        if alone
        else "what is no tensor cannot be moved",
        try_=f"{who}(model.parameters())"
        if module
        else f"{who}(weft.nn.state.get_parameters(model))",
    )
