"""The page of deliberate differences: its tables are whole; `tests/docs` runs its examples."""

from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "differences.md"
TEXT = PAGE.read_text()


@pytest.mark.parametrize("line", [row for row in TEXT.splitlines() if row.startswith("|")])
def test_every_row_says_five_things(line):
    assert line.count("|") == 6
