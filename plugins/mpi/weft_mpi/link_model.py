"""Cost model of exchanges: seconds and bytes of a collective on links of one latency and bandwidth.
Also: alpha-beta model, Hockney model.

A message of b bytes takes `latency + b / bandwidth` seconds. Each collective takes the fastest of
its known algorithms.

Source: Hockney, "The communication challenge for MPP", Parallel Computing 20, 1994; Thakur,
Rabenseifner and Gropp, "Optimization of Collective Communication Operations in MPICH",
International Journal of High Performance Computing Applications 19, 2005; Patarasu and Yuan,
"Bandwidth Optimal All-reduce Algorithms for Clusters of Workstations", Journal of Parallel and
Distributed Computing 69, 2009.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import ceil, log2

from weft.plugin import ArgumentError, CollectiveKind

SIZES = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
TIMES = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
NUMBER = r"(\d+(?:\.\d+)?)"


@dataclass(frozen=True)
class Link:
    """What connects two ranks.

    :param bandwidth: bytes per second.
    :param latency: seconds of a message without bytes.
    """

    bandwidth: float
    latency: float

    @classmethod
    def parse(cls, text: str) -> Link:
        """A link as ``50GB/s,2us`` names it.

        :raises ArgumentError: if it is spelled otherwise.
        """
        found = re.fullmatch(rf"{NUMBER}([KMGT]?)B/s,{NUMBER}(s|ms|us|ns)", text.strip())
        if found is None:
            raise ArgumentError(
                "a link is a bandwidth and a latency", asked=text, try_="--link 50GB/s,2us"
            )
        size, unit, wait, scale = found.groups()
        return cls(float(size) * SIZES[unit], float(wait) * TIMES[scale])

    def message(self, nbytes: float) -> float:
        """Seconds of one message."""
        return self.latency + nbytes / self.bandwidth

    def exchange(self, kind: str, ranks: int, nbytes: float) -> float:
        """Seconds of a collective among ranks.

        nbytes: of the whole value: what a rank gives to an all-reduce, a reduce-scatter, an
        all-to-all or a broadcast, and gets from an all-gather.
        """
        if ranks < 2:
            return 0.0
        steps, rounds = ranks - 1, ceil(log2(ranks))
        ring = steps * self.message(nbytes / ranks)
        if kind == CollectiveKind.ALLREDUCE:
            return min(2 * ring, rounds * self.message(nbytes))
        if kind == CollectiveKind.BROADCAST:
            scattered = rounds * self.latency + steps / ranks * nbytes / self.bandwidth + ring
            return min(rounds * self.message(nbytes), scattered)
        return ring


def sent_bytes(kind: str, ranks: int, nbytes: float) -> float:
    """The bytes that a rank sends at least in a collective; `nbytes` as of `Link.exchange`."""
    share = (ranks - 1) / ranks * nbytes
    return 2 * share if kind == CollectiveKind.ALLREDUCE else share


def model_state_bytes(
    parameters: int, ranks: int, stage: int, weight: int = 4, gradient: int = 4, state: int = 8
) -> float:
    """The bytes of parameters, gradients and optimiser state on a rank.

    :param stage: of ZeRO; 0 has copies of all on each rank.
    :param weight: bytes per parameter; those of its gradient and of its optimiser state follow.

    Source: Rajbhandari et al., "ZeRO: Memory Optimizations Toward Training Trillion Parameter
    Models", SC 2020.
    """
    held = (weight, gradient, state)
    first_in_parts = 3 - stage  # stage 1 cuts the state, 2 the gradients too, 3 all
    return parameters * sum(
        size / ranks if place >= first_in_parts else size for place, size in enumerate(held)
    )
