"""How many examples of a property its test tries."""

from __future__ import annotations

import os


def examples(usual: int) -> int:
    """`usual`, but what WEFT_TEST_EXAMPLES says where it is set, and at most WEFT_TEST_FEWER.

    >>> examples(25)
    25
    """
    asked = os.environ.get("WEFT_TEST_EXAMPLES")
    if asked:
        return int(asked)
    return min(usual, int(os.environ.get("WEFT_TEST_FEWER", usual)))
