"""Host calls: the argument of HOST_CALL, a function of the host over memory that it can access.
Also: foreign function call, custom call.

The sources of a HOST_CALL are flat values in memory. Its value is one flat buffer with all results
of the function, each at the start of a cache line. `weft.engine.host_functions` has the functions.

Source: XLA, custom calls.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any
from weakref import WeakValueDictionary

from weft.base.deferred_dataclass import dataclass
from weft.uop.text import register_arg

Shape = tuple[int, ...]

_ALIGNMENT = 16
"""Each result starts at a multiple of this many elements."""

_calls: WeakValueDictionary[Any, HostCall] = WeakValueDictionary()


@dataclass(frozen=True, eq=False)
class HostCall:
    """A call of a host function. All arguments and results have the dtype of the node.

    Equal calls are one object: its hash, of which every node needs one, is that of an identity.

    :param function: its name in the table of host functions.
    :param inputs: the shapes of its arguments. :param outputs: the shapes of its results.
    :param parameters: names and values of its other arguments.
    """

    function: str
    inputs: tuple[Shape, ...]
    outputs: tuple[Shape, ...]
    parameters: tuple[tuple[str, int | float | str], ...] = ()

    def __new__(
        cls,
        function: str,
        inputs: tuple[Shape, ...],
        outputs: tuple[Shape, ...],
        parameters: tuple[tuple[str, int | float | str], ...] = (),
    ) -> HostCall:
        """The call with these fields."""
        key = function, inputs, outputs, parameters
        found = _calls.get(key)
        if found is None:
            found = _calls[key] = object.__new__(cls)
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        return HostCall, (self.function, self.inputs, self.outputs, self.parameters)

    @cached_property
    def windows(self) -> tuple[tuple[int, int], ...]:
        """The first element and the end of each result in the value."""
        found: list[tuple[int, int]] = []
        start = 0
        for shape in self.outputs:
            stop = start + math.prod(shape)
            found.append((start, stop))
            start = -(-stop // _ALIGNMENT) * _ALIGNMENT
        return tuple(found)

    @cached_property
    def size(self) -> int:
        """The number of elements of the value."""
        return self.windows[-1][1]


register_arg(HostCall)
