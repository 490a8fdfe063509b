from weft.base.settings import settings
from weft.device import catalogue, registry
from weft.testing.fakes import fake_computer, fake_plugin


def test_devices_as_a_mapping(fresh_registry):
    registry.register(fake_computer("ONE", priority=1), "ONE")
    registry.register(fake_plugin("TWO"), "TWO")
    assert list(catalogue) == ["ONE", "TWO"]
    assert "one:3" in catalogue and "THREE" not in catalogue
    assert catalogue["two"] is registry.open("TWO")
    assert catalogue.DEFAULT == "ONE"
    assert catalogue.canonicalize("two:01") == "TWO:1"
    assert catalogue.canonicalize(None) == "ONE"
    with settings.override(DEVICE="TWO"):
        assert catalogue.DEFAULT == "TWO"
