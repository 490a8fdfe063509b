"""Which compiler is taken, what is said where there is none, what it is asked."""

from __future__ import annotations

import os
import stat

import pytest

from weft.plugin import DeviceUnavailable, dtypes
from weft_cpu_clang import toolchain
from weft_cpu_clang.capabilities import describe


@pytest.fixture(autouse=True)
def fresh(monkeypatch, tmp_path):
    """No memory of earlier answers, in the process or on disk."""
    monkeypatch.setenv("WEFT_CACHE_DIR", str(tmp_path / "cache"))
    toolchain.find_toolchain.cache_clear()
    yield
    toolchain.find_toolchain.cache_clear()


def fake_compiler(tmp_path, says):
    path = tmp_path / "clang"
    path.write_text(f"#!/bin/sh\necho '{says}'\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def test_chosen_by_the_environment(monkeypatch, tmp_path, bench):
    known = bench.device.toolchain.command
    monkeypatch.setenv("WEFT_CLANG", " ".join(known))
    assert toolchain.find_toolchain().command == known
    monkeypatch.setenv("WEFT_CLANG", str(tmp_path / "absent"))
    toolchain.find_toolchain.cache_clear()
    with pytest.raises(DeviceUnavailable) as caught:
        toolchain.find_toolchain()
    assert "absent" in caught.value.because


@pytest.mark.skipif(os.name == "nt", reason="the fake compiler is a shell script")
def test_too_old_or_no_clang_at_all(monkeypatch, tmp_path):
    for says in ("Debian clang version 14.0.6", "gcc (Debian) 14.2.0"):
        monkeypatch.setenv("WEFT_CLANG", str(fake_compiler(tmp_path, says)))
        toolchain.find_toolchain.cache_clear()
        with pytest.raises(DeviceUnavailable) as caught:
            toolchain.find_toolchain()
        assert says in caught.value.because


def test_none_anywhere_says_what_to_install(monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("WEFT_CLANG", raising=False)
    monkeypatch.setattr(toolchain.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(DeviceUnavailable) as caught:
        toolchain.find_toolchain()
    assert "pip install" in caught.value.try_


def test_answers_are_kept(monkeypatch, bench):
    chosen = " ".join(bench.device.toolchain.command)
    monkeypatch.setenv("WEFT_CLANG", chosen)
    first = toolchain.find_toolchain()
    toolchain.find_toolchain.cache_clear()
    monkeypatch.setattr(toolchain, "_ask", lambda command: pytest.fail("asked twice"))
    assert toolchain.find_toolchain() == first


def test_capabilities_follow_the_facts(bench):
    facts = toolchain.Facts("clang version 99", True, False, 32, 16, True, ())
    compute = describe(toolchain.Toolchain(("c",), ("c",), facts, "print")).compute
    assert dtypes.float16 in compute.dtypes
    assert dtypes.bfloat16 not in compute.dtypes
    assert compute.vector_widths[dtypes.float32] == (8, 4, 2)
    assert compute.vector_widths[dtypes.uint8][0] == 32
    assert (compute.vector_bytes, compute.vector_registers) == (32, 16)


def test_facts_of_other_processors():
    assert toolchain._vectors({"__AVX512F__", "__AVX__", "__SSE2__"}) == (64, 32)
    assert toolchain._vectors({"__SSE2__"}) == (16, 16)
    assert toolchain._vectors({"__ARM_NEON"}) == (16, 32)
    assert toolchain._vectors(set()) == (0, 16)
