"""C libraries: compiled, and called from a program in C and from ctypes."""

import ctypes
import shutil
import subprocess

import numpy as np
import pytest

import weft
from weft import Tensor, settings
from weft.base.errors import CapabilityError, CaptureError, FileError
from weft.device import registry
from weft.export import export_c

RNG = np.random.default_rng(0)


def builds_libraries():
    opened = registry.open(registry.canonical(None))
    return hasattr(opened.compiler, "build_library")


needs_c = pytest.mark.skipif(not builds_libraries(), reason="the default device has no C compiler")


def array(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


@pytest.fixture
def network():
    """Two dense layers of 20 rows, whose weights are constants, with three results."""
    first, second = Tensor(array(16, 40)).realize(), Tensor(array(40, 40)).realize()

    def network(x, shift):
        y = (x @ first).gelu() + shift
        z = (y @ second).gelu()
        return {"p": z.softmax(), "best": z.argmax(axis=1), "large": z > 0, "again": y}

    return network


def call(library, name, inputs, outputs):
    """Run a library in this process, on arrays."""
    loaded = ctypes.CDLL(str(library))
    opened = getattr(loaded, f"{name}_open")
    opened.restype = ctypes.c_void_p
    handle = opened(str(library.parent / f"{name}.weights").encode())
    assert handle
    pointers = [each.ctypes.data_as(ctypes.c_void_p) for each in (*inputs, *outputs)]
    for _ in range(2):
        getattr(loaded, f"{name}_run")(ctypes.c_void_p(handle), *pointers)
    getattr(loaded, f"{name}_close")(ctypes.c_void_p(handle))


@needs_c
def test_a_library_gives_the_results_of_the_function(tmp_path, network):
    x, shift = array(20, 16), array(40)
    library = export_c(network, x, shift, folder=tmp_path)
    wanted = {name: each.numpy() for name, each in network(Tensor(x), Tensor(shift)).items()}
    outputs = {name: np.empty_like(each) for name, each in wanted.items()}
    call(library, "network", [x, shift], list(outputs.values()))
    for name, each in wanted.items():
        np.testing.assert_allclose(outputs[name], each, rtol=1e-4, atol=1e-5, err_msg=name)


@needs_c
@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no cc")
def test_a_program_in_c_runs_it(tmp_path, network):
    x, shift = array(20, 16), array(40)
    export_c(network, x, shift, folder=tmp_path)
    x.tofile(tmp_path / "x.bin")
    shift.tofile(tmp_path / "shift.bin")
    command = ["cc", "-Wall", "-Werror", "main.c", "-L.", "-lnetwork", "-Wl,-rpath,.", "-o", "main"]
    subprocess.run(command, cwd=tmp_path, check=True, timeout=60)
    subprocess.run(["./main"], cwd=tmp_path, check=True, timeout=60)
    for name, each in network(Tensor(x), Tensor(shift)).items():
        wanted = each.numpy()
        found = np.fromfile(tmp_path / f"{name}.bin", wanted.dtype).reshape(wanted.shape)
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


@needs_c
@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no cc")
def test_the_header_is_c_and_cxx_and_missing_weights_are_null(tmp_path):
    export_c(lambda x: [x + 1, x], array(3), folder=tmp_path, name="a b")
    assert "in   x: float[3]" in (tmp_path / "a_b.h").read_text()
    (tmp_path / "user.c").write_text(
        '#include "a_b.h"\nint main(void) { return a_b_open("nowhere") != 0; }\n'
    )
    command = ["cc", "-Wall", "-Werror", "user.c", "-L.", "-la_b", "-Wl,-rpath,.", "-o", "user"]
    subprocess.run(command, cwd=tmp_path, check=True, timeout=60)
    subprocess.run(["./user"], cwd=tmp_path, check=True, timeout=60)


@needs_c
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "float16", "float64"])
def test_dtypes(dtype, tmp_path):
    x = (RNG.standard_normal(70) * 3).astype(dtype)
    library = export_c(lambda m, part: [m, m + part, part], x, x, folder=tmp_path, name="sum")
    wanted = [x, (Tensor(x) + Tensor(x)).numpy(), x]
    outputs = [np.empty_like(each) for each in wanted]
    call(library, "sum", [x, x], outputs)
    for found, each in zip(outputs, wanted):
        np.testing.assert_array_equal(found, each)


@needs_c
def test_without_build_sources_are_written(tmp_path):
    header = export_c(lambda x: x * 2, array(3), folder=tmp_path / "new", build=False, name="twice")
    names = {each.relative_to(tmp_path / "new").as_posix() for each in header.parent.rglob("*.*")}
    assert {"twice.h", "twice.c", "main.c", "twice.weights"} < names
    assert not list(header.parent.glob("lib*"))


def test_functions_that_are_no_libraries(tmp_path):
    with pytest.raises(CaptureError, match="random"):
        export_c(lambda x: x + Tensor.rand(3), array(3), folder=tmp_path)
    with pytest.raises(CaptureError, match="read"):
        export_c(lambda x: x * x.sum().item(), array(3), folder=tmp_path)
    with pytest.raises(CaptureError, match="returns tensors"):
        export_c(lambda x: 3, array(3), folder=tmp_path)
    file = tmp_path / "file"
    file.write_text("")
    if builds_libraries():
        with pytest.raises(FileError):
            export_c(lambda x: x + 1, array(3), folder=file)


def test_another_device_is_refused(tmp_path):
    with settings.override(DEVICE="HOST"), pytest.raises(weft.WeftError):
        export_c(lambda x: x.exp(), array(3), folder=tmp_path)
    if not builds_libraries():
        with pytest.raises(CapabilityError, match="no C"):
            export_c(lambda x: x.exp(), array(3), folder=tmp_path)
