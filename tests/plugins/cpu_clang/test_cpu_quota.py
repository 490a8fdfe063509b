"""How many threads a process can keep busy, by its affinity and by the groups it is in."""

from __future__ import annotations

import os

import pytest

from weft_cpu_clang import cpu_quota


@pytest.fixture
def groups(tmp_path, monkeypatch):
    """Files of control groups to write; 64 processors."""
    monkeypatch.setattr(cpu_quota, "GROUPS", tmp_path / "self")
    monkeypatch.setattr(cpu_quota, "MOUNT", tmp_path / "mount")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(64)), raising=False)

    def write(self, **files):
        (tmp_path / "self").write_text(self)
        for name, text in files.items():
            file = tmp_path / "mount" / name.replace("__", "/").replace("cpu_", "cpu.")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        return cpu_quota.available()

    return write


def test_without_limits_all_that_may_be_used(groups):
    assert groups("") == 64
    assert groups("0::/\n", cpu_max="max 100000\n") == 64
    assert groups("0::/\n", cpu_max="what is this\n") == 64


def test_a_share_is_rounded_up(groups):
    assert groups("0::/\n", cpu_max="250000 100000\n") == 3
    assert groups("0::/\n", cpu_max="1000 100000\n") == 1


def test_the_smallest_of_the_groups_around(groups):
    limits = {"a__b__cpu_max": "800000 100000", "a__cpu_max": "500000 100000"}
    assert groups("0::/a/b\n", **limits) == 5
    assert groups("0::/other\n", **limits) == 64


def test_groups_of_the_first_kind(groups):
    files = {
        "cpu,cpuacct__job__cpu_cfs_quota_us": "400000\n",
        "cpu,cpuacct__job__cpu_cfs_period_us": "100000\n",
        "cpu,cpuacct__cpu_cfs_quota_us": "-1\n",
        "cpu,cpuacct__cpu_cfs_period_us": "100000\n",
    }
    assert groups("4:memory:/job\n3:cpu,cpuacct:/job\n", **files) == 4


def test_affinity_counts(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3}, raising=False)
    assert cpu_quota.available() == 1
