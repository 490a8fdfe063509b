"""Replay of transforms: outside of `jit`, a transform that repeats runs a captured program.
Also: plan cache.

To record the graph of a transform takes longer than to compute it, for all but very long ones. A
transform of memory that requires no gradient is therefore computed at once. From the second call
with the same shape, dtype and device on, `weft.jit` captures the function and replays it.

Source: M. Frigo and S. G. Johnson, "The Design and Implementation of FFTW3", Proceedings of the
IEEE (2005): a plan is made once for each size.
"""

from __future__ import annotations

import functools
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, TypeVar

from weft.base.locks import reentrant_lock
from weft.base.sequences import prod
from weft.engine.capture import recording
from weft.tensor import Tensor
from weft.tensor.jit import Jit
from weft.uop import Ops

Transform = TypeVar("Transform", bound=Callable[..., Any])

BUDGET = 1 << 23
"""The inputs of the programs that are kept have at most this many numbers together."""

_PLAIN = (int, str, float, type(None))
_programs: OrderedDict[Any, Jit[..., Any] | None] = OrderedDict()
_lock = reentrant_lock()


def replayed(function: Transform) -> Transform:
    """The function of one tensor, computed at once where that is in memory and needs no gradient.

    Calls inside of `jit`, of pending tensors and of tensors that require a gradient are recorded.
    """

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        given = [x for x in args if isinstance(x, Tensor)]
        key = _key(function, given[0], args, kwargs) if len(given) == 1 else None
        if key is None:
            return function(*args, **kwargs)
        program = _program(key, function)
        made = (program or function)(*args, **kwargs)
        return made if program else made.realize()

    return call  # type: ignore[return-value]


def _key(function: Any, x: Any, args: Any, kwargs: Any) -> Any:
    """What the program of a call depends on; None if the call is recorded."""
    whole = x if x._interleaved is None else x._interleaved
    node = whole._uop
    if recording() is not None or whole._requires_grad or node.base.op is not Ops.BUFFER:
        return None
    options = (*[None if a is x else a for a in args], *sorted(kwargs.items()))
    if not _is_plain(options) or not _is_plain(node.shape) or prod(node.shape) > BUDGET:
        return None
    return function, x.__class__, node.shape, node.dtype, node.device, repr(options)


def _is_plain(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return all(map(_is_plain, value))
    return isinstance(value, _PLAIN)


def _program(key: Any, function: Any) -> Jit[..., Any] | None:
    """The program for a call; None for the first one."""
    with _lock:
        if key not in _programs:
            _programs[key] = None
            while sum(prod(other[2]) for other in _programs) > BUDGET:
                _programs.popitem(last=False)
            return None
        _programs.move_to_end(key)
        found = _programs[key]
        if found is None:
            found = _programs[key] = Jit(function, limit=2, quiet=True)
        return found
