"""What random cases are drawn from: the same for the same seed, everywhere."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy


class RandomSource:
    """`pick` draws from what Python has, `numbers` fills arrays."""

    pick: random.Random
    numbers: numpy.random.Generator

    def begin(self, seed: int) -> None:
        """Draw from the beginning of what a seed gives."""
        import numpy

        self.pick = random.Random(seed)
        self.numbers = numpy.random.default_rng(seed)

    def choice(self, options: Sequence[Any]) -> Any:
        """One of them."""
        return self.pick.choice(options)

    def chance(self, share: float = 0.5) -> bool:
        """True so often."""
        return self.pick.random() < share

    def integer(self, low: int, high: int) -> int:
        """From low to high, both among them."""
        return self.pick.randint(low, high)
