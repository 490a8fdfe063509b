"""Facts about nodes that higher floors find out: shape, bounds, device, memory.

They reach people as properties of a node. Who finds them out installs the function with `provide`,
so that imports still only go down; what was found is kept in slots of the node.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from weft.base.errors import SpecError

if TYPE_CHECKING:
    from weft.uop.node import UOp

_PROVIDED: dict[str, Callable[..., Any]] = {}


def provide(name: str, function: Callable[..., Any]) -> None:
    """Install the function behind a property or method of UOp that a higher floor owns.

    Known names: simplify, bounds, render, pretty, st, shape, device, buffer, realized; values_read,
    which is told of bound variables whose values Python takes.
    """
    _PROVIDED[name] = function


def provided(name: str) -> Callable[..., Any]:
    """The function installed for `name`; SpecError if the floor that owns it is not loaded."""
    try:
        return _PROVIDED[name]
    except KeyError:
        raise SpecError(
            f"nothing provides {name!r} of a node yet",
            asked=f"UOp.{name}",
            because="the floor that owns this analysis has not been imported",
            try_="import weft",
        ) from None


def tell_read(bound: list[UOp]) -> None:
    """Somebody may have to know that what Python does next depends on the values of variables."""
    told = _PROVIDED.get("values_read")
    if told is not None and bound:
        told(bound)


class Analysed:
    """What a node tells of itself beyond op, dtype, src and arg."""

    __slots__ = ()
    _st: Any
    _shape: tuple[Any, ...]
    _device: Any
    _bounds: tuple[Any, Any]

    @property
    def st(self) -> Any:
        """The ShapeTracker of this value; None where it has no shape."""
        try:
            return self._st
        except AttributeError:
            return provided("st")(self)

    @property
    def shape(self) -> tuple[Any, ...]:
        """The shape: ints, or symbolic ints."""
        try:
            return self._shape
        except AttributeError:
            return provided("shape")(self)

    @property
    def size(self) -> Any:
        """The number of elements; symbolic where the shape is."""
        product: Any = 1
        for extent in self.shape:
            product = extent if isinstance(product, int) and product == 1 else product * extent
        return product

    @property
    def device(self) -> Any:
        """The name of the device, a tuple of them where sharded, None for a placeless constant."""
        try:
            return self._device
        except AttributeError:
            return provided("device")(self)

    @property
    def vmin(self) -> Any:
        """The least value this node can take."""
        try:
            return self._bounds[0]
        except AttributeError:
            return provided("bounds")(self)[0]

    @property
    def vmax(self) -> Any:
        """The greatest value this node can take."""
        try:
            return self._bounds[1]
        except AttributeError:
            return provided("bounds")(self)[1]

    @property
    def buffer(self) -> Any:
        """The memory behind a BUFFER node, through views and assignments."""
        return provided("buffer")(self)

    @property
    def realized(self) -> Any:
        """The allocated memory behind this node, or None."""
        return provided("realized")(self)

    @property
    def is_realized(self) -> bool:
        """Whether the value stands in memory already."""
        return provided("realized")(self) is not None

    def simplify(self) -> UOp:
        """An equal node after the laws of arithmetic, under the bounds of its variables."""
        return provided("simplify")(self)

    def render(self, simplify: bool = True) -> str:
        """The expression in infix form."""
        return provided("render")(self.simplify() if simplify else self)
