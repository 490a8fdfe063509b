from functools import partial
from types import SimpleNamespace

import pytest

from weft.base.errors import CapabilityError, DeviceUnavailable, PluginError
from weft.base.settings import settings
from weft.device import registry
from weft.device.hookspecs import hookimpl
from weft.device.open_device import close_all_at_exit
from weft.testing.fakes import fake_capabilities, fake_plugin


def with_hooks(module, **hooks):
    for name, function in hooks.items():
        setattr(module, name, function)
    return module


def test_parts_are_asked_for_once(fresh_registry):
    asked = []

    @hookimpl
    def weft_renderer(device):
        asked.append(str(device.id))
        return SimpleNamespace(language="x", native_ops=frozenset(), rules=None, render=str)

    module = with_hooks(fake_plugin(capabilities=fake_capabilities()), weft_renderer=weft_renderer)
    registry.register(module, "FAKE")
    opened = registry.open("FAKE")
    assert opened.renderer is opened.renderer and opened.target is opened.target
    assert opened.pool is opened.pool and opened.allocator is opened.pool.allocator
    assert asked == ["FAKE"]
    assert opened.target.fingerprint == "fake"


def test_a_storage_device_refuses_to_compute(fresh_registry):
    registry.register(fake_plugin(capabilities=fake_capabilities(stores_only=True)), "FAKE")
    opened = registry.open("FAKE")
    for ask in (lambda: opened.compute, lambda: opened.renderer, lambda: opened.target):
        with pytest.raises(CapabilityError) as caught:
            ask()
        assert "FAKE declares no ComputeCaps" in caught.value.because
    assert not opened.pool.enabled


def test_missing_parts_of_a_computing_device(fresh_registry):
    registry.register(fake_plugin(capabilities=fake_capabilities()), "FAKE")
    opened = registry.open("FAKE")
    with pytest.raises(CapabilityError) as caught:
        opened.renderer
    assert "weft_renderer" in caught.value.because
    with pytest.raises(CapabilityError) as caught:
        opened.runner(SimpleNamespace(name="k"))
    assert "weft_runner" in caught.value.because
    assert opened.compiler is None and opened.graph([]) is None


def test_runners_are_not_cached(fresh_registry):
    @hookimpl
    def weft_runner(device, program):
        return partial(print, program)

    module = with_hooks(fake_plugin(capabilities=fake_capabilities()), weft_runner=weft_runner)
    registry.register(module, "FAKE")
    program = SimpleNamespace(name="k")
    opened = registry.open("FAKE")
    assert opened.runner(program).args == (program,)
    assert opened.runner(program) is not opened.runner(program)


def test_launches_bound_into_one_submission(fresh_registry):
    @hookimpl
    def weft_graph(device, launches):
        return partial(print, device, launches) if len(launches) > 1 else None

    registry.register(with_hooks(fake_plugin(), weft_graph=weft_graph), "FAKE")
    opened = registry.open("FAKE")
    assert opened.graph(["one"]) is None
    bound = opened.graph(["one", "two"])
    assert bound.args == (opened.device, ["one", "two"]) and opened.makers
    assert registry.open("FAKE").graph(["one"]) is None


def test_closing_frees_the_pool(fresh_registry):
    module = fake_plugin()
    registry.register(module, "FAKE")
    pool = registry.open("FAKE").pool
    pool.release(pool.acquire(10, None), 10, None)
    registry.close()
    assert pool.kept_bytes == 0


@pytest.mark.parametrize("what", ["synchronize", "close"])
def test_a_crash_is_the_plugins_fault(fresh_registry, what):
    registry.register(fake_plugin(), "FAKE")
    opened = registry.open("FAKE")
    errors = [DeviceUnavailable("it was unplugged"), ZeroDivisionError("by nothing")]

    def crash():
        raise errors.pop()

    setattr(opened.device, what, crash)
    with pytest.raises(PluginError, match="failed inside the plugin of FAKE") as caught:
        getattr(opened, what)()
    assert caught.value.because == "fake plugin FAKE raised ZeroDivisionError: by nothing"
    with pytest.raises(DeviceUnavailable, match="it was unplugged"):
        getattr(opened, what)()
    setattr(opened.device, what, lambda: None)


def closing(close):
    """An opened device FAKE that is closed by `close`."""
    module = fake_plugin(capabilities=fake_capabilities())
    opened = registry.current().register(module, "FAKE") and registry.open("FAKE")
    opened.device.close = close
    return opened


def test_it_is_closed_once_at_exit(fresh_registry):
    closed = []
    closing(lambda: closed.append(1))
    close_all_at_exit()
    close_all_at_exit()
    assert closed == [1]


def test_a_fork_leaves_it_open_at_exit(fresh_registry):
    closed = []
    opened = closing(lambda: closed.append(1))
    opened._process += 1
    close_all_at_exit()
    assert not closed


def test_a_failure_at_exit_does_not_prevent_other_devices_from_closing(fresh_registry, capsys):
    def fail():
        raise RuntimeError("no more")

    opened = closing(fail)
    opened.pool.drop = fail
    close_all_at_exit()
    assert not capsys.readouterr().err
    with settings.override(DEBUG=1):
        opened.close_at_exit()
    assert "RuntimeError: no more" in capsys.readouterr().err
    del opened.pool.drop, opened.device.close


def test_memory_that_cannot_be_freed_does_not_keep_it_open(fresh_registry):
    closed = []
    opened = closing(lambda: closed.append(1))

    def fail():
        raise DeviceUnavailable("the driver is gone")

    opened.pool.drop = fail
    with pytest.raises(DeviceUnavailable):
        opened.close()
    assert closed == [1]
    del opened.pool.drop
