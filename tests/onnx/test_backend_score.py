"""The backend tests of the package `onnx` pass, except for those with a reason.

By default each 40th test runs. WEFT_TEST_EXAMPLES=2033 runs all of them, one after another;
`python tests/onnx/run_backend.py --jobs 2` is faster and prints the score.
"""

import sys
import warnings
from pathlib import Path

import pytest

pytest.importorskip("onnx", reason="the tests are those of the package onnx")
sys.path.insert(0, str(Path(__file__).parent))

from backend_cases import KINDS, cases
from expected_failures import EXPECTED_FAILURES, MAY_PASS

from helpers.example_counts import examples

LIGHT = [case for kind in KINDS if kind != "real" for case in cases(kind)]
EVERY = [*LIGHT, *cases("real")]
COUNT = examples(50)
CHOSEN = EVERY if COUNT >= len(EVERY) else LIGHT[:: max(1, len(LIGHT) // COUNT)]


def test_there_are_reasons_for_tests_that_are_there():
    assert EXPECTED_FAILURES.keys() - {case.name for case in EVERY} == set()


def test_the_goal_is_reached():
    assert len(EVERY) - len(EXPECTED_FAILURES) >= 1960


@pytest.mark.parametrize("case", CHOSEN, ids=lambda case: case.name)
def test_backend(case):
    def run():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            case.run()

    if case.name in MAY_PASS:
        pytest.skip(EXPECTED_FAILURES[case.name])
    elif case.name in EXPECTED_FAILURES:
        with pytest.raises(Exception):
            run()
    else:
        run()
