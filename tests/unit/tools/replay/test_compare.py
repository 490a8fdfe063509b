"""Captures are reproduced; differences, failures, damaged and unknown files are counted.

Captured here on the reference device, through the same events as in a user's process.
"""

import gc
from dataclasses import replace
from pathlib import Path

import pytest

from weft import Tensor, settings
from weft.base import trace
from weft.base.dtype import dtypes
from weft.base.errors import FileError
from weft.engine import forget_programs
from weft.tools.replay.capture import EVENTS, Capture
from weft.tools.replay.compare import compare
from weft.tools.replay.record import read, write
from weft.tools.replay.texts import devices_in, settings_that_matter
from weft.uop import UOp
from weft.uop.text import from_text


@pytest.fixture
def capture(tmp_path):
    """``capture(function)``: the folder of what was captured while it ran."""

    def during(function, folder=tmp_path / "kept"):
        gc.collect()
        forget_programs()
        stop = trace.subscribe(Capture(folder), only=EVENTS)
        try:
            function()
        finally:
            stop()
        return folder

    return during


@pytest.fixture
def again():
    """``again(folder)``: the report, and all that was said."""

    def run(folder, *args, **kwargs):
        said = []
        return compare(Path(folder), said.append, *args, **kwargs), "\n".join(said)

    return run


def numbers(*shape):
    return Tensor([float(n) for n in range(6)], device="REF").reshape(*shape)


def small():
    return ((numbers(2, 3) + 1) * 2).sum(1).tolist()


def many():
    a, b = numbers(2, 3), numbers(3, 2)
    (a @ b).softmax(-1).tolist()
    c = numbers(6).contiguous().realize()
    view = c[2:4]
    c[1:3] = 7.0
    (view + c.sum()).tolist()
    d = numbers(2, 3).to("HOST").to("REF") * 2
    d.tolist()


def only(folder, kind):
    (path,) = (folder / kind).glob("*.txt")
    return path


def rewrite(path, **changes):
    """Another record in the place of one: facts by name, sections with `section_` before it."""
    record = read(path)
    path.unlink()
    facts, sections = dict(record.facts), dict(record.sections)
    for name, value in changes.items():
        if name.startswith("section_"):
            sections[name.removeprefix("section_")] = value
        else:
            facts[name] = value
    return write(replace(record, facts=facts, sections=sections), path.parents[1])


@pytest.mark.parametrize("program", [small, many])
@pytest.mark.parametrize("noopt", [0, 1])
def test_the_same_checkout_makes_the_same(capture, again, program, noopt):
    with settings.override(NOOPT=noopt):
        folder = capture(program)
    report, said = again(folder)
    assert said == "" and report.same, said
    assert report.counts["kernel"] >= 1 and report.counts["schedule"] >= 1
    assert ", 0 changed; " in report.summary()


def test_capturing_twice_adds_nothing(capture):
    folder = capture(small)
    before = sorted(path.name for path in folder.rglob("*.txt"))
    capture(small)
    assert sorted(path.name for path in folder.rglob("*.txt")) == before != []


def test_texts_are_for_people_too(capture):
    folder = capture(small)
    kernel, schedule = read(only(folder, "kernel")), read(only(folder, "schedule"))
    assert kernel.fact("device") == "REF" and kernel.fact("name").startswith("r_")
    assert from_text(kernel.section("ast")).op.name == "SINK"
    lines = schedule.section("kernels").split("\n")
    heads = [line for line in lines if not line.startswith(" ")]
    assert heads == [
        "kernel 0: b0 (6 float on REF) <- b1 (6 float on HOST)",
        "kernel 1: b2 (2 float on REF) <- b0",
    ]
    ast = [f"  {line}" for line in kernel.section("ast").rstrip().split("\n")]
    assert lines[-len(ast) :] == ast


def test_a_kernel_that_changed_is_shown(capture, again):
    folder = capture(small)
    path = only(folder, "kernel")
    source = read(path).section("source")
    changed = rewrite(path, section_source=source + "\n// and more")
    report, said = again(folder)
    assert report.changed == [changed] and not report.same
    assert "-// and more" in said and "as captured" in said
    assert report.summary() == "1 schedule, 0 changed; 1 kernel, 1 changed"
    assert again(folder, ("schedule",))[0].same


