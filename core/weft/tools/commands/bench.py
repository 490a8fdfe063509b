"""``weft bench``: what the kernels of a program take, and how far that is from the limit.

    weft bench model.py --epochs 1           a program, as it is
    weft bench package.model:step            a function: called once, then some times more
    weft bench -- -m package.model           a module of it
    weft bench kernel r_512 model.py         what a search tries for one kernel of it

For every kernel its time (the median of its runs; what ran seldom is timed by itself), operations
and bytes a second, its share, and how near it is to the least time that its device could take: the
multiply-adds and the bandwidth of copies that were measured on it once. A kernel whose memory lies
in a cache may be faster than that.

Files are written to a folder: trace.json for Perfetto, page.html (the page of `weft viz`), and
roofline.svg.
"""

from __future__ import annotations

import argparse
import importlib
import runpy
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from weft.base import trace
from weft.base.errors import ArgumentError, FileError, WeftError
from weft.base.settings import settings
from weft.device import registry
from weft.engine.search import search
from weft.tools.bench import perfetto, roofline, table, tried
from weft.tools.bench.meter import EVENTS, Measured, Meter
from weft.tools.bench.peaks import Peaks, peaks_of
from weft.tools.viz import Recorder, write_page
from weft.tools.viz.recorder import EVENTS as RECORDED

DEFAULT_FOLDER = "weft-bench"
USAGE = "FILE.py [arguments], -- -m MODULE [arguments], or MODULE:FUNCTION"
_WIDTH = 2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's options."""
    parser.add_argument("--out", default=DEFAULT_FOLDER, help=f"{DEFAULT_FOLDER} by default")
    parser.add_argument("--no-files", action="store_true", help="only print the table")
    parser.add_argument("--png", action="store_true", help="the roofline as a PNG too (CairoSVG)")
    parser.add_argument("--repeat", type=int, default=10, help="calls of a function, 10 by default")
    parser.add_argument("--most", type=int, default=40, help="rows that are shown; 0: all")
    parser.add_argument("--measure", action="store_true", help="measure the device's limits anew")
    parser.add_argument(
        "--width", type=int, help=f"of the search for `kernel`; WEFT_BEAM, or else {_WIDTH}"
    )
    parser.add_argument("program", nargs=argparse.REMAINDER, help=f"[kernel NAME|NUMBER] {USAGE}")


def run(arguments: argparse.Namespace) -> int:
    """Run the program and tell; 1 if it ran no kernel.

    :raises ArgumentError: for a program that is none, or a kernel that it has not.
    """
    words, which = _without_dashes(arguments.program), None
    if words[:1] == ["kernel"] and len(words) > 1:
        which, words = words[1], _without_dashes(words[2:])
    if not words:
        raise ArgumentError("no program was named", asked="nothing", try_=USAGE)
    meter, timeline, recorder = Meter(), perfetto.Timeline(), Recorder()
    with ExitStack() as listening:
        listening.callback(trace.subscribe(meter, only=EVENTS))
        if which is None and not arguments.no_files:
            listening.callback(trace.subscribe(timeline, only=perfetto.EVENTS))
            listening.callback(trace.subscribe(recorder, only=RECORDED))
        started(words, arguments.repeat, meter.forget)
    kernels = list(meter.kernels.values())
    if not kernels:
        print("no kernel ran")
        return 1
    if which is not None:
        return show_tried(kernels, which, arguments)
    meter.run_again(lambda line: print(line, file=sys.stderr))
    ran = [kernel for kernel in kernels if kernel.launches] or kernels
    roofs = roofs_of(ran, arguments.measure)
    print(table.text(ran, meter.others, roofs, arguments.most))
    if not arguments.no_files:
        folder = Path(arguments.out).expanduser()
        written = [timeline.write(folder / "trace.json")]
        written.append(write_page(recorder.as_json(), folder / "page.html", title_of(words)))
        written += pictures(folder, ran, roofs, title_of(words), arguments.png)
        print("written: " + ", ".join(str(path) for path in written))
    return 0


def _without_dashes(words: Sequence[str]) -> list[str]:
    return list(words[1:] if words[:1] == ["--"] else words)


def started(words: Sequence[str], repeat: int, warm: Callable[[], None]) -> None:
    """Run a program, or a function of one: once before `warm` is called, then `repeat` times."""
    name, colon, function = words[0].rpartition(":")
    if not colon or words[0].endswith(".py"):
        with _as_main(words):
            if words[0] == "-m" and len(words) > 1:
                runpy.run_module(words[1], run_name="__main__", alter_sys=True)
            else:
                runpy.run_path(_file(words[0]), run_name="__main__")
        return
    with _as_main([name, *words[1:]]):
        job = _function(name, function)
        _realized(job())
        warm()
        for _ in range(repeat):
            _realized(job())


def _file(name: str) -> str:
    if not Path(name).is_file():
        raise ArgumentError("there is no such program", asked=name, try_=USAGE)
    return name


def _function(name: str, function: str) -> Callable[[], Any]:
    if name.endswith(".py"):
        found = runpy.run_path(_file(name), run_name="weft_bench").get(function)
    else:
        try:
            found = getattr(importlib.import_module(name), function, None)
        except ModuleNotFoundError as error:
            raise ArgumentError(
                "there is no such module", asked=name, because=str(error), try_=USAGE
            ) from error
    if not callable(found):
        raise ArgumentError(f"{name} has no function {function!r}", asked=f"{name}:{function}")
    return found


def _realized(result: Any) -> None:
    """What a function gives may still have to be computed."""
    if isinstance(result, dict):
        result = list(result.values())
    for one in result if isinstance(result, list | tuple) else [result]:
        if callable(getattr(one, "realize", None)):
            one.realize()


@contextmanager
def _as_main(words: Sequence[str]) -> Iterator[None]:
    """The command line and the path that a program has when Python starts it."""
    before, path = sys.argv, list(sys.path)
    sys.argv = list(words[1:] if words[0] == "-m" else words)
    folder = Path(words[0]).parent if words[0].endswith(".py") else Path.cwd()
    sys.path.insert(0, str(folder))
    try:
        yield
    except SystemExit as end:
        if end.code not in (None, 0):
            raise
    finally:
        sys.argv, sys.path[:] = before, path


def roofs_of(kernels: Sequence[Measured], anew: bool) -> dict[str, list[Peaks]]:
    """What the devices of these kernels can do."""
    devices = dict.fromkeys(kernel.device for kernel in kernels)
    return {name: peaks_of(registry.open(name), anew=anew) for name in devices}


def show_tried(kernels: Sequence[Measured], which: str, arguments: argparse.Namespace) -> int:
    """What a search tried for one kernel, now or before; 1 where it has no AST to search with."""
    kernel = tried.chosen(kernels, which)
    ast = kernel.program.source_ast
    if ast is None:
        print(f"{kernel.name} was written by hand: there is nothing to search")
        return 1
    width = arguments.width or settings.BEAM or _WIDTH
    with settings.override(DEBUG=max(1, settings.DEBUG)):
        found = search(ast, registry.open(kernel.device), width, anew=arguments.measure)
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
                raise FileError(
                    "the roofline cannot be written", asked=str(folder / file), because=str(error)
                ) from error
            written.append(folder / file)
    return written


def title_of(words: Sequence[str]) -> str:
    """What pages and pictures are called."""
    return " ".join([Path(words[0]).name, *words[1:]])[:80]
