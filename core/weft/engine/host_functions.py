"""Host functions: the table of functions that HOST_CALL items run on the host, and how they run.
Also: foreign function interface, custom call handlers.

A host function takes NumPy arrays over the memory of its arguments and of its results, and fills
the results in place. It runs in the thread that runs the schedule, in the order of the schedule.

Source: XLA, custom calls.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from time import perf_counter
from typing import TYPE_CHECKING

from weft.base.errors import SpecError
from weft.base.interrupts import let_through
from weft.device import Buffer, OpenDevice, numpy_dtype
from weft.uop import HostCall, UOp

if TYPE_CHECKING:
    import numpy

HostFunction = Callable[..., None]
"""Takes the list of arguments, the list of results to fill, and parameters by name."""

HOST_FUNCTIONS: dict[str, HostFunction] = {}
"""The host functions by name."""


def host_function(function: HostFunction) -> HostFunction:
    """Enter a function into the table, by its name."""
    HOST_FUNCTIONS[function.__name__] = function
    return function


class HostCallStep:
    """A call of a host function: the value first in its buffers, then the arguments.

    ast: the HOST_CALL node, without sources.
    """

    is_kernel = False
    p = None

    def __init__(self, ast: UOp, device: OpenDevice) -> None:
        self.ast = ast
        self.device = device
        call: HostCall = ast.arg
        self.name: str = call.function
        self._inputs, self._outputs = call.inputs, tuple(zip(call.windows, call.outputs))
        self._parameters = dict(call.parameters)
        self._function = _function(call.function)
        self._dtype = numpy_dtype(ast.dtype)

    def __call__(
        self, bufs: Sequence[Buffer], values: Mapping[UOp, int], wait: bool
    ) -> float | None:
        """Seconds that the call took.

        :raises LinearAlgebraError: for matrices without the requested result.
        """
        started = perf_counter()
        value, *given = [self._array(buffer) for buffer in bufs]
        inputs = [array.reshape(shape) for array, shape in zip(given, self._inputs)]
        outputs = [value[start:stop].reshape(shape) for (start, stop), shape in self._outputs]
        try:
            self._function(inputs, outputs, **self._parameters)
        except Exception as error:
            let_through(error)
            self.device.failed(f"the host function {self.name}", error)
        return perf_counter() - started

    def _array(self, buffer: Buffer) -> numpy.ndarray:
        """The elements of a buffer, in place."""
        from numpy import frombuffer

        doing = f"mapping its memory for {self.name}"
        with self.device.call(doing):
            mapped = self.device.allocator.map_host(buffer.handle)
        if mapped is None:
            self.device.broken(doing, "declares host_visible, and returned None")
        return frombuffer(mapped, self._dtype)


def _function(name: str) -> HostFunction:
    """The host function of that name.

    :raises SpecError: if there is none.
    """
    found = HOST_FUNCTIONS.get(name)
    if found is None:
        raise SpecError(
            f"there is no host function {name!r}",
            asked=f"a HOST_CALL of {name!r}",
            because=f"the table has {', '.join(sorted(HOST_FUNCTIONS))}",
        )
    return found
