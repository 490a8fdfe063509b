"""The front end: Tensor and what belongs to it."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from weft.tensor.complex import ComplexTensor
from weft.tensor.ops.linear_algebra.lapack_gradients import enter_rules
from weft.tensor.tensor import Tensor

__all__ = ["ComplexTensor", "Tensor", "from_dlpack"]

enter_rules(Tensor)

from_dlpack = Tensor.from_dlpack
"""A tensor over another library's memory; see `Tensor.from_dlpack`."""


class _Package(ModuleType):
    """This package can be called: `weft.tensor(data)` makes a tensor."""

    def __call__(
        self, data: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False
    ) -> Tensor:
        """A tensor of numbers, nested lists or an array, in memory of its own."""
        if isinstance(data, Tensor):
            made = data.detach().clone()
            made = made if dtype is None else made.cast(dtype)
            made = made if device is None else made.to(device)
        else:
            made = Tensor(data, dtype=dtype, device=device)
        return made.requires_grad_() if requires_grad else made


sys.modules[__name__].__class__ = _Package
