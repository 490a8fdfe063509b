import inspect
import re
import warnings
from pathlib import Path

import pytest

import weft.plugin
from weft.device import discovery, hookspecs
from weft.device.discovery import PluginState, load, plugin_by_hand
from weft.device.hook_calls import HookCalls
from weft.device.hookspecs import (
    API_VERSION,
    DEPRECATED,
    Deprecation,
    hookimpl,
    is_due,
    notes_on,
    successor_of,
)
from weft.testing.fakes import fake_plugin

HOOKS = {name: f for name, f in vars(hookspecs).items() if name.startswith("weft_")}
OLD_HOOK = Deprecation("weft_offline", (1, 1), "weft_open")
OLD_NAME = Deprecation("Handles", (1, 1), "Allocator")


def test_every_hook_is_explained_and_typed():
    assert HOOKS
    for name, function in HOOKS.items():
        assert function.__doc__, name
        signature = inspect.signature(function)
        assert signature.return_annotation is not inspect.Signature.empty, name
        for parameter in signature.parameters.values():
            assert parameter.annotation is not inspect.Parameter.empty, name


def test_the_version_is_two_numbers():
    assert len(API_VERSION) == 2 and all(isinstance(number, int) for number in API_VERSION)


@pytest.fixture
def listed(monkeypatch):
    monkeypatch.setattr(hookspecs, "DEPRECATED", (OLD_HOOK, OLD_NAME))
    monkeypatch.setattr(discovery, "API_VERSION", (1, 1))


def with_hook():
    module = fake_plugin("OLD", api=(1, 0))
    module.weft_offline = hookimpl(lambda family, arch: None, specname="weft_offline")
    return module


def test_a_plugin_with_deprecated_hooks_works_with_a_warning(listed):
    plugin = plugin_by_hand(with_hook(), "OLD", "weft-old", "1.0")
    with pytest.warns(DeprecationWarning, match="weft-old 1.0: weft_offline is deprecated since"):
        load(plugin, HookCalls())
    assert plugin.state is PluginState.LOADED and plugin.cause is None
    assert plugin.notes == (
        "weft_offline is deprecated since version 1.1 of the hooks and goes with 2.0: "
        "use weft_open",
    )


def test_a_plugin_of_an_older_minor_version_works_in_silence(listed):
    plugin = plugin_by_hand(fake_plugin("OLD", api=(1, 0)), "OLD", "weft-old", "1.0")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load(plugin, HookCalls())
    assert plugin.state is PluginState.LOADED and plugin.notes == ()


def test_an_old_name_of_the_plugin_api_still_works(listed):
    with pytest.warns(DeprecationWarning, match="Handles is deprecated .* use Allocator"):
        from weft.plugin import Handles
    assert Handles is weft.plugin.Allocator
    with pytest.raises(ImportError):
        from weft.plugin import Nothing  # noqa: F401


def test_looking_up():
    assert notes_on(with_hook(), [OLD_NAME]) == []
    assert successor_of("Handles", [OLD_HOOK, OLD_NAME]) is OLD_NAME
    assert successor_of("Allocator") is None


def test_deprecated_names_exist_and_are_documented():
    docs = Path(__file__).resolve().parents[3] / "docs"
    pages = [docs / "howto" / "write-a-device.md", docs / "devices.md"]
    for each in DEPRECATED:
        assert not is_due(each), f"{each.name} should have been removed"
        if each.name.startswith("weft_"):
            assert hasattr(hookspecs, each.name)
        else:
            assert each.successor in weft.plugin.__all__
    for page in filter(Path.exists, pages):  # a package that is tested elsewhere has no pages
        rows = re.findall(r"^\| `(\w+)` \| (\d+)\.(\d+) \| `(\w+)` \|", page.read_text(), re.M)
        written = {(name, (int(a), int(b)), new) for name, a, b, new in rows}
        assert written == {(each.name, each.since, each.successor) for each in DEPRECATED}
