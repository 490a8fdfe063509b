"""weft.torch: run and train models of PyTorch.

    fast = torch.compile(model, backend="weft")
    imported = weft.torch.from_exported(torch.export.export(model, (x,)))

The package torch is needed: `pip install "weft[torch]"`.
"""

from __future__ import annotations

from weft.torch.errors import (
    TorchError,
    TorchNotInstalled,
    UnsupportedOperators,
    UnsupportedOperatorsWarning,
)

try:
    import torch as _torch  # noqa: F401
except ImportError as error:
    raise TorchNotInstalled(
        "weft.torch needs the package torch",
        asked="import weft.torch",
        because=str(error),
        try_='pip install "weft[torch]"',
    ) from error

from weft.torch.backend import register as _register_backend
from weft.torch.exchange import from_torch_tensor, to_torch_tensor
from weft.torch.exported import ExportedModule, from_exported
from weft.torch.registry import register
from weft.torch.state import from_torch

_register_backend()

__all__ = [
    "ExportedModule",
    "TorchError",
    "TorchNotInstalled",
    "UnsupportedOperators",
    "UnsupportedOperatorsWarning",
    "from_exported",
    "from_torch",
    "from_torch_tensor",
    "register",
    "to_torch_tensor",
]
