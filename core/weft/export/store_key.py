"""Store key: what stored programs of a device depend on, besides the computation itself.
Also: ahead-of-time compilation cache.

in:  a device      out: text that changes with settings, processor, and source files of weft

Source: ccache (a compilation is looked up by its inputs).
"""

from __future__ import annotations

from weft.base.settings import settings
from weft.device import registry
from weft.engine import kernel_cache

_WITHOUT_EFFECT = frozenset(
    "DEVICE DEBUG JIT VIZ CHECK PROCESS_REPLAY SCHEDULE_CACHE CACHE_DIR CACHE DISABLE_PLUGINS "
    "TRACE_PLUGINS TRACEMETA REPR SEED".split()
)


def store_key(device: str) -> str | None:
    """Return the part of a key that all stored programs of a device share; None if nothing is to be
    stored."""
    values = [
        f"{each.name}={getattr(settings, each.name)}"
        for each in settings.table()
        if each.name not in _WITHOUT_EFFECT
    ]
    return kernel_cache.key_of_device(values, registry.open(device))
