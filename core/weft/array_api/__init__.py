"""weft.array_api: the Python array API standard, 2024.12, over lazy tensors.

In: arrays of the standard's dtypes on any device. Out: `Array`, a Tensor with the standard's
attributes. `Tensor.__array_namespace__` leads here, so that libraries which follow the standard
work with tensors as they are.

There are no complex dtypes; the extension `linalg` is here, `fft` is not. Python numbers are weak,
the default dtypes are float32 and int32, that of indices int64. NaN sorts last.
"""

from __future__ import annotations

from weft.array_api import (
    constants,
    creation,
    data_types,
    elementwise,
    indexing,
    linalg,
    manipulation,
    searching,
    sets,
    sorting,
    statistics,
)
from weft.array_api.array import Array
from weft.array_api.constants import *  # noqa: F403
from weft.array_api.creation import *  # noqa: F403
from weft.array_api.data_types import *  # noqa: F403
from weft.array_api.elementwise import *  # noqa: F403
from weft.array_api.indexing import *  # noqa: F403
from weft.array_api.info import __array_namespace_info__
from weft.array_api.linalg import matmul, matrix_transpose, tensordot, vecdot
from weft.array_api.manipulation import *  # noqa: F403
from weft.array_api.searching import *  # noqa: F403
from weft.array_api.sets import *  # noqa: F403
from weft.array_api.sorting import *  # noqa: F403
from weft.array_api.statistics import *  # noqa: F403

__array_api_version__ = "2024.12"

__all__ = [
    "Array", "__array_api_version__", "__array_namespace_info__", "linalg", "matmul",
    "matrix_transpose", "tensordot", "vecdot",
]  # fmt: skip
__all__ += constants.__all__
__all__ += creation.__all__
__all__ += data_types.__all__
__all__ += elementwise.__all__
__all__ += indexing.__all__
__all__ += manipulation.__all__
__all__ += searching.__all__
__all__ += sets.__all__
__all__ += sorting.__all__
__all__ += statistics.__all__
