"""Base layer: dtypes, settings, errors, tracing and small helpers. It imports no other layer.

Modules are imported one by one (`weft.base.dtype`, `weft.base.errors`, ...). Only the names that
every layer needs are re-exported here.
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
