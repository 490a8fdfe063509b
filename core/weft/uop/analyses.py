"""Analyses of nodes as properties: shape, bounds, device, memory.

A higher layer computes each analysis and installs its function with `provide`, so imports only go
down. Results are cached in slots of the node.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from weft.base.errors import SpecError

if TYPE_CHECKING:
    from weft.uop.node import UOp

_PROVIDED: dict[str, Callable[..., Any]] = {}


def provide(name: str, function: Callable[..., Any]) -> None:
    """Install the function behind a property or method of UOp that a higher layer owns.

    Known names: simplify, bounds, render, pretty, st, shape, device, buffer, realized; values_read,
    which is called with the bound variables whose values Python reads; condition_read, which is
    called with a condition of bound variables that Python evaluates, and returns whether the
    outcome is recorded.
    """
    _PROVIDED[name] = function


def provided(name: str) -> Callable[..., Any]:
    """The function installed for `name`; SpecError if the layer that owns it is not imported."""
    try:
        return _PROVIDED[name]
    except KeyError:
        raise SpecError(
            f"nothing provides {name!r} of a node yet",
            asked=f"UOp.{name}",
            because="the layer that owns this analysis has not been imported",
            try_="import weft",
        ) from None


def report_values_read(bound: list[UOp]) -> None:
    """Report that Python reads the values of bound variables, so its results depend on them."""
    listener = _PROVIDED.get("values_read")
    if listener is not None and bound:
        listener(bound)


def report_read(node: UOp, bound: list[UOp], kind: type) -> None:
    """Report that Python reads an expression of bound variables as an int, float or bool.

    What follows depends on the values of the variables, or on the outcome of a condition alone.
    """
    listener = _PROVIDED.get("condition_read") if kind is bool and bound else None
    if listener is None or not listener(node):
        report_values_read(bound)


class Analysed:
    """The properties of a node that analyses compute."""

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
        """Whether the value is in memory already."""
        return provided("realized")(self) is not None

    def simplify(self) -> UOp:
        """An equal node after the laws of arithmetic, under the bounds of its variables."""
        return provided("simplify")(self)

    def render(self, simplify: bool = True) -> str:
        """The expression in infix form."""
        return provided("render")(self.simplify() if simplify else self)
