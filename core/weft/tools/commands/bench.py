"""``weft bench``: the time of a program's kernels, and the distance to the limits of the device.

    weft bench model.py --epochs 1           a program, as it is
    weft bench package.model:step            a function: called once, then some times more
    weft bench -- -m package.model           a module of it
    weft bench kernel r_512 model.py         what a search tries for one kernel of it
    weft bench --device NAME model.py        on another device than the default
    weft bench --json - model.py             the same as numbers, for other programs

For every kernel its time (the median of its runs; what ran seldom is timed by itself), operations
and bytes a second, its share, and how near it is to the least time that its device could take: the
multiply-adds and the bandwidth of copies that were measured on it once. A kernel whose memory lies
in a cache may be faster than that. A program that is interrupted (Ctrl-C), or fails, has its table
all the same.

Files are written to a folder: trace.json for Perfetto, page.html (the page of `weft viz`), and
roofline.svg (with --png also roofline.png).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import ExitStack, redirect_stdout
from pathlib import Path

from weft.base import trace
from weft.base.errors import ArgumentError, FileError, WeftError
from weft.base.interrupts import let_through
from weft.base.settings import settings
from weft.device import registry
from weft.engine.search import search
from weft.engine.worker_processes import time_limit_factor
from weft.tools.bench import as_json, perfetto, roofline, table, tried
from weft.tools.bench.meter import EVENTS, Measured, Meter
from weft.tools.bench.peaks import Peaks, peaks_of
from weft.tools.bench.start import USAGE, started
from weft.tools.viz import Recorder, write_page
from weft.tools.viz.recorder import EVENTS as RECORDED

DEFAULT_FOLDER = "weft-bench"
_WIDTH = 2
_BUSY = 1.5  # times as much work as there are processors: what is measured is too slow


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's options."""
    parser.add_argument("--out", default=DEFAULT_FOLDER, help=f"{DEFAULT_FOLDER} by default")
    parser.add_argument("--no-files", action="store_true", help="only print the table")
    parser.add_argument("--png", action="store_true", help="the roofline as a PNG too")
    parser.add_argument(
        "--json", metavar="FILE", help="the numbers as JSON; -: in place of the table"
    )
    parser.add_argument("--device", help="the default device, in the place of WEFT_DEVICE")
    parser.add_argument("--repeat", type=int, default=10, help="calls of a function, 10 by default")
    parser.add_argument("--most", type=int, default=40, help="rows that are shown; 0: all")
    parser.add_argument("--measure", action="store_true", help="measure the device's limits again")
    parser.add_argument(
        "--width", type=int, help=f"of the search for `kernel`; WEFT_BEAM, or else {_WIDTH}"
    )
    parser.add_argument("program", nargs=argparse.REMAINDER, help=f"[kernel NAME|NUMBER] {USAGE}")


def run(arguments: argparse.Namespace) -> int:
    """Run the program and print the table; 1 if it ran no kernel.

    :raises ArgumentError: for a program that is none, or a kernel that it has not.
    """
    words, which = _without_dashes(arguments.program), None
    if words[:1] == ["kernel"] and len(words) > 1:
        which, words = words[1], _without_dashes(words[2:])
    if not words:
        raise ArgumentError("no program was named", asked="nothing", try_=USAGE)
    with ExitStack() as around:
        if arguments.device:
            name = registry.open(arguments.device).name
            around.enter_context(settings.override(DEVICE=name))
        return _run(words, which, arguments)


