"""``mpirun -n 4 python -m weft_mpi train.py``: run a program as one of several ranks."""

import sys

from weft_mpi.launch import run_program

if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: mpirun -n RANKS python -m weft_mpi PROGRAM [ARGUMENT...]")
    run_program(sys.argv[1:])
