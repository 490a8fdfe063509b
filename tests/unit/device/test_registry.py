import os
import subprocess
import sys
import threading
from types import SimpleNamespace

import pytest

from weft.base.dtype import dtypes
from weft.base.errors import (
    ArgumentError,
    CapabilityError,
    DeviceUnavailable,
    PluginError,
    UnknownDevice,
)
from weft.base.settings import settings
from weft.device import (
    Buffer,
    Capabilities,
    DeviceFamily,
    DeviceId,
    MemoryCaps,
    Plugin,
    Registry,
    registry,
)
from weft.device.hookspecs import API_VERSION, hookimpl
from weft.device.parts import Device
from weft.testing.fakes import FakePlugin, fake_capabilities, fake_computer, fake_plugin


def found(family, module=None, error=None, distribution=None):
    """An installed plugin, not imported yet."""

    def load():
        imported.append(family)
        if error is not None:
            raise error
        return module if module is not None else fake_plugin(family)

    distribution = distribution or f"weft-{family.lower()}"
    return Plugin(family, distribution, "1.0", f"weft_{family}", SimpleNamespace(load=load))


imported: list[str] = []


@pytest.fixture(autouse=True)
def forget_imports():
    imported.clear()


@pytest.fixture
def installed():
    """``installed(plugin, ...)`` activates a registry of these plugins."""
    from contextlib import ExitStack

    with ExitStack() as stack:
        yield lambda *plugins: stack.enter_context(registry.use(Registry(plugins)))


def unavailable(family, **fields):
    module = fake_plugin(family, **fields)

    @hookimpl
    def weft_open(id):
        raise DeviceUnavailable("there is no such hardware", because="no driver")

    module.weft_open = weft_open
    return module


def test_naming_a_device_imports_its_plugin_alone(installed):
    installed(found("ONE"), found("TWO", error=ImportError("broken")), found("THREE"))
    assert imported == []
    assert registry.open("one").name == "ONE"
    assert imported == ["ONE"]


def test_a_device_is_opened_once_however_it_is_spelt(installed):
    installed(found("ONE"))
    first = registry.open("ONE")
    spellings = ("one", "One:0", "ONE:00", DeviceId("ONE"), DeviceId("ONE", ""), DeviceId("one"))
    assert all(registry.open(spelt) is first for spelt in spellings)
    assert registry.open("ONE:1") is not first
    assert [device.name for device in registry.current().opened()] == ["ONE", "ONE:1"]


def test_a_placement_is_one_device_or_several_distinct_ones(installed):
    installed(found("ONE"))
    assert registry.placement("one:007") == "ONE:7"
    assert registry.placement(["one", "ONE:1"]) == ("ONE", "ONE:1")
    assert registry.placement(("one:1",)) == "ONE:1"
    with pytest.raises(ArgumentError, match="distinct"):
        registry.placement(("ONE", "one:0"))
    with pytest.raises(ArgumentError, match="there is none"):
        registry.placement(())


def test_canonical_spellings_open_nothing(installed):
    installed(found("ONE"))
    assert registry.canonical("one:007") == "ONE:7"
    assert list(registry.current().opened()) == []


def test_an_unknown_family_names_the_known_ones_and_how_to_install(installed):
    installed(found("ONE"), found("TWO"))
    with pytest.raises(UnknownDevice) as caught:
        registry.open("FOO:3")
    error = caught.value
    assert error.asked == "FOO"
    assert "ONE, TWO" in error.because
    assert error.try_ == "pip install weft-foo"
    assert imported == []


def test_an_extra_of_the_core_is_how_to_install_where_there_is_one(installed):
    installed(found("ONE"))
    with pytest.raises(UnknownDevice) as caught:
        registry.open("metal")
    assert caught.value.try_ == 'pip install "weft[metal]"'


def test_a_near_miss_is_suggested(installed):
    installed(found("REFERENCE"))
    with pytest.raises(UnknownDevice) as caught:
        registry.open("REFERNCE")
    assert caught.value.try_.startswith("did you mean REFERENCE?")


