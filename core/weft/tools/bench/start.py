"""Program start: run the measured program in this process, as Python would start it.

The end of the program is a result and does not end the command: a program that is interrupted after
an hour, or fails in its last line, has run kernels that can be reported.

in: the words of a command line    out: how it ended
"""

from __future__ import annotations

import importlib
import runpy
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from weft.base.errors import ArgumentError

USAGE = "FILE.py [arguments], -- -m MODULE [arguments], or MODULE:FUNCTION"
_OURS = (__file__, runpy.__file__, importlib.__file__)


@dataclass(frozen=True)
class Ending:
    """How a program ended. code: for the shell; because: for people, nothing where all is well."""

    code: int = 0
    because: str = ""


def started(words: Sequence[str], repeat: int, warm: Callable[[], None]) -> Ending:
    """Run a program, or a function of one: once before `warm` is called, then `repeat` times.

    :raises ArgumentError: for a program or a function that is not there.
    """
    name, colon, function = words[0].rpartition(":")
    if not colon or words[0].endswith(".py"):
        if words[0] == "-m" and len(words) < 2:
            raise ArgumentError("no module was named", asked="-m", try_=USAGE)
        file = "" if words[0] == "-m" else file_of(words[0])
        with _as_main(words):
            if file:
                return run_file(file)
            module = _module_of(words[1])
            return _ended(lambda: runpy.run_module(module, run_name="__main__", alter_sys=True))
    with _as_main([name, *words[1:]]):
        job = _function(name, function)
        if isinstance(job, Ending):
            return job
        return _ended(lambda: _calls(job, repeat, warm))


def run_file(file: str) -> Ending:
    """Run a Python file as the main program; how it ended."""
    return _ended(lambda: runpy.run_path(file, run_name="__main__"))


def file_of(name: str) -> str:
    """The file of this name. :raises ArgumentError: where there is none."""
    if not Path(name).is_file():
        raise ArgumentError("there is no such program", asked=name, try_=USAGE)
    return name


def _module_of(name: str) -> str:
    if _is_missing(name):
        raise ArgumentError("there is no such module", asked=name, try_=USAGE)
    return name


def _is_missing(name: str) -> bool:
    from importlib.util import find_spec

    try:
        return find_spec(name) is None
    except (ImportError, ValueError):  # of a package that is not there, or of none
        return True


def _function(name: str, function: str) -> Callable[[], Any] | Ending:
    """The function to be called; or how its program ended before there was one."""
    found: list[Any] = []
    if name.endswith(".py"):
        file = file_of(name)
        ending = _ended(lambda: found.append(runpy.run_path(file, run_name="weft_bench")))
    else:
        module = _module_of(name)
        ending = _ended(lambda: found.append(vars(importlib.import_module(module))))
    if not found:
        return ending
    job = found[0].get(function)
    if not callable(job):
        raise ArgumentError(f"{name} has no function {function!r}", asked=f"{name}:{function}")
    return job  # type: ignore[no-any-return]


def _calls(job: Callable[[], Any], repeat: int, warm: Callable[[], None]) -> None:
    _realized(job())
    warm()
    for _ in range(repeat):
        _realized(job())


def _realized(result: Any) -> None:
    """What a function gives may still have to be computed."""
    if isinstance(result, dict):
        result = list(result.values())
    for one in result if isinstance(result, list | tuple) else [result]:
        if callable(getattr(one, "realize", None)):
            one.realize()


def _ended(work: Callable[[], Any]) -> Ending:
    """Do it; how it ended. What it raises is shown as Python does, without the frames of ours."""
    try:
        work()
    except SystemExit as end:
        if end.code is None or end.code == 0:
            return Ending()
        if isinstance(end.code, int):
            return Ending(end.code, f"the program ended with code {end.code}")
        print(end.code, file=sys.stderr)
        return Ending(1, "the program ended early")
    except KeyboardInterrupt:
        return Ending(130, "the program was interrupted")
    except Exception as error:
        error.__traceback__ = _of_the_program(error.__traceback__)
        traceback.print_exception(error)
        return Ending(1, f"the program failed: {type(error).__name__}")
    return Ending()


def _of_the_program(frames: TracebackType | None) -> TracebackType | None:
    """The frames from the first on that is neither ours nor of what starts programs."""
    while frames is not None and _is_a_starter(frames.tb_frame.f_code.co_filename):
        frames = frames.tb_next
    return frames


def _is_a_starter(file: str) -> bool:
    return file in _OURS or file.startswith("<frozen ")


@contextmanager
def _as_main(words: Sequence[str]) -> Iterator[None]:
    """The command line and the path that a program has when Python starts it."""
    before, path = sys.argv, list(sys.path)
    sys.argv = list(words[1:] if words[0] == "-m" else words)
    folder = Path(words[0]).parent if words[0].endswith(".py") else Path.cwd()
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.argv, sys.path[:] = before, path
