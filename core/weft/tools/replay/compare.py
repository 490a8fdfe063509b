"""Comparison: make captured schedules and kernels again, and show the differences.

A schedule is made again from its tensor graph, a kernel from its AST, both with the settings and
capabilities of the capture, so that the machine does not matter. Only the renderer is that of the
present device, or of an architecture that its plugin offers offline.
"""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path

from weft.base.errors import ArgumentError, DeviceError, FileError, FormatError, WeftError
from weft.base.settings import settings
from weft.base.text import plural
from weft.codegen.pipeline import lower
from weft.device import Capabilities, ComputeCaps, OpenDevice, binding, registry
from weft.schedule import ScheduleContext, kernelize_map
from weft.tools import capabilities
from weft.tools.replay.record import KINDS, Record, read
from weft.tools.replay.texts import schedule_text
from weft.uop import Ops, UOp, from_text


class _NotHere(DeviceError):
    """The device of a kernel is absent, so the kernel cannot be compared."""


@dataclass
class Report:
    """The result of a comparison: the number of records of each kind, and the paths of differences.

    changed: the generated code differs. failed: it was generated at capture, and fails now.
    unknown: the device is not available. damaged: the record is incomplete.
    """

    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(KINDS, 0))
    changed: list[Path] = field(default_factory=list)
    failed: list[Path] = field(default_factory=list)
    unknown: list[Path] = field(default_factory=list)
    damaged: list[Path] = field(default_factory=list)

    @property
    def same(self) -> bool:
        """Whether everything was compared, and nothing differs."""
        return not (self.changed or self.failed or self.unknown or self.damaged)

    def summary(self) -> str:
        """One line: `57 schedules, 0 changed; 412 kernels, 3 changed`."""
        said = []
        for kind, count in self.counts.items():
            changed = sum(path.parent.name == kind for path in self.changed)
            failed = sum(path.parent.name == kind for path in self.failed)
            more = f", {failed} cannot be made any more" if failed else ""
            said.append(f"{plural(count, kind)}, {changed} changed{more}")
        if self.unknown:
            said.append(f"{plural(len(self.unknown), 'kernel')} of devices that are not here")
        if self.damaged:
            said.append(f"{plural(len(self.damaged), 'damaged file')}")
        return "; ".join(said)


def compare(
    folder: Path,
    say: Callable[[str], None],
    kinds: tuple[str, ...] = KINDS,
    architectures: Mapping[str, str] | None = None,
) -> Report:
    """Make everything in a folder again; differences are said as they are found.

    architectures: by family, one that its plugin offers without hardware, in place of the device.
    Raises FileError where there is nothing captured.
    """
    report = Report(dict.fromkeys(kinds, 0))
    paths = [(kind, path) for kind in kinds for path in sorted((folder / kind).glob("*.txt"))]
    if not paths:
        raise FileError(
            "nothing was captured here",
            asked=f"compare {folder}",
            because=f"it has no {' or '.join(f'{kind}/*.txt' for kind in kinds)}",
            try_=f"weft replay capture --out {folder} program.py",
        )
    for kind, path in paths:
        _compare_one(kind, path, report, say, architectures or {})
    return report


def _compare_one(
    kind: str, path: Path, report: Report, say: Callable[[str], None], archs: Mapping[str, str]
) -> None:
    name: object = kind
    try:
        record = read(path)
        name = record.facts.get("name", kind)
        if record.kind != kind:
            raise FormatError(f"a {record.kind} among those of kind {kind}", asked=str(path))
        before = record.section("source" if kind == "kernel" else "kernels")
        report.counts[kind] += 1
        with _as_captured(record):
            after = _kernel(record, archs) if kind == "kernel" else _schedule(record)
    except (FormatError, FileError) as error:
        report.damaged.append(path)
        say(f"{path}: {error}")
        return
    except _NotHere as error:
        report.unknown.append(path)
        say(f"{path}: {error}")
        return
    except WeftError as error:
        report.failed.append(path)
        say(f"{path}: {name} cannot be made any more: {error}")
        return
    if after != before:
        report.changed.append(path)
        say(
            "\n".join(_difference(before, after, f"{record.facts.get('name', kind)} ({path.name})"))
        )


def _difference(before: str, after: str, name: str) -> Iterator[str]:
    return difflib.unified_diff(
        before.split("\n"), after.split("\n"), f"{name} as captured", f"{name} now", lineterm=""
    )


def _as_captured(record: Record) -> AbstractContextManager[None]:
    """The settings of the capture; those that are no more are passed over."""
    known = {row.name for row in settings.table()}
    values = {name: v for name, v in dict(record.fact("settings")).items() if name in known}
    try:
        return settings.override(**values)
    except ArgumentError as error:
        raise FormatError(
            "these settings cannot be set", asked=repr(values), because=str(error)
        ) from error


def _kernel(record: Record, archs: Mapping[str, str]) -> str:
    """The source of a kernel as it would be now."""
    ast = from_text(record.section("ast"))
    compute = capabilities.read(ComputeCaps, record.fact("compute"))
    device = _device(record.fact("device"), archs)
    program = lower(ast, dataclasses.replace(device.target, compute=compute))
    return device.renderer.render(program)


def _device(name: str, archs: Mapping[str, str]) -> OpenDevice:
    family = name.partition(":")[0]
    try:
        return registry.offline(family, archs[family]) if family in archs else registry.open(name)
    except DeviceError as error:
        raise _NotHere(
            f"{error.summary} (to compare kernels for {name})",
            asked=error.asked,
            because=error.because,
            try_="install its plugin, or name an architecture with --arch FAMILY=ARCH",
        ) from error


def _schedule(record: Record) -> str:
    """The kernels of a schedule as they would be now."""
    caps = {
        name: Capabilities(
            capabilities.read(Capabilities, {"memory": said["memory"]}).memory,
            None if said["compute"] is None else capabilities.read(ComputeCaps, said["compute"]),
            name,
        )
        for name, said in dict(record.fact("capabilities")).items()
    }
    sink = from_text(record.section("sink"))
    # numbers of this process: new memory must not be equal to memory in the graph
    fresh = {node: UOp.unique() for node in sink.toposort() if node.op is Ops.UNIQUE}
    shared = [fresh[node] for node in fresh if node.arg in record.fact("shared")]
    sink = sink.substitute(fresh)
    others = []
    for node in sink.toposort():
        if node.op is Ops.BUFFER and node.src[1] in shared:
            other = UOp(Ops.BUFFER, node.dtype, (node.src[0], UOp.unique()), node.arg)
            binding.share(other, node)
            others.append(other)  # for as long as it lives, `node` counts as shared
    return schedule_text(sink, kernelize_map(sink, ScheduleContext(caps.__getitem__)))
