"""Capture the kernels of the programs here for other machines, to compare two versions of weft.

    python benchmarks/capture_programs.py FOLDER [FAMILY:ARCH ...]     before a change
    weft replay compare --arch FAMILY=ARCH FOLDER/FAMILY:ARCH          after it

Nothing is computed: programs of `programs.py`, workloads of `workloads.py` and training steps are
scheduled and compiled to source for each architecture, and kept as text.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ARCHITECTURES = (
    "CPU:x86-64", "CPU:x86-64-v3", "CPU:x86-64-v4", "CPU:aarch64", "OPENCL:gpu", "OPENCL:pocl",
    "CUDA:sm_80", "CUDA:sm_90", "METAL:apple7",
)  # fmt: skip
LARGEST = 1 << 24  # elements of an input; the replays of many small kernels are left out as well


def programs() -> None:
    """Run every program on the default device."""
    from programs import PROGRAMS
    from workloads import WORKLOADS

    import weft
    from weft import Tensor

    for program in PROGRAMS:
        Tensor.realize(*program.build(Tensor))
    for row in WORKLOADS:
        function = row.by.get("lazy")
        arrays = row.inputs() if function is not None and row.work[1] != "kernel" else []
        if not arrays or sum(array.size for array in arrays) > 3 * LARGEST:
            continue
        inputs = [Tensor.empty(*array.shape, dtype=str(array.dtype)) for array in arrays]
        if row.cast is not None:
            inputs = [x.cast(row.cast) if x.is_floating_point() else x for x in inputs]
        made = function(weft, *inputs)
        Tensor.realize(*(made if isinstance(made, (list, tuple)) else (made,)))


def main() -> None:
    """Capture for each architecture in a process of its own."""
    if len(sys.argv) == 1:
        programs()
        return
    folder = Path(sys.argv[1])
    for target in sys.argv[2:] or ARCHITECTURES:
        place = folder / target
        with tempfile.TemporaryDirectory() as sources:
            subprocess.run(
                [sys.executable, "-m", "weft.tools.cli", "compile", "--target", target,
                 "--no-data", "--out", sources, __file__],
                env=os.environ | {"WEFT_PROCESS_REPLAY": str(place)}, check=True,
            )  # fmt: skip


if __name__ == "__main__":
    main()
