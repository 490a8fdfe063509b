"""What ``weft compile --target METAL:arch`` writes, run through the framework's words alone."""

from __future__ import annotations

import json
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from weft.device import registry
from weft.tools import cli

PROGRAM = """
from weft import Tensor, Variable, jit

weights = Tensor([[n * 0.25 - m for n in range(16)] for m in range(8)])

@jit
def step(x):
    return ((x @ weights).relu().sum(1) * 2).realize()

for i in range(3):
    print(step(Tensor([[float(n % 5 + i + m) for n in range(8)] for m in range(8)])).tolist())
n = Variable("n", 1, 8)
rows = Tensor([[float(i), 1.0] for i in range(8)]).realize()
for i in (3, 5):
    print(rows[: n.bind(i)].sum(0).tolist())
print(Tensor([1.0, 4.0, 9.0]).sqrt().tolist())
"""


def run_plan(folder: Path, metal) -> list[bytes]:
    """What the steps of a plan read, by the framework's words and nothing of weft."""
    import objc

    plan = json.loads((folder / "plan.json").read_text())
    device = metal.MTLCreateSystemDefaultDevice()
    queue, shared = device.newCommandQueue(), metal.MTLResourceStorageModeShared
    pipelines = []
    for kernel in plan["kernels"]:
        options = metal.MTLCompileOptions.alloc().init()
        options.setMathMode_(metal.MTLMathModeSafe)
        source = (folder / kernel["source"]).read_text()
        library, _ = device.newLibraryWithSource_options_error_(source, options, None)
        descriptor = metal.MTLComputePipelineDescriptor.alloc().init()
        descriptor.setComputeFunction_(library.newFunctionWithName_(kernel["name"]))
        make = device.newComputePipelineStateWithDescriptor_options_reflection_error_
        pipelines.append(make(descriptor, 0, None, None)[0])
    memory = [device.newBufferWithLength_options_(m["nbytes"], shared) for m in plan["memory"]]

    def region(given):
        whole = memory[given["memory"]]
        window = whole.contents().as_buffer(whole.length())
        return window[given["offset"] : given["offset"] + given["nbytes"]]

    read = []
    for step in plan["steps"]:
        if step["do"] == "write":
            region(step["to"])[:] = (folder / step["data"]).read_bytes()
        elif step["do"] == "copy":
            region(step["to"])[:] = bytes(region(step["from"]))
        elif step["do"] == "read":
            read.append(bytes(region(step["from"])))
        else:
            with objc.autorelease_pool():
                commands = queue.commandBuffer()
            encoder = commands.computeCommandEncoder()
            encoder.setComputePipelineState_(pipelines[step["kernel"]])
            for index, one in enumerate(step["buffers"]):
                encoder.setBuffer_offset_atIndex_(memory[one["memory"]], one["offset"], index)
            if step["values"]:
                kinds = [one["dtype"] for one in plan["kernels"][step["kernel"]]["variables"]]
                packed = struct.pack("".join("iq"[k == "long"] for k in kinds), *step["values"])
                encoder.setBytes_length_atIndex_(packed, len(packed), len(step["buffers"]))
            encoder.dispatchThreadgroups_threadsPerThreadgroup_(
                metal.MTLSizeMake(*step["global_size"]), metal.MTLSizeMake(*step["local_size"])
            )
            encoder.endEncoding()
            commands.commit()
            commands.waitUntilCompleted()
            assert commands.error() is None, commands.error().localizedDescription()
    return read


@pytest.mark.parametrize("arch", ["apple7", "apple9"])
def test_a_plan_is_all_that_it_takes(arch, framework, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    if not any(plugin.family == "METAL" for plugin in registry.current().plugins):
        pytest.skip("weft-metal is not installed, so the command does not find it")
    line = ["compile", "--target", f"METAL:{arch}", str(program), "--out", str(tmp_path / "out")]
    assert cli.main(line) == 0
    real = subprocess.run([sys.executable, str(program)], capture_output=True, text=True)
    wanted = [json.loads(text) for text in real.stdout.splitlines()]
    read = run_plan(tmp_path / "out", framework)
    assert len(read) == len(wanted) == 6
    for data, numbers in zip(read, wanted):
        assert struct.unpack(f"{len(numbers)}f", data) == pytest.approx(tuple(numbers))
