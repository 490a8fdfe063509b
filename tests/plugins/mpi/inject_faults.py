"""Inject faults into programs of several ranks, and print how many ended as promised.

    python tests/plugins/mpi/inject_faults.py 0:100
    python tests/plugins/mpi/inject_faults.py --saving 0:50

Each fault is drawn from its seed: its kind, the rank and the step. All ranks have to end, with an
error that names the rank and the reason; a slow rank is waited for. With --saving, a rank is killed
at a random moment of saving, and the checkpoint has to be complete afterwards.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from weft_mpi.launch import command

LIMIT = 300
"""Seconds after which a program counts as hanging."""

PROGRAM = """
import os, resource, signal, sys, time
from weft import Device, Tensor, nn
from weft_mpi.process import current
rank, size = current().rank, current().size
mesh = Device.mesh(("data", size))
folder, kind, where, when = {folder!r}, {kind!r}, {rank}, {step}

def endless():
    while True:
        time.sleep(0.1)

def fault():
    open(folder + "/fault", "w").write(str(time.time()))
    if kind == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if kind == "stop":
        os.kill(os.getpid(), signal.SIGSTOP)
    if kind == "exception":
        raise ValueError("injected")
    if kind == "exit":
        sys.exit(3)
    if kind == "hang":
        endless()
    if kind == "slow":
        time.sleep(3)
    if kind == "full disk":
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (64, resource.RLIM_INFINITY))

x = Tensor.arange(24).reshape(6, 4).float().shard(mesh, data=0).realize()
for step in range(6):
    if rank == where and step == when:
        fault()
    x = (x + x.sum(axis=0) / 100).realize()
    nn.state.save_sharded({{"x": x}}, folder + "/checkpoint")
print("complete", round(x.sum().item()))
"""

PROMISED = {
    "kill": "rank {rank}",
    "stop": "rank {rank} of {size} has stopped",
    "exception": "ValueError: injected",
    "exit": "it ended with 3",
    "hang": "rank {rank} does not answer",
    "full disk": "rank {rank} of {size} failed",
    "slow": "",
}

SAVING = """
import os, signal, threading, time
from weft import Device, Tensor, nn
from weft_mpi.process import current
rank, size = current().rank, current().size
mesh = Device.mesh(("data", size))
x = Tensor.arange(24).reshape(6, 4).float().shard(mesh, data=0)
nn.state.save_sharded({{"x": x}}, {folder!r})
if rank == {rank}:
    end = lambda: (time.sleep({delay}), os.kill(os.getpid(), signal.SIGKILL))
    threading.Thread(target=end, daemon=True).start()
while True:
    x = (x + 1).realize()
    nn.state.save_sharded({{"x": x}}, {folder!r})
"""

LOADING = """
from weft import Tensor, nn
x = nn.state.load_sharded({folder!r}, {{"x": Tensor.zeros(6, 4)}})["x"].tolist()
assert all(x[i][j] == x[0][0] + 4 * i + j for i in range(6) for j in range(4)), x
print("complete", x[0][0])
"""


def run(size: int, text: str, folder: str, limit: int = 60) -> tuple[int, str, str]:
    """Run a program as ranks (or as one process, for size 0): code, output, errors.

    limit: the seconds that a rank waits for one that computes.
    """
    path = Path(folder) / "program.py"
    path.write_text(text)
    environment = os.environ | {
        "WEFT_DEVICE": "REF", "WEFT_MPI_TIMEOUT": str(limit), "OMPI_MCA_btl": "self,sm",
        "OMPI_MCA_mpi_yield_when_idle": "1",
        "OMPI_MCA_btl_sm_backing_directory": folder,
    }  # fmt: skip
    words = [*(command(size) if size else [sys.executable]), str(path)]
    try:
        done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return 0, "", "it hangs"
    return done.returncode, done.stdout, done.stderr


def check_fault(seed: int) -> str:
    """Inject one fault; what is wrong with the end of the program, empty if nothing is."""
    drawn = random.Random(seed)
    kind, size = drawn.choice(sorted(PROMISED)), drawn.choice((2, 3))
    fault = {"kind": kind, "rank": drawn.randrange(size), "step": drawn.randrange(1, 6)}
    with tempfile.TemporaryDirectory() as folder:
        limit = 8 if kind == "hang" else 60
        code, out, errors = run(size, PROGRAM.format(folder=folder, **fault), folder, limit)
        ended = time.time()
        name = f"{fault} of {size}"
        if kind == "slow":
            return "" if out.count("complete") == size and code == 0 else f"{name}: {errors}"
        reason = PROMISED[kind].format(rank=fault["rank"], size=size)
        if code == 0 or reason not in errors:
            return f"{name} ended with {code}\n{out}{errors}"
        seconds = ended - float((Path(folder) / "fault").read_text())
        print(f"{seed}: {name} ended after {seconds:.1f} s", flush=True)
        code, out, errors = run(0, LOADING_ANY.format(folder=f"{folder}/checkpoint"), folder)
        return "" if code == 0 else f"{name}: the checkpoint does not load\n{errors}"


LOADING_ANY = """
from weft import Tensor, nn
x = nn.state.load_sharded({folder!r}, {{"x": Tensor.zeros(6, 4)}})["x"].numpy()
assert (x[1:] - x[:-1] > 3.9).all(), x
"""


def check_saving(seed: int) -> str:
    """Kill one rank while it saves; what is wrong with the checkpoint, empty if nothing is."""
    drawn = random.Random(seed)
    rank, delay = drawn.randrange(2), drawn.random()
    with tempfile.TemporaryDirectory() as folder:
        place = f"{folder}/checkpoint"
        code, out, errors = run(2, SAVING.format(folder=place, rank=rank, delay=delay), folder)
        if code == 0:
            return f"killed rank {rank} after {delay:.2f} s: {errors}"
        code, out, errors = run(0, LOADING.format(folder=place), folder)
        print(f"{seed}: killed rank {rank} after {delay:.2f} s, {out.strip()}", flush=True)
        return "" if code == 0 else f"killed rank {rank} after {delay:.2f} s: {errors}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("seeds", metavar="START:STOP")
    parser.add_argument("--saving", action="store_true", help="kill a rank while it saves")
    asked = parser.parse_args()
    start, stop = map(int, asked.seeds.split(":"))
    check = check_saving if asked.saving else check_fault
    wrong = 0
    for seed in range(start, stop):
        if finding := check(seed):
            wrong += 1
            print(f"{seed}: {finding}", flush=True)
    print(f"{stop - start} faults, {wrong} did not end as promised", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
