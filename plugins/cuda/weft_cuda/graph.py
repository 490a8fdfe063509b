"""Many launches as one CUDA graph, whose parameters are changed where handles change."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from weft.plugin import Launch
from weft_cuda.allocator import Memory
from weft_cuda.driver import Context, Graph, Grid, Parameters
from weft_cuda.runner import KernelRunner, three


class LaunchGraph:
    """Launches bound together.

    :param context: of the GPU.
    :param graph: the driver's.
    :param parameters: one set for each launch.
    :param values: that each was bound with.
    """

    def __init__(
        self,
        context: Context,
        graph: Graph,
        parameters: list[Parameters],
        last: list[tuple[int, ...] | None],
        values: list[tuple[int, ...]],
    ) -> None:
        self._context = context
        self._graph = graph
        self._parameters = parameters
        self._last = last
        self._values = values
        self._lock = threading.Lock()
        self._events: tuple[object, object] | None = None

    @classmethod
    def of(cls, context: Context, launches: Sequence[Launch]) -> LaunchGraph | None:
        """A graph of these launches; None if some are not of this GPU, or there are no graphs."""
        nodes: list[tuple[Any, Grid, Grid, Parameters]] = []
        last: list[tuple[int, ...] | None] = []
        for launch in launches:
            runner = launch.runner
            if not isinstance(runner, KernelRunner) or runner.context is not context:
                return None
            # Handles that are not known yet are given at every replay.
            complete = None not in launch.handles
            addresses = _addresses(launch.handles) if complete else [0] * len(launch.handles)
            parameters = runner.parameters()
            parameters.fill(addresses, launch.values)
            grid, block = three(launch.global_size), three(launch.local_size)
            nodes.append((runner.function, grid, block, parameters))
            last.append((*addresses, *launch.values) if complete else None)
        graph = context.graph(nodes)
        if graph is None:
            return None
        values = [tuple(launch.values) for launch in launches]
        return cls(context, graph, [node[3] for node in nodes], last, values)

    def __call__(
        self, handles: Sequence[Sequence[Memory]], values: Sequence[Sequence[int]], *, wait: bool
    ) -> float | None:
        """Replay it; only launches whose handles or values changed are told so."""
        with self._lock:
            for number, (own, bound) in enumerate(zip(handles, self._values)):
                given = tuple(values[number]) if number < len(values) else ()
                addresses, given = _addresses(own), given or bound
                now = (*addresses, *given)
                if now != self._last[number]:
                    self._parameters[number].fill(addresses, given)
                    self._graph.update(number, self._parameters[number])
                    self._last[number] = now
            if not wait:
                self._graph.launch()
                return None
            if self._events is None:
                self._events = self._context.event(), self._context.event()
            start, stop = self._events
            self._context.record(start)
            self._graph.launch()
            self._context.record(stop)
            self._context.wait(stop)
            return self._context.seconds(start, stop)


def _addresses(handles: Sequence[Memory]) -> list[int]:
    return [handle.address for handle in handles]
