"""ComplexTensor: a tensor of complex numbers over a real graph of interleaved parts."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Self

from weft.base.arguments import too_deep
from weft.base.dtype import DType, dtypes, to_dtype
from weft.base.errors import DTypeError, ShapeError
from weft.shape.movement import say_shape
from weft.tensor.complex import (
    arithmetic,
    composed,
    conversion,
    creation,
    elementary,
    gradients,
    inherited,
    movement,
    products,
    reductions,
)
from weft.tensor.complex.construction import dtype_of, interleaved, interleaved_data
from weft.tensor.complex.parts import Parts, lane
from weft.tensor.protocol import TensorBase
from weft.tensor.tensor import Tensor
from weft.uop import UOp

_allocate = object.__new__
_NUMBERS = (bool, int, float, complex)


class ComplexTensor(Tensor):
    """A tensor of complex64 or complex128; `Tensor(data)` makes one of complex numbers.

    It holds no node of its own. `_interleaved` is a real tensor with a last axis of 2: the real and
    the imaginary part of each element, as they are in memory. Gradients are those of the parts:
    dL/dx + i dL/dy, as in PyTorch. Methods without a meaning for complex numbers raise DTypeError.
    """

    __slots__ = ("_interleaved",)

    _interleaved: Tensor
    _real_class: ClassVar[type[Tensor]] = Tensor
    _products: ClassVar[Any] = products

    def __init__(
        self, data: Any = None, device: Any = None, dtype: Any = None,
        requires_grad: bool | None = None,
    ) -> None:  # fmt: skip
        try:
            kind = dtype_of(data) if dtype is None else to_dtype(dtype)
            self._interleaved = interleaved_data(self._real_class, data, device, kind)
        except RecursionError as error:
            raise too_deep(data, "nested lists", error) from None
        if requires_grad is not None:
            self._interleaved.requires_grad = requires_grad

    # ---- parts and operands ---------------------------------------------------------------------

    @classmethod
    def _over(cls, whole: Any) -> Self:
        """A complex tensor over interleaved numbers."""
        made = _allocate(cls)
        made._interleaved = whole
        return made

    @classmethod
    def _of_parts(cls, real: Any, imag: Any) -> Self:
        """A complex tensor of two real tensors of one dtype; one of them may be a number."""
        like = real if isinstance(real, TensorBase) else imag
        real, imag = (
            x
            if isinstance(x, TensorBase)
            else like.full((), x, dtype=like.dtype, device=like.device)
            for x in (real, imag)
        )
        return cls._over(interleaved(real, imag))

    @classmethod
    def _from_node(cls, uop: Any, requires_grad: bool | None = None, derived: bool = False) -> Self:
        return cls._over(cls._real_class._from_node(uop, requires_grad, derived))

    def _parts(self) -> Parts:
        return Parts(self._real_part(), self._imag_part())

    def _real_part(self) -> Any:
        return lane(self._interleaved, 0)

    def _imag_part(self) -> Any:
        return lane(self._interleaved, 1)

    def _other(self, x: Any) -> Any:
        """An operand: a Python number, or a tensor beside self."""
        if isinstance(x, TensorBase) or x.__class__ in _NUMBERS:
            return x
        if isinstance(x, _NUMBERS):
            return complex(x) if isinstance(x, complex) else float(x)
        if getattr(x, "shape", None) == () and hasattr(x, "item"):
            return x.item()
        return self._real_class(x, device=self.device)

    def _constant_operand(self, x: Any, dtype: DType) -> Self:
        """An operand as a complex tensor of `dtype`."""
        if isinstance(x, ComplexTensor):
            return x.cast(dtype)  # type: ignore[return-value]
        device = self.device if isinstance(x, _NUMBERS) else None
        x = complex(x) if isinstance(x, _NUMBERS) else x
        return self._over(interleaved_data(self._real_class, x, device, dtype))

    @classmethod
    def _chosen(cls, condition: Any, x: Any, y: Any) -> Self:
        """`condition.where(x, y)`, of which one is complex."""
        return movement.where(condition, x, y)  # type: ignore[no-any-return]

    @classmethod
    def _between(cls, start: complex, stop: complex, steps: int, dtype: Any, device: Any) -> Self:
        """`linspace` of complex numbers."""
        made: Self = creation.between(cls, start, stop, steps, dtype, device)
        return made

    @classmethod
    def _joined(cls, parts: Any, dim: int) -> Self:
        """Tensors one after another, of which one is complex."""
        return movement.joined(cls, parts, dim)  # type: ignore[no-any-return]

    @staticmethod
    def _gradients_of_targets(x: Any, targets: Any, options: Any) -> list[Any]:
        """The gradients of a real tensor with respect to targets of which some are complex."""
        return gradients.gradients_of_targets(x, targets, options)

    def _expanded(self, new: tuple[Any, ...]) -> Self:
        return movement.expand(self, new)  # type: ignore[no-any-return]

    def _with_flag(self, requires_grad: bool | None) -> Self:
        self._interleaved._with_flag(requires_grad)
        return self

    def _refused(self, what: str) -> DTypeError:
        return DTypeError(
            f"{what} is not for complex numbers",
            asked=f"{what} of {self.dtype!r} {say_shape(self.shape)}",
            because="it has no meaning for them, or no implementation yet",
            try_="x.real, x.imag, abs(x) or weft.view_as_real(x)",
        )

    # ---- what it is -----------------------------------------------------------------------------

    if not TYPE_CHECKING:

        @property
        def _uop(self) -> NoReturn:
            raise self._refused("this operation")

        @property
        def _requires_grad(self) -> bool | None:
            return self._interleaved._requires_grad

        @property
        def _alias(self) -> Any:
            return self._interleaved._alias

        @property
        def is_leaf(self) -> bool:
            """Whether it was not computed from tensors that require gradients."""
            return self._interleaved.is_leaf

    @property
    def uop(self) -> UOp:
        """The node of the interleaved numbers, with a last axis of 2."""
        return self._interleaved.uop

    @uop.setter
    def uop(self, node: UOp) -> None:
        self._interleaved.uop = node

    lazydata = uop

    @property
    def shape(self) -> tuple[int, ...]:
        return self._interleaved.shape[:-1]

    @property
    def device(self) -> str:
        return self._interleaved.device

    @property
    def dtype(self) -> DType:
        return dtypes.complex_dtype(self._interleaved.dtype)

    @property
    def ndim(self) -> int:
        return self._interleaved.ndim - 1

    def numel(self) -> int:
        """Number of elements."""
        return self._interleaved.numel() // 2

    nelement = numel

    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self._interleaved.nbytes()

    def element_size(self) -> int:
        """Bytes of one element."""
        return self.dtype.itemsize

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self.dtype.itemsize

    def is_floating_point(self) -> bool:
        """False: see `is_complex`."""
        return False

    # ---- parts ----------------------------------------------------------------------------------

    @property
    def real(self) -> Any:
        """The real parts: a view, through which they are written."""
        return self._interleaved[..., 0]

    @property
    def imag(self) -> Any:
        """The imaginary parts: a view, through which they are written."""
        return self._interleaved[..., 1]

    @real.setter
    def real(self, value: Any) -> None:
        self._interleaved[..., 0] = value

    @imag.setter
    def imag(self, value: Any) -> None:
        self._interleaved[..., 1] = value

    def cast(self, dtype: Any) -> Any:
        """Converted to another complex dtype. :raises DTypeError: for a real dtype."""
        target = to_dtype(dtype)
        if target is dtypes.bool:
            return self != 0
        if not target.is_complex:
            raise DTypeError(
                "complex numbers are not converted to real ones",
                asked=f"{self.dtype!r} as {target!r}",
                because="the imaginary parts would be lost without a word",
                try_="x.real, or abs(x)",
            )
        return self._over(self._interleaved.cast(dtypes.real_dtype(target)))

    def type(self, dtype: Any = None) -> Any:
        """`cast`."""
        return self.cast(self.dtype if dtype is None else dtype)

    # ---- whole values ---------------------------------------------------------------------------

    def realize(self, *lst: Any, do_update_stats: bool = True) -> Self:
        """Compute this tensor, and others with it; returns self."""
        self._interleaved.realize(*lst, do_update_stats=do_update_stats)
        return self

    def to(self, device: Any = None, dtype: Any = None, **options: Any) -> Any:
        """On another device, in another complex dtype, or both."""
        if isinstance(device, TensorBase):
            device, dtype = device.device, device.dtype
        elif dtype is None and (isinstance(device, DType) or _names_complex(device)):
            return self.cast(device)
        made = self._interleaved if device is None else self._interleaved.to(device, **options)
        made = self._over(made)
        return made if dtype is None else made.cast(dtype)

    def assign(self, x: Any) -> Self:
        """Take on the value of x, which broadcasts to the shape of self; returns self."""
        whole = self._constant_operand(self._other(x), self.dtype).expand(self.shape)
        self._interleaved.assign(whole._interleaved)
        return self

    def __copy__(self) -> Self:
        return self._over(copy.copy(self._interleaved))

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self._over(copy.deepcopy(self._interleaved, memo))

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return self._over, (self._interleaved,)

    def __bool__(self) -> bool:
        raise DTypeError("a tensor is not true or false", asked="bool() of a complex tensor")

    def item(self) -> Any:
        """The only element, as a Python complex number."""
        if self.numel() != 1:
            raise ShapeError("item is of one element", asked=f"item() of shape {self.shape}")
        return complex(*self._interleaved.reshape(2).tolist())

    def __complex__(self) -> complex:
        return complex(self.item())


def _names_complex(device: Any) -> bool:
    return isinstance(device, str) and device.lower().startswith("complex")


_OWN: dict[str, Any] = {
    **{name: getattr(arithmetic, name) for name in arithmetic.METHODS},
    **{name: getattr(reductions, name) for name in reductions.METHODS},
    **{name: getattr(products, name) for name in products.METHODS},
    **{name: getattr(movement, name) for name in movement.METHODS},
    **creation.METHODS,
    **composed.METHODS,
    **{name: getattr(conversion, name) for name in conversion.METHODS},
    **{name: getattr(gradients, name) for name in gradients.METHODS},
    **elementary.METHODS,
    **movement.BY_PARTS,
}
inherited.install(ComplexTensor, _OWN)
TensorBase._complex_class = Tensor._complex_class = ComplexTensor
