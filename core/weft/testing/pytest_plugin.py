"""pytest plugin: the options ``--weft-device``, ``--weft-xfails``, ``--weft-report`` and
``--update-golden``, and fixtures.

pytest loads this module in every environment with weft. It therefore imports the rest of weft only
when a fixture is used.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from weft.testing.golden import Golden

REPORT_SUFFIXES = (".md", ".json", ".html")


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
        "--weft-report",
        metavar="PATH",
        action="append",
        default=[],
        help="write the device's capability sheet there: .md, .json or .html; may be repeated",
    )
    group.addoption(
        "--update-golden", action="store_true", help="write golden files instead of comparing"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Collect outcomes if a report was requested."""
    paths = [Path(path) for path in config.getoption("--weft-report") or ()]
    wrong = [str(path) for path in paths if path.suffix.lower() not in REPORT_SUFFIXES]
    if wrong:
        raise pytest.UsageError(f"--weft-report {wrong[0]}: one of {', '.join(REPORT_SUFFIXES)}")
    if listed := config.getoption("--weft-xfails"):
        expected_failures(_text_of(listed))  # what is wrong with it is said before anything runs
    if paths and not _is_worker(config):  # of several processes the first one hears all
        config.pluginmanager.register(Reporter(config, paths), "weft-report")


@pytest.hookimpl(tryfirst=True)  # before -k and -m take tests away
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what the xfails file names. A listed test that passes is an error, and so is a line that
    names no test, so that the list never says more than is true.

    :raises pytest.UsageError: for a device that cannot be tested; for a line without a reason, or
        one that names no test of a suite that was collected whole.
    """
    named = config.getoption("--weft-device")
    # One of several processes cannot end the run with a message, so there every test says it.
    if (
        named
        and not _is_worker(config)
        and any("weft_device" in getattr(item, "fixturenames", ()) for item in items)
    ):
        _must_open(named)
    listed = config.getoption("--weft-xfails")
    if not listed:
        return
    rules = expected_failures(_text_of(listed))
    used: set[str] = set()
    for item in items:
        first = next(((part, why) for part, why in rules if part in item.nodeid), None)
        used |= {part for part, _ in rules if part in item.nodeid}
        if first is not None:
            item.add_marker(pytest.mark.xfail(reason=first[1], strict=True))
    idle = [f"{part!r} ({why})" for part, why in rules if part not in used]
    if idle and items and _is_whole(config):
        message = (
            f"--weft-xfails {listed} names what no test is called: {', '.join(idle)}; "
            "remove the line, or correct the name"
        )
        if not _is_worker(config):
            raise pytest.UsageError(message)
        items.append(Complaint.from_parent(items[0].session, name="--weft-xfails", said=message))


class Complaint(pytest.Item):
    """A test that fails: how one of several processes says what is wrong with the whole."""

    def __init__(self, *, said: str, **others: Any) -> None:
        super().__init__(**others)
        self.said = said

    def runtest(self) -> None:
        """It fails."""
        pytest.fail(self.said, pytrace=False)


def _is_worker(config: pytest.Config) -> bool:
    """Whether this is one of several processes that share the tests."""
    return hasattr(config, "workerinput")


def _must_open(named: str) -> None:
    """Raise one error instead of one for each test if no plugin serves the device, or if its plugin
    is broken. Tests of a device that is only unavailable are skipped."""
    from weft.base.errors import DeviceError, DeviceUnavailable
    from weft.device import registry

    try:
        with TemporaryDirectory() as folder:
            registry.open(named.replace("{tmp}", folder))
    except DeviceUnavailable:
        return
    except DeviceError as error:
        raise pytest.UsageError(f"--weft-device {named} cannot be tested: {error}") from error


def _text_of(listed: str) -> str:
    try:
        return Path(listed).read_text(encoding="utf-8")
    except OSError as error:
        raise pytest.UsageError(f"--weft-xfails {listed}: {error.strerror}") from None


def _is_whole(config: pytest.Config) -> bool:
    """Whether folders and packages were named, rather than some of their files or tests."""
    return not any("::" in name or _is_file(name) for name in config.args)


def _is_file(name: str) -> bool:
    if Path(name).exists() or os.sep in name:
        return not Path(name).is_dir()
    try:
        found = find_spec(name)  # as --pyargs does
    except (ImportError, ValueError):
        return False
    return found is not None and found.submodule_search_locations is None


def expected_failures(text: str) -> list[tuple[str, str]]:
    """(part of a test id, reason) per line that is neither empty nor only a comment.

    :raises pytest.UsageError: for a line without a reason.
    """
    rules = []
    for number, line in enumerate(text.splitlines(), 1):
        part, _, why = line.partition("#")
        if part.strip() and not why.strip():
            raise pytest.UsageError(
                f"--weft-xfails, line {number}: {part.strip()!r} is listed without a reason; "
                "write it after a #"
            )
        if part.strip():
            rules.append((part.strip(), why.strip()))
    return rules


class Reporter:
    """Collects the outcome of every test, and writes the report when the run ends."""

    def __init__(self, config: pytest.Config, paths: list[Path]) -> None:
        self.config = config
        self.paths = paths
        self.found: dict[str, tuple[str, str]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Setup, call and teardown of a test: the worst of them counts."""
        if report.passed and report.when != "call":
            return
        outcome, reason = str(report.outcome), ""
        if report.skipped:
            expected = hasattr(report, "wasxfail")
            outcome = "xfailed" if expected else "skipped"
            reason = report.wasxfail if expected else _skip_reason(report)
        elif report.failed:
            outcome = "failed" if report.when == "call" else "error"
            reason = _last_line(report)
        self.found[report.nodeid] = (outcome, reason)

    def pytest_sessionfinish(self) -> None:
        """Write the report in every requested format."""
        from weft.base.errors import WeftError
        from weft.device import registry
        from weft.testing.report import Outcome, Report, facts_of

        named = self.config.getoption("--weft-device")
        report = Report(named or "the default device")
        try:
            device = registry.open(named)
            plugin = registry.current().plugins_of(device.id.family)[0]
            report.device, report.facts = device.name, facts_of(device, plugin)
        except WeftError as error:  # a device that is named by a place, or does not open
            report.facts = {"not open here": error.summary}
        report.outcomes = [Outcome(test, *said) for test, said in self.found.items()]
        for path in self.paths:
            report.write(path)


def _skip_reason(report: pytest.TestReport) -> str:
    said = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return said.removeprefix("Skipped: ")


def _last_line(report: pytest.TestReport) -> str:
    crash = getattr(report.longrepr, "reprcrash", None)
    return (crash.message if crash else str(report.longrepr)).partition("\n")[0]


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
    return Golden(path, bool(request.config.getoption("--update-golden")))


@pytest.fixture
def weft_device_name(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The device under test, as its string; the default device if none was named."""
    from weft.device import registry
    from weft.engine import ready_kernels

    ready_kernels.use(False)  # what is tested is compiled here
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
