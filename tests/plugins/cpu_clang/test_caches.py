"""The caches of the processor, and the model of the machine that they give."""

from __future__ import annotations

import pytest

from weft.device import registry
from weft.plugin import MachineModel
from weft_cpu_clang import caches as module
from weft_cpu_clang.caches import Cache, caches, last_cache, machine_model, this_machine


def folder_of(tmp_path, **indices):
    for name, files in indices.items():
        (tmp_path / name).mkdir()
        for file, text in files.items():
            (tmp_path / name / file).write_text(f"{text}\n")
    return tmp_path


def files(level, kind, size, line="64"):
    return {"level": level, "type": kind, "size": size, "coherency_line_size": line}


def test_data_caches_are_found_by_level(tmp_path):
    folder = folder_of(
        tmp_path, index0=files(1, "Data", "48K"), index1=files(1, "Instruction", "32K"),
        index2=files(2, "Unified", "2M"), index3=files(3, "Unified", "60M", "128"),
    )  # fmt: skip
    found = caches(folder)
    assert found == [Cache(1, 48 << 10, 64), Cache(2, 2 << 20, 64), Cache(3, 60 << 20, 128)]
    model = machine_model(found)
    assert (model.l1_bytes, model.l2_bytes, model.line_bytes) == (48 << 10, 2 << 20, 64)


@pytest.mark.parametrize(
    "broken",
    [
        {},
        {"type": "Data"},
        files(1, "Data", ""),
        files("one", "Data", "32K"),
        files(1, "Data", "0K"),
    ],
)
def test_unreported_cache_sizes_have_defaults(tmp_path, broken):
    assert caches(folder_of(tmp_path, index0=broken)) == []
    usual = MachineModel()
    found = machine_model([])
    assert (found.l1_bytes, found.l2_bytes) == (usual.l1_bytes, usual.l2_bytes)


def test_a_line_that_is_not_said_is_as_usual(tmp_path):
    given = files(1, "Data", "32K")
    del given["coherency_line_size"]
    assert machine_model(caches(folder_of(tmp_path, index0=given))).line_bytes == 64


def test_the_last_cache_is_the_largest(monkeypatch):
    monkeypatch.setattr(
        module, "caches", lambda: [Cache(1, 5, 64), Cache(3, 9, 64), Cache(2, 7, 64)]
    )
    assert last_cache.__wrapped__() == 9
    monkeypatch.setattr(module, "caches", list)
    assert last_cache.__wrapped__() == 0


def test_an_architecture_that_is_not_here_is_a_usual_machine():
    model = registry.offline("CPU", "x86-64-v4").compute.machine
    assert (model.l1_bytes, model.l2_bytes) == (1 << 15, 1 << 20)
    assert (model.register_bytes, model.registers, model.last_level_bytes) == (64, 32, 0)


def test_the_device_has_the_model_of_this_machine():
    model, here = registry.open("CPU").compute.machine, this_machine()
    assert (model.l1_bytes, model.l2_bytes) == (here.l1_bytes, here.l2_bytes)
    assert model.last_level_bytes == last_cache()
