"""Processors that are not here."""

import pytest

from weft.base.errors import CapabilityError
from weft.device import registry


def test_an_architecture_has_its_own_vectors():
    widths = {
        arch: registry.offline("CPU", arch).target.compute.vector_bytes
        for arch in ("x86-64", "x86-64-v3", "x86-64-v4", "aarch64")
    }
    assert widths == {"x86-64": 16, "x86-64-v3": 32, "x86-64-v4": 64, "aarch64": 16}


def test_an_unknown_architecture_is_said():
    with pytest.raises(CapabilityError):
        registry.offline("CPU", "z80")
