"""What can run: kernels, copies, windows."""

import pytest

from helpers.schedules import floats, read, scheduled
from weft.base.errors import OutOfMemory, PluginError
from weft.engine import lower_schedule_item, run_schedule


def test_copies_and_windows_run():
    x = floats(1, 2, 3, 4)
    items, result = scheduled(x.reshape((2, 2)).copy_to_device("HOST"))
    run_schedule(items)
    assert read(result) == [1, 2, 3, 4]


def kernel():
    items, _ = scheduled(floats(1, 2) + floats(3, 4))
    return lower_schedule_item(items[-1])


@pytest.mark.parametrize("error,kind", [(KeyError("x"), PluginError), (OutOfMemory(), OutOfMemory),
    (MemoryError(), MemoryError), (KeyboardInterrupt(), KeyboardInterrupt)])  # fmt: skip
def test_a_crash_of_a_runner_is_the_plugins_fault(monkeypatch, error, kind):
    step = kernel()

    def crash(*arguments, **named):
        raise error

    monkeypatch.setattr(step.prg, "runner", crash)
    with pytest.raises(kind) as caught:
        step.run()
    if kind is PluginError:
        assert caught.value.asked == f"kernel {step.prg.name}, on {step.bufs[0].device}"
        assert "raised KeyError: 'x'" in caught.value.because and caught.value.__cause__ is error
    elif kind is MemoryError:
        found = caught.value
        assert isinstance(found, OutOfMemory) and found.__cause__ is error
        assert found.asked and found.because and found.try_
    else:
        assert caught.value is error


def test_seconds_are_a_number(monkeypatch):
    step = kernel()
    monkeypatch.setattr(step.prg, "runner", lambda *arguments, **named: "soon")
    with pytest.raises(PluginError) as caught:
        step.run()
    assert "gave a str as seconds" in caught.value.because
