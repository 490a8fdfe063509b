"""Host calls: the argument of HOST_CALL, a function of the host over memory that it can access.
Also: foreign function call, custom call.

The sources of a HOST_CALL are flat values in memory. Its value is one flat buffer with all results
of the function, each at the start of a cache line. `weft.engine.host_functions` has the functions.

Source: XLA, custom calls.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from weft.uop.text import register_arg

Shape = tuple[int, ...]

_ALIGNMENT = 16
"""Each result starts at a multiple of this many elements."""


@dataclass(frozen=True, slots=True)
class HostCall:
    """A call of a host function. All arguments and results have the dtype of the node.

    :param function: its name in the table of host functions.
    :param inputs: the shapes of its arguments. :param outputs: the shapes of its results.
    :param parameters: names and values of its other arguments.
    """

    function: str
    inputs: tuple[Shape, ...]
    outputs: tuple[Shape, ...]
    parameters: tuple[tuple[str, int | float | str], ...] = ()

    @property
    def windows(self) -> tuple[tuple[int, int], ...]:
        """The first element and the end of each result in the value."""
        found: list[tuple[int, int]] = []
        start = 0
        for shape in self.outputs:
            stop = start + math.prod(shape)
            found.append((start, stop))
            start = -(-stop // _ALIGNMENT) * _ALIGNMENT
        return tuple(found)

    @property
    def size(self) -> int:
        """The number of elements of the value."""
        return self.windows[-1][1]


register_arg(HostCall)
