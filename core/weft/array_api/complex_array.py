"""ComplexArray: an array of complex numbers; see `weft.tensor.complex`."""

from __future__ import annotations

from typing import Any, ClassVar

from weft.array_api.array import Array
from weft.tensor import ComplexTensor, Tensor

__all__ = ["ComplexArray"]


class ComplexArray(ComplexTensor, Array):  # type: ignore[misc]
    """A lazy array of complex64 or complex128, with the attributes of the standard."""

    __slots__ = ()

    _real_class: ClassVar[type[Tensor]] = Array

    def __bool__(self) -> bool:
        return bool(self._only("bool"))

    @classmethod
    def _of_tensor(cls, x: Any) -> Any:
        """An array over the memory of a complex tensor."""
        return cls._over(x._interleaved._as_kind(Array))


Array._complex_class = ComplexArray
