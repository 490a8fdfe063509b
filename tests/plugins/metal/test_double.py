"""The executor behind the framework's double: what it sees that hardware would do silently."""

from __future__ import annotations

import ctypes
import gc

import pytest

HEAD = """\
#include <metal_stdlib>
using namespace metal;
kernel void k(device int* data0 [[buffer(0)]], uint3 item [[thread_position_in_threadgroup]]) {
  int lane = int(item.x);
"""


@pytest.fixture
def ran(framework):
    """What a kernel of one group leaves in a buffer of 64 numbers, and what went wrong."""
    import objc

    device = framework.MTLCreateSystemDefaultDevice()

    def run(body, threads=32, head=HEAD):
        options = framework.MTLCompileOptions.alloc().init()
        options.setMathMode_(framework.MTLMathModeSafe)
        library, error = device.newLibraryWithSource_options_error_(
            f"{head}{body}\n}}\n", options, None
        )
        assert library is not None, error.localizedDescription()
        descriptor = framework.MTLComputePipelineDescriptor.alloc().init()
        descriptor.setComputeFunction_(library.newFunctionWithName_("k"))
        pipeline = device.newComputePipelineStateWithDescriptor_options_reflection_error_(
            descriptor, 0, None, None
        )[0]
        buffer = device.newBufferWithLength_options_(256, framework.MTLResourceStorageModeShared)
        with objc.autorelease_pool():
            commands = device.newCommandQueue().commandBuffer()
        encoder = commands.computeCommandEncoder()
        encoder.setComputePipelineState_(pipeline)
        encoder.setBuffer_offset_atIndex_(buffer, 0, 0)
        size = framework.MTLSizeMake
        encoder.dispatchThreadgroups_threadsPerThreadgroup_(size(1, 1, 1), size(threads, 1, 1))
        encoder.endEncoding()
        commands.commit()
        commands.waitUntilCompleted()
        error = commands.error()
        numbers = (ctypes.c_int * 64).from_buffer(buffer.contents().as_buffer(256))
        return list(numbers[:threads]), error.localizedDescription() if error else ""

    return run


BARRIER = "threadgroup_barrier(mem_flags::mem_threadgroup);"


def test_shared_memory_and_a_barrier(ran):
    found, wrong = ran(
        f"threadgroup int all[64];\nall[lane] = lane * lane;\n{BARRIER}\n"
        "data0[lane] = all[63 - lane];",
        threads=64,
    )
    assert wrong == "" and found == [(63 - n) ** 2 for n in range(64)]


def test_a_missing_barrier_shows(ran):
    text = f"threadgroup int all[32];\nall[lane] = lane; {BARRIER} all[lane] += all[31 - lane];"
    found, wrong = ran(f"{text}\ndata0[lane] = all[lane];")
    assert wrong == "" and found != [31] * 32
    found, _ = ran("threadgroup int all[32];\nall[lane] = lane;\ndata0[lane] = all[31 - lane];")
    assert found != [31 - n for n in range(32)]


def test_shared_memory_starts_with_nothing_of_use(ran):
    found, _ = ran("threadgroup int all[32];\ndata0[lane] = all[lane];")
    assert 0 not in found


@pytest.mark.parametrize(
    "body, words",
    [
        ("if (lane == 3) return;\n" + BARRIER, "end while others wait"),
        (f"if (lane < 3) {{\n{BARRIER}\n}} else {{\n{BARRIER}\n}}", "different places"),
        (f"if (lane < 32) {{\n{BARRIER}\n}} else {{\n{BARRIER}\n}}", "different barriers"),
        (f"if (lane < 32) {{\n{BARRIER}\n}}", "end while others wait"),
        ("data0[lane] = simd_shuffle(lane, ushort(32));", "lane 32 of a simdgroup of 32"),
        ("if (lane == 40) return;\ndata0[lane] = simd_shuffle_xor(lane, ushort(1));", "end while"),
        ("threadgroup int all[32];\nall[lane] = 1;", "element 32 of 32"),
        ("threadgroup int all[64];\nall[lane - 1] = 1;", "element -1 of 64"),
        ("data0[lane + 1] = 1;", "element 64 of 64"),
        ("*(device packed_int4*)(data0 + lane) = int4(1);", "a vector at element 61 of 64"),
    ],
)
def test_errors_are_reported(ran, body, words):
    assert words in ran(body, threads=64)[1]


def test_simdgroups_may_diverge_from_each_other(ran):
    found, wrong = ran(
        f"int x = lane;\nif (lane < 32) x = simd_shuffle_xor(lane, ushort(5));\n{BARRIER}\n"
        "data0[lane] = x;",
        threads=64,
    )
    assert wrong == "" and found == [n ^ 5 if n < 32 else n for n in range(64)]


def test_matrices_take_a_whole_simdgroup(ran):
    body = "simdgroup_float8x8 a, b, c;\nsimdgroup_multiply_accumulate(c, a, b, c);"
    assert ran(body)[1] == ""
    assert "16 lanes multiply" in ran(body, threads=16)[1]


def test_an_argument_that_is_not_set(ran):
    head = HEAD.replace("uint3 item", "device int* data1 [[buffer(1)]], uint3 item")
    with pytest.raises(AssertionError, match=r"not set: \[1\]"):
        ran("data0[lane] = data1[lane];", head=head)
    _forget_crashes()  # the encoder of this test did not end


def test_a_group_larger_than_the_kernel_says(ran):
    head = HEAD.replace("kernel void", "[[kernel, max_total_threads_per_threadgroup(16)]]\nvoid")
    with pytest.raises(AssertionError, match="groups of"):
        ran("data0[lane] = 1;", head=head)
    _forget_crashes()  # the encoder of this test did not end


def test_an_encoder_that_is_let_go_of_and_a_command_buffer_without_a_pool(framework):
    queue = framework.MTLCreateSystemDefaultDevice().newCommandQueue()
    with pytest.raises(AssertionError, match="outside of a pool"):
        queue.commandBuffer()
    import objc

    with objc.autorelease_pool():
        queue.commandBuffer().computeCommandEncoder()
    gc.collect()
    assert objc.crashes
    _forget_crashes()


def _forget_crashes():
    import objc

    gc.collect()
    objc.crashes.clear()
