"""The whole plugin, unmodified, on test doubles of libcuda and NVRTC, through cuda-bindings and
through pycuda: its own tests in `doubled`, and the parts of the conformance kit that run kernels.

The doubles must be found when libcuda is first looked for, so these tests run in processes of their
own. Where pycuda is not installed, a double replaces it.
"""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

import weft.testing.conformance

HERE = Path(__file__).parent
_spec = importlib.util.spec_from_file_location("cuda_doubles", HERE / "doubles" / "build.py")
doubles = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(doubles)


STAND_IN = HERE / "doubles" / "fake_pycuda"
KIT = Path(weft.testing.conformance.__file__).parent
HOST = (
    "compile",
    "copy",
    "declaration",
    "launches",
    "limits",
    "memory",
    "replay",
    "together",
    "views",
)
"""Parts of the kit that ask more of the host side than of kernels."""


@pytest.fixture(scope="module")
def environment():
    reason = doubles.missing()
    if not reason and importlib.util.find_spec("cuda") is None:
        reason = "cuda-bindings is not installed"
    if reason:
        pytest.skip(reason)
    # Its tests look at kernels of the sizes that they name, not at general ones.
    own = {"WEFT_TEST_FEWER": "3", "WEFT_KERNEL_ARGUMENTS": "0"}
    return {**os.environ, **doubles.environment(doubles.build()), **own}


@pytest.fixture(params=["bindings", "pycuda"])
def driver(request, environment):
    """The environment of a process that goes through this package."""
    found = {**environment, "WEFT_CUDA_DRIVER": request.param}
    if request.param == "pycuda" and importlib.util.find_spec("pycuda") is None:
        before = os.environ.get("PYTHONPATH")
        found["PYTHONPATH"] = f"{STAND_IN}:{before}" if before else str(STAND_IN)
    return found


def passes(environment, *arguments):
    command = [sys.executable, "-m", "pytest", "-q", "--import-mode=importlib"]
    command += ["-p", "no:cacheprovider", *map(str, arguments)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]


def kit(environment, *parts):
    passes(environment, *(KIT / f"test_{part}.py" for part in parts), "--weft-device", "CUDA")


def test_its_host_side(driver):
    own = HERE / "doubled"
    # What the double finds wrong with kernels does not depend on who launches them.
    again = driver["WEFT_CUDA_DRIVER"] == "pycuda"
    passes(driver, own, *([f"--ignore={own / 'test_executor.py'}"] if again else []))


def test_the_kits_memory_and_launches(driver):
    kit(driver, *HOST)


@pytest.mark.parametrize("turn", range(4))
def test_the_kits_kernels(turn, environment):
    every = sorted(path.stem.removeprefix("test_") for path in KIT.glob("test_*.py"))
    kit(environment, *[part for part in every if part not in HOST][turn::4])


NAMES = """
import importlib.util, inspect, sys
import pycuda.driver as real
spec = importlib.util.spec_from_file_location("stand_in", sys.argv[1])
fake = importlib.util.module_from_spec(spec)
spec.loader.exec_module(fake)
for name, thing in vars(fake).items():
    if inspect.isclass(thing) and thing.__module__ == "stand_in" and not name.startswith("_"):
        for member in vars(thing):
            if not member.startswith("_") or member == "_launch_kernel":
                assert hasattr(getattr(real, name), member), (name, member)
    elif inspect.isfunction(thing) and not name.startswith("_"):
        assert callable(getattr(real, name)), name
"""


def test_the_double_has_no_name_that_pycuda_lacks(environment):
    pytest.importorskip("pycuda", reason="there is nothing to compare with")
    path = str(STAND_IN / "pycuda" / "driver.py")
    done = subprocess.run(
        [sys.executable, "-c", NAMES, path], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
