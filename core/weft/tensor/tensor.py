"""Tensor: a lazy value of some shape, dtype and place; and how it comes into and out of Python.
Also: lazy evaluation.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import wraps
from typing import TYPE_CHECKING, Any, ClassVar, ParamSpec, Self, TypeVar, Unpack, overload

from weft.base.arguments import flag, kind_of, shown
from weft.base.download import download
from weft.base.dtype import DType, dtypes, element_dtype
from weft.base.errors import ArgumentError, DeviceError, DTypeError, IndexingError, WrongKind
from weft.device import registry
from weft.engine import stats
from weft.shape.movement import SymbolicShape
from weft.tensor import interop, realize
from weft.tensor.alias import break_alias
from weft.tensor.autocast import with_float32_rules
from weft.tensor.complex_data import PLAIN_DATA, holds_complex
from weft.tensor.live_tensors import register_tensor
from weft.tensor.ops.array_conversion import ArrayConversionMixin
from weft.tensor.ops.attribute_suggestions import TensorNames, find_attribute
from weft.tensor.ops.bitwise import BitwiseMixin
from weft.tensor.ops.creation import CreationMixin
from weft.tensor.ops.device_placement import DevicePlacementMixin
from weft.tensor.ops.differentiation import DifferentiationMixin
from weft.tensor.ops.dtype import DtypeMixin
from weft.tensor.ops.elementwise import ElementwiseMixin
from weft.tensor.ops.indexing import IndexingMixin
from weft.tensor.ops.inplace_variants import InplaceMixin
from weft.tensor.ops.interop_protocols import InteropMixin
from weft.tensor.ops.linear_algebra import LinearAlgebraMixin
from weft.tensor.ops.movement import MovementMixin
from weft.tensor.ops.neural_network import NeuralNetworkMixin
from weft.tensor.ops.operators import OperatorsMixin
from weft.tensor.ops.overloads import OverloadsMixin
from weft.tensor.ops.parameter_aliases import spelled_as_elsewhere
from weft.tensor.ops.random import RandomMixin
from weft.tensor.ops.reduce import ReduceMixin
from weft.tensor.ops.sorting import SortingMixin
from weft.tensor.ops.transcendental import TranscendentalMixin
from weft.tensor.ops.writing import WritingMixin
from weft.tensor.printing import text_of
from weft.tensor.protocol import TensorBase
from weft.tensor.tracing_cache import with_tracing_cache
from weft.tensor.types import ArrayLike, DeviceLike, DTypeLike, TensorOptions
from weft.uop import UOp
from weft.uop.symbolic.sint import fold, sprod

if TYPE_CHECKING:
    from weft.schedule import ScheduleItem


P = ParamSpec("P")
R = TypeVar("R")


@with_tracing_cache
@with_float32_rules
@spelled_as_elsewhere
class Tensor(  # pyright: ignore[reportIncompatibleMethodOverride]
    OverloadsMixin,
    OperatorsMixin,
    ElementwiseMixin,
    BitwiseMixin,
    TranscendentalMixin,
    MovementMixin,
    ReduceMixin,
    LinearAlgebraMixin,
    NeuralNetworkMixin,
    IndexingMixin,
    WritingMixin,
    SortingMixin,
    RandomMixin,
    CreationMixin,
    DtypeMixin,
    InplaceMixin,
    DifferentiationMixin,
    DevicePlacementMixin,
    InteropMixin,
    ArrayConversionMixin,
    metaclass=TensorNames,
):
    """A lazy tensor.

    :param data: a number, nested lists or tuples of numbers, bytes, a NumPy array, a path (its
        bytes, lazily), a graph node, a tensor, or None (no elements). Bytes are read as `dtype`
        (uint8), all else is converted to it.
    :param device: where it lives; None: the default device. A tuple of devices: on each of them.
    :param dtype: of the elements; None: what the data has. Python ints are int32 (int64 or uint64
        for larger ones), floats float32.
    :param requires_grad: True: gradients are accumulated in `.grad` by `backward`; None: undecided,
        an optimiser may turn it on; False: never.
    :raises DTypeError: if a tensor cannot be made of `data`, or `dtype` names none.
    :raises OutOfRange: for a number that `dtype`, or any integer dtype, cannot represent.
    :raises ShapeError: if nested lists are ragged.

    >>> Tensor([[1, 2], [3, 4]]).tolist()
    [[1, 2], [3, 4]]
    >>> Tensor([1, 2], dtype="float16").dtype
    dtypes.half
    >>> Tensor(b"ab").tolist()
    [97, 98]
    >>> Tensor(3.0).shape
    ()
    """

    __slots__ = ()

    training: ClassVar[bool] = False

    if TYPE_CHECKING:
        _uop: UOp
        _requires_grad: bool | None
        grad: Tensor | None
        is_leaf: bool
    else:
        __getattr__ = find_attribute

    def __new__(
        cls, data: Any = None, device: Any = None, dtype: Any = None, *_: Any, **__: Any
    ) -> Self:
        """A complex tensor if `data` holds complex numbers, or `dtype` is complex."""
        kind = (
            cls if data.__class__ in PLAIN_DATA and dtype is None else _class_for(cls, data, dtype)
        )
        made: Self = object.__new__(kind)
        return made

    def __init__(
        self,
        data: ArrayLike | os.PathLike[str] | None = None,
        device: str | tuple[str, ...] | None = None,
        dtype: DTypeLike | None = None,
        requires_grad: bool | None = None,
    ) -> None:
        kind = None if dtype is None else element_dtype(dtype)
        node = interop.node_of(data, device, kind, bool(requires_grad))
        self._uop = node
        self._requires_grad = None
        self._alias = self.grad = None
        self.is_leaf = True
        register_tensor(self)
        if requires_grad is None or requires_grad is False:
            self._requires_grad = requires_grad
        elif flag(requires_grad, "requires_grad"):
            self.requires_grad_()

    # ---- what it is ---------------------------------------------------------------------------

    @property
    def uop(self) -> UOp:
        """The graph node behind it.

        >>> Tensor.full((2,), 1).uop.op.name
        'EXPAND'
        """
        return self._uop

    @uop.setter
    def uop(self, node: UOp) -> None:
        break_alias(self)
        self._replace_node(node)

    lazydata = uop

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes of the axes: ints or symbolic ints (which type checkers see as ints).

        >>> Tensor([[1, 2, 3], [4, 5, 6]]).shape
        (2, 3)
        >>> Tensor([[1, 2, 3], [4, 5, 6]])[:, : Variable("n", 1, 3).bind(2)].shape
        (2, n)
        """
        shape = self._uop.shape
        for size in shape:
            if size.__class__ is not int:
                return SymbolicShape(shape)  # type: ignore[return-value]
        return shape

    @property
    def device(self) -> str:
        """The device string of where it lives; of a tensor on several devices the tuple of them
        (which type checkers see as a string).

        >>> Tensor([1, 2], device="REF").device
        'REF'
        """
        found = self._uop.device
        return registry.canonical(None) if found is None else found

    @property
    def ndim(self) -> int:
        """Number of axes.

        >>> Tensor([[1, 2], [3, 4]]).ndim
        2
        """
        return len(self._uop.shape)

    def numel(self) -> int:
        """Number of elements.

        >>> Tensor([[1, 2], [3, 4]]).numel()
        4
        """
        return sprod(self._uop.shape)  # type: ignore[return-value]

    nelement = numel

    def nbytes(self) -> int:
        """Bytes of all elements.

        >>> Tensor([[1, 2], [3, 4]]).nbytes()
        16
        """
        return fold(self.numel() * self._uop.dtype.itemsize)  # type: ignore[return-value]

    @overload
    def size(self, dim: None = None) -> tuple[int, ...]: ...
    @overload
    def size(self, dim: int) -> int: ...
    def size(self, dim: int | None = None) -> int | tuple[int, ...]:
        """The shape, or the size of one axis.

        >>> Tensor.zeros(2, 3).size()
        (2, 3)
        >>> Tensor.zeros(2, 3).size(1)
        3
        """
        if dim is not None and not self.shape:
            raise IndexingError(
                "a 0-d tensor has no axes", asked=f"size({dim})", because="its shape is ()"
            )
        return self.shape if dim is None else self.shape[self._resolve_dim(dim)]

    def __len__(self) -> int:
        if not self.shape:
            raise DTypeError(
                "a 0-d tensor has no length",
                asked="len() of a tensor of shape ()",
                because="it is one number, not a row of them",
                try_="x.item() for its value, x.numel() for how many there are",
            )
        return self.shape[0]

    def __bool__(self) -> bool:
        raise DTypeError(
            "a tensor is not true or false",
            asked=f"bool() of a tensor of shape {self.shape}",
            because="it is lazy and may have many elements",
            try_="x.item() for one element, x.any().item() or x.all().item() for many",
        )

    def __iter__(self) -> Iterator[Self]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return text_of(self)

    @staticmethod
    def train(mode: bool = True) -> _Training:
        """A with-block or decorator in which `Tensor.training` is `mode`.

        >>> with Tensor.train():
        ...     print(Tensor.training)
        True
        >>> Tensor.training
        False
        """
        return _Training(mode)

    # ---- running ------------------------------------------------------------------------------

    def realize(self, *lst: Tensor, do_update_stats: bool = True) -> Self:
        """Compute this tensor, and others with it; returns self.

        Without `do_update_stats` what runs is not counted in `weft.engine.stats`.

        >>> x = (Tensor([1, 2]) + 1).realize()
        >>> x.tolist()
        [2, 3]
        """
        plain = isinstance(self, TensorBase) and self._interleaved is None
        if not lst and do_update_stats and plain:
            realize.realize_tensors((self,))
            return self
        with nullcontext() if do_update_stats else stats.paused():
            realize.realize_tensors(_all_tensors("realize", self, lst))
        return self

    def kernelize(self, *lst: Tensor) -> Self:
        """Group the pending graph into kernels without running them; returns self.

        >>> x = (Tensor([1, 2]) + 1).kernelize()
        >>> x.tolist()
        [2, 3]
        """
        realize.kernelize_tensors(_all_tensors("kernelize", self, lst))
        return self

    def schedule_with_vars(self, *lst: Tensor) -> tuple[list[ScheduleItem], dict[UOp, int]]:
        """What would be run, in order, and the values of the variables in it.

        >>> n = Variable("n", 1, 4).bind(2)
        >>> items, values = Tensor.ones(4).contiguous()[:n].sum().schedule_with_vars()
        >>> list(values.values())
        [2]
        """
        return realize.schedule_tensors(_all_tensors("schedule_with_vars", self, lst))

    def schedule(self, *lst: Tensor) -> list[ScheduleItem]:
        """What would be run, in order. :raises ArgumentError: if variables take part.

        >>> len((Tensor.empty(4) + 1).schedule())
        1
        """
        items, values = realize.schedule_tensors(_all_tensors("schedule", self, lst))
        if values and items:
            raise ArgumentError(
                "this schedule depends on variables",
                asked="schedule()",
                because=f"values are bound to {', '.join(v.arg.name for v in values)}",
                try_="schedule_with_vars()",
            )
        return items

    # ---- into here ----------------------------------------------------------------------------

    @classmethod
    def _as_tensor(cls, x: Any, like: TensorBase, dtype: DType | None = None) -> Self:
        """x as a tensor beside `like`; numbers take its dtype's kind unless `dtype` is given."""
        if isinstance(x, TensorBase):
            return x  # type: ignore[return-value]
        return cls(x, device=like.device, dtype=dtype)

    @classmethod
    def from_file(cls, path: str | os.PathLike[str], dtype: Any = None) -> Self:
        """The bytes of a file as a lazy tensor of `dtype` (uint8) on the device that stores it.

        A URL names what a plugin holds (``weft_locate``). The dtype says how the bytes are read, as
        in `numpy.fromfile`; nothing is converted.

        :raises ArgumentError: if the file's size is no whole number of elements.
        :raises FileError: if there is no such file.

        >>> import tempfile
        >>> with tempfile.NamedTemporaryFile() as file:
        ...     _ = file.write(b"weft")
        ...     file.flush()
        ...     print(Tensor.from_file(file.name).tolist())
        ...     print(Tensor.from_file(file.name, dtype=dtypes.uint16).tolist())
        [119, 101, 102, 116]
        [25975, 29798]
        """
        kind = None if dtype is None else element_dtype(dtype)
        return cls._from_node(interop.from_file(path, kind))

    @classmethod
    def from_url(cls, url: str, gunzip: bool = False, **kwargs: Unpack[TensorOptions]) -> Self:
        """The bytes of a file on the network as uint8, fetched once and kept in the cache folder.

        It stays on the device that stores files, lazily, unless `device` is given; `gunzip` unpacks
        it. What a plugin holds at the address is not fetched: it is used where it is. Further
        arguments are those of `Tensor`.

        :raises FileError, FormatError: if it cannot be fetched or unpacked.
        :raises ArgumentError: for an address that is not http, https or file, nor held by a plugin.

        >>> import pathlib, weft
        >>> Tensor.from_url(pathlib.Path(weft.__file__).as_uri()).dtype
        dtypes.uchar
        """
        held = None if gunzip else interop.held_at(url)
        return cls(download(url, gunzip) if held is None else held, **kwargs)

    @classmethod
    def from_blob(
        cls,
        ptr: int,
        shape: tuple[int, ...],
        *,
        dtype: DTypeLike | None = None,
        device: DeviceLike | None = None,
    ) -> Self:
        """Memory of this process at an address, in place where `device` can use it, else copied.

        It is not owned: the caller keeps it alive. In place, what is written to it later is seen
        by what is computed later, and what is written to the tensor is in it.

        >>> import array
        >>> numbers = array.array("f", [1.0, 2.0, 3.0])
        >>> Tensor.from_blob(numbers.buffer_info()[0], (3,), dtype=dtypes.float).tolist()
        [1.0, 2.0, 3.0]
        """
        kind = dtypes.default_float if dtype is None else element_dtype(dtype)
        return cls._from_node(interop.from_blob(ptr, shape, kind, registry.placement(device)))

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        """The values and where they were; from protocol 5 on they may travel out of band.

        What was on the default device comes back on the default device there; what was on another
        comes back on that, or on the default one where it does not open.
        """
        held = self._settled()
        raw: Any = held.data().cast("B") if held.numel() else b""
        import pickle

        packed = pickle.PickleBuffer(raw) if protocol >= 5 else bytes(raw)
        where = self._uop.device
        kept = isinstance(where, str) and where != registry.canonical(None)
        if kept and registry.capabilities(where).memory.persistent:
            kept = False
        facts = (packed, self._uop.dtype, tuple(held.shape), self._requires_grad)
        return _restore, (*facts, where if kept else None, self.__class__)

    def __copy__(self) -> Self:
        return self._from_node(self._uop, self._requires_grad, not self.is_leaf)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """A leaf in memory of its own, with a copy of the gradient."""
        made = self._from_node(self.clone()._uop, None)
        if self._requires_grad:
            made.requires_grad_()
        else:
            made._requires_grad = self._requires_grad
        made.grad = copy.deepcopy(self.grad, memo)
        return made


