"""Kernels under oclgrind, which executes them and watches every access of memory.

Races between work items, accesses beyond a buffer, barriers that not all work items reach and
values that were never written are findings. The kernels of the conformance kit may have none. It
calls itself a graphics processor, and they are what such a device gets: tiles that groups share.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec

import pytest

pytestmark = pytest.mark.skipif(
    shutil.which("oclgrind") is None or find_spec("pyopencl") is None,
    reason="needs oclgrind and pyopencl",
)

KIT = "weft.testing.conformance.test_"
# Optimised code holds instructions that its search for unwritten values does not know.
EVERYTHING = ("--data-races", "--uninitialized", "--build-options", "-cl-opt-disable")

# What is copied into windows of a buffer counts as never written.
SETTINGS = {"WEFT_CACHE": "0", "PYOPENCL_NO_CACHE": "1", "WEFT_MEMORY_PLANNER": "0"}

RACE = """
import numpy, pyopencl as cl
context = cl.create_some_context(interactive=False)
queue = cl.CommandQueue(context)
source = '''__kernel void race(__global int* out) {
  __local int seen[4];
  int i = get_local_id(0);
  seen[i] = i;
  %s
  out[i] = seen[3 - i];
}'''
kernel = cl.Program(context, source).build().race
kernel(queue, (4,), (4,), cl.Buffer(context, cl.mem_flags.READ_WRITE, 16))
queue.finish()
"""


def watched(tmp_path, options, *command):
    """What oclgrind found, and the output of the command, which has to succeed."""
    log = tmp_path / "findings"
    words = ["oclgrind", *options, "--log", str(log), "--max-errors", "20", sys.executable]
    done = subprocess.run(
        [*words, *command], capture_output=True, text=True, timeout=500,
        env=os.environ | SETTINGS,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return log.read_text(), done.stdout


def kit(*parts):
    return ("-m", "pytest", "-q", "--pyargs", *(KIT + part for part in parts), "--weft-device",
            "OPENCL")  # fmt: skip


@pytest.mark.parametrize(
    "meeting,found", [("", True), ("barrier(CLK_LOCAL_MEM_FENCE);", False)], ids=["race", "none"]
)
def test_a_race_would_be_found(tmp_path, meeting, found):
    findings, _ = watched(tmp_path, EVERYTHING, "-c", RACE % meeting)
    assert ("race" in findings) is found


def test_kernels_of_the_kit(tmp_path):
    parts = ("kernels", "generated", "reduces", "limits", "tensor")
    findings, output = watched(tmp_path, EVERYTHING, *kit(*parts))
    assert findings == "" and " passed" in output


def test_images(tmp_path):
    """Whether what they hold was written is not followed."""
    parts = (*kit("images"), "-k", "not largest")
    findings, output = watched(tmp_path, ("--data-races",), *parts)
    assert findings == "" and " passed" in output
