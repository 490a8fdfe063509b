"""Whose family is whose, where no device is ever opened."""

from types import SimpleNamespace

import pytest

from weft.base.errors import PluginError, UnknownDevice
from weft.device import DeviceFamily, Plugin
from weft.device.discovery import PluginState, plugin_by_hand
from weft.device.hookspecs import API_VERSION, hookimpl
from weft.device.plugin_table import (
    PluginTable,
    core_family,
    declaration_of,
    extension_without_owner,
    install_command,
    several_owners,
    unknown_family,
    unusable_plugin,
)
from weft.testing.fakes import FakePlugin, fake_plugin


def found(family, module=None, distribution=""):
    """An installed plugin, not imported yet; an exception in place of a module is its failure."""

    def load():
        if isinstance(module, Exception):
            raise module
        return module or fake_plugin(family)

    return Plugin(
        family, distribution or f"weft-{family.lower()}", "1.0", "", SimpleNamespace(load=load)
    )


def extension(family):
    module = FakePlugin("extension")
    module.weft_api = API_VERSION
    module.weft_devices = hookimpl(
        lambda: [DeviceFamily(family, extends=True)], specname="weft_devices"
    )
    return module


def test_the_owner_comes_before_those_that_extend_it():
    more, owner = found("ONE", extension("ONE"), "weft-more"), found("ONE")
    table = PluginTable([more, owner])
    assert table.plugins_of("one") == [owner, more]
    assert table.family("ONE") is declaration_of(owner, "ONE")


def test_naming_one_family_loads_no_other():
    other = found("TWO")
    PluginTable([found("ONE"), other]).plugins_of("ONE")
    assert other.module is None


def test_failed_plugins_are_kept_with_their_cause():
    bad = found("BAD", ImportError("no driver"))
    table = PluginTable([bad, found("GOOD")])
    assert table.broken == []
    table.load_all()
    assert table.broken == [bad] and str(bad.cause) == "no driver"
    with pytest.raises(PluginError, match="no driver"):
        table.plugins_of("BAD")


def test_two_owners_are_none():
    table = PluginTable([found("ONE", distribution="a"), found("ONE", distribution="b")])
    with pytest.raises(PluginError, match=r"a 1\.0"):
        table.plugins_of("ONE")


def test_registered_plugins_are_served_until_unregistered():
    table = PluginTable([])
    plugin = table.register(fake_plugin("ONE"))
    assert table.plugins_of("ONE") == [plugin] and not table.is_installed("ONE")
    again = table.register(fake_plugin("ONE"))
    assert table.plugins == [again], "the first one makes way"
    table.unregister("one")
    assert table.plugins == [] and table.is_installed("ONE")
    with pytest.raises(UnknownDevice, match="has been unregistered"):
        table.plugins_of("ONE")
    with pytest.raises(UnknownDevice, match="nothing was registered by hand"):
        table.unregister("ONE")


def test_an_invalid_plugin_changes_nothing():
    table = PluginTable([])
    plugin = table.register(fake_plugin("ONE"))
    with pytest.raises(PluginError, match="must state the version"):
        table.register(fake_plugin("ONE", api=None), "ONE")
    assert table.plugins == [plugin]


def record(family, distribution):
    return plugin_by_hand(object(), family, distribution, "1.0")


ONE, TWO = record("MINE", "weft-one"), record("MINE", "weft-two")


def test_errors_name_the_distributions_at_fault():
    for error in (several_owners("MINE", [ONE, TWO]), extension_without_owner("MINE", [ONE])):
        assert error.asked == "MINE" and "weft-one 1.0" in error.because
    assert "weft-one 1.0 and weft-two 1.0" in several_owners("MINE", [ONE, TWO]).because
    assert "weft-one 1.0" in core_family(ONE).because


def test_the_cause_is_attached():
    broken = record("MINE", "weft-one")
    broken.state, broken.cause = PluginState.IMPORT_FAILED, ImportError("libx.so")
    error = unusable_plugin(broken)
    assert error.__cause__ is broken.cause
    assert error.because == "weft-one 1.0: ImportError: libx.so"
    assert error.try_.startswith("pip install --upgrade weft-one")
    by_hand = record("", "")
    by_hand.state, by_hand.cause = PluginState.IMPORT_FAILED, ImportError("x")
    assert unusable_plugin(by_hand).summary == "this plugin cannot be used"
    assert unusable_plugin(by_hand).try_ == "fix the plugin; the cause is attached"
    by_hand.cause = PluginError("it states no version", try_="weft_api = (1, 0)")
    assert (
        unusable_plugin(by_hand).try_ == "fix the plugin: weft_api = (1, 0); the cause is attached"
    )


def test_an_unknown_family():
    error = unknown_family("MIND", [ONE])
    assert error.because == "installed plugins serve MINE"
    assert error.try_ == "did you mean MINE? Otherwise: pip install weft-mind"
    assert install_command("MY_CHIP") == "pip install weft-my-chip"