def test_a_broken_plugin_is_reported_on_use_and_does_not_affect_others(installed):
    cause = ImportError("libmissing.so")
    current = installed(found("BAD", error=cause), found("GOOD"))
    with pytest.raises(PluginError) as caught:
        registry.open("BAD")
    assert "weft-bad 1.0" in caught.value.because and "libmissing.so" in caught.value.because
    assert caught.value.__cause__ is cause
    assert [plugin.family for plugin in current.broken] == ["BAD"]
    assert registry.open("GOOD").name == "GOOD"


def test_an_incompatible_plugin_says_so(installed):
    installed(found("OLD", fake_plugin("OLD", api=(API_VERSION[0] + 1, 0))))
    with pytest.raises(PluginError) as caught:
        registry.open("OLD")
    assert caught.value.try_ == "pip install --upgrade weft"


def test_two_owners_are_an_error_that_names_both(installed):
    installed(found("ONE", distribution="weft-a"), found("ONE", distribution="weft-b"))
    with pytest.raises(PluginError) as caught:
        registry.open("ONE")
    assert "weft-a 1.0" in caught.value.because and "weft-b 1.0" in caught.value.because


def extension(family):
    module = FakePlugin("extension")

    @hookimpl
    def weft_devices():
        return [DeviceFamily(family, extends=True)]

    @hookimpl(tryfirst=True)
    def weft_renderer():
        return SimpleNamespace(language="theirs", native_ops=frozenset(), rules=None, render=str)

    module.weft_devices, module.weft_renderer = weft_devices, weft_renderer
    module.weft_api = API_VERSION
    return module


def test_an_extension_replaces_one_part(installed):
    owner = fake_plugin("ONE", capabilities=fake_capabilities())
    installed(found("ONE", extension("ONE"), distribution="weft-extra"), found("ONE", owner))
    opened = registry.open("ONE")
    assert opened.renderer.language == "theirs"
    assert registry.open("ONE").target.language == "theirs"
    assert opened.allocator is opened.allocator


def test_an_extension_alone_is_no_device(installed):
    installed(found("ONE", extension("ONE")))
    with pytest.raises(PluginError) as caught:
        registry.open("ONE")
    assert "no plugin owns it" in caught.value.summary


def test_the_default_is_the_highest_priority_that_opens(installed):
    installed(
        found("LOW", fake_computer("LOW", priority=1)),
        found("GONE", unavailable("GONE", priority=9)),
        found("HIGH", fake_computer("HIGH", priority=5)),
        found("LIAR", fake_plugin("LIAR", priority=7)),
        found("BROKEN", error=ImportError("x")),
        found("STORE", fake_plugin("STORE", computes=False, priority=99)),
    )
    assert str(registry.default()) == "HIGH"
    assert registry.open().name == "HIGH"


def test_the_users_choice_comes_first(installed):
    installed(found("LOW", fake_plugin("LOW")), found("HIGH", fake_computer("HIGH", priority=5)))
    with settings.override(DEVICE="low:2"):
        assert registry.canonical() == "LOW:2"
    assert imported == ["LOW"]
    assert registry.canonical() == "HIGH"
    with settings.override(DEVICE="nowhere"), pytest.raises(UnknownDevice) as caught:
        registry.canonical()
    assert caught.value.asked == "WEFT_DEVICE=nowhere"


def test_families_of_negative_priority_are_never_a_default(installed):
    installed(found("SHY", fake_plugin("SHY", priority=-1)), found("GONE", unavailable("GONE")))
    with pytest.raises(DeviceUnavailable) as caught:
        registry.default()
    assert "SHY: its negative priority" in caught.value.because
    assert "GONE: DeviceUnavailable: there is no such hardware: no driver" in caught.value.because
    assert registry.open("SHY").name == "SHY"


def test_that_there_is_no_default_is_found_once_and_forgotten_with_a_new_plugin(installed):
    plugin, tried = fake_computer("GONE"), []

    @hookimpl
    def weft_open(id):
        tried.append(id)
        raise DeviceUnavailable("there is no such hardware")

    plugin.weft_open = weft_open
    installed(found("GONE", plugin))
    assert registry.default_if_any() is None is registry.default_if_any()
    assert len(tried) == 1
    registry.register(fake_computer("THERE"))
    assert str(registry.default_if_any()) == str(registry.default()) == "THERE"
    with settings.override(DEVICE="GONE"):
        assert str(registry.default_if_any()) == "GONE"


