"""What this namespace can do: `__array_namespace_info__`."""

from __future__ import annotations

from typing import Any

from weft.array_api.array import index_dtype
from weft.array_api.data_types import KINDS, NAMED
from weft.base.dtype import DType, dtypes
from weft.base.errors import ArgumentError, WeftError
from weft.device import catalogue, registry


class Info:
    """The inspection functions of the standard."""

    def capabilities(self) -> dict[str, Any]:
        """Boolean masks index, and shapes may depend on data; axes are not limited by weft."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> str:
        """Where arrays are made unless a device is given."""
        return catalogue.DEFAULT

    def devices(self) -> list[str]:
        """The devices that compute and open here, the default one first.

        Those that are there for tests, and never the default, are left out.
        """
        found = [catalogue.DEFAULT]
        for family in catalogue:
            try:
                device = catalogue[family]
                usable = device.target is not None and device.family.priority >= 0
            except WeftError:
                continue
            if usable and str(device.id) not in found:
                found.append(str(device.id))
        return found

    def default_dtypes(self, *, device: Any = None) -> dict[str, DType]:
        """The dtypes that numbers and places get."""
        return {
            "real floating": dtypes.default_float,
            "complex floating": dtypes.complex_dtype(dtypes.default_float),
            "integral": dtypes.default_int,
            "indexing": index_dtype(device),
        }

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, DType]:
        """The dtypes of the standard that a device computes with, of one kind or of several.

        A device computes complex numbers where it computes floats of the dtype of their parts.

        :raises ArgumentError: for a name that is no kind.
        """
        compute = registry.capabilities(registry.canonical(device)).compute
        computed = None if compute is None else compute.dtypes
        known = {
            name: kind
            for name, kind in NAMED.items()
            if computed is None or dtypes.real_dtype(kind) in computed
        }
        if kind is None:
            return known
        kinds = kind if isinstance(kind, tuple) else (kind,)
        for each in kinds:
            if each not in KINDS:
                raise ArgumentError(
                    f"there is no kind {each!r} of dtypes",
                    asked=f"dtypes(kind={kind!r})",
                    try_=", ".join(map(repr, KINDS)),
                )
        return {n: d for n, d in known.items() if any(d in KINDS[each] for each in kinds)}


def __array_namespace_info__() -> Info:
    """What this namespace can do."""
    return Info()
