"""A process without memory: every error is an OutOfMemory, nothing is lost, and it goes on."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from weft import Tensor, dtypes
from weft.base.errors import DeviceUnavailable, OutOfMemory
from weft.device import buffer, registry

PROGRAM = """
import random, resource, sys
import numpy
from weft import Tensor
from weft.base.errors import OutOfMemory

source = numpy.arange(1 << 25, dtype="float32")
small = Tensor([1.0, 2.0, 3.0], device="CPU").realize()
large = Tensor(numpy.ones(1 << 20, "float32"), device="CPU").realize()

def work(count):
    x = Tensor(source[:count], device="CPU")
    y = (x * 2).realize()
    z = (y * 2).realize()
    assert z.numpy()[-1] == source[count - 1] * 4
    return x, y, z

work(64)
assert (small * 2).tolist() == [2, 4, 6] and large.sum().item() == 1 << 20
with open("/proc/self/statm") as statm:
    used = int(statm.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (200 << 20),) * 2)
rng, kept, refused = random.Random(1), [], 0
for step in range(40):
    try:
        kept.append(work(1 << rng.randrange(16, 26)))
    except OutOfMemory as error:
        assert error.asked and error.because and error.try_
        refused += 1
        if rng.random() < 0.5:
            kept.clear()
    assert (small * 2).tolist() == [2, 4, 6]
kept.clear()
assert refused and work(1 << 16) and large.sum().item() == 1 << 20
print("done")
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="limits are Linux's here")
def test_a_process_at_its_limit_goes_on():
    try:
        registry.open("CPU")
    except DeviceUnavailable as error:
        pytest.skip(str(error))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0 and done.stdout == "done\n", done.stderr[-3000:]


def test_an_out_of_memory_is_a_memory_error():
    with pytest.raises(MemoryError) as caught:
        buffer.Buffer("REF", 1 << 55, dtypes.uint8).allocate()
    assert isinstance(caught.value, OutOfMemory)


def test_a_copy_to_python_frees_pooled_device_memory(monkeypatch):
    """Pooled memory is freed before Python gets a MemoryError."""
    pool = registry.open("REF").pool
    x = Tensor([1.0, 2.0], device="REF").realize()
    Tensor.ones(1000, device="REF").contiguous().realize()
    assert pool.kept_bytes
    monkeypatch.setattr(buffer, "bytearray", lambda n: full(pool, n), raising=False)
    assert x.numpy().tolist() == [1.0, 2.0] and not pool.kept_bytes


def full(pool, nbytes):
    """Python's memory, as long as a pool keeps some."""
    if pool.kept_bytes:
        raise MemoryError
    return bytearray(nbytes)


@pytest.mark.parametrize("read", [Tensor.numpy, lambda x: x.data()])
def test_a_constant_too_large_for_python_is_refused(read):
    with pytest.raises(OutOfMemory) as caught:
        read(Tensor.full((1 << 50,), 1.0))
    assert caught.value.asked and caught.value.because and caught.value.try_


def test_a_copy_of_an_array_that_finds_no_memory_is_refused(monkeypatch):
    numpy = pytest.importorskip("numpy")

    def refuse(*arguments, **named):
        raise MemoryError("no room")

    array = numpy.arange(6.0)[::2]
    monkeypatch.setattr(numpy, "array", refuse)
    with pytest.raises(OutOfMemory) as caught:
        Tensor(array)
    assert "no room" in caught.value.because and caught.value.asked and caught.value.try_