def test_an_unavailable_device_says_which(installed):
    installed(found("GONE", unavailable("GONE")))
    with pytest.raises(DeviceUnavailable) as caught:
        registry.open("gone:3")
    assert (caught.value.asked, caught.value.because) == ("GONE:3", "no driver")


def test_a_crash_while_opening_is_the_plugins_fault(installed):
    module = fake_plugin("ONE")

    @hookimpl
    def weft_open(id):
        return 1 / 0

    module.weft_open = weft_open
    installed(found("ONE", module))
    with pytest.raises(PluginError) as caught:
        registry.open("ONE")
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert "weft-one 1.0" in caught.value.try_


def test_staging_is_found_by_its_role(installed):
    installed(found("ONE"), found("STAGE", fake_plugin("STAGE", staging=True, computes=False)))
    assert registry.staging() == DeviceId("STAGE")
    installed(found("ONE"))
    with pytest.raises(DeviceUnavailable):
        registry.staging()


def test_locating_calls_every_plugin_and_survives_broken_ones(installed):
    module = fake_plugin("FILES", computes=False, canonical=lambda path: path or "/")

    @hookimpl
    def weft_locate(source):
        return DeviceId("FILES", str(source)) if str(source).startswith("/") else None

    module.weft_locate = weft_locate
    installed(found("BAD", error=ImportError("x")), found("ONE"), found("FILES", module))
    assert str(registry.locate("/a/b")) == "FILES:/a/b"
    with pytest.raises(UnknownDevice) as caught:
        registry.locate("s3://bucket")
    assert caught.value.asked == repr("s3://bucket")


def test_a_plugin_of_another_scheme_is_not_loaded(installed):
    here = fake_plugin("FILES", computes=False, canonical=lambda path: path or "/")
    here.weft_locate = hookimpl(
        lambda source: DeviceId("FILES", str(source)) if source == "/x" else None,
        specname="weft_locate",
    )
    records = found("TAPES"), found("ONE"), found("FILES", here)
    records[0].schemes, records[2].schemes = frozenset({"tape"}), frozenset({"file"})
    installed(*records)
    assert str(registry.locate("/x")) == "FILES:/x"
    assert [record.state.name for record in records] == ["FOUND", "FOUND", "LOADED"]
    with pytest.raises(UnknownDevice) as caught:
        registry.locate("/y")
    assert "asked: FILES, ONE" in caught.value.because
    assert records[0].state.name == "FOUND"


def test_closing(installed):
    closed = []

    class Closing(Device):
        def close(self):
            closed.append(str(self.id))

    module = fake_plugin("ONE")

    @hookimpl
    def weft_open(id):
        return Closing(id, Capabilities())

    module.weft_open = weft_open
    installed(found("ONE", module))
    one, two = registry.open("ONE"), registry.open("ONE:2")
    registry.close("ONE:2")
    assert closed == ["ONE:2"]
    assert registry.open("ONE") is one and registry.open("ONE:2") is not two
    registry.close()
    assert sorted(closed) == ["ONE", "ONE:2", "ONE:2"]


def test_offline_devices(installed):
    module = fake_plugin("ONE")

    @hookimpl
    def weft_offline(family, arch):
        return Device(DeviceId(family), Capabilities(name=arch)) if arch == "v9" else None

    module.weft_offline = weft_offline
    installed(found("ONE", module))
    assert registry.offline("one", "v9").capabilities.name == "v9"
    with pytest.raises(CapabilityError):
        registry.offline("one", "v1")


def test_registering_by_hand(fresh_registry):
    with pytest.raises(PluginError):
        registry.register(fake_plugin("ONE", api=None), "ONE")
    assert fresh_registry.plugins == []
    registry.register(fake_plugin("ONE"), "ONE")
    assert registry.open("ONE").name == "ONE"
    assert not fresh_registry.is_installed("ONE")


def test_installed_plugins_are_available_in_other_processes(installed):
    installed(found("ONE"))
    assert registry.current().is_installed("ONE")


