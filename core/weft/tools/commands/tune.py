"""``weft tune``: measure the machine, search for faster kernels, and keep what was found.

    weft tune                           the standard set of kernels
    weft tune model.py --epochs 1       the kernels of a program
    weft tune -- -m package.model       of a module
    weft tune package.model:step        of a function, called twice
    weft tune --minutes 20 model.py     longer than the five minutes of the default
    weft tune --export table.json       also write a table that a plugin can ship

The device's plugin measures bandwidths, latencies and arithmetic, which its machine model then has
on this machine. A beam search (as with WEFT_BEAM) looks for faster plans, for the kernels that take
most time first. Programs use faster plans from then on, without a setting. A plan changes the time
of a kernel; results do not change, except for the order of sums. Ctrl-C keeps what was found.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from weft.base import trace
from weft.base.errors import ArgumentError
from weft.base.settings import settings
from weft.base.text import human_time, plural
from weft.device import OpenDevice, registry
from weft.engine import program_for
from weft.engine.worker_processes import time_limit_factor
from weft.tools.bench.meter import EVENTS, Meter
from weft.tools.bench.start import USAGE, started
from weft.tools.tune import table
from weft.tools.tune.kernel_search import Candidate, Tuned, tuned
from weft.tools.tune.standard_set import works
from weft.uop import Ops

_WIDTH = 2
_MINUTES = 5.0
_BAR = 20  # characters
_BUSY = 1.5  # times as much work as there are processors: what is measured is too slow


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's options."""
    parser.add_argument("--device", help="the default device, in the place of WEFT_DEVICE")
    parser.add_argument(
        "--minutes", type=float, default=_MINUTES, help=f"of all searches, {_MINUTES:g} by default"
    )
    parser.add_argument("--width", type=int, default=_WIDTH, help=f"of the beam, {_WIDTH}")
    parser.add_argument("--no-measure", action="store_true", help="do not measure the machine")
    parser.add_argument("--no-search", action="store_true", help="only measure the machine")
    parser.add_argument("--again", action="store_true", help="search also what was searched before")
    parser.add_argument("--export", metavar="FILE", help="write a table for this processor")
    parser.add_argument("program", nargs=argparse.REMAINDER, help=f"[{USAGE}]")


def run(arguments: argparse.Namespace) -> int:
    """Measure, search, keep, export; 1 if there was nothing to do.

    :raises ArgumentError: for a program that is none, or a time or a width that is not above 0.
    """
    if arguments.minutes <= 0 or arguments.width <= 0:
        raise ArgumentError(
            "a search needs time and a width",
            asked=f"--minutes {arguments.minutes:g} --width {arguments.width}",
            because="both are numbers above 0",
        )
    with ExitStack() as around:
        around.enter_context(settings.override(BEAM=0))
        if arguments.device:
            name = registry.open(arguments.device).name
            around.enter_context(settings.override(DEVICE=name))
        busy = time_limit_factor()
        if busy >= _BUSY:
            print(f"others use the machine as well: {busy:.1f} times what it has", file=sys.stderr)
        measured = 0 if arguments.no_measure else measure(registry.open())
        searched = -1 if arguments.no_search else search(arguments)
        if arguments.export:
            path = Path(arguments.export).expanduser()
            table.export(path, registry.open())
            print(f"written: {path}")
    return 0 if measured or searched > 0 else 1


def measure(device: OpenDevice) -> int:
    """Measure the machine of a device, print each fact, and open the device again; how many facts
    there are."""
    print(f"measuring {device.capabilities.name}")
    count = 0
    for fact in device.measure():
        print(f"  {fact}", flush=True)
        count += 1
    if not count:
        print(f"  the plugin of {device.name} measures nothing")
    registry.close(device.id)
    return count


def search(arguments: argparse.Namespace) -> int:
    """Search the kernels of the program, or of the standard set; how many were searched."""
    words = arguments.program[1:] if arguments.program[:1] == ["--"] else arguments.program
    kernels = kernels_of_program(words) if words else kernels_of_standard_set(registry.open())
    if not kernels:
        print("weft tune: no kernel ran: nothing was computed on a device", file=sys.stderr)
        return 0

    def note(number: int, kernel: Candidate) -> None:
        filled = _BAR * number // len(kernels)
        bar = "#" * filled + "." * (_BAR - filled)
        print(f"[{bar}] {number + 1} of {len(kernels)}: {kernel.name}", flush=True)

    results: list[Tuned] = []
    seconds = 60.0 * arguments.minutes
    try:
        for one in tuned(kernels, arguments.width, seconds, arguments.again, note):
            results.append(one)
            print(f"  {line_of(one)}", flush=True)
    except KeyboardInterrupt:
        print("interrupted; what was found is kept", file=sys.stderr)
    print(summary(results, len(kernels)))
    return len(results)


def line_of(one: Tuned) -> str:
    """The result of one kernel."""
    if one.before is None or one.after is None:
        return "; ".join(one.found.notes) or "nothing could be measured"
    if one.found.best == one.found.heuristic:
        return f"{human_time(one.before)}: the heuristic's plan stays"
    times = f"{human_time(one.before)} -> {human_time(one.after)}, {one.gain:.2f} times as fast"
    return f"{times}: {one.found.best}"


def summary(results: Sequence[Tuned], count: int) -> str:
    """What all of them gained."""
    faster = [one for one in results if one.gain > 1.0]
    text = f"{len(results)} of {plural(count, 'kernel')} searched, {len(faster)} of them faster"
    weights = [(one.kernel.seconds or one.before or 0.0, one.gain) for one in results]
    before, after = sum(w for w, _ in weights), sum(w / gain for w, gain in weights)
    return f"{text}; together {before / after:.2f} times as fast" if after else text


def kernels_of_program(words: Sequence[str]) -> list[Candidate]:
    """Run a program; its kernels with their times."""
    meter = Meter()
    with ExitStack() as listening:
        listening.callback(trace.subscribe(meter, only=EVENTS))
        ending = started(words, 1, meter.forget)
    if ending.because:
        print(f"weft tune: {ending.because}", file=sys.stderr)
    return [
        Candidate(one.name, one.program.source_ast, one.device, one.total)
        for one in meter.kernels.values()
        if one.program.source_ast is not None
    ]


def kernels_of_standard_set(device: OpenDevice) -> list[Candidate]:
    """The kernels of the standard set on a device, each once."""
    return list({one.ast: one for one in _standard(device)}.values())


def _standard(device: OpenDevice) -> Iterator[Candidate]:
    for work in works(device):
        items, _ = work().schedule_with_vars()
        for item in items:
            if item.ast.op is Ops.SINK:
                name = program_for(item.ast, device.name).p.name
                yield Candidate(name, item.ast, device.name)
