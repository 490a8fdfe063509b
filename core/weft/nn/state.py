"""A model's tensors by name: finding them, and putting saved ones back.

Files are read and written by `weft.io`; its functions are here too, where people look for them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any

from weft.base.arguments import kind_of, shown, text
from weft.base.dtype import dtypes
from weft.base.errors import ArgumentError, WrongKind
from weft.base.promotion import can_safe_cast
from weft.base.text import human_size, plural
from weft.io import (
    TensorIO,
    ggml_data_to_tensor,
    gguf_load,
    gguf_save,
    load_sharded,
    npy_load,
    npz_load,
    safe_load,
    safe_load_metadata,
    safe_save,
    save_sharded,
    tar_extract,
    torch_load,
    zip_extract,
)
from weft.nn.input_checks import as_tensor
from weft.nn.tree import named_tensors
from weft.tensor import Tensor
from weft.uop import Ops

__all__ = [
    "TensorIO",
    "get_parameters",
    "get_state_dict",
    "ggml_data_to_tensor",
    "gguf_load",
    "gguf_save",
    "load_sharded",
    "load_state_dict",
    "npy_load",
    "npz_load",
    "safe_load",
    "safe_load_metadata",
    "safe_save",
    "save_sharded",
    "tar_extract",
    "torch_load",
    "zip_extract",
]

_MOST_LINES = 40


def get_state_dict(obj: Any, prefix: str = "") -> dict[str, Tensor]:
    """Every Tensor reachable from `obj`, by its path: {"layers.0.weight": Tensor, ...}.

    Attributes, dicts (by key), lists and tuples (by number) are visited in order. A cycle is
    visited once. A tensor that is reachable by two paths has two names.

    >>> model = [nn.Linear(4, 2), Tensor.relu, nn.Linear(2, 1)]
    >>> list(nn.state.get_state_dict(model))
    ['0.weight', '0.bias', '2.weight', '2.bias']
    """
    return dict(named_tensors(obj, text(prefix, "prefix", '"model."').strip(".")))


def get_parameters(obj: Any) -> list[Tensor]:
    """Every Tensor reachable from `obj`, each once: what an optimiser takes.

    >>> [each.shape for each in nn.state.get_parameters(nn.Linear(4, 2))]
    [(2, 4), (2,)]
    """
    return list({id(each): each for each in get_state_dict(obj).values()}.values())


def load_state_dict(
    model: Any,
    state_dict: Mapping[str, Tensor],
    strict: bool = True,
    verbose: bool = False,
    consume: bool = False,
    realize: bool = True,
) -> list[Tensor]:
    """Give the tensors of `model` the saved values, on the devices where the model's own live.

    Gives the tensors that were loaded; NumPy arrays and PyTorch's tensors are taken as well. Names
    and shapes are compared, and all values computed, before anything is touched. Values are cast
    where both sides are floating-point or nothing can be lost; one number fits a list of one. A
    tensor that the model has under several names needs only one of them.

    strict: all names must be on both sides. verbose: print what was loaded, and what was not.
    consume: take every entry out of `state_dict` as soon as it is loaded, so that two copies of a
    model are never in memory; what fails then leaves the model half loaded. realize: read the
    values now, else when they are used.

    Raises ArgumentError that lists every difference: names the model has and the saved state lacks,
    names the saved state has and the model lacks (both only when `strict`), and tensors that do not
    fit. FileError and FormatError where values are read from files that are damaged.

    >>> model = nn.Linear(2, 1, bias=False)
    >>> _ = nn.state.load_state_dict(model, {"weight": Tensor([[1.0, 2.0]])})
    >>> model(Tensor([3.0, 4.0])).tolist()
    [11.0]
    """
    _prepare_to_load(model, state_dict)
    own = get_state_dict(model)
    if isinstance(state_dict, Mapping) and not consume:
        state_dict = {name: as_tensor(value) for name, value in state_dict.items()}
    found = _compare(own, state_dict)
    if found.unfit or (strict and (found.missing or found.unexpected)):
        raise _refusal(model, own, state_dict, found, strict)
    if consume and not isinstance(state_dict, MutableMapping):
        raise ArgumentError(
            "this mapping cannot be used up",
            asked=f"load_state_dict(consume=True) from a {type(state_dict).__name__}",
            because="entries cannot be taken out of it",
            try_="give dict(state), or leave consume off",
        )
    names = [name for name in own if name in state_dict]
    for group in [[name] for name in names] if consume else [names]:
        values = [_like(state_dict[name], own[name], consume) for name in group]
        if realize and values:
            Tensor.realize(*values)
        for name, value in zip(group, values, strict=True):
            own[name].replace(value)
            if consume:
                del state_dict[name]  # type: ignore[attr-defined]
    if verbose:
        size = sum(own[name].nbytes() for name in names)
        print(f"{plural(len(names), 'tensor')} loaded, {human_size(size)}")
        for line in found.lines(own, state_dict):
            print(f"    {line}")
    return [own[name] for name in names]


def _prepare_to_load(model: Any, state_dict: Any) -> None:
    """Let the modules of a model that take their sizes from a saved state do so."""
    modules = getattr(model, "named_modules", None)
    if not isinstance(state_dict, Mapping) or modules is None:
        return
    for name, module in list(modules()):
        prepare = getattr(module, "prepare_to_load", None)
        if prepare is not None:
            start = f"{name}." if name else ""
            prepare({
                key.removeprefix(start): tuple(value.shape)
                for key, value in state_dict.items()
                if key.startswith(start) and hasattr(value, "shape")
            })  # fmt: skip


def _like(saved: Tensor, target: Tensor, shared: bool) -> Tensor:
    """The saved value where `target` lives, in its shape and dtype; in memory of its own unless
    `shared`: training the model leaves what was saved as it was."""
    value = saved.detach()
    if tuple(value.shape) != tuple(target.shape):
        value = value.reshape(target.shape)
    value = value.shard_like(target).cast(target.dtype)
    same = not shared and value.uop.base.op in (Ops.BUFFER, Ops.DETACH)
    return value.clone() if same else value


@dataclass
class _Differences:
    """Names that only one side has, and those whose tensors do not fit, with what they are."""

    missing: list[str] = field(default_factory=list)
    unexpected: list[str] = field(default_factory=list)
    unfit: list[str] = field(default_factory=list)

    def lines(self, own: Mapping[str, Tensor], state: Mapping[str, Tensor]) -> Iterator[str]:
        """One line for each, what does not fit first."""
        width = max((len(n) for n in (*self.missing, *self.unexpected, *self.unfit)), default=0)
        for name in self.unfit:
            target, saved = own[name], state[name]
            if not _same_shape(saved, target):
                yield f"shape       {name:{width}}  model {target.shape}, saved {saved.shape}"
            else:
                yield f"dtype       {name:{width}}  model {target.dtype}, saved {saved.dtype}"
        for kind, names, side in (
            ("missing   ", self.missing, own),
            ("unexpected", self.unexpected, state),
        ):
            for name in names:
                yield f"{kind}  {name:{width}}  {side[name].shape} {side[name].dtype}"


def _compare(own: Mapping[str, Tensor], state: Mapping[str, Tensor]) -> _Differences:
    if not isinstance(state, Mapping):
        raise WrongKind(
            "the saved state maps names to tensors",
            asked=f"load_state_dict(model, {shown(state)})",
            because=f"that is {kind_of(state)}",
            try_="load_state_dict(model, safe_load(path))",
        )
    found = _Differences()
    reached = {id(target) for name, target in own.items() if name in state}
    for name, target in own.items():
        saved = state.get(name)
        if saved is None:
            if id(target) not in reached:
                found.missing.append(name)
        elif not isinstance(saved, Tensor):
            raise ArgumentError(
                "only tensors can be loaded",
                asked=f"load {name!r}, a {type(saved).__name__}",
                because="the saved state must map names to tensors",
                try_="wrap it in a Tensor",
            )
        elif not _same_shape(saved, target) or not _fits(saved, target):
            found.unfit.append(name)
    found.unexpected = [name for name in state if name not in own]
    return found


def _refusal(
    model: Any,
    own: Mapping[str, Tensor],
    state: Mapping[str, Tensor],
    found: _Differences,
    strict: bool,
) -> ArgumentError:
    if not strict:
        found = _Differences(unfit=found.unfit)
    lines = list(found.lines(own, state))
    shown = lines[:_MOST_LINES]
    if len(lines) > len(shown):
        shown.append(f"and {len(lines) - len(shown)} more")
    advice = "make the model as it was when it was saved"
    if strict:
        advice += ", or load with strict=False"
        prefix = _common_prefix(found)
        if prefix:
            advice = f"take {prefix!r} off: {{name.removeprefix({prefix!r}): t for name, t in ...}}"
    return ArgumentError(
        "the saved tensors do not fit the model",
        asked=f"load {len(state)} tensors into the {len(own)} of {type(model).__name__}",
        because="\n".join(["these differ:", *(f"    {line}" for line in shown)]),
        try_=advice,
    )


def _common_prefix(found: _Differences) -> str:
    """What all saved names have before the model's names, if that is all that is wrong."""
    if not found.missing or len(found.missing) != len(found.unexpected):
        return ""
    first = found.missing[0]
    prefixes = [n[: -len(first)] for n in found.unexpected if n.endswith(f".{first}")]
    unexpected = set(found.unexpected)
    fits = (p for p in prefixes if all(p + name in unexpected for name in found.missing))
    return next(fits, "")


def _same_shape(saved: Tensor, target: Tensor) -> bool:
    if tuple(saved.shape) == tuple(target.shape):
        return True
    return {tuple(saved.shape), tuple(target.shape)} == {(), (1,)}


def _fits(saved: Tensor, target: Tensor) -> bool:
    both_float = dtypes.is_float(saved.dtype) and dtypes.is_float(target.dtype)
    return both_float or can_safe_cast(saved.dtype, target.dtype)