def test_registering_again_replaces_the_plugin(fresh_registry):
    """As when a cell of a notebook is run a second time."""
    first, second = fake_plugin("ONE", about="first"), fake_plugin("ONE", about="second")
    registry.register(first, "ONE")
    before = registry.open("ONE")
    assert registry.open("one:0") is before
    registry.register(second)
    assert registry.open("ONE") is not before
    assert registry.open("ONE").family.about == "second"
    assert [plugin.family for plugin in fresh_registry.plugins] == ["ONE"]
    with pytest.raises(PluginError, match="must state the version"):
        registry.register(fake_plugin("ONE", api=None), "ONE")
    assert registry.open("ONE").family.about == "second", "what cannot be used replaces nothing"


def test_a_reloaded_module_is_registered_again(fresh_registry):
    module = fake_plugin("ONE", about="first")
    registry.register(module)
    module.weft_devices = hookimpl(
        lambda: [DeviceFamily("ONE", about="edited")], specname="weft_devices"
    )
    registry.register(module)
    assert registry.open("ONE").family.about == "edited"


def test_an_extension_is_replaced_by_its_own_kind_alone(fresh_registry):
    owner = fake_computer("ONE")
    registry.register(owner, "ONE")
    registry.register(extension("ONE"), "ONE")
    assert registry.open("ONE").renderer.language == "theirs"
    registry.register(extension("ONE"), "ONE")
    registry.register(fake_computer("ONE"), "ONE")
    assert len(fresh_registry.plugins) == 2
    assert registry.open("ONE").renderer.language == "theirs"


def test_unregistering(fresh_registry):
    told = []
    registry.when_changed(lambda: told.append(1))
    closed = []

    class Closing(Device):
        def close(self):
            closed.append(str(self.id))

    module = fake_plugin("ONE")
    module.weft_open = hookimpl(lambda id: Closing(id, Capabilities()), specname="weft_open")
    registry.register(module, "ONE")
    buffer = Buffer("ONE", 3, dtypes.uint8).copy_in(b"abc")
    count = len(told)
    registry.unregister("one")
    assert closed == ["ONE"] and len(told) == count + 1
    assert bytes(buffer.copy_out()) == b"abc", "what lies there can still be read"
    with pytest.raises(UnknownDevice, match="there is no device family ONE") as caught:
        registry.open("ONE")
    assert "has been unregistered" in caught.value.because
    assert "register(...) again" in caught.value.try_, "nothing that could be installed"
    with pytest.raises(UnknownDevice) as caught:
        registry.unregister("ONE")
    assert "WEFT_DISABLE_PLUGINS" in caught.value.try_
    registry.register(module, "ONE")
    assert registry.open("ONE").name == "ONE"


def test_a_class_is_no_plugin(fresh_registry):
    class Plugin:
        weft_api = API_VERSION

    with pytest.raises(PluginError) as caught:
        registry.register(Plugin)
    assert "is a class" in str(caught.value) and "no object of it was made" in str(caught.value)


def test_several_families_need_a_name(fresh_registry):
    module = fake_plugin("ONE")
    families = [DeviceFamily("ONE"), DeviceFamily("TWO")]
    module.weft_devices = hookimpl(lambda: families, specname="weft_devices")
    with pytest.raises(PluginError, match="no family of that name"):
        registry.register(module)
    registry.register(module, "ONE")
    registry.register(module, "TWO")
    registry.unregister("ONE")
    assert registry.open("TWO").name == "TWO"


def test_families_of_the_core_cannot_be_replaced(installed):
    core = found("STAGE", fake_plugin("STAGE", staging=True, computes=False), distribution="weft")
    thief = found("STAGE", fake_plugin("STAGE"), distribution="weft-thief")
    installed(thief, core)
    assert registry.staging() == DeviceId("STAGE") and registry.open("STAGE").family.staging
    assert [plugin.label for plugin in registry.current().broken] == ["weft-thief 1.0"]
    assert "belongs to weft itself" in str(thief.cause)
    with pytest.raises(PluginError, match="belongs to weft itself"):
        registry.register(fake_plugin("STAGE"), "STAGE")
    assert registry.open("STAGE").family.staging


def test_a_plugin_that_crashes_in_locate_does_not_hide_others(installed):
    bad, good = fake_plugin("BAD"), fake_plugin("FILES", canonical=lambda path: path or "/")
    bad.weft_locate = hookimpl(lambda source: 1 / 0, specname="weft_locate")
    good.weft_locate = hookimpl(
        lambda source: DeviceId("FILES", "/x") if source == "/x" else None, specname="weft_locate"
    )
    installed(found("BAD", bad), found("FILES", good))
    assert str(registry.locate("/x")) == "FILES:/x"
    with pytest.raises(UnknownDevice, match="weft-bad 1.0 failed: ZeroDivisionError"):
        registry.locate("/y")


