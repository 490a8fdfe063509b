"""Cost model of kernels: seconds of a launch from its operations and bytes.
Also: roofline model.

A launch takes a fixed time, and the longer one of its arithmetic and its memory traffic.

Source: Williams, Waterman and Patterson, "Roofline: An Insightful Visual Performance Model for
Multicore Architectures", Communications of the ACM 52, 2009.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from weft.plugin import ArgumentError, Estimates
from weft_mpi.link_model import NUMBER, SIZES, TIMES


@dataclass(frozen=True)
class Rates:
    """What one device reaches.

    :param operations: arithmetic operations per second; a multiply-add is two.
    :param bandwidth: bytes of memory per second.
    :param launch: seconds of a launch that does nothing.
    """

    operations: float
    bandwidth: float
    launch: float

    @classmethod
    def parse(cls, text: str) -> Rates:
        """Rates as ``60TFLOP/s,3TB/s,5us`` names them.

        :raises ArgumentError: if they are spelled otherwise.
        """
        pattern = rf"{NUMBER}([KMGT]?)FLOP/s,{NUMBER}([KMGT]?)B/s,{NUMBER}(s|ms|us|ns)"
        found = re.fullmatch(pattern, text.strip())
        if found is None:
            raise ArgumentError(
                "the rates of a device are operations, bytes of memory, and the time of a launch",
                asked=text,
                try_="--rates 60TFLOP/s,3TB/s,5us",
            )
        operations, per, size, unit, wait, scale = found.groups()
        return cls(
            float(operations) * SIZES[per], float(size) * SIZES[unit], float(wait) * TIMES[scale]
        )

    def seconds(self, cost: Estimates) -> float:
        """Seconds of a launch. Numbers that depend on variables count at their largest."""
        arithmetic = _largest(cost.ops) / self.operations
        return self.launch + max(arithmetic, _largest(cost.bytes) / self.bandwidth)


def _largest(number: Any) -> float:
    return number if isinstance(number, int) else number.vmax
