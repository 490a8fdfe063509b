"""Latency-hiding scheduling: exchange values between devices while other kernels run.
Also: communication scheduling, all-gather prefetch.

A collective starts as soon as its inputs are there. Kernels that need its result come after all
others that can run. Small collectives wait for others, and run together once they have
`BUCKET_BYTES`, or when nothing else can run.

All-gathers of parameters could all start first, and would take the memory of all parameters. Each
starts one layer ahead instead: while the layer before it computes.

in:  kernels, as they become ready      out: the kernel that is next

Source: Li et al., "PyTorch Distributed: Experiences on Accelerating Data Parallel Training", VLDB
2020 (buckets); the pass LatencyHidingScheduler of XLA; Zhao et al., "PyTorch FSDP: Experiences on
Scaling Fully Sharded Data Parallel", VLDB 2023 (prefetch).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence

from weft.device import registry
from weft.schedule.kernels import root_buffer
from weft.uop import CollectiveKind, Ops, UOp

BUCKET_BYTES = 1 << 20
"""Bytes of collectives that run together."""


def prefetch_edges(
    order: Sequence[UOp], followers: Mapping[UOp, Sequence[UOp]]
) -> list[tuple[UOp, UOp]]:
    """(before, after): which kernel an all-gather waits for, so that it starts one layer ahead.

    A layer is what uses the results of some all-gathers, of `BUCKET_BYTES` or more. The all-gathers
    of a layer wait until the second layer before it has begun to use its own.

    order: the kernels, each after those that it needs. followers: by kernel, those that need it.
    """
    place = {kernel: number for number, kernel in enumerate(order)}
    gathers = [k for k in order if is_collective(k) and _kind(k) == CollectiveKind.ALLGATHER]
    uses = {gather: found for gather in gathers if (found := _uses(gather, followers, place))}
    layers: list[list[UOp]] = []
    nbytes, before = BUCKET_BYTES, -1
    for gather in sorted(uses, key=lambda gather: uses[gather][0]):
        if nbytes >= BUCKET_BYTES and uses[gather][0] > before:
            layers.append([])
            nbytes = 0
        layers[-1].append(gather)
        nbytes += result_bytes(gather)
        before = uses[gather][0]
    edges: list[tuple[UOp, UOp]] = []
    for earlier, layer in zip(layers, layers[2:]):
        first = uses[layer[0]][0]  # what is before it needs no result of this layer
        begun = max(use for gather in earlier for use in uses[gather] if use < first)
        edges += [(order[begun], gather) for gather in layer]
    return edges


def _uses(
    gather: UOp, followers: Mapping[UOp, Sequence[UOp]], place: Mapping[UOp, int]
) -> list[int]:
    """The place of the first kernel on each device that needs a result, in order. Views, and
    kernels that other processes do not have, are no uses; what needs them is."""
    found: dict[str, int] = {}
    seen: set[UOp] = set()
    stack = list(followers[gather])
    while stack:
        user = stack.pop()
        if user in seen:
            continue
        seen.add(user)
        if is_view(user) or not _is_shared(user):
            stack.extend(followers[user])
        else:
            device = root_buffer(user.src[0]).device
            found[device] = min(place[user], found.get(device, place[user]))
    return sorted(found.values())


def _kind(collective: UOp) -> str:
    kind: str = collective.arg.ast.arg.kind
    return kind


def _is_shared(kernel: UOp) -> bool:
    """Whether all processes have a kernel: it is one of devices that exchange values."""
    devices = {root_buffer(s).device for s in kernel.src if s.op is not Ops.BIND}
    return all(registry.capabilities(name).memory.collective_group for name in devices)


def result_bytes(collective: UOp) -> int:
    """Bytes of the result of a collective on one device."""
    memory = root_buffer(collective.src[0])
    nbytes: int = memory.arg * memory.dtype.itemsize
    return nbytes


def is_collective(kernel: UOp) -> bool:
    """Whether a KERNEL is an exchange among devices."""
    op: Ops = kernel.arg.ast.op
    return op is Ops.COLLECTIVE


def is_view(kernel: UOp) -> bool:
    """Whether a KERNEL is a view of memory, which takes no work."""
    op: Ops = kernel.arg.ast.op
    return op is Ops.BUFFER_VIEW


class ReadyKernels:
    """The kernels whose predecessors have run, each kind in the order in which it is added.

    The order of the collectives does not depend on kernels that one process has and others do not:
    such a kernel delays the collectives, and changes nothing else.
    """

    def __init__(self) -> None:
        self._kernels: deque[UOp] = deque()
        self._users: deque[UOp] = deque()
        self._collectives: deque[UOp] = deque()
        self._bytes = 0
        self._flushing = False

    def __bool__(self) -> bool:
        return bool(self._kernels or self._users or self._collectives)

    def add(self, kernel: UOp, uses_exchange: bool = False) -> None:
        """Add a kernel. uses_exchange: whether it reads what a collective writes."""
        if is_collective(kernel):
            self._collectives.append(kernel)
            self._bytes += result_bytes(kernel)
        else:
            (self._users if uses_exchange else self._kernels).append(kernel)

    def pop(self) -> UOp:
        """Remove the next kernel, and return it."""
        full = self._bytes >= BUCKET_BYTES or not self._kernels
        self._flushing = bool(self._collectives) and (self._flushing or full)
        if not self._flushing:
            return (self._kernels or self._users).popleft()
        kernel = self._collectives.popleft()
        self._bytes -= result_bytes(kernel)
        return kernel
