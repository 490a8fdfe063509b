"""Tensors in the shape, dtype and place of a complex tensor; class methods that make tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.base.dtype import dtypes, to_dtype


def full_like(self: Any, fill_value: Any, **options: Any) -> Any:
    """`fill_value` everywhere, in the shape, dtype and place of self."""
    return self._real_class.full(self.shape, fill_value, **_options(self, options))


def zeros_like(self: Any, **options: Any) -> Any:
    """Zeros in the shape, dtype and place of self."""
    return full_like(self, 0.0, **options)


def ones_like(self: Any, **options: Any) -> Any:
    """Ones in the shape, dtype and place of self."""
    return full_like(self, 1.0, **options)


def empty_like(self: Any, **options: Any) -> Any:
    """Storage of its own with uninitialized values, in the shape, dtype and place of self."""
    return self._real_class.empty(self.shape, **_options(self, options))


def new_full(self: Any, size: Any, fill_value: Any, **options: Any) -> Any:
    """`full` in the dtype and on the device of self."""
    return self._real_class.full(size, fill_value, **_options(self, options))


def new_zeros(self: Any, *size: Any, **options: Any) -> Any:
    """`zeros` in the dtype and on the device of self."""
    return self._real_class.zeros(*size, **_options(self, options))


def new_ones(self: Any, *size: Any, **options: Any) -> Any:
    """`ones` in the dtype and on the device of self."""
    return self._real_class.ones(*size, **_options(self, options))


def new_empty(self: Any, *size: Any, **options: Any) -> Any:
    """`empty` in the dtype and on the device of self."""
    return self._real_class.empty(*size, **_options(self, options))


def new_tensor(self: Any, data: Any, **options: Any) -> Any:
    """A tensor of `data` in memory of its own, in the dtype and on the device of self."""
    return self._real_class(data, **_options(self, options)).clone()


def randn_like(self: Any, **options: Any) -> Any:
    """Random numbers of a normal distribution: both parts have variance 1/2."""
    kind = to_dtype(options.pop("dtype", None) or self.dtype)
    if not kind.is_complex:
        return self._real_class.randn(*self.shape, dtype=kind, device=self.device)
    return self._over(self._interleaved.randn_like() * 0.5**0.5).cast(kind)


def between(cls: Any, start: complex, stop: complex, steps: int, dtype: Any, device: Any) -> Any:
    """`linspace` of complex numbers: each part by itself."""
    kind = dtypes.complex_dtype(dtypes.default_float if dtype is None else to_dtype(dtype))
    part = dtypes.real_dtype(kind)
    parts = (
        cls._real_class.linspace(a, b, steps, device=device, dtype=part)
        for a, b in ((start.real, stop.real), (start.imag, stop.imag))
    )
    return cls._of_parts(*parts)


def _options(self: Any, options: dict[str, Any]) -> dict[str, Any]:
    given = {name: value for name, value in options.items() if value is not None}
    return {"dtype": self.dtype, "device": self.device, **given}


def _of_real_class(name: str) -> Any:
    """The class method of that name of the class of real tensors, which knows complex dtypes."""

    def make(cls: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(cls._real_class, name)(*args, **kwargs)

    make.__name__ = name
    make.__doc__ = f"`Tensor.{name}`."
    return classmethod(make)


_LIKE: tuple[Callable[..., Any], ...] = (
    full_like, zeros_like, ones_like, empty_like, new_full, new_zeros, new_ones, new_empty,
    new_tensor, randn_like,
)  # fmt: skip
_CLASS_METHODS = (
    "arange empty eye full linspace logspace normal ones rand randint randn randperm uniform "
    "zeros tri tril_indices triu_indices einsum from_dlpack from_file from_url from_blob "
    "from_local"
).split()

METHODS: dict[str, Any] = {
    **{method.__name__: method for method in _LIKE},
    **{name: _of_real_class(name) for name in _CLASS_METHODS},
}
"""The methods by name."""
