"""CUDA graph: bind many launches into one submission, and update parameters that change."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from weft.plugin import Launch
from weft_cuda.allocator import Memory
from weft_cuda.driver import Context, Graph, Node
from weft_cuda.runner import KernelRunner, three


class LaunchGraph:
    """Launches bound together.

    :param context: of the GPU.
    :param graph: the driver's, of these launches.
    :param nodes: what it was made of.
    :param values: of the variables that each was bound with.
    """

    def __init__(
        self,
        context: Context,
        graph: Graph,
        nodes: Sequence[Node],
        values: Sequence[tuple[int, ...]],
    ) -> None:
        self._context = context
        self._graph = graph
        self._parameters = [node.parameters for node in nodes]
        self._values = list(values)
        # Launches whose parameters changed since the last update of the graph.
        self._changed: set[int] = set()
        self._lock = threading.Lock()
        self._events: tuple[object, object] | None = None

    @classmethod
    def of(cls, context: Context, launches: Sequence[Launch]) -> LaunchGraph | None:
        """A graph of these launches; None if some are not of this GPU, or there are no graphs."""
        nodes: list[Node] = []
        for launch in launches:
            runner = launch.runner
            if not isinstance(runner, KernelRunner) or runner.context is not context:
                return None
            parameters = runner.parameters()
            # Handles that are not known yet are given before the first replay.
            addresses = [0 if handle is None else handle.address for handle in launch.handles]
            parameters.fill(addresses, launch.values)
            grid, block = three(launch.global_size), three(launch.local_size)
            nodes.append(Node(runner.function, grid, block, parameters, runner.shared))
        graph = context.graph(nodes)
        if graph is None:
            return None
        return cls(context, graph, nodes, [tuple(launch.values) for launch in launches])

    def setter(self, places: Sequence[tuple[int, int]]) -> Callable[[Memory], None]:
        """A function that sets a handle in these places: numbers of a launch and an argument."""
        changed = self._changed
        spots = [(number, self._parameters[number].pointers, index) for number, index in places]

        def set_handle(handle: Memory) -> None:
            address = handle.address
            for number, pointers, index in spots:
                if pointers[index] != address:
                    pointers[index] = address
                    changed.add(number)

        return set_handle

    def launch(self) -> None:
        """Replay it with the current parameters; the driver gets only those that changed."""
        while self._changed:
            number = self._changed.pop()
            self._graph.update(number, self._parameters[number])
        self._graph.launch()

    def __call__(
        self, handles: Sequence[Sequence[Memory]], values: Sequence[Sequence[int]], *, wait: bool
    ) -> float | None:
        """Replay it with other handles and values; seconds on the GPU if `wait`, which waits."""
        with self._lock:
            for number, own in enumerate(handles):
                self._set(number, own, tuple(values[number]) if number < len(values) else ())
            if not wait:
                self.launch()
                return None
            if self._events is None:
                self._events = self._context.event(), self._context.event()
            start, stop = self._events
            self._context.record(start)
            self.launch()
            self._context.record(stop)
            self._context.wait(stop)
            return self._context.seconds(start, stop)

    def _set(self, number: int, handles: Sequence[Memory], values: tuple[int, ...]) -> None:
        parameters = self._parameters[number]
        addresses = [handle.address for handle in handles]
        values = values or self._values[number]
        if addresses != parameters.pointers[:] or values != self._values[number]:
            parameters.fill(addresses, values)
            self._values[number] = values
            self._changed.add(number)
