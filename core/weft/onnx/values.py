"""Values of the interpreter: constants, promotion between the host and the device, encoding.

A value is a tensor, a NumPy array on the host, a coded tensor (a small type), a list (a sequence),
or None (an optional without a value).

Constants become tensors once. A number, or a row of equal numbers, becomes a constant of the graph,
which takes no memory and is folded into kernels. The array of such a tensor is remembered: an
operator that needs its value reads nothing from the device.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from typing import Any

import numpy as np

from weft.base.dtype import DType, dtypes, to_dtype
from weft.base.errors import DTypeError
from weft.engine.capture import unrecorded
from weft.onnx import small_types
from weft.onnx.errors import OnnxError
from weft.onnx.graph import Initializer
from weft.tensor import Tensor

SMALL = 64
"""Constants of so many elements at most are values on the host."""

_MOST_HOST_INTEGERS = 4096
_MOST_CACHED = 512
_MOST_CACHED_BYTES = 1 << 16
_MOST_FOLDED_BYTES = 1 << 28


class Constants:
    """The constants of one model on its device.

    :ivar device: where tensors are made. :ivar dtype: replaces float32; None: float32 stays.
    """

    def __init__(self, device: str | None, dtype: DType | None) -> None:
        self.device = device
        self.dtype = dtype
        self._tensors: dict[Initializer, Any] = {}
        self._host: dict[Initializer, np.ndarray] = {}
        self._small: OrderedDict[Any, Any] = OrderedDict()
        self._arrays: dict[int, tuple[Any, np.ndarray]] = {}

    def is_on_host(self, constant: Initializer) -> bool:
        """Whether a constant is a value on the host: it is small, or looks like shapes or axes."""
        if constant.dtype == "string" or constant.size <= SMALL:
            return True
        return self._looks_like_a_shape(constant) and constant.size <= _MOST_HOST_INTEGERS

    def _looks_like_a_shape(self, constant: Initializer) -> bool:
        return constant.dtype in ("int64", "int32") and len(constant.shape) <= 1

    def array(self, constant: Initializer) -> np.ndarray:
        """Return a constant as an array. Values on the host are kept, others are read again."""
        found = self._host.get(constant)
        if found is None:
            found = constant.read()
            if self.is_on_host(constant):
                self._host[constant] = found
        return found

    def tensor(self, constant: Initializer) -> Any:
        """Return a constant as a tensor, which is made at the first call."""
        found = self._tensors.get(constant)
        if found is None:
            found = self._tensors[constant] = _realized(self._recorded(constant))
        return found

    def prepare(self, constants: Iterable[Initializer]) -> None:
        """Make the tensors of the weights among constants. One schedule copies all of them."""
        new = {
            each: self._recorded(each)
            for each in constants
            if each not in self._tensors and not (each.size == 1 or self._looks_like_a_shape(each))
        }
        tensors = [each for each in new.values() if isinstance(each, Tensor)]
        if tensors:
            Tensor.realize(*tensors)
        self._tensors.update(new)

    def folded(self, name: str, tensor: Tensor) -> Initializer | None:
        """Compute a tensor that depends on constants alone, and return it as a constant.

        None for a large one, which stays a part of the graph.
        """
        if tensor.numel() * tensor.dtype.itemsize > _MOST_FOLDED_BYTES:
            return None
        settled = self._converted(tensor.contiguous()).realize()
        dtype = small_types.dtype_name(settled)
        shape = tuple(int(size) for size in settled.shape)
        made = Initializer(name, dtype, shape, lambda: _read(settled))
        self._tensors[made] = settled
        return made

    def to_tensor(self, array: np.ndarray) -> Any:
        """Return the tensor of an array on the host. Strings stay arrays."""
        if array.nbytes > _MOST_CACHED_BYTES or array.dtype.kind in "OSU":
            return self._made(array)
        key = (array.dtype.name, array.shape, array.tobytes())
        found = self._small.get(key)
        if found is None:
            found = self._small[key] = self._made(array)
            self._arrays[id(found)] = (found, array)
            if len(self._small) > _MOST_CACHED:
                _, old = self._small.popitem(last=False)
                self._arrays.pop(id(old), None)
        return found

    def to_host(self, value: Any) -> tuple[np.ndarray | None, bool]:
        """Return the array of a tensor or coded tensor, and whether it was read from the device."""
        known = self._arrays.get(id(value))
        if known is not None and known[0] is value:
            return known[1], False
        if isinstance(value, small_types.Coded):
            return small_types.to_numpy(value), True
        return (np.asarray(value.numpy()), True) if isinstance(value, Tensor) else (None, False)

    def _recorded(self, constant: Initializer) -> Any:
        """Return the value of a constant. A tensor is not computed yet."""
        if constant.tensor is not None and not self.is_on_host(constant):
            return self._converted(constant.tensor().to(self.device))
        return self._of_array(self.array(constant))

    def _made(self, array: np.ndarray) -> Any:
        return _realized(self._of_array(array))

    def _of_array(self, array: np.ndarray) -> Any:
        """Return the value of an array. A tensor is not computed yet."""
        if array.dtype.kind in "OSU":
            return array
        kind = _storage_dtype(array)
        if kind is None:
            return small_types.from_numpy(array, self.device)
        if array.size == 1 or (array.ndim == 1 and array.size and is_uniform(array)):
            one = array.reshape(-1)[0].item()
            return self._converted(Tensor.full(array.shape, one, dtype=kind, device=self.device))
        return self._converted(Tensor(np.ascontiguousarray(array), device=self.device))

    def _converted(self, tensor: Tensor) -> Tensor:
        """Convert float32 to the model's dtype."""
        if self.dtype is None or tensor.dtype != dtypes.float32:
            return tensor
        return tensor.cast(self.dtype)


