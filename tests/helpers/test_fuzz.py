"""The fuzzer counts programs that differ, and prints the seed of each."""

from __future__ import annotations

import fuzz
import pytest

from weft.testing.program_lines import Mismatch


def test_a_mismatch_is_counted_and_printed_with_its_seed(monkeypatch, capsys) -> None:
    def check(seed: int) -> None:
        if seed % 4 == 3:
            raise Mismatch(f"differs at {seed}")

    monkeypatch.setitem(fuzz.KINDS, "odd", ("some differ", lambda: check))
    assert fuzz.run_chunk("odd", 0, 8) == 2
    assert capsys.readouterr().out.count("differs at") == 2
    assert fuzz.run_chunk("odd", 0, 3) == 0


def test_a_kind_runs_in_a_process_of_its_own(capsys) -> None:
    assert fuzz.run_range("hazards", 0, 2) == 0
    assert "2 programs, 0 mismatches" in capsys.readouterr().out


def test_a_process_that_ends_early_is_a_mismatch(monkeypatch, capsys) -> None:
    monkeypatch.setattr(fuzz, "__file__", "no such file")
    assert fuzz.run_range("hazards", 0, 2) == 1
    assert "ended with" in capsys.readouterr().out


@pytest.mark.parametrize("text", ["hazards", "none=0:1", "hazards=a:b"])
def test_ranges_are_checked(text: str) -> None:
    with pytest.raises(fuzz.argparse.ArgumentTypeError, match="START:STOP"):
        fuzz._range(text)
