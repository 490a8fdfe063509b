"""Automatic mixed precision: `autocast` for the dtype of operations, `GradScaler` for float16."""

from weft.amp.scaler import GradScaler
from weft.tensor.autocast import autocast, get_autocast_dtype, is_autocast_enabled

__all__ = ["GradScaler", "autocast", "get_autocast_dtype", "is_autocast_enabled"]
