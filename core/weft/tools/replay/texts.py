"""Canonical text: graphs as text independent of the process, with memory named by order of use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from weft.base.errors import ScheduleError
from weft.base.settings import settings
from weft.schedule import kernel_writes, overwritten_by, root_buffer, sorted_writes
from weft.uop import Ops, UOp, to_text

PASSED_OVER = frozenset({
    "DEVICE", "DEBUG", "JIT", "VIZ", "SPEC", "PROCESS_REPLAY", "CACHE_DIR", "CACHE",
    "DISABLE_PLUGINS", "TRACE_PLUGINS", "TRACEMETA", "DEFAULT_FLOAT", "SEED",
})  # fmt: skip
"""Settings that change neither schedules nor kernels."""


def settings_that_matter() -> dict[str, int | str]:
    """The present values of the others."""
    names = (row.name for row in settings.table())
    return {name: getattr(settings, name) for name in names if name not in PASSED_OVER}


def devices_in(nodes: Iterable[UOp]) -> list[str]:
    """The names of all devices in a graph."""
    found: dict[str, None] = {}
    for node in nodes:
        if node.op is Ops.DEVICE:
            names = (node.arg,) if isinstance(node.arg, str) else node.arg
            found.update(dict.fromkeys(names))
    return sorted(found)


def numbered(sink: UOp) -> tuple[UOp, dict[UOp, UOp]]:
    """`sink` with its UNIQUE nodes counted from 0 on, and what became of each."""
    uniques = [node for node in sink.toposort() if node.op is Ops.UNIQUE]
    renamed = {node: UOp(Ops.UNIQUE, arg=place) for place, node in enumerate(uniques)}
    return sink.substitute(renamed), renamed


def schedule_text(sink: UOp, becomes: Mapping[UOp, UOp]) -> str:
    """The kernels that `sink` is cut into: what each writes and reads, and its AST."""
    writes = kernel_writes(sink.substitute(becomes))
    try:
        writes = sorted_writes(writes)
    except ScheduleError:
        pass  # kernels that wait for each other are an error when they are run, and text here
    names: dict[UOp, str] = {}
    lines = []
    for place, kernel in enumerate(dict.fromkeys(write.src[1] for write in writes)):
        outputs = dict.fromkeys(root_buffer(version) for version in overwritten_by(kernel))
        inputs = [root_buffer(s) for s in kernel.src if s.op is not Ops.BIND]
        said = [_memory(buffer, names) for buffer in outputs]
        read = [_memory(buffer, names) for buffer in dict.fromkeys(inputs) if buffer not in outputs]
        lines.append(f"kernel {place}: {', '.join(said)} <- {', '.join(read) or 'nothing'}")
        lines += [f"  {line}" for line in to_text(kernel.arg.ast).rstrip("\n").split("\n")]
    return "\n".join(lines)


def _memory(buffer: UOp, names: dict[UOp, str]) -> str:
    known = names.get(buffer)
    if known is None:
        known = names[buffer] = f"b{len(names)}"
        return f"{known} ({buffer.arg} {buffer.dtype.name} on {buffer.device})"
    return known
