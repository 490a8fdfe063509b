"""Floor 1: the words the whole house uses. Nothing here imports from any other floor.

The rooms are imported one by one (`weft.base.dtype`, `weft.base.errors`, ...); only the names that
every room needs are re-exported here.
"""

from weft.base.dtype import AddrSpace, DType, ImageDType, PtrDType, dtypes, to_dtype
from weft.base.errors import WeftError
from weft.base.settings import settings

__all__ = [
    "AddrSpace",
    "DType",
    "ImageDType",
    "PtrDType",
    "WeftError",
    "dtypes",
    "settings",
    "to_dtype",
]
