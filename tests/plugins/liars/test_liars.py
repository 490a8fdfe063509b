"""The kit catches liars: devices that are wrong in one thing each fail it, with words that help.

All are made of honest devices, which pass the same tests. The kit runs in this process.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

import weft.testing.conformance
from weft.device import Registry, registry
from weft.engine.programs import forget_programs
from weft.testing import resources

sys.path.insert(0, str(Path(__file__).parent))  # as the processes of the kit find them
import leavers  # noqa: E402
import liars  # noqa: E402

KIT = Path(weft.testing.conformance.__file__).parent

IN_STEP = "launches::test_work_items_wait_for_each_other_in_every_round[left]"
GRID = "launches::test_every_work_item_of_a_grid_runs_once[()-(2, 3, 5)]"
BETWEEN = "arithmetic::test_the_value_between_two_operations_is_rounded[dtypes.{}-{}]"
LEFT = "exit::test_nothing_is_left_behind[{}]"
SUBMISSION = "replay::test_a_submission_is_replayed_on_other_memory_and_with_other_values"

CAUGHT = {
    "RoundsCasts": ("ops::test_cast[int-float]", "(given, found, wanted): [(1.5, 2, 1)"),
    "CutsCasts": ("ops::test_cast[half-float]", "(given, found, wanted)"),
    "Floors": ("ops::test_native_op[IDIV-int]", "(operands, found, wanted)"),
    "LosesTheTail": ("copy::test_odd_sizes_there_and_back_by_every_method[7]", "in by "),
    "IgnoresOffsets": ("views::test_a_window_reads_its_part", "At index 0 diff"),
    "IgnoresBarriers": (IN_STEP, "None"),
    "StaleHandles": (SUBMISSION, "replay 1"),
    "StaleValues": (SUBMISSION, "replay 0"),
    "HalfIsFloat": (BETWEEN.format("half", "MUL-ADD"), "rounding to dtypes.half after each"),
    "DoubleIsFloat": ("ops::test_native_op[SQRT-double]", "(operands, found, wanted)"),
    "HalfIsBrain": ("ops::test_native_op[MAX-half]", "(operands, found, wanted)"),
    "LaunchesLess": (GRID, "groups of"),
    "WrongTails": ("ops::test_native_op[EXP2-float]", "((200.0,), 1.26"),
    "FreesEarly": ("memory::test_many_buffers_are_alive_at_once", "buffer "),
    "OneMemoryForTwo": ("together::test_each_has_memory_of_its_own", "on LIAR"),
    "RunsLater": ("launches::test_a_copy_out_waits_for_launches", "{321}"),
    "ReadsLater": ("memory::test_what_was_copied_in_may_change_afterwards", "At index 0 diff"),
    "WindowsAreCopies": ("memory::test_a_window_shows_what_is_written", "it must be no copy"),
    "LinksNothing": ("copy::test_within_the_device[link]", "At index 0 diff"),
    "StreamsBackwards": ("memory::test_streaming_gives_all_bytes_in_order", "[100, 300, 300, 300]"),
    "SharesLess": ("limits::test_all_shared_memory", "reached outside"),
    "TakesFewerBuffers": ("limits::test_as_many_buffers_as_allowed", "24 arguments are too many"),
    "AllocatesLess": ("memory::test_the_largest_allocation_is_honoured", "4194304 bytes"),
    "CompilesAnything": ("compile::test_bad_source_is_refused_with_the_log", "DID NOT RAISE"),
    "TouchesMasked": ("kernels::test_a_masked_load_does_not_touch_memory", "outside a buffer"),
    "MaxForgetsNan": ("ops::test_native_op[MAX-float]", "nan"),
    "SwapsMatrices": ("generated::test_matrix_units", "unit"),
    "PrintsSixDigits": ("kernels::test_constants[dtypes.double]", "(found, wanted): ["),
    "AllBitsAreTrue": ("ops::test_native_op[CMPLT-int]", "booleans in memory are 0 and 1"),
    "WordVariables": ("kernels::test_variables_of_64_bits_among_others", "At index 1 diff"),
    "ShortVariables": ("kernels::test_variables_have_all_the_digits_of_an_integer", "2147483645"),
    "Overtakes": ("launches::test_a_copy_in_does_not_overtake_a_launch_that_reads", "[{1}, {2},"),
    "SpellsTwice": ("declaration::test_the_locator_is_spelt_in_one_way", "'000' == '00'"),
    "UnequalLines": ("declaration::test_the_machine_model_holds_together", "a power of two: 96"),
    "GrowsWithoutCopying": ("storage::test_growing_keeps_what_was_there", "At index 0 diff"),
    "NeverFrees": ("memory::test_freed_memory_is_given_back", "memory in use grew by"),
    "CountsWrong": ("memory::test_freed_memory_is_given_back", "used_bytes grew from"),
    "LeavesSegments": (LEFT.format("exit"), "shared memory /dev/shm/weft_liar_"),
    "LeavesAProcess": (LEFT.format("return"), "time.sleep(1000)"),
    "LeavesFiles": (LEFT.format("raise"), "temporary file"),
    "CrashesAtExit": (LEFT.format("exit"), "ended with status 5"),
    "Forgets": ("storage::test_what_is_written_is_there_after_reopening", "None == 100"),
}  # fmt: skip


def kind_of(name):
    """The class of a liar."""
    return getattr(liars, name, None) or getattr(leavers, name)


class Outcomes:
    """What became of each test of a run."""

    def __init__(self):
        self.passed, self.failed, self.skipped = [], {}, []

    def pytest_runtest_logreport(self, report):
        if report.failed:
            self.failed[report.nodeid] = str(report.longrepr)
        elif report.skipped:
            self.skipped.append(report.nodeid)
        elif report.when == "call":
            self.passed.append(report.nodeid)


@pytest.fixture
def certify(monkeypatch, tmp_path):
    """``certify(plugin, tests)`` runs these tests of the kit for a plugin, in this process."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)

    def run(plugin, tests):
        found = Outcomes()
        forget_programs()
        names = [f"{KIT}{os.sep}test_{test.replace('::', '.py::', 1)}" for test in tests]
        with registry.use(Registry()) as own:
            own.register(plugin, "LIAR")
            install(type(plugin).__name__, tmp_path, monkeypatch)
            device = "LIAR:{tmp}" if isinstance(plugin, liars.Store) else "LIAR"
            pytest.main(
                [*names, "--weft-device", device, "-c", os.devnull, "--capture=no"]
                + ["-p", "no:terminal", "-p", "no:cacheprovider"]
                + ["-p", "weft.testing.pytest_plugin"],
                plugins=[found],
            )
        forget_programs()
        return found

    return run


