"""A field of the language dialect is shared: what one language alone has is in its renderer."""

from dataclasses import fields

import pytest

from weft.device import registry
from weft.plugin import CDialect, VectorStyle

OFFLINE = {
    "CPU": ("weft_cpu_clang", "x86-64-v4"),
    "CUDA": ("weft_cuda", "sm_90a"),
    "METAL": ("weft_metal", "apple8"),
    "OPENCL": ("weft_opencl", "pocl"),
}
DEFAULTS = {"CDialect": CDialect(), "VectorStyle": VectorStyle()}


def fields_set(record, default):
    return {f.name for f in fields(record) if getattr(record, f.name) != getattr(default, f.name)}


def test_every_field_is_set_by_several_plugins():
    owners: dict[str, list[str]] = {
        f"{name}.{field.name}": []
        for name, default in DEFAULTS.items()
        for field in fields(default)
    }
    for family, (package, arch) in OFFLINE.items():
        pytest.importorskip(package, reason=f"the plugin of {family} is not installed")
        dialect = registry.offline(family, arch).renderer.dialect
        for record in (dialect, dialect.vectors):
            name = type(record).__name__
            for field in fields_set(record, DEFAULTS[name]):
                owners.setdefault(f"{name}.{field}", []).append(family)
    assert {field: who for field, who in owners.items() if len(who) < 2} == {}
