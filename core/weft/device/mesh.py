"""Device meshes: names for the axes of a grid of devices, and the layout of a value on it.

A mesh has its devices in row-major order. A value is cut along at most one of its own axes, by the
mesh axes that have more than one device, and replicated if it names none of them.

Source: Xu et al., "GSPMD: General and Scalable Parallelization for ML Computation Graphs", 2021
(mesh sharding).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from weft.base.arguments import shown
from weft.base.errors import ArgumentError
from weft.base.sequences import prod
from weft.device import registry

_mesh_devices: tuple[str, ...] = ()


class P(tuple["str | None", ...]):
    """The mesh axis that cuts each axis of a value; None: it is not cut.

    >>> P("data", None)
    P('data', None)
    """

    def __new__(cls, *axes: str | None) -> P:
        """One entry per axis of the value; missing ones are None."""
        return super().__new__(cls, axes)

    def __repr__(self) -> str:
        return f"P({', '.join(map(repr, self))})"


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

    def axis_of(self, layout: Mapping[str, int], asked: str) -> int | None:
        """The axis of a value that is cut, given the axis of the value by mesh axis.

        :raises ArgumentError: for an unknown mesh axis, and for layouts that are not supported.
        """
        for name in layout:
            if name not in self.axes:
                raise ArgumentError(
                    f"this mesh has no axis {name!r}",
                    asked=asked,
                    because=f"its axes are {', '.join(self.axes)}",
                )
        wide = [name for name, size in self.axes.items() if size > 1]
        cut = {layout[name] for name in wide if name in layout}
        if not cut:
            return None
        if len(cut) > 1 or any(name not in layout for name in wide):
            raise ArgumentError(
                "a value is cut along one axis, over all devices of its mesh",
                asked=asked,
                because=f"the mesh axes {', '.join(wide)} have more than one device each",
                try_="a mesh with one axis of more than one device, or the same axis of the value "
                "for each of them",
            )
        return cut.pop()

    def axis_of_spec(self, spec: Sequence[str | None]) -> int | None:
        """The axis of a value that `P(...)` cuts; raises as `axis_of`."""
        layout = {name: axis for axis, name in enumerate(spec) if name is not None}
        return self.axis_of(layout, f"P({', '.join(map(repr, spec))})")

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


def _numbered(count: int) -> list[str]:
    """The first devices of the family of the default device."""
    family = registry.canonical(None).partition(":")[0]
    return [f"{family}:{number}" for number in range(count)]
