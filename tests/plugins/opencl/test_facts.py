"""What a device says, as capabilities."""

from __future__ import annotations

from dataclasses import replace

import pytest

from weft.plugin import Feature, dtypes
from weft_opencl.facts import OFFLINE, _version, describe

POCL = OFFLINE["pocl"]


def test_dtypes_follow_the_extensions():
    assert dtypes.float64 in describe(POCL).compute.dtypes
    assert dtypes.float16 not in describe(POCL).compute.dtypes
    other = describe(replace(POCL, double=False, half=True)).compute.dtypes
    assert dtypes.float64 not in other and dtypes.float16 in other


def test_limits():
    limits = describe(POCL).compute.limits
    assert limits.max_buffers == (1024 - 128) // 8
    assert limits.local_size == (4096, 4096, 4096) and limits.local_threads == 4096
    assert limits.row_bytes > 0
    gpu = OFFLINE["gpu"]
    assert describe(gpu).compute.limits.row_bytes > 0
    assert describe(replace(gpu, shared_bytes=1024)).compute.limits.row_bytes == 0


def test_images_are_declared_by_their_size():
    assert describe(POCL).compute.limits.image_size == (16384, 16384)
    assert describe(replace(POCL, image_size=None)).compute.limits.image_size is None


def test_without_local_memory_nothing_is_shared():
    assert Feature.SHARED in describe(POCL).compute.features
    assert Feature.SHARED not in describe(replace(POCL, shared_bytes=0)).compute.features


@pytest.mark.parametrize(
    ("text", "wanted"), [("OpenCL C 1.2 PoCL", (1, 2)), ("OpenCL C 3.0", (3, 0)), ("odd", (1, 1))]
)
def test_versions(text, wanted):
    assert _version(text) == wanted


def test_vectors_are_no_wider_than_one_transaction():
    for dtype, widths in describe(POCL).compute.vector_widths.items():
        assert all(width * dtype.itemsize <= 16 for width in widths)


def test_the_fingerprint_has_all_versions(device):
    for part in (device.handle.driver_version, device.handle.platform.version):
        assert part.strip() in device.capabilities.fingerprint


def test_the_machine_model_comes_from_the_driver():
    gpu = replace(OFFLINE["gpu"], compute_units=60, line_bytes=128)
    machine = describe(gpu).compute.machine
    assert (machine.cores, machine.line_bytes) == (60, 128)
    assert machine.throughputs == (), "no driver says them"
    assert describe(replace(POCL, compute_units=16)).compute.machine.cores == 0
