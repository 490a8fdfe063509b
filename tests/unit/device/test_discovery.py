from pathlib import Path
from types import SimpleNamespace

import pytest

from weft.base.errors import PluginError
from weft.base.settings import settings
from weft.device.discovery import (
    Plugin,
    PluginState,
    disabled_families,
    family_names,
    installed_plugins,
    load,
    plugin_by_hand,
    plugins_for,
    scheme_of,
)
from weft.device.hook_calls import HookCalls
from weft.device.hookspecs import API_VERSION, hookimpl
from weft.device.identity import DeviceFamily
from weft.testing.fakes import FakePlugin, fake_plugin

MAJOR, MINOR = API_VERSION


def loaded(module, family="FAKE", distribution="weft-fake", version="1.2"):
    plugin = plugin_by_hand(module, family, distribution, version)
    load(plugin, HookCalls())
    return plugin


def entry(load_function):
    where = SimpleNamespace(load=load_function)
    return Plugin("FAKE", "weft-fake", "1.2", "weft_fake", where)


def test_listing_imports_nothing():
    plugins = installed_plugins()
    assert {"HOST", "REF", "NULL"} <= {p.family for p in plugins}
    assert all(p.state is PluginState.FOUND and p.module is None for p in plugins)
    assert all(p.distribution and p.version for p in plugins)
    assert [p.from_core for p in plugins] == sorted(p.from_core for p in plugins)


def test_loading_a_sound_plugin():
    plugin = loaded(fake_plugin())
    assert plugin.state is PluginState.LOADED and plugin.cause is None
    assert plugin.api == API_VERSION
    assert [family.name for family in plugin.families] == ["FAKE"]
    assert plugin.label == "weft-fake 1.2"


def test_loading_happens_once():
    times = []
    plugin = entry(lambda: times.append(1) or fake_plugin())
    calls = HookCalls()
    load(plugin, calls)
    load(plugin, calls)
    assert times == [1]


@pytest.mark.parametrize("error", [ImportError("no libfoo"), RuntimeError("x"), SystemExit(3)])
def test_a_plugin_that_cannot_be_imported_is_kept_with_its_cause(error):
    def broken():
        raise error

    plugin = entry(broken)
    load(plugin, HookCalls())
    assert plugin.state is PluginState.IMPORT_FAILED and plugin.cause is error


def test_the_user_can_still_interrupt():
    def interrupted():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        load(entry(interrupted), HookCalls())


@pytest.mark.parametrize(
    "api,older",
    [((MAJOR, MINOR + 1), "weft"), ((MAJOR + 1, 0), "weft"), ((MAJOR - 1, 9), "plugin")],
)
def test_an_incompatible_plugin_says_which_side_to_upgrade(api, older):
    plugin = loaded(fake_plugin(api=api))
    assert plugin.state is PluginState.INCOMPATIBLE
    wanted = "weft" if older == "weft" else "weft-fake"
    assert plugin.cause.try_ == f"pip install --upgrade {wanted}"


@pytest.mark.parametrize("api", [None, "1.0", (1,), (1, "0"), 1])
def test_a_plugin_must_state_its_api(api):
    module = fake_plugin(api=api)
    plugin = loaded(module)
    assert plugin.state is PluginState.IMPORT_FAILED
    assert isinstance(plugin.cause, PluginError) and "weft_api" in plugin.cause.asked


def test_a_misspelt_argument_is_refused():
    module = fake_plugin()

    @hookimpl
    def weft_open(identity):
        return None

    module.weft_open = weft_open
    plugin = loaded(module)
    assert plugin.state is PluginState.IMPORT_FAILED
    assert "identity" in str(plugin.cause)


def test_a_hook_without_its_mark_is_refused():
    module = fake_plugin()
    module.weft_renderer = lambda: None
    plugin = loaded(module)
    assert plugin.state is PluginState.IMPORT_FAILED
    assert "weft_renderer is not marked as a hook" in str(plugin.cause)


def test_families_that_are_no_list_are_refused():
    module = fake_plugin()
    module.weft_devices = hookimpl(lambda: DeviceFamily("FAKE"), specname="weft_devices")
    plugin = loaded(module)
    assert plugin.state is PluginState.IMPORT_FAILED
    assert "must give a list of families" in str(plugin.cause)


def test_a_misspelt_hook_is_refused():
    module = fake_plugin()

    @hookimpl
    def weft_alocator(device):
        return None

    module.weft_alocator = weft_alocator
    plugin = loaded(module)
    assert plugin.state is PluginState.IMPORT_FAILED
    assert "weft_alocator" in str(plugin.cause)


def test_a_refused_plugin_does_not_affect_others():
    calls = HookCalls()
    bad = fake_plugin("BAD")

    @hookimpl
    def weft_alocator(device):
        return None

    bad.weft_alocator = weft_alocator
    for module, family in ((bad, "BAD"), (fake_plugin("GOOD"), "GOOD")):
        plugin = plugin_by_hand(module, family)
        load(plugin, calls)
    assert plugin.state is PluginState.LOADED


def test_the_entry_must_be_named_after_a_family():
    plugin = loaded(fake_plugin("OTHER"), "FAKE")
    assert plugin.state is PluginState.IMPORT_FAILED
    assert "OTHER" in plugin.cause.because


def test_weft_devices_must_give_families():
    module = FakePlugin("odd")

    @hookimpl
    def weft_devices():
        return ["FAKE"]

    module.weft_devices, module.weft_api = weft_devices, API_VERSION
    assert isinstance(loaded(module).cause, PluginError)


def test_one_module_may_serve_several_families():
    module = FakePlugin("both")

    @hookimpl
    def weft_devices():
        return [DeviceFamily("ONE"), DeviceFamily("TWO")]

    module.weft_devices, module.weft_api = weft_devices, API_VERSION
    calls = HookCalls()
    for family in ("ONE", "TWO"):
        plugin = plugin_by_hand(module, family)
        load(plugin, calls)
        assert plugin.state is PluginState.LOADED


def test_switching_families_off():
    with settings.override(DISABLE_PLUGINS="fake, Other"):
        assert disabled_families() == {"FAKE", "OTHER"}
        plugin = loaded(fake_plugin())
    assert plugin.state is PluginState.DISABLED
    assert "WEFT_DISABLE_PLUGINS" in plugin.cause.because


def test_names_for_messages():
    assert family_names([plugin_by_hand(None, name) for name in ("b", "A", "B")]) == ["A", "B"]


def test_the_scheme_of_a_url_or_path():
    assert scheme_of("mem://a") == scheme_of("MEM://a") == "mem"
    assert scheme_of("s3+x://bucket/a") == "s3+x"
    for path in ("/a/b", "a", "C:\\a", "a://"[1:], Path("mem:/a")):
        assert scheme_of(path) == "file"


def test_plugins_that_name_the_scheme_are_asked_first_and_those_of_others_not_at_all():
    records = [entry(lambda: None) for _ in range(3)]
    silent, tapes, files = records
    tapes.schemes, files.schemes = frozenset({"tape"}), frozenset({"file"})
    assert plugins_for("/a", records) == [files, silent]
    assert plugins_for("tape://a", records) == [tapes, silent]
    assert plugins_for("net://a", records) == [silent]
