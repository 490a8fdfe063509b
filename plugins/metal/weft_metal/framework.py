"""The Metal framework: its Python module, or why there is none."""

from __future__ import annotations

import platform
import sys
from typing import Any

from weft.plugin import DeviceUnavailable


def load_framework() -> Any:
    """The Metal framework's module.

    :raises DeviceUnavailable: where there is none, with what to do about it.
    """
    try:
        import Metal
    except ImportError as error:
        if sys.platform != "darwin":
            raise DeviceUnavailable(
                "Metal is part of macOS, which this is not",
                asked="opening a Metal GPU",
                because=f"this system is {platform.system() or sys.platform}",
                try_='another device; weft.device.registry.offline("METAL", "apple8") still '
                "generates code",
            ) from None
        raise DeviceUnavailable(
            "the Python side of Metal is missing",
            asked="opening a Metal GPU",
            because=str(error),
            try_="pip install pyobjc-framework-Metal",
        ) from None
    return Metal