def _class_for(cls: type[Any], data: Any, dtype: Any) -> type[Any]:
    """The class of a tensor of `data`: `cls`, or the class of complex tensors beside it."""
    if cls._complex_class is None or issubclass(cls, cls._complex_class):
        return cls
    return cls._complex_class if holds_complex(data, dtype) else cls


def _all_tensors(what: str, first: Tensor, rest: tuple[Any, ...]) -> tuple[Tensor, ...]:
    """All of them, of complex ones the parts, checked.

    :raises ArgumentError: for what is no tensor.
    """
    for each in (first, *rest):
        if not isinstance(each, TensorBase):
            several = isinstance(each, list | tuple)
            raise WrongKind(
                f"{what} takes tensors",
                asked=f"{what}({shown(each)})",
                because=f"that is {kind_of(each)}",
                try_=f"Tensor.{what}(*tensors) for a list of them" if several else None,
            )
    return tuple(
        each if each._interleaved is None else each._interleaved for each in (first, *rest)
    )


class _Training:
    """`Tensor.training` set for a while."""

    def __init__(self, mode: bool) -> None:
        self._mode = mode
        self._before: list[bool] = []

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        mode = self._mode

        @wraps(function)
        def with_mode(*args: P.args, **kwargs: P.kwargs) -> R:
            before = Tensor.training
            try:  # in one frame, as `protocol.in_grad_mode`
                Tensor.training = mode
                return function(*args, **kwargs)
            finally:
                Tensor.training = before

        return with_mode

    def __enter__(self) -> None:
        self._before.append(Tensor.training)
        Tensor.training = self._mode

    def __exit__(self, *exception: object) -> None:
        Tensor.training = self._before[-1]  # no call in between: a signal could raise there
        self._before.pop()


def _restore(
    raw: Any, dtype: DType, shape: tuple[int, ...], flag: bool | None,
    where: str | None = None, kind: type[Tensor] = Tensor,
) -> Tensor:  # fmt: skip
    try:
        device = registry.open(where).name
    except DeviceError:
        device = registry.canonical(None)
    made = kind(bytes(raw), dtype=dtype, device=device).reshape(shape)
    return made._with_flag(flag)
