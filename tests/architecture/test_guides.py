"""The guides under docs/howto/: their examples are run, from first to last."""

import doctest
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs" / "howto"


@pytest.mark.parametrize("name", ["mixed-precision.md", "training.md"])
def test_the_examples_give_what_they_say(name):
    text = (DOCS / name).read_text()
    examples = "\n".join(re.findall(r"```pycon\n(.*?)```", text, re.DOTALL))
    test = doctest.DocTestParser().get_doctest(examples, {}, name, str(DOCS / name), 0)
    assert test.examples
    said = []
    doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS).run(test, out=said.append)
    assert not said, "\n".join(said)