def install(name, folder, monkeypatch):
    """An entry point for processes of their own."""
    facts = folder / "weft_liar-1.dist-info"
    if hasattr(leavers.INSTALLED, name) and not facts.exists():
        facts.mkdir()
        (facts / "METADATA").write_text("Name: weft-liar\nVersion: 1\n")
        (facts / "entry_points.txt").write_text(
            f"[weft.devices]\nLIAR = leavers:INSTALLED.{name}\n"
        )
        monkeypatch.syspath_prepend(str(Path(__file__).parent))
        monkeypatch.syspath_prepend(str(folder))


@pytest.fixture(autouse=True)
def nothing_is_waited_for_nor_left(monkeypatch):
    monkeypatch.setattr(resources, "PATIENCE", 2.0)
    yield
    for left in Path("/dev/shm").glob("weft_liar_*"):
        left.unlink(missing_ok=True)


@pytest.mark.parametrize("liar", CAUGHT)
def test_a_liar_is_caught_with_words_that_help(liar, certify):
    test, words = CAUGHT[liar]
    found = certify(kind_of(liar)(), [test])
    assert found.failed, f"passed {found.passed}, skipped {found.skipped}"
    assert any(words in said for said in found.failed.values()), next(iter(found.failed.values()))


@pytest.mark.parametrize("honest", [liars.Honest, liars.Store], ids=["computes", "stores"])
def test_a_correct_device_passes_the_tests_that_wrong_devices_fail(honest, certify):
    ours = {name for name in CAUGHT if issubclass(kind_of(name), liars.Store)}
    if honest is liars.Honest:
        ours = CAUGHT.keys() - ours
    tests = list(dict.fromkeys(CAUGHT[name][0] for name in ours))
    found = certify(honest(), tests)
    assert not found.failed, found.failed
    assert len(found.passed) >= len(tests) and not found.skipped


@pytest.mark.skipif(not resources.is_visible(), reason="resources are not visible here")
def test_an_honest_device_with_processes_and_segments_leaves_nothing(certify):
    endings = ("return", "raise", "exit", "SIGTERM")
    found = certify(leavers.Segments(), [LEFT.format(ending) for ending in endings])
    assert not found.failed, found.failed
    assert len(found.passed) == len(endings)
