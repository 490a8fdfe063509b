"""docs/operations.md lists every public method of Tensor, and what it says of them is so.

The page is written by `cases.operations_table`; here its names are compared with those that Tensor
has, and a few of its cells are run again.
"""

import random
from pathlib import Path

import pytest

from weft import dtypes

pytest.importorskip("torch", reason="PyTorch is what much of the table is compared with")
pytest.importorskip("ml_dtypes", reason="it gives NumPy the short floats of the table")

from cases.operations_table import table
from cases.operations_table.cells import run
from cases.operations_table.elementwise import CHECKS
from cases.operations_table.reasons import REASONS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "operations.md"
CELLS = table.read_page(PAGE.read_text(encoding="utf-8"))
BY_NAME = {d.name: d for d in dtypes.all}
SAMPLE = random.Random(11).sample(sorted((n, d) for n in CELLS for d in CELLS[n]), 24)


def test_every_method_has_a_check_or_a_reason():
    assert table.missing() == [], "enter a line in cases.operations_table, see `elementwise`"
    assert table.stale() == []


def test_the_page_lists_every_method():
    rows = set(CELLS)
    assert rows == set(CHECKS), "write the page again: see cases.operations_table"
    text = PAGE.read_text(encoding="utf-8")
    assert [name for name in REASONS if f"`{name}`" not in text] == []
    assert rows | set(REASONS) == set(table.methods())


def test_no_cell_is_empty_and_each_is_explained():
    text = PAGE.read_text(encoding="utf-8")
    signs = {cell for row in CELLS.values() for cell in row.values()}
    for sign in signs:
        number = sign.removeprefix("~").replace(".", "", 1)
        assert number.isdigit() or f"- `{sign}`:" in text, f"the sign {sign!r} is not explained"


@pytest.mark.parametrize("name, kind", SAMPLE, ids=lambda value: value)
def test_a_cell_is_so(name, kind):
    said = CELLS[name][kind]
    found = run(CHECKS[name], BY_NAME[kind], "REF")  # raises where it is wrong
    refused = found.units is None
    assert refused == (said.isalpha() and len(said) == 1), f"{said}, and {found.text()} now"
    if said == "=":
        assert found.units <= max(CHECKS[name].most, 0)
