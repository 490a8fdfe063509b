"""The driver's compiler: options, logs."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from weft.plugin import CompileError
from weft_opencl import compiler
from weft_opencl.compiler import DriverCompiler, options
from weft_opencl.facts import OFFLINE


def test_options_never_relax_arithmetic():
    words = options(OFFLINE["pocl"])
    assert "-cl-fp32-correctly-rounded-divide-sqrt" in words
    assert not any("fast" in word or "unsafe" in word or "mad" in word for word in words)
    assert "-cl-fp32-correctly-rounded-divide-sqrt" not in options(
        replace(OFFLINE["pocl"], exact_division=False)
    )


def test_an_error_has_source_and_log(device):
    source = "__kernel void f_(__global int* a) { a[0] = no_such_name; }"
    with pytest.raises(CompileError) as caught:
        DriverCompiler(device).compile(source, "f")
    assert caught.value.source == source
    assert "no_such_name" in caught.value.log


def test_a_driver_that_succeeds_without_a_binary_is_an_error(monkeypatch):
    """Some drivers report success where their compiler ended early."""

    class Program:
        def __init__(self, context, source):
            self.build = self.compile = lambda *words, **others: self
            self.get_info = lambda what: [b""]
            self.get_build_info = lambda handle, what: "nothing to say"

    kinds = SimpleNamespace(BINARIES=0, LOG=1)
    driver = SimpleNamespace(
        Program=Program, Error=RuntimeError, program_info=kinds, program_build_info=kinds
    )
    monkeypatch.setattr(compiler, "bindings", lambda: driver)
    facts = replace(OFFLINE["pocl"], objects=False)
    device = SimpleNamespace(facts=facts, context=None, handle=None)
    with pytest.raises(CompileError) as caught:
        DriverCompiler(device).compile("the source", "f")
    error = caught.value
    assert error.source == "the source" and error.log == "nothing to say"
    assert error.because and error.try_


def test_the_fingerprint_has_driver_and_options(device):
    fingerprint = DriverCompiler(device).fingerprint
    assert device.facts.versions in fingerprint
    assert all(word in fingerprint for word in options(device.facts))
