from weft.base.settings import settings
from weft.device import catalogue, registry
from weft.device.parts import NO_HINTS
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


def test_kept_memory_is_given_back(fresh_registry):
    registry.register(fake_computer("ONE"), "ONE")
    registry.register(fake_computer("TWO"), "TWO")
    for name in ("ONE", "TWO"):
        pool = registry.open(name).pool
        pool.release(pool.acquire(100, NO_HINTS), 100, NO_HINTS)
    live = registry.open("ONE").pool.acquire(7, NO_HINTS)
    assert catalogue.release("ONE") == 100
    assert catalogue.release() == 100, "of all that are open"
    assert catalogue.release() == 0
    assert len(live) == 7
