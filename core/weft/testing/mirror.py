"""What a tensor of a random program should hold: an array, and how far a device may be off.

Integers and truths are kept in their own dtype and compared exactly. Floats are kept in float64
with a bound on the error that their dtype may have gathered; a bound of 0 means whole numbers
small enough that every order of computing gives the same, an infinite one that nothing is known.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from weft.base.dtype import DType, dtypes
from weft.device import numpy_dtype

if TYPE_CHECKING:
    import numpy

# relative error of one operation, and the largest whole number that is kept exactly, by item size
_ROUNDING = {2: 1e-3, 4: 2.4e-7, 8: 2.4e-7}
_LARGEST_HALF = 6e4
_EXACT = {2: 1 << 11, 4: 1 << 22, 8: 1 << 40}


@dataclass(frozen=True)
class Value:
    """The expected elements (float64 for every float dtype), the dtype, and the error bound."""

    array: numpy.ndarray
    dtype: DType
    error: float = 0.0

    @property
    def is_float(self) -> bool:
        return dtypes.is_float(self.dtype)

    @property
    def exact(self) -> bool:
        """Whether comparisons and conversions of it have one right answer."""
        return self.error == 0.0

    @property
    def top(self) -> float:
        """The largest magnitude in it."""
        import numpy as np

        return float(np.abs(self.array.astype(np.float64)).max()) if self.array.size else 0.0


def stored(array: Any, dtype: DType, error: float = 0.0, steps: int = 1) -> Value:
    """A result of `steps` operations in `dtype`, whose sources brought `error` along."""
    import numpy as np

    array = np.asarray(array)
    if not dtypes.is_float(dtype):
        return Value(array.astype(numpy_dtype(dtype), order="C"), dtype)
    wide = array.astype(np.float64, order="C")
    top = float(np.abs(wide).max()) if wide.size else 0.0
    if dtype.itemsize == 2 and top > _LARGEST_HALF:
        return Value(wide, dtype, math.inf)
    whole = error == 0.0 and top <= _EXACT[dtype.itemsize] and bool((wide == np.rint(wide)).all())
    return Value(wide, dtype, 0.0 if whole else error + steps * _ROUNDING[dtype.itemsize] * top)


def converted(value: Value, dtype: DType) -> Value:
    """A cast. Only exact floats may become integers."""
    import numpy as np

    if dtypes.is_float(dtype):
        return stored(value.array, dtype, value.error)
    if dtype is dtypes.bool:
        return stored(value.array != 0, dtype)
    wide = value.array.astype(np.int64) if value.is_float else value.array
    return stored(wide, dtype)


def moved(value: Value, array: Any) -> Value:
    """The same elements elsewhere."""
    import numpy as np

    return Value(np.array(array, order="C"), value.dtype, value.error)


def viewed(value: Value, array: Any) -> Value:
    """The same elements, or some of them: a view of `value` if `array` is one of its array."""
    return Value(array, value.dtype, value.error)


def part_of(array: Any, index: str) -> Any:
    """A part by the text of its index, as a view of `array` if it has no axes too."""
    found = eval(f"x[{index}]", {"x": array})
    return found if found.ndim or not array.ndim else eval(f"x[{index}, ...]", {"x": array})


def mismatch(value: Value, got: Any) -> str | None:
    """What is wrong with `got`, an array that a device computed; None if nothing is."""
    import numpy as np

    if got.shape != value.array.shape:
        return f"shape {got.shape} instead of {value.array.shape}"
    if got.dtype != numpy_dtype(value.dtype):
        return f"dtype {got.dtype} instead of {value.dtype}"
    if not math.isfinite(value.error):
        return None
    if value.is_float:
        wide = got.astype(np.float64)
        # the smallest half is not small
        allowed = 4 * value.error + 1e-6 * value.top + (1e-6 if value.dtype.itemsize == 2 else 0)
        with np.errstate(invalid="ignore"):
            fine = (np.abs(wide - value.array) <= allowed) | (wide == value.array)
    else:
        allowed, fine = 0, got == value.array
    if bool(np.all(fine)):
        return None
    return f"{got.tolist()} instead of {value.array.tolist()} (within {allowed})"
