"""The page of deliberate differences: its examples are run, its tables are whole."""

import doctest
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "differences.md"
TEXT = PAGE.read_text()


def test_the_examples_give_what_they_say():
    examples = "\n".join(re.findall(r"```pycon\n(.*?)```", TEXT, re.DOTALL))
    test = doctest.DocTestParser().get_doctest(examples, {}, PAGE.name, str(PAGE), 0)
    assert len(test.examples) > 15
    said = []
    doctest.DocTestRunner(verbose=False).run(test, out=said.append)
    assert not said, "\n".join(said)


@pytest.mark.parametrize("line", [row for row in TEXT.splitlines() if row.startswith("|")])
def test_every_row_says_five_things(line):
    assert line.count("|") == 6
