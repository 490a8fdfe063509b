"""Host functions: the table of functions that HOST_CALL items run on the host, and how they run.
Also: foreign function interface, custom call handlers.

A host function takes NumPy arrays over the memory of its arguments and of its results, and fills
the results in place. It runs in the thread that runs the schedule, in the order of the schedule.

Source: XLA, custom calls.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from time import perf_counter
from typing import Any

from weft.base.errors import SpecError
from weft.base.interrupts import let_through
from weft.device import Buffer, OpenDevice, numpy_dtype
from weft.uop import HostCall, UOp

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
        size, dtype = ast.dtype.itemsize, numpy_dtype(ast.dtype)
        self._inputs = [(shape, dtype) for shape in call.inputs]
        self._outputs = [
            (shape, dtype, start * size) for shape, (start, _) in zip(call.outputs, call.windows)
        ]
        self._parameters = dict(call.parameters)
        self._function = _function(call.function)
        self._array = _array_class()

    def __call__(
        self, bufs: Sequence[Buffer], values: Mapping[UOp, int], wait: bool
    ) -> float | None:
        """Seconds that the call took.

        :raises LinearAlgebraError: for matrices without the requested result.
        """
        started = perf_counter()
        array, map_host = self._array, self.device.allocator.map_host
        try:
            value, *given = [map_host(buffer.handle) for buffer in bufs]
            inputs = [array(*how, memory) for how, memory in zip(self._inputs, given)]
            outputs = [array(shape, dtype, value, at) for shape, dtype, at in self._outputs]
            self._function(inputs, outputs, **self._parameters)
        except Exception as error:
            let_through(error)
            self.device.failed(f"the host function {self.name}", error)
        return perf_counter() - started


def _array_class() -> Any:
    """`numpy.ndarray`, imported with the first host function."""
    from numpy import ndarray

    return ndarray


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
