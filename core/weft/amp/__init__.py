"""Automatic mixed precision: `autocast` for the dtype of operations, `GradScaler` for float16."""

from typing import TYPE_CHECKING, NoReturn

from weft.amp.scaler import GradScaler
from weft.base.suggestions import missing_name
from weft.tensor.autocast import autocast, get_autocast_dtype, is_autocast_enabled

__all__ = ["GradScaler", "autocast", "get_autocast_dtype", "is_autocast_enabled"]

_EQUIVALENTS = {
    **dict.fromkeys(
        ("autocast_mode", "custom_fwd", "custom_bwd"), "with weft.autocast(dtype): in the function"
    ),
    "grad_scaler": "weft.amp.GradScaler",
    "is_autocast_available": "with weft.autocast(dtype): on every device",
}


if not TYPE_CHECKING:  # a checker reports a name that is not there

    def __getattr__(name: str) -> NoReturn:
        if name.startswith("_"):
            raise AttributeError(f"module 'weft.amp' has no attribute {name!r}")
        raise missing_name("weft.amp", name, __all__, _EQUIVALENTS)
