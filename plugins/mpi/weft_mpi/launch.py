"""Launching: start a program as several ranks, and run it on each.

`weft run -n 4 train.py` calls `mpirun -n 4 python -m weft_mpi train.py`. An exit code or an
exception of one rank ends all of them.
"""

from __future__ import annotations

import os
import runpy
import shutil
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from subprocess import call
from tempfile import TemporaryDirectory

from weft.plugin import DeviceUnavailable
from weft_mpi.process import current

_BACKING = "OMPI_MCA_btl_sm_backing_directory"
_SESSION = "PRTE_MCA_prte_tmpdir_base"


def launch(ranks: int, program: Sequence[str], options: Sequence[str] = ()) -> int:
    """Run a program as `ranks` processes; returns the exit code.

    options: further options of ``mpirun``, such as ``--hostfile``.

    :raises DeviceUnavailable: if there is no ``mpirun``.
    """
    environment = os.environ | {"PYTHONHASHSEED": os.environ.get("PYTHONHASHSEED", "0")}
    with _own_folder(options) as named:
        return call([*command(ranks, options), *program], env=environment | named)


@contextmanager
def _own_folder(options: Sequence[str]) -> Generator[dict[str, str]]:
    """Where the ranks share memory, and where Open MPI keeps its sockets: a folder that is gone
    after a job whose ranks were killed too.

    Open MPI names its sockets by the number of its process. It does not start where a process of
    the same number was killed before. Options may name other machines, which do not have the
    folder.
    """
    if options or _BACKING in os.environ or not os.path.isdir("/dev/shm"):
        yield {}
        return
    with TemporaryDirectory(prefix="weft-mpi-", dir="/dev/shm", ignore_cleanup_errors=True) as name:
        yield {_BACKING: name, _SESSION: os.environ.get(_SESSION, name)}


def command(ranks: int, options: Sequence[str] = ()) -> list[str]:
    """The words that start a program, which follows them, as `ranks` processes.

    :raises DeviceUnavailable: if there is no ``mpirun``.
    """
    started = [_mpirun(), "-n", str(ranks), *_defaults(), *options]
    return [*started, sys.executable, "-m", "weft_mpi"]


def _mpirun() -> str:
    beside = Path(sys.executable).parent / "mpirun"
    found = str(beside) if beside.exists() else shutil.which("mpirun")
    if found is None:
        raise DeviceUnavailable(
            "there is no mpirun",
            asked="a program of several ranks",
            because="neither the folder of this Python nor PATH has one",
            try_='pip install "weft-mpi[runtime]"',
        )
    return found


def _defaults() -> list[str]:
    """Options of Open MPI: more ranks than processors are fine, and containers run as root."""
    given = ["--oversubscribe"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        given.append("--allow-run-as-root")
    return given


def run_program(arguments: Sequence[str]) -> None:
    """Run a program file as this rank: `arguments` are its path and its own arguments."""
    process = current()
    sys.argv = list(arguments)
    sys.path.insert(0, str(Path(arguments[0]).resolve().parent))
    try:
        runpy.run_path(arguments[0], run_name="__main__")
    except SystemExit as ended:
        if ended.code not in (None, 0):
            process.end(
                ended.code if isinstance(ended.code, str) else f"it ended with {ended.code}"
            )
    except BaseException as error:
        trace = error.__traceback__ and error.__traceback__.tb_next
        process.fail(type(error), error, trace)
