from types import SimpleNamespace

import pytest

from weft.base.errors import PluginError
from weft.base.settings import settings
from weft.device.capabilities import Capabilities
from weft.device.hook_calls import HookCalls
from weft.device.hookspecs import hookimpl
from weft.device.identity import DeviceId
from weft.device.parts import Device
from weft.render import CStyleRenderer
from weft.testing.fakes import FakePlugin, fake_plugin
from weft.uop import Ops

DEVICE = Device(DeviceId("FAKE"), Capabilities())
MORE = {"weft_runner": {"program": None}, "weft_graph": {"launches": []}}


def plugin_with(**hooks):
    plugin = FakePlugin("extra")
    for name, function in hooks.items():
        setattr(plugin, name, function)
    return plugin


@pytest.fixture
def calls():
    return HookCalls()


def registered(calls, plugin):
    calls.manager.register(plugin, name=str(id(plugin)))
    calls.forget_routes()
    return plugin


def test_only_the_named_plugins_are_asked(calls):
    one, other = registered(calls, fake_plugin("ONE")), registered(calls, fake_plugin("TWO"))
    assert [f.name for f in calls.devices(one)] == ["ONE"]
    assert [f.name for f in calls.devices(other)] == ["TWO"]
    assert calls.part("weft_allocator", [one], DEVICE) is not calls.part(
        "weft_allocator", [other], DEVICE
    )


def test_an_extension_goes_first_and_may_decline(calls):
    owner = registered(calls, fake_plugin())
    its_own, the_owners = CStyleRenderer(), CStyleRenderer()
    answers = [None, its_own]

    @hookimpl(tryfirst=True)
    def weft_renderer():
        return answers.pop()

    @hookimpl
    def owners_renderer():
        return the_owners

    owner_part = registered(calls, plugin_with(weft_renderer=owners_renderer))
    extension = registered(calls, plugin_with(weft_renderer=weft_renderer))
    plugins = [owner, owner_part, extension]
    assert calls.part("weft_renderer", plugins, DEVICE) is its_own
    assert calls.part("weft_renderer", plugins, DEVICE) is the_owners


def test_a_hook_without_implementation_returns_none(calls):
    owner = registered(calls, fake_plugin())
    for hook, more in [("weft_renderer", {}), ("weft_compiler", {}), *MORE.items()]:
        assert calls.part(hook, [owner], DEVICE, **more) is None
    assert calls.offline([owner], "FAKE", "x") is None
    assert calls.locate(owner, "x") is None


@pytest.mark.parametrize("answer", [None, "a string"])
def test_an_answer_of_the_wrong_kind_is_the_plugins_fault(calls, answer):
    @hookimpl
    def weft_open(id):
        return answer

    plugin = registered(calls, plugin_with(weft_open=weft_open))
    with pytest.raises(PluginError) as caught:
        calls.open([plugin], DeviceId("FAKE"))
    assert caught.value.asked == "weft_open"


def part(**fields):
    return SimpleNamespace(**fields)


@pytest.mark.parametrize(
    "hook,answer,words",
    [
        ("renderer", "c", "render: str has no such attribute"),
        ("renderer", part(render=len, language="c", native_ops=None, rules=None), "native_ops: "),
        (
            "renderer",
            part(render=len, language="c", native_ops=["ADD"], rules=None),
            "native_ops: ",
        ),
        ("renderer", part(render=len, language=3, native_ops=[Ops.ADD], rules=None), "language: "),
        (
            "renderer",
            part(render=len, language="c", native_ops=()),
            "rules: SimpleNamespace has no",
        ),
        ("compiler", part(compile=len), "fingerprint: SimpleNamespace has no such attribute"),
        ("compiler", part(compile="cc", fingerprint=""), "compile: SimpleNamespace has another"),
        ("runner", 7, "__call__: int has no such attribute"),
        ("graph", object(), "__call__: object has no such attribute"),
    ],
)
def test_a_part_that_lacks_something_is_the_plugins_fault(calls, hook, answer, words):
    name = f"weft_{hook}"
    plugin = registered(calls, plugin_with(**{name: hookimpl(lambda: answer, specname=name)}))
    with pytest.raises(PluginError) as caught:
        calls.part(name, [plugin], DEVICE, **MORE.get(name, {}))
    assert caught.value.asked == name and caught.value.because.startswith(words)


def test_a_part_that_cannot_be_looked_at_is_the_plugins_fault(calls):
    class Odd:
        compile = len
        fingerprint = property(lambda self: {}["x"])

    hook = hookimpl(lambda: Odd(), specname="weft_compiler")
    plugin = registered(calls, plugin_with(weft_compiler=hook))
    with pytest.raises(PluginError) as caught:
        calls.part("weft_compiler", [plugin], DEVICE)
    assert caught.value.because == "fingerprint: Odd has an attribute that raises KeyError: 'x'"


def test_a_crash_of_weft_offline_is_the_plugins_fault(calls):
    hook = hookimpl(lambda family, arch: 1 / 0, specname="weft_offline")
    plugin = registered(calls, plugin_with(weft_offline=hook))
    with pytest.raises(PluginError, match="weft_offline failed inside its plugin") as caught:
        calls.offline([plugin], "FAKE", "x1")
    assert caught.value.asked == "weft_offline of FAKE for x1"


@pytest.mark.parametrize("hook", ["allocator", "renderer", "compiler", "runner", "graph"])
def test_a_crash_while_a_part_is_made_is_the_plugins_fault(calls, hook):
    name = f"weft_{hook}"
    plugin = registered(calls, plugin_with(**{name: hookimpl(lambda: {}["x"], specname=name)}))
    with pytest.raises(PluginError, match=f"{name} failed inside its plugin") as caught:
        calls.part(name, [plugin], DEVICE, **MORE.get(name, {}))
    assert isinstance(caught.value.__cause__, KeyError) and "FAKE" in caught.value.asked


def test_tracing_reports_failures_and_accepts_any_answer(calls, capsys):
    class Odd:
        def __repr__(self):
            raise KeyError

    odd = hookimpl(lambda id: Odd() if id.locator else 1 / 0, specname="weft_open")
    plugin = registered(calls, plugin_with(weft_open=odd))
    with settings.override(TRACE_PLUGINS=1):
        with pytest.raises(PluginError, match="an Odd|a Odd"):
            calls.open([plugin], DeviceId("FAKE"))
        with pytest.raises(ZeroDivisionError):
            calls.open([plugin], DeviceId("FAKE", ""))
    lines = capsys.readouterr().err.splitlines()
    assert "whose repr raises KeyError" in lines[0]
    assert lines[1].endswith("raised ZeroDivisionError: division by zero")


def test_tracing_prints_calls_and_answers(calls, capsys):
    plugin = registered(calls, fake_plugin())
    calls.open([plugin], DeviceId("FAKE"))
    assert capsys.readouterr().err == ""
    with settings.override(TRACE_PLUGINS=1):
        calls.open([plugin], DeviceId("FAKE"))
    line = capsys.readouterr().err
    assert line.startswith("weft_open(id=DeviceId(") and "-> <Device FAKE>" in line
