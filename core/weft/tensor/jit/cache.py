"""Specialization cache: find the specialization of a call by signature, mode and state.

in:  the `Signature` of a call      out: `Specialization`

Source: JAX, tracing cache of `jax.jit`; the least recently used entry is evicted.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from weft.base.settings import settings
from weft.device import registry
from weft.tensor.jit.conditions import merged, outcomes
from weft.tensor.jit.signature import Signature
from weft.tensor.jit.specialization import Specialization, aliased_state_of
from weft.tensor.jit.state import State
from weft.tensor.protocol import grad_enabled
from weft.tensor.tensor import Tensor
from weft.uop import UOp

_WITHOUT_EFFECT = frozenset(
    {"DEBUG", "VIZ", "PROCESS_REPLAY", "CACHE", "CACHE_DIR", "SEED", "REPR"}
)
_SETTINGS = [row.name for row in settings.table() if row.name not in _WITHOUT_EFFECT]
_settings_now = settings.reader(*_SETTINGS)

MODES = [*(f"settings.{name}" for name in _SETTINGS), "Tensor.training", "gradients", "device"]
"""The names of what `current_mode` returns."""


def current_mode() -> list[Any]:
    """Settings and modes that a trace depends on."""
    mode = _settings_now()
    mode += (Tensor.training, grad_enabled(), registry.default_if_any())
    return mode


class SpecializationCache:
    """The specializations of one function, at most `limit` of them.

    A call key is the signature of the arguments, the mode, the values of variables that Python
    takes, and the outcomes of conditions of variables. The key of an entry adds the signature of
    the state.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        # by signature and mode: the variables whose values Python takes, and the conditions
        self.read: dict[tuple[Any, ...], frozenset[UOp]] = {}
        self.clear()

    def __len__(self) -> int:
        return len(self._entries)

    def clear(self) -> None:
        """Drop all specializations."""
        self._entries: OrderedDict[Any, Specialization] = OrderedDict()
        self._by_call: dict[Any, list[Specialization]] = {}
        # the signature of the last call, a cheap key of its mode, its specialization
        self._last: tuple[list[Any], tuple[Any, ...], Specialization] | None = None

    def find(self, arguments: Signature) -> Specialization | None:
        """The specialization of a call whose state is unchanged; None if there is none."""
        stamp = (settings.stamp(), Tensor.training, grad_enabled(), registry.default_if_any())
        last = self._last
        if last is not None and not self.read:
            if stamp == last[1] and arguments.key == last[0] and last[2].accepts(arguments.nodes):
                return last[2]
        for entry in self._by_call.get(self.call_key(arguments)[0], ()):
            if entry.accepts(arguments.nodes):
                self._last = (arguments.key, stamp, entry)
                return entry
        return None

    def call_key(self, arguments: Signature) -> tuple[tuple[Any, ...], frozenset[UOp]]:
        """The key of a call, and the variables and conditions whose values are part of it."""
        key = (*arguments.key, *current_mode())
        read = self.read.get(key, frozenset())
        return ((*key, frozenset(outcomes(read, arguments.values))) if read else key), read

    def values_read(self, arguments: Signature) -> list[tuple[UOp, int]]:
        """The variables and conditions that are part of the key of a call, with their values."""
        return outcomes(self.call_key(arguments)[1], arguments.values)

    def entry_key(self, arguments: Signature, state: State) -> tuple[Any, ...]:
        """The key of the specialization for a call and a state."""
        call, read = self.call_key(arguments)
        aliased = aliased_state_of(arguments.nodes, state)
        values = frozenset(outcomes(read, state.signature.values))
        return call, tuple(state.signature.key), tuple(aliased), values

    def reuse(self, key: tuple[Any, ...], state: State) -> Specialization | None:
        """The specialization of an equal state, which gets this one; None if there is none."""
        found = self._entries.get(key)
        if found is not None:
            found.set_state(state)
            self._entries.move_to_end(key)
        return found

    def add(self, key: tuple[Any, ...], entry: Specialization) -> None:
        """Add a specialization, and evict the least recently used ones above the limit."""
        self._entries[key] = entry
        self._by_call.setdefault(key[0], []).append(entry)
        while len(self._entries) > self._limit:
            self._evict_oldest()

    def _evict_oldest(self) -> None:
        key, entry = self._entries.popitem(last=False)
        entries = self._by_call[key[0]]
        entries.remove(entry)
        if not entries:
            del self._by_call[key[0]]
        if self._last is not None and self._last[2] is entry:
            self._last = None

    def specialize_on_values(self, arguments: Signature, read: frozenset[UOp]) -> bool:
        """Make the values of these variables and conditions part of the call key. Returns whether
        that is new."""
        call = (*arguments.key, *current_mode())
        known = self.read.get(call, frozenset())
        together = merged(known, read)
        if together == known:
            return False
        if len(self.read) >= 4 * self._limit:
            self.read.clear()
        self.read[call] = together
        for key in [key for key in self._entries if key[0][: len(call)] == call]:
            del self._entries[key]
            self._by_call.pop(key[0], None)
        self._last = None
        return True
