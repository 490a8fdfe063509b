"""Tensors among other libraries' arrays and in Python's own protocols.

NumPy's functions take tensors and answer with tensors where weft has the same (see
`weft.tensor.numpy_functions`); memory is shared by DLPack; `int`, `range`, `in`, `format` and the
display of notebooks work as for numbers and sequences.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import TYPE_CHECKING, Any, Self

from weft.base.arguments import whole
from weft.base.dtype import ImageDType, dtypes
from weft.base.errors import DTypeError, ExchangeError, ShapeError, WeftError
from weft.base.providers import provided
from weft.base.scalars import unpack
from weft.base.sequences import prod
from weft.device import Buffer, binding, numpy_dtype, registry
from weft.engine.capture import recording
from weft.shape.movement import say_shape
from weft.tensor import dlpack, numpy_functions
from weft.tensor.interop import host_node, moved
from weft.tensor.printing import values_text
from weft.tensor.protocol import TensorBase
from weft.tensor.storage import moves_over_memory
from weft.tensor.types import DeviceLike, DTypeLike
from weft.uop import Ops, UOp

if TYPE_CHECKING:
    import numpy

_SHOWN = 200
"""Elements that a notebook is shown."""


class InteropMixin(TensorBase):
    """Methods that other libraries and the interpreter call."""

    __slots__ = ()

    # above NumPy's own arrays and matrices, where they ask
    __array_priority__ = 1000.0

    # ---- NumPy --------------------------------------------------------------------------------

    def __array__(
        self, dtype: DTypeLike | None = None, copy: bool | None = None
    ) -> numpy.ndarray[Any, numpy.dtype[Any]]:
        """The values as a NumPy array: of its own memory, or with copy=False a window that cannot
        be written, onto memory that the host sees.

        :raises ExchangeError: (a BufferError) if copy is False and there is no such memory.
        """
        if copy is False:
            return self._window_of_numpy(dtype)
        array = self.numpy()
        return array if dtype is None else array.astype(dtype, copy=False)

    def _window_of_numpy(self, dtype: Any) -> numpy.ndarray:
        import numpy

        memory = self._memory(copy=False)
        own = numpy_dtype(memory.dtype)
        if dtype is not None and numpy.dtype(dtype) != own:
            raise ExchangeError(
                "another dtype needs a copy",
                asked=f"a window of {memory.dtype!r} as {dtype}, copy=False",
                try_="copy=None",
            )
        strides = tuple(s * own.itemsize for s in memory.strides)
        offset = memory.offset * own.itemsize
        array: Any = numpy.ndarray(memory.shape, own, memory.window, offset, strides)
        array.flags.writeable = False
        return array

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **named: Any) -> Any:
        """NumPy's functions of each element, as tensors; with `out` written there.

        :raises DTypeError: (a TypeError) for those that weft does not have.
        """
        return numpy_functions.call_ufunc(self, ufunc, method, inputs, named)

    def __array_function__(self, function: Any, types: Any, args: Any, named: Any) -> Any:
        """NumPy's other functions: as tensors where weft has them, else NumPy's over the values."""
        return numpy_functions.call_function(function, args, named)

    def __array_namespace__(self, *, api_version: str | None = None) -> ModuleType:
        """`weft.array_api`, in which libraries that follow the array API standard work.

        :raises ArgumentError: for a version of the standard that it does not follow.
        """
        namespace: ModuleType = provided("array_namespace")(api_version)
        return namespace

    # ---- DLPack -------------------------------------------------------------------------------

    def __dlpack_device__(self) -> tuple[int, int]:
        """Where other libraries find the memory: (1, 0), the host. What is elsewhere is copied."""
        return dlpack.CPU_DEVICE

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """A capsule with the memory of self, computed now.

        Where the host sees the memory it is shared, read-only: weft writes to a copy while the
        other side holds it. With copy=True, and where it has to be, it is a copy to write to.

        :raises ExchangeError: (a BufferError) if copy is False and a copy is needed, for another
            device than the host, and for dtypes that DLPack does not know.
        """
        if stream is not None:
            raise ExchangeError("the host has no streams", asked=f"__dlpack__(stream={stream!r})")
        if dl_device is not None and tuple(int(x) for x in dl_device) != dlpack.CPU_DEVICE:
            raise ExchangeError(
                "weft hands out memory of the host",
                asked=f"__dlpack__(dl_device={dl_device!r})",
                try_=f"dl_device={dlpack.CPU_DEVICE}",
            )
        return dlpack.capsule_of(self._memory(copy), max_version)

    def _memory(self, copy: bool | None) -> dlpack.Memory:
        """self, computed, as host memory; a copy if requested or necessary."""
        found = None if copy else self._shared_memory()
        if found is not None:
            return found
        if copy is False:
            raise ExchangeError(
                "this tensor has no memory that can be shared",
                asked=f"the memory of {self._uop.dtype!r} {self.shape} on {self.device}, "
                "copy=False",
                because="its elements are in an order that memory does not have, or on a device "
                "whose memory the host does not see",
                try_="x.contiguous(), or copy=None",
            )
        held = self._settled()
        shape = tuple(held.shape)
        raw = memoryview(bytearray(held.data().cast("B") if prod(shape) else b""))
        return dlpack.Memory(
            raw, self._uop.dtype, shape, dlpack.row_major(shape), 0, copied=True, node=None
        )

    def _shared_memory(self) -> dlpack.Memory | None:
        """The memory that self is a view of, computed now; None if the host does not see it."""
        if isinstance(self._uop.device, tuple) or any(isinstance(s, UOp) for s in self.shape):
            return None
        if (recorder := recording()) is not None:
            recorder.refuse_reading(self.shape)
        if 0 in self.shape:
            shape = tuple(self.shape)
            strides = dlpack.row_major(shape)
            return dlpack.Memory(memoryview(b""), self._uop.dtype, shape, strides, 0, False, None)
        # a number has no memory yet: it is computed like anything else
        held = self if self._constant_value() is None else self.detach().contiguous()
        kind = held._uop.dtype
        node = moves_over_memory(held.realize()._uop)
        base, tracked = node.base, node.st
        if base.op is not Ops.BUFFER or tracked is None or len(tracked.views) != 1:
            return None
        view = tracked.views[0]
        if view.mask is not None or min(view.strides, default=0) < 0:
            return None
        if registry.capabilities(base.device).memory.persistent:
            return None
        try:
            window = binding.buffer_of(base).as_memoryview(window=True)
        except WeftError:
            return None
        strides = tuple(int(s) for s in view.strides)
        return dlpack.Memory(
            window, kind, tuple(self.shape), strides, int(view.offset), copied=False, node=base
        )

    @classmethod
    def from_dlpack(
        cls, x: Any, *, device: DeviceLike | None = None, copy: bool | None = None
    ) -> Self:
        """A tensor over the memory of another library's array, by DLPack.

        :param x: an object that has `__dlpack__`, or a capsule. Its memory has to be the host's, or
            the library able to move it there.
        :param device: where the tensor lives; None: the default device. One that computes in the
            host's memory takes row-major memory as it is; others copy it at once.
        :param copy: True: memory of its own; False: never copied; None: copied where needed.
        :raises ExchangeError: (a BufferError) if copy is False and a copy is needed; for memory
            that the host does not see.
        :raises DTypeError: for elements that weft has no dtype for.

        Shared memory is never written by weft: a write to the tensor goes to a copy. What the other
        side writes is seen, until a copy is requested.

        >>> import numpy
        >>> a = numpy.arange(6, dtype=numpy.float32).reshape(2, 3)
        >>> Tensor.from_dlpack(a).tolist()
        [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
        """
        if isinstance(x, cls) and copy is not True:
            return x if device is None else x.to(device)
        taken = dlpack.take(x, copy)
        where = registry.placement(device)
        if taken.dtype.is_complex:
            return cls._complex_class._over(cls._of_memory(dlpack.parts_of(taken), where, copy))
        return cls._of_memory(taken, where, copy)

    @classmethod
    def _of_memory(cls, taken: dlpack.Taken, where: Any, copy: bool | None) -> Self:
        """A tensor over the memory of another library, or of a copy of it."""
        kind, shape = taken.dtype, taken.shape
        if prod(shape) == 0:
            return cls.empty(*shape, dtype=kind, device=where)
        if not copy and taken.in_order and isinstance(where, str):
            node = dlpack.node_over(taken, where)
            if node is not None:
                return cls._from_node(node if shape == (prod(shape),) else node.reshape(shape))
        if copy is False:
            raise ExchangeError(
                "this memory cannot be used as it is",
                asked=f"from_dlpack of {kind!r} {shape} with strides {taken.strides}, copy=False",
                because=f"{where} does not compute in the host's memory"
                if taken.in_order
                else "its elements are not row-major",
                try_="copy=None",
            )
        made = cls._from_node(moved(host_node(taken.compact(), kind, shape), where))
        return made.realize()

    def _element_at_hand(self) -> tuple[Any, ...]:
        """The only element, in a tuple, if it is in memory that the host sees; else nothing.

        Looking at single elements of something computed is what loops in Python do.
        """
        base = self._uop.base
        if base.op is not Ops.BUFFER or recording() is not None:
            return ()
        if isinstance(base.dtype, ImageDType):
            return ()
        if self._uop.op is Ops.BITCAST:
            return ()
        buffer, place = binding.realized(base), _place_in_memory(self._uop, base)
        if not isinstance(buffer, Buffer) or place is None:
            return ()
        if registry.capabilities(buffer.device).memory.persistent:
            return ()
        size = buffer.dtype.itemsize
        found = buffer.bytes_at(place * size, size)
        return () if found is None else tuple(unpack(found, buffer.dtype))

    # ---- Python -------------------------------------------------------------------------------

    def __index__(self) -> int:
        if dtypes.is_float(self._uop.dtype) or self._uop.dtype is dtypes.bool or self.shape != ():
            raise DTypeError(
                "only a 0-d tensor of an integer is an index",
                asked=f"{self._uop.dtype!r} {self.shape} as an integer",
                try_="x.item(), or int(x)",
            )
        return int(self.item())

    def __complex__(self) -> complex:
        return complex(self.item())

    def __round__(self, digits: int | None = None) -> Self:
        return self.round(0 if digits is None else whole(digits, "digits"))

    def __format__(self, spec: str) -> str:
        if not spec:
            return str(self)
        if self.numel() != 1:
            raise ShapeError(
                "a format is of one number",
                asked=f"format(x, {spec!r}) of shape {say_shape(self.shape)}",
                try_="x.item(), or numpy.array2string(x.numpy())",
            )
        return format(self.item(), spec)

    def __rich_repr__(self) -> Iterator[tuple[str, str]]:
        """For the pretty printer of rich: what `_repr_html_` tells, without values."""
        yield from self._summary().items()

    def _repr_html_(self) -> str:
        """For notebooks: what it is, and its values if they are known without computing."""
        import html

        rows = self._summary()
        cells = "".join(
            f"<tr><th style='text-align:left'>{name}</th><td>{html.escape(value)}</td></tr>"
            for name, value in rows.items()
        )
        shown = values_text(self)
        values = "" if shown is None else f"<pre>{html.escape(shown)}</pre>"
        return f"<div><table>{cells}</table>{values}</div>"

    def _summary(self) -> dict[str, str]:
        """What it is, in words; nothing is computed for that."""
        u = self._uop
        rows = {
            "shape": say_shape(u.shape),
            "dtype": u.dtype.name,
            "device": str(self.device),
            "state": _state(u),
        }
        if self._requires_grad:
            rows["gradient"] = "none yet" if self.grad is None else "accumulated"
        return rows


def _place_in_memory(node: UOp, base: UOp) -> int | None:
    """Where in the memory of `base` the only element of a view is; None if it is not known."""
    below = node
    while below.op is Ops.RESHAPE:
        below = below.src[0]
    if below is base:
        return 0
    place = 0
    if below.op is Ops.SHRINK and _is_reshaped(below.src[0], base):
        for (start, _), size in zip(below.arg, below.src[0].shape):
            place = place * size + start
        return place if place.__class__ is int else None
    tracked = node.st
    if tracked is None or len(tracked.views) != 1:
        return None
    view = tracked.views[0]
    return view.offset if view.mask is None and isinstance(view.offset, int) else None


def _is_reshaped(node: UOp, base: UOp) -> bool:
    """Whether a node is its base, reshaped or as it is."""
    while node.op is Ops.RESHAPE:
        node = node.src[0]
    return node is base


def _state(node: UOp) -> str:
    base = node.base
    if base.op is Ops.CONST:
        return "constant"
    if binding.realized(node) is not None:
        return "in memory"
    if base.op is Ops.BUFFER:
        return "memory without values"
    return f"to be computed ({base.op.name})"
