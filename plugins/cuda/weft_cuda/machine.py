"""Machine model of a GPU: multiprocessors, banks of shared memory, throughputs.

Source: NVIDIA, "CUDA C++ Programming Guide", table "Throughput of Native Arithmetic Instructions"
(results per clock cycle per multiprocessor) and section "Shared Memory".
"""

from __future__ import annotations

from weft.plugin import MachineModel, Ops, Throughput, dtypes
from weft_cuda.chip import Chip

BANKS, BANK_BYTES = 32, 4
_SINGLE = {75: 64, 80: 64, 86: 128, 89: 128, 90: 128, 100: 128, 120: 128}
"""Sums, products and multiply-adds of float32, by compute capability times ten."""
_DOUBLE = {75: 2, 80: 32, 86: 2, 89: 2, 90: 64, 100: 64, 120: 2}
"""The same of float64."""
_INTEGER = 64
"""Sums and products of int32, with every compute capability here."""
_SHUFFLES = 32
"""Words that lanes of a warp exchange, with every compute capability here."""
_ARITHMETIC = (Ops.ADD, Ops.MUL, Ops.MULACC)


def machine_model(chip: Chip) -> MachineModel:
    """The model of a GPU; a compute capability that is not in the tables has no throughputs."""
    return MachineModel(
        cores=chip.processors, banks=BANKS, bank_bytes=BANK_BYTES, throughputs=_throughputs(chip)
    )


def _throughputs(chip: Chip) -> tuple[Throughput, ...]:
    capability = chip.capability
    if capability not in _SINGLE:
        return ()
    floats = ((dtypes.float32, _SINGLE), (dtypes.float64, _DOUBLE))
    return (
        *(
            Throughput(op, dtype, float(table[capability]))
            for dtype, table in floats
            for op in _ARITHMETIC
        ),
        *(Throughput(op, dtypes.int32, float(_INTEGER)) for op in (Ops.ADD, Ops.MUL)),
        Throughput(Ops.SHUFFLE, dtypes.float32, float(_SHUFFLES)),
    )
