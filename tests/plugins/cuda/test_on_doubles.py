"""The whole plugin, unmodified, through cuda-bindings, on test doubles of libcuda and NVRTC: its
own tests in `doubled`, and the parts of the conformance kit that run kernels.

The doubles must be found when libcuda is first looked for, so these tests run in processes of their
own.
"""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
_spec = importlib.util.spec_from_file_location("cuda_doubles", HERE / "doubles" / "build.py")
doubles = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(doubles)


@pytest.fixture(scope="module")
def environment():
    reason = doubles.missing()
    if not reason and importlib.util.find_spec("cuda") is None:
        reason = "cuda-bindings is not installed"
    if reason:
        pytest.skip(reason)
    return {**os.environ, **doubles.environment(doubles.build()), "WEFT_TEST_FEWER": "3"}


def passes(environment, *arguments):
    command = [sys.executable, "-m", "pytest", "-q", "--import-mode=importlib", *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]


def test_its_host_side(environment):
    passes(environment, "-p", "no:cacheprovider", str(HERE / "doubled"))


@pytest.mark.parametrize(
    "part",
    [
        "declaration",
        "memory",
        "copy",
        "views",
        "kernels",
        "limits",
        "compile",
        "tensor",
        "generated",
        "replay",
    ],
)
def test_the_conformance_kits(part, environment):
    import weft.testing.conformance

    kit = Path(weft.testing.conformance.__file__).parent
    passes(
        environment, "-p", "no:cacheprovider", str(kit / f"test_{part}.py"), "--weft-device", "CUDA"
    )
