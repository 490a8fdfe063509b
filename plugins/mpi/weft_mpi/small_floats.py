"""Reductions of float16 and bfloat16, which MPI does not define.

The values are added in float32, one pair of ranks at a time, and rounded to nearest even.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from weft.plugin import CapabilityError, DType, Ops, dtypes


@cache
def reduction_of(mpi: Any, dtype: DType, op: Ops) -> tuple[Any, Any]:
    """The type and the operation of MPI for a dtype that MPI cannot reduce itself.

    :raises CapabilityError: if this dtype is not reduced between ranks.
    """
    if dtype not in (dtypes.float16, dtypes.bfloat16):
        raise CapabilityError(
            "values of this dtype are not reduced between ranks",
            asked=f"a reduction of {dtype}",
            try_="cast it before the reduction, x.float()",
        )
    import numpy

    function = {Ops.ADD: numpy.add, Ops.MUL: numpy.multiply, Ops.MAX: numpy.maximum}[op]
    is_half = dtype is dtypes.float16

    def reduce(given: Any, total: Any, datatype: Any) -> None:
        kind = numpy.float16 if is_half else numpy.uint16
        first, second = numpy.frombuffer(given, kind), numpy.frombuffer(total, kind)
        if is_half:
            wide = function(first.astype(numpy.float32), second.astype(numpy.float32))
            second[:] = wide.astype(numpy.float16)
        else:
            second[:] = _to_bfloat16(function(_from_bfloat16(first), _from_bfloat16(second)))

    return mpi.UINT16_T, mpi.Op.Create(reduce, commute=True)


def _from_bfloat16(bits: Any) -> Any:
    """The float32 values of bfloat16 bits."""
    import numpy

    return (bits.astype(numpy.uint32) << 16).view(numpy.float32)


def _to_bfloat16(values: Any) -> Any:
    """The bits of the nearest bfloat16, ties to even; NaN stays NaN."""
    import numpy

    bits = values.view(numpy.uint32)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    return numpy.where(numpy.isnan(values), 0x7FC0, rounded).astype(numpy.uint16)
