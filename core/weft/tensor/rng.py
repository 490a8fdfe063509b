"""Counter-based random numbers: the seed, and how many blocks each device has drawn.
Also: threefry, pseudo-random generator.

Element i of a draw is threefry(counter + i, key). The key is derived from the seed, and the counter
grows by the number of elements drawn. Every device therefore has the same stream for one seed, and
a draw does not depend on how it is computed.

The counter of a draw is data for its kernel: a buffer on the staging device, not a constant. Every
draw of one shape is therefore the same kernel. A captured graph knows these buffers
(`Recorder.draws`), and a replay writes the next counter to them.

Source: J. Salmon, M. Moraes, R. Dror, D. Shaw, "Parallel Random Numbers: As Easy as 1, 2, 3"
(SC 2011).
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any, Self

from weft.base.arguments import shown
from weft.base.dtype import dtypes
from weft.base.errors import ArgumentError, CaptureError
from weft.base.scalars import pack
from weft.base.settings import settings
from weft.device import binding
from weft.engine.capture import recording
from weft.tensor.interop import host_node, moved
from weft.uop import UOp

_MASK = (1 << 64) - 1
_seed: int | None = None
_drawn: dict[str | tuple[str, ...], int] = {}


def manual_seed(seed: int) -> None:
    """Start the stream of every device anew.

    :raises ArgumentError: if the seed is no integer.
    """
    global _seed
    if not isinstance(seed, int):
        raise ArgumentError("a seed is an integer", asked=f"manual_seed({shown(seed)})")
    _seed = seed & _MASK
    _drawn.clear()
    if (recorder := recording()) is not None:
        recorder.draws.append(_seed)


def key() -> int:
    """The key: the seed, spread over all bits so that neighbouring seeds have nothing in common."""
    global _seed
    if _seed is None:
        _seed = (settings.SEED if settings.SEED >= 0 else time.time_ns()) & _MASK
    # the finalizer of splitmix64 (Steele, Lea, Flood 2014)
    z = (_seed + 0x9E3779B97F4A7C15) & _MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
    return z ^ (z >> 31)


class MappedDraws:
    """The draws of a function that is called once for many samples.

    :param size: the number of samples. :param is_refused: whether a draw is an error.
    :ivar draws: the node of each draw, and how many blocks a sample takes of it.
    """

    def __init__(self, size: int, is_refused: bool) -> None:
        self.size, self.is_refused = size, is_refused
        self.draws: list[tuple[UOp, int]] = []

    def __enter__(self) -> Self:
        self._token = _mapped.set((self, *_mapped.get()))
        return self

    def __exit__(self, *_error: object) -> None:
        _mapped.reset(self._token)


_mapped: ContextVar[tuple[MappedDraws, ...]] = ContextVar("mapped draws", default=())
"""Those of the functions that are being mapped, the innermost first."""


def draw(device: str | tuple[str, ...], blocks: int) -> UOp:
    """Key and counter of the next draw of `blocks` blocks: a (2,) uint64 node on `device`.

    :raises CaptureError: in a mapped function without random numbers.
    """
    total, mapped = blocks, _mapped.get()
    for each in mapped:
        if each.is_refused:
            raise CaptureError(
                "a mapped function draws random numbers",
                asked="random numbers in a function that vmap calls",
                because="they may be different for each sample, or the same",
                try_='vmap(function, randomness="different"), or "same"',
            )
        total *= each.size
    memory = bytearray(next_block(device, total))
    node = host_node(memory, dtypes.uint64, (2,))
    if (recorder := recording()) is not None:
        recorder.draws.append((memory, binding.buffer_of(node), device, total))
    node = moved(node, device)
    for each in mapped:
        each.draws.append((node, blocks))
        blocks *= each.size
    return node


def next_block(device: str | tuple[str, ...], blocks: int) -> bytes:
    """Counter and key of the next draw, which is taken: the contents of the memory of a draw."""
    counter = _drawn.get(device, 0)
    _drawn[device] = (counter + blocks) & _MASK
    return pack((counter, key()), dtypes.uint64)


def get_rng_state() -> dict[str, Any]:
    """The state of the random numbers of all devices, as plain values: what `weft.save` takes.

    >>> state = weft.get_rng_state()
    >>> x = Tensor.rand(2).tolist()
    >>> weft.set_rng_state(state)
    >>> Tensor.rand(2).tolist() == x
    True
    """
    key()  # a seed that depends on the time is chosen now, if it has not been
    return {"seed": _seed, "drawn": [[device, count] for device, count in _drawn.items()]}


def set_rng_state(new_state: Mapping[str, Any]) -> None:
    """Restore a state that `get_rng_state` returned.

    :raises ArgumentError: for any other argument.
    """
    try:
        seed = int(new_state["seed"])
        drawn = {
            device if isinstance(device, str) else tuple(map(str, device)): int(count)
            for device, count in new_state["drawn"]
        }
    except (TypeError, KeyError, ValueError):
        raise ArgumentError(
            "this is no state of random numbers",
            asked=f"set_rng_state({shown(new_state)})",
            try_="what weft.get_rng_state() gave",
        ) from None
    restore((seed, drawn))


def state() -> Any:
    """The state for `restore`: the seed and all counters."""
    return _seed, dict(_drawn)


def restore(saved: Any) -> None:
    """Restore a state."""
    global _seed
    _seed = saved[0]
    _drawn.clear()
    _drawn.update(saved[1])
