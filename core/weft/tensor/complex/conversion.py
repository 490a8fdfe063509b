"""Complex tensors as Python numbers, arrays, memory of other libraries and text."""

from __future__ import annotations

from typing import Any

from weft.base.dtype import dtypes
from weft.base.errors import ExchangeError
from weft.shape.movement import say_shape
from weft.tensor import dlpack
from weft.tensor.printing import text_of_complex


def numpy(self: Any) -> Any:
    """The values as a NumPy array of its own memory."""
    return _joined(self._interleaved.numpy())


def _joined(parts: Any) -> Any:
    """An array of complex numbers over an array of interleaved parts."""
    import numpy as np

    name = "complex64" if parts.dtype == np.float32 else "complex128"
    return np.ascontiguousarray(parts).reshape(-1).view(name).reshape(parts.shape[:-1])


def array_of(self: Any, dtype: Any = None, copy: bool | None = None) -> Any:
    """The values as a NumPy array; with copy=False a window onto memory that the host sees."""
    if copy is False:
        window = self._interleaved.__array__(copy=False)
        if window.strides[-1:] != (window.itemsize,):
            raise ExchangeError("this memory is not interleaved", asked="a window, copy=False")
        name = "complex64" if window.itemsize == 4 else "complex128"
        return window.view(name)[..., 0]
    array = numpy(self)
    return array if dtype is None else array.astype(dtype, copy=False)


def tolist(self: Any) -> Any:
    """The values as nested lists of Python's complex numbers; a number for a 0-d tensor."""
    return numpy(self).tolist()


def data_of(self: Any) -> memoryview:
    """The values as a memoryview of bytes."""
    return memoryview(numpy(self).tobytes())


def text(self: Any) -> str:
    """`repr`: values where looking at them computes nothing."""
    return text_of_complex(self)


def capsule(
    self: Any, *, stream: Any = None, max_version: Any = None, dl_device: Any = None,
    copy: bool | None = None,
) -> Any:  # fmt: skip
    """A capsule of DLPack with the memory of self, computed now; see `Tensor.__dlpack__`."""
    whole = self._interleaved
    if stream is not None or (dl_device and tuple(map(int, dl_device)) != dlpack.CPU_DEVICE):
        return whole.__dlpack__(stream=stream, dl_device=dl_device)  # raises
    memory = whole._memory(copy)
    even = all(s % 2 == 0 for s in memory.strides[:-1]) and memory.offset % 2 == 0
    if memory.strides[-1] != 1 or not even:
        if copy is False:
            raise ExchangeError(
                "the parts of this tensor are not side by side in memory",
                asked=f"the memory of {self.dtype!r} {say_shape(self.shape)}, copy=False",
                try_="x.contiguous(), or copy=None",
            )
        memory = whole._memory(True)
    memory = memory._replace(
        dtype=dtypes.complex_dtype(memory.dtype), shape=memory.shape[:-1],
        strides=tuple(s // 2 for s in memory.strides[:-1]), offset=memory.offset // 2,
    )  # fmt: skip
    return dlpack.capsule_of(memory, max_version)


METHODS = "numpy tolist".split()
"""The functions here that are methods of complex tensors by their own names."""

PROTOCOLS = {"__array__": array_of, "__repr__": text, "__dlpack__": capsule, "_data": data_of}
"""The functions here that are methods of complex tensors by other names."""
