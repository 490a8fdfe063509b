"""Programs of several ranks, each run by mpirun in a process of its own, with a time limit."""

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
from dataclasses import dataclass
from pathlib import Path

import pytest

MPIRUN = Path(sys.executable).parent / "mpirun"


def missing():
    """Why no rank can be started here; empty if it can."""
    if importlib.util.find_spec("mpi4py") is None or importlib.util.find_spec("weft_mpi") is None:
        return "weft-mpi is not installed"
    return "" if MPIRUN.exists() or shutil.which("mpirun") else "there is no mpirun"


def pytest_collection_modifyitems(items):
    if reason := missing():
        for item in items:
            if Path(__file__).parent in Path(item.path).parents:
                item.add_marker(pytest.mark.skip(reason=reason))


@dataclass
class Outcome:
    code: int
    out: str
    err: str

    @property
    def lines(self):
        return sorted(self.out.splitlines())


@pytest.fixture
def session_directory():
    """A folder for the sockets of Open MPI, whose paths are short.

    It names them by the number of its process, and does not start where a process of the same
    number has left some.
    """
    found = tempfile.mkdtemp(prefix="weft-mpi-", dir="/tmp")
    yield found
    shutil.rmtree(found, ignore_errors=True)


@pytest.fixture
def ranks(tmp_path, session_directory):
    """Run a program as n ranks. The names `rank`, `size` and `mesh` are defined in it."""

    def run(n, program, fails=False, timeout=300, options=(), **settings):
        head = """
            import os, sys
            from weft import Device, P, Tensor, jit, nn
            from weft_mpi.process import current
            rank, size = current().rank, current().size
            mesh = Device.mesh(("data", size))
        """
        path = tmp_path / "program.py"
        path.write_text(textwrap.dedent(head) + textwrap.dedent(program))
        command = [
            str(MPIRUN) if MPIRUN.exists() else "mpirun",
            "--oversubscribe",
            "-n",
            str(n),
            *options,
        ]
        command += ["--allow-run-as-root"] * (hasattr(os, "geteuid") and os.geteuid() == 0)
        environment = {
            **os.environ, "OMPI_MCA_btl": "self,sm", "OMPI_MCA_mpi_yield_when_idle": "1",
            "PYTHONHASHSEED": "0", "WEFT_SEED": "1",
            "WEFT_DEVICE": "REF", "TMPDIR": session_directory, **settings,
            # ranks that are killed leave their segments, which are gone with this folder
            "OMPI_MCA_btl_sm_backing_directory": str(tmp_path),
        }  # fmt: skip
        # pytest shows what mpirun printed with a failure of the test, also of what it asserts later
        output = [tmp_path / "stdout", tmp_path / "stderr"]
        try:
            with output[0].open("w") as out, output[1].open("w") as err:
                done = subprocess.run(
                    [*command, sys.executable, "-m", "weft_mpi", str(path)],
                    env=environment, stdout=out, stderr=err, timeout=timeout, cwd=tmp_path,
                )  # fmt: skip
        finally:
            out_text, err_text = (each.read_text(errors="replace") for each in output)
            print(out_text)
            print(err_text, file=sys.stderr)
        assert (done.returncode != 0) == fails, f"mpirun returned {done.returncode}\n{err_text}"
        return Outcome(done.returncode, out_text, err_text)

    return run
