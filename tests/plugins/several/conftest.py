"""Devices of several families together: all that open on this machine."""

from pathlib import Path

import pytest

from weft.base.errors import DeviceError
from weft.device import registry

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "toy_device"


@pytest.fixture(scope="module")  # no other test is to find it
def example_device():
    """The device of the examples, installed or not: "" where it is not there at all."""
    if any(plugin.family == "TOY" for plugin in registry.current().plugins):
        yield "TOY"
    elif not EXAMPLE.is_dir():
        yield ""
    else:
        with pytest.MonkeyPatch.context() as patch:
            patch.syspath_prepend(str(EXAMPLE))
            import weft_toy

            registry.register(weft_toy, "TOY")
            yield "TOY"
            registry.unregister("TOY")


@pytest.fixture
def opened(example_device):
    """``opened(name, ...)`` gives device strings that all open; skips where one does not."""

    def names(*wanted):
        for name in wanted:
            try:
                registry.open(name)
            except DeviceError as error:
                pytest.skip(f"{name} does not open here: {error.because or error.summary}")
        return wanted if len(wanted) > 1 else wanted[0]

    return names
