"""Plugins that fail at every hook and method, with errors of every kind, or give nonsense.

The error is ours and short, says what was asked, why not and what to try; other devices go on.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from weft import Tensor, jit
from weft.base.errors import DeviceError, OutOfMemory, PluginError, WeftError
from weft.base.settings import settings
from weft.device import Registry, registry
from weft.engine.programs import forget_programs
from weft.plugin import Device, hookimpl

_spec = importlib.util.spec_from_file_location("liars", Path(__file__).with_name("liars.py"))
liars = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(liars)


class Mute(Exception):
    def __str__(self):
        raise RuntimeError("there are no words")

    __repr__ = __str__


ERRORS = {
    "crash": lambda: KeyError("x"),
    "huge text": lambda: ValueError("x" * 3_000_000),
    "many lines": lambda: ValueError("line\n" * 100_000),
    "no text": Mute,
    "no memory": MemoryError,
    "recursion": lambda: RecursionError("too deep"),
    "a group": lambda: ExceptionGroup("several", [ValueError(1)]),
    "lost": lambda: DeviceError("lost", asked="it", because="unplugged", try_="plug it in"),
}
HOOKS = {
    "weft_open": ("id",),
    "weft_allocator": ("device",),
    "weft_renderer": (),
    "weft_compiler": (),
    "weft_runner": ("program",),
    "weft_graph": ("launches",),
}
METHODS = {
    "allocate": ("allocator", liars.Memory),
    "copy_out": ("allocator", liars.Memory),
    "compile": ("compiler", liars.PythonCompiler),
    "launch": ("runner", liars.PythonRunner),
    "replay": ("graph", liars.Graph),
    "synchronize": ("device", Device),
}
NAMES = {"launch": "__call__", "replay": "__call__"}


def broken(place, does):
    """An honest plugin of which one hook or method does this instead."""
    plugin = type("Broken", (liars.Honest,), {})
    if place in HOOKS:
        names = ", ".join(("self", *HOOKS[place]))
        scope = {"does": does}
        exec(f"def hook({names}):\n    return does()", scope)
        setattr(plugin, place, hookimpl(scope["hook"], specname=place))
    else:
        part, base = METHODS[place]
        method = {NAMES.get(place, place): lambda *_, **__: does()}
        setattr(plugin, part, type("Part", (base,), method))
    return plugin()


def compute(device):
    """Uses every part of a device."""
    x = Tensor([1.0, 2.0, 3.0], device=device)
    y = (x * 2).realize()

    @jit
    def step(a):
        return (a + 1).contiguous().sum().realize()

    results = [step(y).item() for _ in range(4)]
    registry.open(device).synchronize()
    return results, y.tolist()


RIGHT = [15.0] * 4, [2.0, 4.0, 6.0]


@pytest.fixture
def own():
    forget_programs()
    with settings.override(CACHE=0), registry.use(Registry()) as fresh:
        yield fresh
    forget_programs()


def is_clear_error(error):
    assert isinstance(error, WeftError)
    assert error.asked and error.because and error.try_
    assert len(str(error)) < 2000
    return True


@pytest.mark.parametrize("kind", ERRORS)
@pytest.mark.parametrize("place", [*HOOKS, *METHODS])
def test_a_failure_is_reported_and_other_devices_work(own, place, kind):
    def fail():
        raise ERRORS[kind]()

    plugin = broken(place, fail)
    own.register(plugin, "LIAR")
    with pytest.raises(WeftError) as caught:
        compute("LIAR")
    assert is_clear_error(caught.value)
    expected = {"lost": DeviceError, "no memory": OutOfMemory}.get(kind, PluginError)
    assert type(caught.value) is expected
    assert compute("REF") == RIGHT
    with pytest.raises(WeftError):  # and again
        compute("LIAR")
    own.register(liars.Honest(), "LIAR")  # mended, in the same process
    assert compute("LIAR") == RIGHT


NONSENSE = {"a text": "x" * 3_000_000, "a number": 5, "a class": Mute, "an object": Mute()}
ANSWERS = [
    "weft_open",
    "weft_allocator",
    "weft_renderer",
    "weft_compiler",
    "weft_runner",
    "compile",
]


@pytest.mark.parametrize("kind", NONSENSE)
@pytest.mark.parametrize("place", ANSWERS)
def test_invalid_answers_are_reported_and_other_devices_work(own, place, kind):
    own.register(broken(place, lambda: NONSENSE[kind]), "LIAR")
    with pytest.raises(PluginError) as caught:
        compute("LIAR")
    assert is_clear_error(caught.value)
    assert compute("REF") == RIGHT


@pytest.mark.parametrize("number", range(6))
@pytest.mark.parametrize("kind", ["crash", "no memory", "lost"])
def test_a_launch_that_fails_once_can_be_asked_for_again(own, number, kind):
    """The runner of this number fails half-way; what was written before is not written again."""
    left = [number]

    class runner(liars.PythonRunner):
        def __call__(self, handles, **others):
            left[0] -= 1
            if left[0] == -1:
                raise ERRORS[kind]()
            return super().__call__(handles, **others)

    plugin = liars.Honest()
    plugin.runner = runner
    own.register(plugin, "LIAR")
    x = Tensor([1.0, 2.0, 3.0], device="LIAR").realize()
    parts = [x]
    for _ in range(3):
        parts.append((parts[-1] * 2).contiguous())
    x += 1
    parts.append((x * 5).contiguous())
    try:
        Tensor.realize(*parts)
    except WeftError as error:
        assert is_clear_error(error)
        assert number < 5
    assert [part.tolist() for part in parts] == [
        [2, 3, 4], [2, 4, 6], [4, 8, 12], [8, 16, 24], [10, 15, 20],
    ]  # fmt: skip


@pytest.mark.parametrize("error", ["crash", "no text", "lost", "no memory"])
def test_one_that_cannot_be_closed_keeps_no_other_open(own, error):
    closed = []

    class device(Device):
        def close(self):
            if self.id.locator == "0":
                raise ERRORS[error]()
            closed.append(str(self.id))

    plugin = liars.Honest()
    plugin.device = device
    own.register(plugin, "LIAR")
    for locator in ("LIAR", "LIAR:1", "LIAR:2"):
        registry.open(locator)
    with pytest.raises(WeftError) as caught:
        registry.close()
    assert is_clear_error(caught.value)
    assert closed == ["LIAR:1", "LIAR:2"] and not list(own.opened())
    registry.open("LIAR")
    with pytest.warns(RuntimeWarning, match="LIAR was not closed"):
        own.register(liars.Honest(), "LIAR")
    assert compute("LIAR") == RIGHT


def test_all_are_waited_for_where_one_is_lost(own):
    waited = []

    class device(Device):
        def synchronize(self):
            waited.append(str(self.id))
            if self.id.locator == "0":
                raise ERRORS["lost"]()

    plugin = liars.Honest()
    plugin.device = device
    own.register(plugin, "LIAR")
    for locator in ("LIAR", "LIAR:1"):
        registry.open(locator)
    with pytest.raises(DeviceError, match="lost"):
        registry.synchronize()
    assert waited == ["LIAR", "LIAR:1"]


LOADS = {
    "import error": ("raise ImportError('no libfoo.so')", "libfoo"),
    "syntax error": ("def f(:", "SyntaxError"),
    "exit": ("import sys; sys.exit(3)", "SystemExit"),
    "huge": ("raise RuntimeError('x' * 3_000_000)", "xxx"),
    "no version": ("", "written for"),
    "newer": ("weft_api = (99, 0)", "99.0"),
    "older": ("weft_api = (0, 9)", "0.9"),
    "a float": ("weft_api = 1.0", "1.0"),
    "a trap": ("def __getattr__(name): raise OSError('trapped ' + name)", "trapped"),
    "no family": ("weft_api = (1, 0)", "no family"),
    "other family": (
        "from weft.plugin import *\nweft_api = (1, 0)\n"
        "@hookimpl\ndef weft_devices(): return [DeviceFamily('OTHER')]", "OTHER",
    ),
    "no list": (
        "from weft.plugin import *\nweft_api = (1, 0)\n@hookimpl\ndef weft_devices(): return 5",
        "list of families",
    ),
    "generator": (
        "from weft.plugin import *\nweft_api = (1, 0)\n"
        "@hookimpl\ndef weft_devices():\n"
        "    yield DeviceFamily('LIAR')\n    raise KeyError('late')",
        "late",
    ),
    "misspelt": (
        "from weft.plugin import *\nweft_api = (1, 0)\n@hookimpl\ndef weft_opne(id): 5",
        "weft_opne",
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", LOADS)
def test_a_load_failure_is_reported_and_other_devices_work(tmp_path, monkeypatch, fault):
    text, words = LOADS[fault]
    name = f"weft_broken_{list(LOADS).index(fault)}"
    (tmp_path / f"{name}.py").write_text(text)
    facts = tmp_path / "weft_broken-1.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Name: weft-broken\nVersion: 1\n")
    (facts / "entry_points.txt").write_text(f"[weft.devices]\nLIAR = {name}\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with registry.use(Registry()):
        for _ in range(2):
            with pytest.raises(DeviceError) as caught:
                registry.open("LIAR")
            assert is_clear_error(caught.value) and words in str(caught.value)
        assert compute("REF") == RIGHT
