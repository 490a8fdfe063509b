"""Search budget: the seconds that the search for one kernel may take (`WEFT_BEAM_SECONDS`).

The budget counts wall time from the start of the search, so that it also holds on a machine with
other load. Each request to a measurement worker gets what is left at most.
"""

from __future__ import annotations

from math import inf
from time import perf_counter

from weft.base.settings import settings

_FOR_ROUNDS = 0.8
"""The share of the rounds. The rest is for the last, interleaved timing of the best plans."""


class Budget:
    """The time limit of one search.

    :param seconds: from now on; 0 or less: no limit.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds if seconds > 0 else inf
        self.started = perf_counter()

    @classmethod
    def of_settings(cls) -> Budget:
        """The budget of `WEFT_BEAM_SECONDS`."""
        return cls(settings.BEAM_SECONDS)

    @property
    def elapsed(self) -> float:
        """The seconds since the start of the search."""
        return perf_counter() - self.started

    @property
    def left(self) -> float:
        """The seconds until the whole budget is spent; 0 if it is."""
        return max(0.0, self.seconds - self.elapsed)

    @property
    def ends_rounds(self) -> bool:
        """Whether no further plan is built or measured."""
        return self.elapsed >= _FOR_ROUNDS * self.seconds

    def __str__(self) -> str:
        if self.seconds == inf:
            return f"{self.elapsed:.0f} s"
        return f"{self.elapsed:.0f} s of {self.seconds:.0f} s"
