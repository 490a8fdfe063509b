"""Programs and their two caches."""

import sqlite3
from types import SimpleNamespace

import pytest

from helpers.schedules import DEVICE, floats, scheduled
from weft import Tensor
from weft.base.disk_cache import DiskCache
from weft.base.errors import PluginError
from weft.base.settings import settings
from weft.device import registry
from weft.device.hookspecs import hookimpl
from weft.engine import forget_programs, lower_schedule_item, program_for, programs
from weft.render import CStyleRenderer
from weft.testing.fakes import fake_computer
from weft.uop import Ops


def test_equal_kernels_are_one_program():
    (first,), _ = scheduled(floats(1, 2) * 7.0)
    (second,), _ = scheduled(floats(3, 4) * 7.0)
    assert first.ast is second.ast
    assert program_for(first.ast, DEVICE) is program_for(second.ast, DEVICE)
    kept = program_for(first.ast, DEVICE)
    forget_programs()
    assert program_for(first.ast, DEVICE) is not kept


def test_a_damaged_cache_entry_is_compiled_again(tmp_path):
    """Every changed byte makes the entry a miss, never a binary that runs."""
    with settings.override(CACHE_DIR=str(tmp_path)):
        cache = DiskCache("binaries_test", 1)
        cache.put("kernel", b"machine code")
        assert cache.get("kernel") == b"machine code"
        (file,) = tmp_path.glob("*.sqlite3")
        with sqlite3.connect(file) as connection:
            ((table,),) = connection.execute(
                "select name from sqlite_master where type = 'table' and name like 'binaries_test%'"
            ).fetchall()
            columns = [row[1] for row in connection.execute(f"pragma table_info('{table}')")]
            connection.execute(f"update '{table}' set {columns[1]} = ?", (b"evil code",))
        assert cache.get("kernel") is None


@pytest.mark.parametrize("ahead", [False, True])
def test_a_stored_binary_that_does_not_load_is_compiled_again(tmp_path, monkeypatch, ahead):
    """Such as what a compiler left that was ended early, and was stored as it is."""
    if ahead:
        monkeypatch.setattr(programs, "_compiles_in_parallel", lambda device: True)
    x = floats(1, 2, 3)
    items = [scheduled(node)[0][0] for node in (x * 7.0, x * 8.0)]
    asts = [item.ast for item in items]
    with settings.override(CACHE_DIR=str(tmp_path)):
        forget_programs()
        first = program_for(asts[0], DEVICE)
        key = programs._binary_key(first.p.src, first.name, first.device)
        right = programs._binaries.get(key)
        for junk in (b"", b"not ( python", b"\xff\xfe", right[:-20]):
            programs._binaries.put(key, junk)
            forget_programs()
            programs.prepare([(ast, DEVICE) for ast in asts])
            assert program_for(asts[0], DEVICE).p.binary == right == programs._binaries.get(key)
    forget_programs()


def test_devices_of_one_kind_share_generated_programs():
    forget_programs()
    first, second = Tensor([1.0, 2.0], device="REF"), Tensor([1.0, 2.0], device="REF:1")
    programs = [lower_schedule_item((x * 3).schedule()[-1]).prg for x in (first, second)]
    assert programs[0] is not programs[1]
    assert programs[0].p.program is programs[1].p.program
    other = (Tensor([1.0, 2.0], device="REF:vector") * 3).schedule()[-1]
    assert lower_schedule_item(other).prg.p.program is not programs[0].p.program


def test_the_kernels_of_a_schedule_are_compiled_side_by_side(monkeypatch, tmp_path):
    """All are started before the first is awaited; a failure is raised with its result."""
    x = Tensor([1.0, 2.0, 3.0], device=DEVICE).realize()
    outs = [x.sum(), x.reshape(3, 1).expand(3, 4).contiguous(), x.cumsum(0)]
    items = Tensor.schedule(*outs)
    begun, wanted = [], [(item.ast, DEVICE) for item in items if item.ast.op is Ops.SINK]
    monkeypatch.setattr(programs, "_compiles_in_parallel", lambda device: True)
    start = programs._Prefetched.start
    monkeypatch.setattr(
        programs._Prefetched, "start", lambda self, *rest: (begun.append(rest), start(self, *rest))
    )
    with settings.override(CACHE_DIR=str(tmp_path), BEAM=0):
        forget_programs()
        programs.prepare(wanted)
        assert len(begun) == len(dict.fromkeys(wanted)) > 1
        first = program_for(*wanted[0])
        programs.prepare(wanted)
        assert program_for(*wanted[0]) is first  # nothing is left to do


def register_with(part, does):
    """A device FAKE, one part of which does this."""
    module = fake_computer("FAKE")
    parts = {"renderer": CStyleRenderer(), "compiler": SimpleNamespace(fingerprint="")}
    parts["compiler"].compile = lambda source, name: b""
    setattr(parts[part], {"renderer": "render", "compiler": "compile"}[part], does)
    for name, made in parts.items():
        hook = hookimpl(lambda made=made: made, specname=f"weft_{name}")
        setattr(module, f"weft_{name}", hook)
    registry.register(module, "FAKE")


@pytest.mark.parametrize("part", ["renderer", "compiler"])
def test_a_part_that_crashes_is_the_plugins_fault(part, fresh_registry, tmp_path):
    def crash(*_):
        raise KeyError("x")

    register_with(part, crash)
    with settings.override(CACHE_DIR=str(tmp_path)), pytest.raises(PluginError) as caught:
        (Tensor.empty(4, device="FAKE") + 1).realize()
    doing = {"renderer": "rendering", "compiler": "compiling"}[part]
    assert caught.value.summary == f"{doing} a kernel failed inside the plugin of FAKE"
    assert caught.value.because.endswith(" raised KeyError: 'x'")
    assert isinstance(caught.value.__cause__, KeyError)


@pytest.mark.parametrize(
    "part,gives,words",
    [
        ("renderer", None, "gave a NoneType instead of str"),
        ("compiler", "text", "gave a str instead of bytes"),
    ],
)
def test_a_part_that_gives_something_else_is_the_plugins_fault(
    part, gives, words, fresh_registry, tmp_path
):
    register_with(part, lambda *_: gives)
    # with a cache of its own: results of a correct part with this fingerprint are not reused
    with settings.override(CACHE_DIR=str(tmp_path)), pytest.raises(PluginError) as caught:
        (Tensor.empty(4, device="FAKE") + 1).realize()
    assert caught.value.because.endswith(words)
