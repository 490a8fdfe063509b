"""Tuned plans: the plans that `weft tune` found faster than those of the heuristic.

A table maps the digest of a kernel to its plan. There are two: that of this machine, on disk, and
one that the plugin ships for the processor (`Device.tuning`). A plan is used if it is legal for the
kernel; results do not depend on it, except for the order of sums. Without tables nothing is looked
up.

in: the AST of a kernel and a device    out: a plan as data, or None

Source: Whaley & Dongarra, "Automatically tuned linear algebra software" (SC 1998): tuning at
installation, and architectural defaults.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, cast

from weft.base.disk_cache import DiskCache
from weft.base.settings import settings
from weft.device import OpenDevice
from weft.uop import UOp, to_text

cache = DiskCache("tuned_plans", 1)
Data = list[Any]
"""A plan as JSON: whether its loops are prepared, and its optimisations."""

_tables: dict[tuple[Any, ...], tuple[dict[str, Data], str]] = {}


def digest(ast: UOp) -> str:
    """What a table calls a kernel."""
    text = "\0".join((str(settings.FUSE_ARANGE), settings.MATMUL_PRECISION, to_text(ast)))
    return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()


def plans_of(device: OpenDevice) -> dict[str, Data]:
    """All tuned plans of a device; those of this machine are preferred to shipped ones."""
    return _table_of(device)[0]


def stamp(device: OpenDevice) -> str:
    """A text that changes with the tuned plans of a device; "" if there are none."""
    return _table_of(device)[1]


def data_for(ast: UOp, device: OpenDevice) -> Any:
    """The tuned plan of a kernel as data, for `tuning_database.legal_plan`; None if there is
    none."""
    plans = plans_of(device)
    return plans.get(digest(ast)) if plans else None


def keep(plans: Mapping[str, Data | None], device: OpenDevice) -> None:
    """Keep plans for this machine, by the digests of their kernels; None removes one."""
    mine = {**_stored(device), **plans}
    found = {name: data for name, data in mine.items() if data is not None}
    cache.put(_key_of(device), json.dumps(found).encode())
    _tables.clear()


def forget_tables() -> None:
    """Read all tables again when they are needed."""
    _tables.clear()


def _key_of(device: OpenDevice) -> str:
    can = device.capabilities
    return "\0".join((device.id.family, can.fingerprint, can.speed))


def _stored(device: OpenDevice) -> dict[str, Data]:
    data = cache.get(_key_of(device))
    try:
        found: Any = json.loads(data) if data else {}
    except ValueError:
        return {}
    return cast("dict[str, Data]", found) if isinstance(found, dict) else {}


def _table_of(device: OpenDevice) -> tuple[dict[str, Data], str]:
    """The plans of a device and their stamp, read once for each cache folder."""
    where = (_key_of(device), settings.CACHE, settings.CACHE_DIR)
    found = _tables.get(where)
    if found is None:
        tuning = device.device.tuning
        plans = {**(tuning.plans if tuning else {}), **_stored(device)}
        text = json.dumps(plans, sort_keys=True) if plans else ""
        name = hashlib.blake2b(text.encode(), digest_size=8).hexdigest() if plans else ""
        found = _tables[where] = plans, name
    return found