def _run(words: Sequence[str], which: str | None, arguments: argparse.Namespace) -> int:
    meter, timeline, recorder, busy = Meter(), perfetto.Timeline(), Recorder(), time_limit_factor()
    with ExitStack() as listening:
        listening.callback(trace.subscribe(meter, only=EVENTS))
        if which is None and not arguments.no_files:
            listening.callback(trace.subscribe(timeline, only=perfetto.EVENTS))
            listening.callback(trace.subscribe(recorder, only=RECORDED))
        if arguments.json == "-":  # what the program prints is not part of it
            listening.enter_context(redirect_stdout(sys.stderr))
        ending = started(words, arguments.repeat, meter.forget)
    kernels = list(meter.kernels.values())
    if ending.because:
        so_far = "what ran until then:" if kernels else "no kernel had run"
        print(f"weft bench: {ending.because}; {so_far}", file=sys.stderr)
    elif not kernels:
        print("weft bench: no kernel ran: nothing was computed on a device", file=sys.stderr)
    if not kernels:
        return ending.code or 1
    if which is not None:
        return show_tried(kernels, which, arguments) or ending.code
    meter.run_again(lambda line: print(line, file=sys.stderr))
    ran = [kernel for kernel in kernels if kernel.launches] or kernels
    roofs = roofs_of(ran, arguments.measure)
    if arguments.json != "-":
        print(table.text(ran, meter.others, roofs, arguments.most))
    stream = sys.stderr if arguments.json == "-" else sys.stdout
    if busy >= _BUSY:
        print(f"others used the machine as well: {busy:.1f} times what it has", file=stream)
    written = []
    if arguments.json:
        data = as_json.measured(title_of(words), ran, meter.others, roofs)
        written.append(as_json.write(data, arguments.json))
    if not arguments.no_files:
        folder = Path(arguments.out).expanduser()
        written.append(timeline.write(folder / "trace.json"))
        written.append(write_page(recorder.as_json(), folder / "page.html", title_of(words)))
        written += pictures(folder, ran, roofs, title_of(words), arguments.png)
    if any(written):
        print("written: " + ", ".join(_shown(path) for path in written if path), file=stream)
    if timeline.dropped:
        print(f"trace.json holds the first {timeline.most} events only", file=stream)
    return ending.code


def _shown(path: Path) -> str:
    """A path as short as it can be said from here."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def _without_dashes(words: Sequence[str]) -> list[str]:
    return list(words[1:] if words[:1] == ["--"] else words)


def roofs_of(kernels: Sequence[Measured], refresh: bool) -> dict[str, list[Peaks]]:
    """What the devices of these kernels can do."""
    devices = dict.fromkeys(kernel.device for kernel in kernels)
    return {name: peaks_of(registry.open(name), refresh=refresh) for name in devices}


def show_tried(kernels: Sequence[Measured], which: str, arguments: argparse.Namespace) -> int:
    """What a search tried for one kernel, now or before; 1 where it has no AST to search with."""
    kernel = tried.chosen(kernels, which)
    ast = kernel.program.source_ast
    if ast is None:
        print(f"{kernel.name} was written by hand: there is nothing to search")
        return 1
    width = arguments.width or settings.BEAM or _WIDTH
    with settings.override(DEBUG=max(1, settings.DEBUG)):
        found = search(ast, registry.open(kernel.device), width, refresh=arguments.measure)
    if arguments.json:
        as_json.write(as_json.searched(kernel.name, found), arguments.json)
    if arguments.json != "-":
        print(tried.text(kernel.name, found, arguments.most))
    return 0


def pictures(
    folder: Path,
    kernels: Sequence[Measured],
    roofs: dict[str, list[Peaks]],
    title: str,
    as_png: bool,
) -> list[Path]:
    """A roofline for each device, the first without its name in the file's."""
    written = []
    for device, peaks in roofs.items():
        mine = [kernel for kernel in kernels if kernel.device == device]
        picture = roofline.svg(mine, peaks, f"{title} on {device}")
        name = "roofline" if not written else f"roofline-{device.replace(':', '-')}"
        files: list[tuple[str, bytes]] = [(f"{name}.svg", picture.encode())]
        if as_png:
            try:
                files.append((f"{name}.png", roofline.png(picture)))
            except WeftError as error:
                print(f"weft bench: {error}", file=sys.stderr)
        for file, data in files:
            try:
                (folder / file).write_bytes(data)
            except OSError as error:
                let_through(error)
                raise FileError.of(
                    error,
                    "the roofline cannot be written",
                    path=folder / file,
                    asked=str(folder / file),
                ) from error
            written.append(folder / file)
    return written


def title_of(words: Sequence[str]) -> str:
    """What pages and pictures are called."""
    return " ".join([Path(words[0]).name, *words[1:]])[:80]
