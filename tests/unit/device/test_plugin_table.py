"""Whose family is whose, where no device is ever opened."""

from types import SimpleNamespace

import pytest

from weft.base.errors import PluginError, UnknownDevice
from weft.device import DeviceFamily, Plugin
from weft.device.hookspecs import API_VERSION, hookimpl
from weft.device.plugin_table import PluginTable, declared_by
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
    assert table.family("ONE") is declared_by(owner, "ONE")


def test_naming_one_family_loads_no_other():
    other = found("TWO")
    PluginTable([found("ONE"), other]).plugins_of("ONE")
    assert other.module is None


def test_what_fails_is_kept_with_its_cause():
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


def test_what_is_registered_is_served_until_it_is_taken_back():
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


def test_what_cannot_be_used_changes_nothing():
    table = PluginTable([])
    plugin = table.register(fake_plugin("ONE"))
    with pytest.raises(PluginError, match="must state the version"):
        table.register(fake_plugin("ONE", api=None), "ONE")
    assert table.plugins == [plugin]
