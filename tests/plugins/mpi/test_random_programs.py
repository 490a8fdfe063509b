"""Random programs and random layouts on ranks; `tests/fuzz.py --ranks 2` runs more of them."""

import pytest

FUZZ = """
    import sys
    sys.path.insert(0, {folder!r})
    from fuzz import run_chunk
    print(run_chunk({kind!r}, {start}, {start} + 8))
"""


@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize("kind", ["ranks", "reshardings"])
def test_random_programs_have_the_values_of_one_process(ranks, pytestconfig, kind, n):
    folder = str(pytestconfig.rootpath / "tests")
    outcome = ranks(n, FUZZ.format(folder=folder, kind=kind, start=100 * n), timeout=300)
    assert outcome.lines == ["0"] * n
