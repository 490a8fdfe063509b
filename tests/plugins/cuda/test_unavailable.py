"""Where something is missing, it is said what, and what would help."""

import sys

import pytest

from weft.plugin import DeviceUnavailable
from weft_cuda import driver as drivers
from weft_cuda import nvrtc


@pytest.fixture
def library(monkeypatch):
    monkeypatch.setattr(drivers, "_library_loads", lambda: True)


def test_no_driver(monkeypatch):
    monkeypatch.setattr(drivers, "_library_loads", lambda: False)
    with pytest.raises(DeviceUnavailable, match="no NVIDIA GPU") as caught:
        drivers.find_driver()
    assert "libcuda.so.1 cannot be loaded" in caught.value.because
    assert "weft-cuda[driver]" in caught.value.try_


def test_no_driver_package(monkeypatch, library):
    monkeypatch.delenv("WEFT_CUDA_DRIVER", raising=False)
    for name in list(sys.modules):
        if name in ("weft_cuda.bindings", "weft_cuda.by_pycuda", "weft_cuda.bindings_only"):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "cuda.bindings", None)
    monkeypatch.setitem(sys.modules, "pycuda.driver", None)
    with pytest.raises(DeviceUnavailable) as caught:
        drivers.find_driver()
    assert "pycuda: " in caught.value.because and "bindings: " in caught.value.because


def test_a_package_that_is_not_known(monkeypatch, library):
    monkeypatch.setenv("WEFT_CUDA_DRIVER", "opencuda")
    with pytest.raises(DeviceUnavailable) as caught:
        drivers.find_driver()
    assert "WEFT_CUDA_DRIVER=opencuda: there are pycuda, bindings" in caught.value.because


def test_a_driver_that_finds_no_gpu(monkeypatch, library):
    class Empty:
        name = "empty"

        def count(self):
            return 0

    monkeypatch.setenv("WEFT_CUDA_DRIVER", "empty")
    monkeypatch.setitem(drivers.BACKENDS, "empty", "empty_backend")
    module = type(sys)("empty_backend")
    module.start = Empty
    monkeypatch.setitem(sys.modules, "empty_backend", module)
    with pytest.raises(DeviceUnavailable, match="no NVIDIA GPU") as caught:
        drivers.find_driver()
    assert "empty: the driver finds no GPU" in caught.value.because


def test_a_compiler_that_is_not_where_it_should_be(monkeypatch):
    monkeypatch.setenv("WEFT_NVRTC", "/nowhere/libnvrtc.so")
    nvrtc.find_nvrtc.cache_clear()
    try:
        with pytest.raises(DeviceUnavailable, match="no compiler") as caught:
            nvrtc.find_nvrtc()
    finally:
        nvrtc.find_nvrtc.cache_clear()
    assert "/nowhere/libnvrtc.so" in caught.value.because
    assert "weft-cuda[compiler]" in caught.value.try_
