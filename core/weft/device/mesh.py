"""Device meshes: names for the axes of a grid of devices, and the layout of a value on it.

A mesh has its devices in row-major order. Each axis of a mesh cuts at most one axis of a value.
Devices along an axis that cuts nothing have equal parts.

Source: Xu et al., "GSPMD: General and Scalable Parallelization for ML Computation Graphs", 2021
(mesh sharding).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from weft.base.arguments import shown
from weft.base.errors import ArgumentError
from weft.base.sequences import prod
from weft.device import registry

_mesh_devices: tuple[str, ...] = ()


class P(tuple["str | tuple[str, ...] | None", ...]):
    """The mesh axis that cuts each axis of a value, or several of them; None: it is not cut.

    >>> P("data", None)
    P('data', None)
    """

    def __new__(cls, *axes: str | tuple[str, ...] | None) -> P:
        """One entry per axis of the value; missing ones are None."""
        return super().__new__(cls, axes)

    def __repr__(self) -> str:
        return f"P({', '.join(map(repr, self))})"


class MeshCut(NamedTuple):
    """A cut of an axis of a value.

    :ivar parts: how many there are. stride: how many devices in a row have the same part.
    """

    axis: int
    parts: int
    stride: int


class Mesh:
    """Devices in a grid with named axes.

    :ivar axes: the size of each axis by its name, in order.
    :ivar devices: the device strings, in row-major order.
    """

    def __init__(self, axes: Mapping[str, int], devices: Sequence[str]) -> None:
        self.axes = dict(axes)
        self.devices = tuple(registry.canonical(device) for device in devices)

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the axes."""
        return tuple(self.axes.values())

    def cuts(self, layout: Mapping[str, int], asked: str) -> list[MeshCut]:
        """What each axis of a value is cut by, given the axis of the value by mesh axis.

        Mesh axes that are adjacent may cut one axis of a value together.

        :raises ArgumentError: for an unknown mesh axis, and for mesh axes that cut one axis of a
            value although another one is between them.
        """
        for name in layout:
            if name not in self.axes:
                raise ArgumentError(
                    f"this mesh has no axis {name!r}",
                    asked=asked,
                    because=f"its axes are {', '.join(self.axes)}",
                )
        found: list[MeshCut] = []
        stride = 1
        for name, size in reversed(self.axes.items()):
            axis = layout.get(name)
            if axis is not None and size > 1:
                found = _with_cut(found, MeshCut(axis, size, stride), asked)
            stride *= size
        return found

    def cuts_of_spec(self, spec: Sequence[str | tuple[str, ...] | None]) -> list[MeshCut]:
        """What `P(...)` cuts; raises as `cuts`."""
        asked = f"P({', '.join(map(repr, spec))})"
        names = [((name,) if isinstance(name, str) else name or ()) for name in spec]
        layout = {name: axis for axis, several in enumerate(names) for name in several}
        if len(layout) < sum(map(len, names)):
            raise ArgumentError("an axis of a mesh cuts one axis of a value", asked=asked)
        return self.cuts(layout, asked)

    @property
    def own(self) -> int:
        """The number of the first device that this process computes on."""
        able = [registry.capabilities(name).memory.addressable for name in self.devices]
        return able.index(True)

    def __repr__(self) -> str:
        axes = ", ".join(f"{name}={size}" for name, size in self.axes.items())
        return f"Mesh({axes}; {', '.join(self.devices)})"


def set_mesh_devices(devices: Sequence[str]) -> None:
    """Set the devices of meshes that name none: a plugin calls it that knows all devices of a
    program."""
    global _mesh_devices
    _mesh_devices = tuple(devices)


def make_mesh(axes: Sequence[tuple[str, int]], devices: Sequence[str] | None) -> Mesh:
    """A mesh of these axes; see `Device.mesh`."""
    names = [name for name, _ in axes]
    count = prod(size for _, size in axes)
    if not axes or len(set(names)) < len(names) or count < 1:
        raise ArgumentError(
            "a mesh has axes of different names, each of one device at least",
            asked=f"mesh({', '.join(map(shown, axes))})",
            try_='Device.mesh(("data", 2))',
        )
    found = devices if devices is not None else _mesh_devices or _numbered(count)
    if len(found) != count:
        raise ArgumentError(
            "a mesh has as many devices as places",
            asked=f"mesh({', '.join(map(shown, axes))})",
            because=f"there are {len(found)} devices for {count} places",
            try_="start as many ranks as the mesh has places, or name the devices",
        )
    return Mesh(dict(axes), found)


def _with_cut(found: list[MeshCut], cut: MeshCut, asked: str) -> list[MeshCut]:
    """The cuts with one along a further axis of the mesh, outside of those before."""
    for number, known in enumerate(found):
        if known.axis == cut.axis:
            if known.stride * known.parts != cut.stride:
                raise ArgumentError(
                    "mesh axes that cut one axis of a value are adjacent",
                    asked=asked,
                    try_="a mesh with these axes next to each other",
                )
            joined = MeshCut(cut.axis, known.parts * cut.parts, known.stride)
            return [*found[:number], joined, *found[number + 1 :]]
    return [*found, cut]


def _numbered(count: int) -> list[str]:
    """The first devices of the family of the default device."""
    family = registry.canonical(None).partition(":")[0]
    return [f"{family}:{number}" for number in range(count)]
