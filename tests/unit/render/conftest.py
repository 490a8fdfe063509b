"""Linear programs made by hand."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from weft.base.dtype import DType, dtypes
from weft.device.program import LinearProgram
from weft.uop import Ops, UOp


class Writer:
    """Shorthands for what linear programs consist of."""

    @staticmethod
    def buffer(slot: int, dtype: DType, size: int = 64) -> UOp:
        return UOp(Ops.DEFINE_GLOBAL, dtype.ptr(size), (), slot)

    @staticmethod
    def program(*stores: UOp, name: str = "k", loops: Sequence[UOp] = ()) -> LinearProgram:
        """Stores in the loops given, innermost last, which are closed at the end."""
        sink = UOp.sink(*stores)
        uops = [u for u in sink.toposort() if u is not sink]
        ends = [UOp(Ops.ENDRANGE, dtypes.void, (loop,)) for loop in reversed(loops)]
        return LinearProgram.of(name, [*uops, *ends])


@pytest.fixture
def write() -> Writer:
    return Writer()
