"""``mpirun -n 4 python -m weft_mpi train.py``: run a program as one of several ranks."""

import os
import sys

from weft_mpi.launch import run_program

if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: mpirun -n RANKS python -m weft_mpi PROGRAM [ARGUMENT...]")
    if "PYTHONHASHSEED" not in os.environ:  # sets of strings have one order on all ranks then
        os.environ["PYTHONHASHSEED"] = "0"
        os.execv(sys.executable, [sys.executable, "-m", "weft_mpi", *sys.argv[1:]])
    run_program(sys.argv[1:])
