"""`weft run -n`: programs as several ranks."""

import os
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import os, signal
from weft import Device, Tensor
from weft_mpi.process import current
mesh = Device.mesh(("data", 2))
total = Tensor([1.0, 2.0]).shard(mesh, data=0).sum().item()
folder = os.environ["OMPI_MCA_btl_sm_backing_directory"]
has_sockets = os.environ["PMIX_SERVER_TMPDIR"].startswith(folder)
print(total, os.environ["PYTHONHASHSEED"], folder, has_sockets)
if current().rank == 1:
    os.kill(os.getpid(), signal.SIGKILL)
Tensor([1.0, 2.0]).shard(mesh, data=0).max().item()
"""


def test_a_killed_rank_leaves_no_shared_memory_and_no_sockets(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    code = "import sys; from weft_mpi.launch import launch; sys.exit(launch(2, sys.argv[1:]))"
    unset = {
        "OMPI_MCA_btl_sm_backing_directory", "PRTE_MCA_prte_tmpdir_base", "PYTHONHASHSEED",
    }  # fmt: skip
    environment = {name: value for name, value in os.environ.items() if name not in unset}
    started = subprocess.Popen(
        [sys.executable, "-c", code, str(path)],
        env=environment | {"WEFT_DEVICE": "REF", "TMPDIR": "/tmp", "OMPI_MCA_btl": "self,sm"},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    out, err = started.communicate(timeout=240)
    assert started.returncode != 0 and "rank 1" in err, err
    first, second = (line.split() for line in out.splitlines())
    assert first == second and first[:2] == ["3.0", "0"], err
    assert first[3] == "True" and not Path(first[2]).exists()
