"""Process groups: what one process does of a schedule that several processes run.
Also: SPMD execution.

Every process makes the whole schedule. It compiles and runs the kernels of its addressable devices,
and takes part in the exchanges with them. Before a schedule runs, the plugin of the devices
compares it with those of the other processes (`weft_schedule`).

Source: Xu et al., "GSPMD: General and Scalable Parallelization for ML Computation Graphs", 2021
(one program for all devices); Frostig, Johnson and Leary, "Compiling machine learning programs via
high-level tracing", 2018.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

from weft.base.weak import WeakKeys
from weft.device import OpenDevice, registry
from weft.schedule import ScheduleItem
from weft.uop import Ops, UOp, to_text

_EXCHANGES = frozenset({Ops.COPY, Ops.COLLECTIVE})
_digests: WeakKeys[UOp, str] = WeakKeys()


def is_addressable(device: str) -> bool:
    """Whether this process runs the kernels of a device."""
    return registry.capabilities(device).memory.addressable


def is_local(item: ScheduleItem) -> bool:
    """Whether this process has a share in an item."""
    if item.ast.op is Ops.SINK or item.ast.op is Ops.BUFFER_VIEW:
        return is_addressable(item.bufs[0].device)
    if item.ast.op is Ops.COPY and not is_addressable(item.bufs[0].device):
        to, source = (registry.capabilities(buffer.device).memory for buffer in item.bufs)
        return (
            source.addressable and to.link_group is not None and to.link_group == source.link_group
        )
    return any(is_addressable(buffer.device) for buffer in item.bufs)


def compare_schedules(items: Sequence[ScheduleItem]) -> None:
    """Have the plugin of devices of other processes compare a schedule before it runs.

    A schedule of one such device exchanges nothing, and is not compared.
    """
    names = dict.fromkeys(buffer.device for item in items for buffer in item.bufs)
    if all(is_addressable(name) for name in names):
        return
    opened = [registry.open(name) for name in names]
    group = [device for device in opened if device.capabilities.memory.collective_group]
    if len(group) > 1:
        group[0].compare_schedule([device.device for device in group], _lines(items, group))


def _lines(items: Sequence[ScheduleItem], group: Sequence[OpenDevice]) -> list[str]:
    """A line for each item on the devices of the group; equal in all processes that run one
    program.

    Exchanges come first, in their order. Other items may differ in order and device: a process
    that reads a part may use it again there. Items with other devices are left out: each process
    has its own.
    """
    known = {device.name for device in group}
    exchanges: list[str] = []
    others: list[str] = []
    for item in items:
        if all(buffer.device in known for buffer in item.bufs):
            if item.ast.op in _EXCHANGES:
                exchanges.append(_line(item, f" on {item.bufs[0].device}"))
            else:
                others.append(_line(item))
    return exchanges + sorted(others)


def _line(item: ScheduleItem, place: str = "") -> str:
    origin = f"\tof {', '.join(map(str, item.metadata))}" if item.metadata else ""
    return f"{_digest(item.ast)} {item.ast.op.name}{place}{origin}"


def _digest(ast: UOp) -> str:
    """A digest of the structure of an AST."""
    known = _digests.get(ast)
    if known is None:
        text = to_text(ast).encode()
        known = _digests[ast] = blake2b(text, digest_size=8).hexdigest()
    return known
