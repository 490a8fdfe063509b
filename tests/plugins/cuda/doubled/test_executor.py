"""What the double of the driver says of kernels that are wrong. A GPU may say nothing of these."""

import subprocess
import sys

import pytest

RUN = """
import sys
from weft.plugin import DeviceError
from weft.device import registry
from weft_cuda import weft_compiler
from weft_cuda.driver import Parameters
gpu = registry.open("CUDA").device
kernel = 'extern "C" __global__ void k(int* a) { ' + sys.argv[1] + ' }'
function = gpu.context.load(weft_compiler(gpu).compile(kernel, "k"), "k")
parameters = Parameters(1)
parameters.fill([gpu.context.allocate(64)], [])
gpu.context.launch(function, (1, 1, 1), (8, 1, 1), parameters)
try:
    gpu.synchronize()
    print("done")
except DeviceError as error:
    print(error)
"""


def run(body):
    """What a kernel of 8 threads with 16 integers leads to; alone, as a GPU is lost afterwards."""
    done = subprocess.run([sys.executable, "-c", RUN, body], capture_output=True, text=True)
    return done.stdout.strip(), done.stderr


@pytest.mark.parametrize(
    "body",
    [
        "if (threadIdx.x < 3) __syncthreads(); a[0] = 1;",
        "if (threadIdx.x < 3) return; __syncthreads(); a[0] = 1;",
    ],
)
def test_a_divergent_barrier_is_an_error_with_advice(body):
    told, said = run(body)
    assert "CUDA_ERROR_LAUNCH_FAILED" in told, said
    assert "started anew" in told
    assert "some threads end while others wait" in said


def test_different_barriers():
    told, said = run("if (threadIdx.x < 3) { __syncthreads(); }\n else { __syncthreads(); }")
    assert "CUDA_ERROR_LAUNCH_FAILED" in told, said
    assert "different barriers" in said


@pytest.mark.parametrize(
    "body, place",
    [
        ("__shared__ int t[8]; t[threadIdx.x + 1] = 1; a[0] = t[0];", "shared array k::t"),
        ("__shared__ int t[8]; t[threadIdx.x] = 1; a[0] = t[a[0] ? 8 : 9];", "shared array k::t"),
        ("a[threadIdx.x * 3] = 1;", "nobody gave it"),
        ("a[0] = a[-1 - (int)threadIdx.x];", "nobody gave it"),
    ],
)
def test_out_of_bounds_accesses_are_errors(body, place):
    told, said = run(body)
    assert "CUDA_ERROR_ILLEGAL_ADDRESS" in told, said
    assert place in said and "block (0, 0, 0) touches 4 bytes" in said


def test_accesses_in_bounds_are_allowed():
    body = (
        "__shared__ int t[8]; int mine[4]; for (int i = 0; i < 4; i++) mine[i] = a[i + 12];"
        "t[7 - threadIdx.x] = mine[a[0] & 3]; __syncthreads(); a[threadIdx.x + 8] = t[threadIdx.x];"
    )
    told, said = run(body)
    assert told == "done", said
