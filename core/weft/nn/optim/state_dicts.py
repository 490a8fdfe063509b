"""The state of an optimiser as a dict of PyTorch's shape, and back.

state: for each parameter by its number, its tensors under PyTorch's names ("exp_avg",
"momentum_buffer") where PyTorch has them. param_groups: the options of each group, with the numbers
of its parameters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from weft.base.arguments import kind_of
from weft.base.errors import ArgumentError, ShapeError, WrongKind
from weft.nn.input_checks import as_tensor
from weft.tensor import Tensor

if TYPE_CHECKING:
    from weft.nn.optim.base import Optimizer


def per_parameter(optimizer: Optimizer) -> dict[str, list[Any]]:
    """The lists of an optimiser that have one tensor for each parameter, or None where a parameter
    has none, by attribute."""
    count = len(optimizer.params)
    return {
        name: value
        for name, value in vars(optimizer).items()
        if name not in ("params", "buffers")
        and isinstance(value, list)
        and len(value) == count
        and all(isinstance(each, Tensor | None) for each in value)
    }


def saved(optimizer: Optimizer) -> dict[str, Any]:
    """See `Optimizer.state_dict`."""
    lists, names = per_parameter(optimizer), optimizer.state_names
    state: dict[int, dict[str, Any]] = {}
    for number in range(len(optimizer.params)):
        found = {
            names.get(name, name): each[number]
            for name, each in lists.items()
            if each[number] is not None
        }
        for name in optimizer.state_rows:
            rows = getattr(optimizer, name, None)
            if rows is not None:
                found[names.get(name, name)] = rows[number]
        state[number] = {name: _copy(each) for name, each in optimizer.exported(found).items()}
    tensors = [each for found in state.values() for each in found.values()]
    if tensors:
        Tensor.realize(*tensors)
    numbers = {id(each): number for number, each in enumerate(optimizer.params)}
    groups = [
        {**group, "params": [numbers[id(each)] for each in group.params]}
        for group in optimizer.param_groups
    ]
    return {"state": state, "param_groups": groups}


def _copy(tensor: Tensor) -> Tensor:
    return tensor.detach().clone()


def load(optimizer: Optimizer, state: Mapping[str, Any]) -> None:
    """See `Optimizer.load_state_dict`."""
    if not isinstance(state, Mapping) or not {"state", "param_groups"} <= state.keys():
        raise WrongKind(
            "the state of an optimiser is a dict of 'state' and 'param_groups'",
            asked=f"load_state_dict of {kind_of(state)}",
            try_="optimizer.load_state_dict(other.state_dict())",
        )
    groups, own = state["param_groups"], optimizer.param_groups
    counts = [len(group["params"]) for group in groups]
    if counts != [len(group.params) for group in own]:
        raise ArgumentError(
            "the saved groups are not those of this optimiser",
            asked=f"load groups of {counts} parameters",
            because=f"this one has groups of {[len(group.params) for group in own]}",
            try_="make the optimiser as it was when it was saved",
        )
    before = [dict(vars(group)) for group in own]
    try:
        # first: state depends on options
        for group, given in zip(own, groups, strict=True):
            for key, value in given.items():
                if key not in ("params", "lr"):
                    group[key] = tuple(value) if isinstance(value, list) else value
        optimizer._make_state()
        changes = _changes(optimizer, state["state"], groups)
    except BaseException:
        for group, options in zip(own, before, strict=True):
            vars(group).clear()
            vars(group).update(options)
        raise
    for target, value in changes:
        target.assign(value)
    if changes:
        Tensor.realize(*(target for target, _ in changes))
    for group, given in zip(own, groups, strict=True):
        if "lr" in given:
            group["lr"] = given["lr"]


def _changes(
    optimizer: Optimizer, state: Mapping[Any, Any], groups: Sequence[Mapping[str, Any]]
) -> list[tuple[Tensor, Tensor]]:
    """(a state tensor, its saved value, realised) for all of them; zeros where none was saved."""
    order = [number for group in groups for number in group["params"]]
    mine = [each for group in optimizer.param_groups for each in group.params]
    place = {id(each): number for number, each in enumerate(optimizer.params)}
    changes: list[tuple[Tensor, Tensor]] = []
    rows: dict[str, dict[int, Any]] = {name: {} for name in optimizer.state_rows}
    for saved_number, parameter in zip(order, mine, strict=True):
        found = state.get(saved_number, state.get(str(saved_number), {}))
        number = place[id(parameter)]
        found = optimizer.translated(number, dict(found)) if found else {}
        for name, tensors in per_parameter(optimizer).items():
            key = optimizer.state_names.get(name, name)
            target = tensors[number]
            if target is None:
                continue
            given = found.get(key)
            new = target.zeros_like() if given is None else _fitting(given, target, key)
            changes.append((target, new))
        for name, saved_rows in rows.items():
            key = optimizer.state_names.get(name, name)
            if found.get(key) is not None:
                saved_rows[number] = found[key]
    changes += [change for name, each in rows.items() for change in _rows(optimizer, name, each)]
    if changes:
        Tensor.realize(*(value for _, value in changes))
    return changes


def _rows(optimizer: Optimizer, name: str, given: dict[int, Any]) -> list[tuple[Tensor, Tensor]]:
    """(a tensor with a row for each parameter, the same with the saved rows)."""
    target = getattr(optimizer, name, None)
    if target is None:
        return []
    parts = [
        _fitting(given[number], row, name) if number in given else row.zeros_like()
        for number, row in enumerate(target)
    ]
    return [(target, parts[0].stack(*parts[1:]))]


def tensor_from(value: Any) -> Tensor:
    """A tensor of what was saved: a tensor of any library, an array, or a number."""
    given = as_tensor(value)
    return given if isinstance(given, Tensor) else Tensor(given)


def _fitting(value: Any, target: Tensor, name: str) -> Tensor:
    given = tensor_from(value)
    if given.shape != target.shape:
        raise ShapeError(
            "a saved tensor does not have the shape of its parameter",
            asked=f"load {name!r} of {given.shape} in place of {target.shape}",
            try_="make the optimiser with the parameters in the order in which they were saved",
        )
    return given.detach().cast(target.dtype).shard_like(target).clone()
