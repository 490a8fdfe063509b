"""How much memory is left: what the system says, and what groups of both kinds allow."""

from __future__ import annotations

import pytest

from weft import Device, Tensor
from weft.plugin import BufferHints, OutOfMemory
from weft_cpu_clang import allocator as allocator_module
from weft_cpu_clang import memory_limit as limit_module
from weft_cpu_clang.allocator import CHECKED, ProcessAllocator
from weft_cpu_clang.memory_limit import available_memory


@pytest.fixture
def system(tmp_path, monkeypatch):
    """Files to be written in place of the kernel's; none is there yet."""
    for name in ("SYSTEM", "GROUPS", "MOUNT"):
        monkeypatch.setattr(limit_module, name, tmp_path / name)

    def write(path, text):
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    return write


def test_no_limit_is_reported(system):
    assert available_memory() is None


def test_the_system(system):
    system("SYSTEM", "MemTotal:  100 kB\nMemAvailable:   40 kB\nSwapFree:   2 kB\n")
    assert available_memory() == 42 * 1024


def test_groups_of_the_unified_kind(system):
    system("SYSTEM", "MemAvailable:   4000 kB\n")
    system("GROUPS", "0::/one/two\n")
    system("MOUNT/memory.max", "max\n")
    system("MOUNT/memory.current", "1\n")
    assert available_memory() == 4000 * 1024
    system("MOUNT/one/two/memory.max", "5000\n")
    system("MOUNT/one/two/memory.current", "3000\n")
    assert available_memory() == 2000
    system("MOUNT/one/two/memory.stat", "anon 7\ninactive_file 400\nactive_file 100\n")
    assert available_memory() == 2500, "what is only kept of files makes way"


def test_groups_of_the_older_kind(system):
    system("GROUPS", "9:name=systemd:/\n4:memory:/mine\n1:cpu:/\n")
    system("MOUNT/memory/mine/memory.limit_in_bytes", "9000\n")
    system("MOUNT/memory/mine/memory.usage_in_bytes", "9500\n")
    assert available_memory() == 0


def test_an_allocation_beyond_it_is_refused_and_kept_memory_makes_way(monkeypatch):
    with pytest.raises(OutOfMemory) as caught:
        monkeypatch.setattr(allocator_module, "available_memory", lambda: CHECKED)
        ProcessAllocator().allocate(CHECKED + 1, BufferHints())
    assert str(CHECKED) in str(caught.value)
    pool = Device["CPU"].pool
    monkeypatch.setattr(
        allocator_module, "available_memory", lambda: 0 if pool.kept_bytes else None
    )
    Tensor.zeros(1000, device="CPU").contiguous().realize()
    assert pool.kept_bytes, "there is something to be dropped"
    x = Tensor.zeros(CHECKED, device="CPU", dtype="uint8").contiguous().realize()
    assert x.shape == (CHECKED,)
    assert not pool.kept_bytes