def test_a_crash_of_any_kind_leaves_the_default_to_others(installed):
    crash = fake_computer("CRASH", priority=9)
    crash.weft_renderer = hookimpl(lambda: {}["x"], specname="weft_renderer")
    argument = unavailable("ARGUMENT", priority=8)
    argument.weft_open = hookimpl(lambda id: Capabilities("x"), specname="weft_open")
    installed(
        found("CRASH", crash), found("ARGUMENT", argument), found("GOOD", fake_computer("GOOD"))
    )
    assert str(registry.default()) == "GOOD"


def test_an_invalid_setting_is_an_error(installed):
    module = fake_computer("WRONG", priority=9)

    @hookimpl
    def weft_open(id):
        raise DeviceUnavailable("no such number", asked="WEFT_WRONG_THREADS='many'")

    module.weft_open = weft_open
    installed(found("WRONG", module), found("GOOD", fake_computer("GOOD")))
    with pytest.raises(DeviceUnavailable, match="WEFT_WRONG_THREADS"):
        registry.default()
    assert registry.open("GOOD").name == "GOOD"


def test_use_restores_and_closes():
    before = registry.current()
    with registry.use(Registry([])) as other:
        assert registry.current() is other
    assert registry.current() is before


def test_threads_open_one_device(installed):
    installed(found("ONE"))
    barrier, seen = threading.Barrier(8), []

    def work():
        barrier.wait()
        seen.append(registry.open("one"))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(map(id, seen))) == 1 and imported == ["ONE"]


def test_synchronizing_reaches_every_opened_device(installed):
    waited = []

    class Waiting(Device):
        def synchronize(self):
            waited.append(str(self.id))

    module = fake_plugin("ONE")

    @hookimpl
    def weft_open(id):
        return Waiting(id, Capabilities())

    module.weft_open = weft_open
    installed(found("ONE", module))
    registry.open("ONE"), registry.open("ONE:1")
    registry.synchronize()
    assert waited == ["ONE", "ONE:1"]


def test_the_environment_selects_the_default():
    code = "from weft.device import registry; print(registry.canonical())"
    environment = {**os.environ, "WEFT_DEVICE": "ref:vector"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60
    )
    assert done.stdout.strip() == "REF:vector", done.stderr


def test_an_epoch_lasts_while_names_open_the_same_devices(fresh_registry):
    fresh_registry.register(fake_plugin(), "FAKE")
    opened, epoch = registry.open("FAKE"), registry.epoch()
    assert registry.open("FAKE") is opened and registry.epoch() is epoch
    registry.close("FAKE")
    assert registry.epoch() is not epoch
    epoch = registry.epoch()
    with registry.use(Registry([])):
        assert registry.epoch() is not epoch
        epoch = registry.epoch()
    assert registry.epoch() is not epoch
    epoch = registry.epoch()
    fresh_registry.register(fake_plugin(), "FAKE")
    assert registry.epoch() is not epoch


@pytest.mark.parametrize(
    "canonical,words",
    [
        (lambda locator: {}["x"], "canonical raised KeyError: 'x'"),
        (lambda locator: 5, "canonical gave an int"),
    ],
)
def test_a_plugin_that_cannot_spell_its_devices(fresh_registry, canonical, words):
    fresh_registry.register(fake_plugin(canonical=canonical), "FAKE")
    with pytest.raises(PluginError) as caught:
        registry.resolve("FAKE:1")
    assert caught.value.asked == "FAKE:1" and caught.value.because.endswith(words)


def test_an_error_of_ours_while_a_device_is_opened_names_the_plugin(fresh_registry):
    module = fake_plugin()

    @hookimpl
    def weft_open(id):
        return Device(id, Capabilities(MemoryCaps(alignment="x")))

    module.weft_open = weft_open
    fresh_registry.register(module, "FAKE")
    with pytest.raises(ArgumentError) as caught:
        registry.open("FAKE")
    assert caught.value.__notes__ == ["while fake plugin FAKE opened FAKE"]
