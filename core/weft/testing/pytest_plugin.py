"""What weft adds to pytest: ``--weft-device``, ``--weft-xfails``, ``--update-golden``, and
fixtures.

pytest loads this wherever weft is installed, so it imports the rest of weft only when a fixture is
asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from weft.testing.golden import Golden


def pytest_addoption(parser: pytest.Parser) -> None:
    """Our command-line options."""
    group = parser.getgroup("weft")
    group.addoption(
        "--weft-device",
        metavar="DEVICE",
        default=None,
        help="the device that the conformance kit tests; {tmp} in it is a fresh folder per test",
    )
    group.addoption(
        "--weft-xfails",
        metavar="FILE",
        default=None,
        help="tests that are expected to fail: a part of a test's id and '# why' per line",
    )
    group.addoption(
        "--update-golden", action="store_true", help="write golden files instead of comparing"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what the xfails file names."""
    listed = config.getoption("--weft-xfails")
    if not listed:
        return
    rules = expected_failures(Path(listed).read_text(encoding="utf-8"))
    for item in items:
        for part, why in rules:
            if part in item.nodeid:
                item.add_marker(pytest.mark.xfail(reason=why, strict=False))


def expected_failures(text: str) -> list[tuple[str, str]]:
    """(part of a test id, reason) per line that is neither empty nor only a comment."""
    rules = []
    for line in text.splitlines():
        part, _, why = line.partition("#")
        if part.strip():
            rules.append((part.strip(), why.strip() or "listed without a reason"))
    return rules


def pytest_assertrepr_compare(
    config: pytest.Config, op: str, left: Any, right: Any
) -> list[str] | None:
    """Show a diff where a golden comparison fails."""
    for side in (left, right):
        if op == "==" and type(side).__name__ == "Golden" and hasattr(side, "explain"):
            return side.explain()
    return None


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """``assert text == golden``: see ``weft.testing.golden``."""
    from weft.testing.golden import Golden, golden_path

    path = golden_path(request.node.path, request.node.name)
    return Golden(path, request.config.getoption("--update-golden"))


@pytest.fixture
def weft_device_name(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The device under test, as its string; the default device if none was named."""
    from weft.device import registry

    named = request.config.getoption("--weft-device")
    return registry.canonical(named.replace("{tmp}", str(tmp_path)) if named else None)


@pytest.fixture
def weft_device(weft_device_name: str) -> Iterator[Any]:
    """The device under test, opened (an OpenDevice). Skips where it is unavailable."""
    from weft.base.errors import DeviceUnavailable
    from weft.device import registry

    try:
        opened = registry.open(weft_device_name)
    except DeviceUnavailable as error:
        pytest.skip(f"{weft_device_name} is unavailable: {error.because or error.summary}")
    yield opened
    opened.synchronize()


@pytest.fixture
def weft_bytes(weft_device: Any) -> None:
    """Skips on a device that keeps no bytes: there is nothing to compare there."""
    from weft.base.dtype import dtypes
    from weft.device import Buffer

    if weft_device.capabilities.memory.persistent:
        return
    probe = Buffer(weft_device.id, 4, dtypes.uint8).copy_in(b"weft")
    if bytes(probe.copy_out()) != b"weft":
        pytest.skip(f"{weft_device.name} keeps no bytes")


@pytest.fixture
def weft_compute(weft_device: Any) -> Any:
    """The ComputeCaps of the device under test. Skips where it only stores."""
    if weft_device.capabilities.compute is None:
        pytest.skip(f"{weft_device.name} declares no ComputeCaps")
    return weft_device.capabilities.compute


@pytest.fixture
def weft_needs(weft_compute: Any) -> Callable[[Any], None]:
    """``weft_needs(Feature.SHARED)`` skips where the device under test lacks that feature."""

    def needs(feature: Any) -> None:
        if not weft_compute.has(feature):
            pytest.skip(f"the device does not declare {feature!r}")

    return needs


@pytest.fixture
def fresh_registry() -> Iterator[Any]:
    """A registry without plugins, in force during the test."""
    from weft.device import Registry, registry

    with registry.use(Registry([])) as empty:
        yield empty
