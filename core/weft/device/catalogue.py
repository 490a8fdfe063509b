"""``weft.Device``: ``Device["FAMILY:1"]``, ``Device.DEFAULT``, iteration over families."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from weft.device import registry
from weft.device.discovery import family_names
from weft.device.mesh import Mesh, make_mesh
from weft.device.open_device import OpenDevice


class Catalogue:
    """A mapping from device strings to opened devices, of all installed plugins.

    >>> "REF" in Device, "REF" in list(Device)
    (True, True)
    >>> Device["REF:1"].name
    'REF:1'
    """

    @property
    def DEFAULT(self) -> str:
        """The device string of the default device.

        >>> Device.DEFAULT == Tensor([1]).device
        True
        """
        return registry.canonical(None)

    def __getitem__(self, name: str) -> OpenDevice:
        """The opened device; raises as ``registry.open``."""
        return registry.open(name)

    def canonicalize(self, name: str | None) -> str:
        """The canonical spelling of a device string; of the default device for None.

        >>> Device.canonicalize("ref:0")
        'REF'
        """
        return registry.canonical(name)

    def release(self, name: str | None = None) -> int:
        """Free the memory that a device keeps for reuse; that of all opened devices for None.

        Live tensors keep their memory. Returns how many bytes were freed.

        >>> Tensor.zeros(1000, device="REF").contiguous().realize().tolist()[0]
        0.0
        >>> Device.release("REF") >= 4000, Device.release("REF")
        (True, 0)
        """
        opened = registry.current().opened() if name is None else [registry.open(name)]
        return sum(device.release() for device in opened)

    def mesh(self, *axes: tuple[str, int], devices: Sequence[str] | None = None) -> Mesh:
        """Devices in a grid with named axes, for `Tensor.shard`.

        :param axes: (name, number of devices) per axis.
        :param devices: device strings in row-major order; None: one per rank of a program of
            several processes, else the first devices of the default family.
        :raises ArgumentError: if there are not as many devices as places.

        >>> Device.mesh(("data", 2), devices=("REF:1", "REF:2"))
        Mesh(data=2; REF:1, REF:2)
        """
        return make_mesh(axes, devices)

    def __iter__(self) -> Iterator[str]:
        """The families of the installed plugins. Imports none of them."""
        return iter(family_names(registry.current().plugins))

    def __contains__(self, name: str) -> bool:
        return name.partition(":")[0].upper() in set(self)

    def __repr__(self) -> str:
        return f"<devices {', '.join(self)}>"


catalogue = Catalogue()
"""This is ``weft.Device``."""