def test_a_schedule_that_changed_is_shown(capture, again):
    folder = capture(small)
    path = only(folder, "schedule")
    rewrite(path, section_kernels=read(path).section("kernels").replace("2 float", "3 float"))
    report, said = again(folder)
    assert "-kernel 1: b2 (3 float on REF)" in said and "+kernel 1: b2 (2 float on REF)" in said
    assert report.summary() == "1 schedule, 1 changed; 1 kernel, 0 changed"


def test_settings_and_capabilities_are_those_of_the_capture(capture, again):
    with settings.override(MAX_KERNEL_BUFFERS=2, DEBUG=0):
        folder = capture(lambda: (numbers(6) + numbers(6) * numbers(6).flip(0)).tolist())
    assert again(folder)[0].same
    path = next((folder / "schedule").glob("*.txt"))
    record = read(path)
    assert record.fact("settings")["MAX_KERNEL_BUFFERS"] == 2
    assert "DEBUG" not in record.fact("settings")
    rewrite(path, settings={**record.fact("settings"), "MAX_KERNEL_BUFFERS": 0, "GONE": 1})
    report, said = again(folder)
    assert len(report.changed) == 1, said


def test_kernels_that_cannot_be_reproduced(capture, again):
    folder = capture(small)
    path = only(folder, "kernel")
    ast = read(path).section("ast")
    rewrite(path, section_ast=ast.replace("REDUCE_AXIS float", "BARRIER float"))
    report, said = again(folder)
    assert len(report.failed) == 1 and "cannot be made any more" in said
    assert "1 cannot be made any more" in report.summary()


@pytest.mark.parametrize(
    "damage",
    [lambda t: t[: len(t) // 2], lambda t: "", lambda t: t.replace("replay 1", "replay 0"),
     lambda t: t.replace("ADD float", "ADDED float"), lambda t: t.replace("DEFINE_GLOBAL", "%"),
     lambda t: t.replace('"vector_bytes": ', '"vector_bytes": "x'),
     lambda t: t.replace('"NOOPT": 0', '"NOOPT": "yes"')],
)  # fmt: skip
def test_damaged_files_are_reported_and_counted(capture, again, damage):
    folder = capture(small)
    path = only(folder, "kernel")
    text = path.read_text(encoding="utf-8")
    path.write_text(damage(text), encoding="utf-8")
    assert path.read_text(encoding="utf-8") != text
    report, said = again(folder)
    assert report.damaged == [path] and str(path) in said and not report.same
    assert report.summary().endswith("; 1 damaged file")
    assert len(report.changed) == 0


def test_devices_that_are_not_here(capture, again):
    folder = capture(small)
    rewrite(only(folder, "kernel"), device="ELSEWHERE:3")
    report, said = again(folder)
    assert len(report.unknown) == 1 and "ELSEWHERE" in said
    assert report.summary().endswith("; 1 kernel of devices that are not here")


def test_kernels_that_were_searched_for_are_left_out(tmp_path):
    keep = Capture(tmp_path)
    with settings.override(BEAM=1):
        keep(trace.Event("point", "source", {}, 0, 0, 1))  # without its facts it could not be kept
    assert list(tmp_path.rglob("*.txt")) == []


def test_nothing_captured(again, tmp_path):
    with pytest.raises(FileError, match="nothing was captured"):
        again(tmp_path)


def test_a_failing_capture_does_not_lose_the_result(tmp_path, capsys):
    (tmp_path / "file").write_text("in the way")
    gc.collect()
    forget_programs()
    stop = trace.subscribe(Capture(tmp_path / "file"), only=EVENTS)
    try:
        assert small() == [12.0, 30.0]
        assert numbers(6).sum().item() == 15.0
    finally:
        stop()
    told = capsys.readouterr().err
    assert told.count("could not be kept for replay") == 1 and "WEFT_PROCESS_REPLAY" in told


def test_settings_that_cannot_matter_are_left_out():
    names = set(settings_that_matter())
    assert {"NOOPT", "MAX_KERNEL_BUFFERS"} <= names
    assert not {"DEBUG", "VIZ", "PROCESS_REPLAY", "CACHE_DIR", "SEED"} & names


def test_devices_of_a_graph():
    one = UOp.new_buffer("X", 3, dtypes.int)
    two = UOp.new_buffer(("X", "Y"), 3, one.dtype)
    assert devices_in(UOp.sink(one, two).toposort()) == ["X", "Y"]