def _read(constant: Tensor) -> np.ndarray:
    """Return the values of a constant, also where the evaluation is recorded."""
    with unrecorded():
        return np.asarray(constant.numpy())


def _realized(value: Any) -> Any:
    return value.realize() if isinstance(value, Tensor) else value


def is_uniform(array: np.ndarray) -> bool:
    """Whether all elements have the same bits."""
    if array.size == 1:
        return True
    flat = np.ascontiguousarray(array).reshape(-1)
    words = flat.view(np.uint8).reshape(flat.size, -1)
    return bool((words[1] == words[0]).all() and (words == words[0]).all())


def _storage_dtype(array: np.ndarray) -> DType | None:
    """Return the dtype of a device for an array; None for a small type.

    :raises OnnxError: for complex numbers.
    """
    if array.dtype.kind == "c":
        raise OnnxError(
            "complex numbers are not supported",
            asked=f"an array of {array.dtype}",
            because="no device stores them",
            try_="split the numbers into real and imaginary parts along a last axis",
        )
    try:
        return to_dtype(array.dtype)
    except DTypeError:
        return None


# ---- encoding ------------------------------------------------------------------------------------

_seen_dtypes: dict[str, np.dtype[Any]] = {}


def encode(value: Any) -> Any:
    """Return a value as containers of tensors and plain Python values, which `jit` takes."""
    if isinstance(value, np.ndarray):
        if value.dtype == object:
            return ("strings", value.shape, tuple(value.reshape(-1).tolist()))
        _seen_dtypes[value.dtype.name] = value.dtype
        return ("array", value.dtype.name, value.shape, value.tobytes())
    if isinstance(value, small_types.Coded):
        return ("coded", value.kind.name, value.codes)
    if isinstance(value, list):
        return ("list", tuple(encode(each) for each in value))
    return value


def is_plain(encoded: Any) -> bool:
    """Whether an encoded value holds no tensor."""
    if isinstance(encoded, Tensor):
        return False
    return not isinstance(encoded, tuple) or all(map(is_plain, encoded))


def decode(value: Any) -> Any:
    """Return the value that `encode` has encoded."""
    if not isinstance(value, tuple):
        return value
    kind, *rest = value
    if kind == "strings":
        array = np.empty(len(rest[1]), object)
        array[:] = rest[1]
        return array.reshape(rest[0])
    if kind == "array":
        return np.frombuffer(rest[2], _seen_dtypes[rest[0]]).reshape(rest[1])
    if kind == "coded":
        return small_types.Coded(rest[1], small_types.SMALL_TYPES[rest[0]])
    return [decode(each) for each in rest[0]]


def signature(value: Any) -> Any:
    """Return what a traced segment depends on: shapes and dtypes of tensors, values of arrays."""
    if isinstance(value, Tensor):
        return (value.shape, value.dtype)
    if isinstance(value, small_types.Coded):
        return (value.dtype, value.shape)
    if isinstance(value, list):
        return tuple(signature(each) for each in value)
    return encode(value)
