"""Buffer copies: copy between two buffers by the fastest method that both devices support.

The methods, fastest first: a link between the devices; reading into the host's window of the
destination; writing from the host's window of the source; streaming the source in pieces; copying
through fresh host memory. No method depends on the kind of device.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from weft.base import trace
from weft.base.errors import ArgumentError, CapabilityError
from weft.base.interrupts import let_through
from weft.base.text import human_size
from weft.device.buffer import Buffer, chunks, host_bytes
from weft.device.open_device import OpenDevice

CHUNK = 64 << 20
"""The piece size of a copy in pieces, in bytes."""

Method = Callable[[OpenDevice, Any, OpenDevice, Any, int], bool]


def link(to: OpenDevice, dst: Any, source: OpenDevice, src: Any, nbytes: int) -> bool:
    """Device to device, without the host: within one link group."""
    group = to.capabilities.memory.link_group
    if group is None or group != source.capabilities.memory.link_group:
        return False
    return to.allocator.link_copy(dst, src, source.device, nbytes)


def destination_window(to: OpenDevice, dst: Any, source: OpenDevice, src: Any, nbytes: int) -> bool:
    """The source writes into the host's window of the destination."""
    # a write through a window cannot report a full disk; copy_in of a storage device does
    if to.capabilities.memory.persistent:
        return False
    window = to.allocator.map_host(dst)
    if window is None or window.readonly:
        return False
    source.allocator.copy_out(window, src)
    return True


def source_window(to: OpenDevice, dst: Any, source: OpenDevice, src: Any, nbytes: int) -> bool:
    """The destination reads from the host's window of the source."""
    # a file may be truncated while it is read; copy_out of a storage device reports that
    if source.capabilities.memory.persistent:
        return False
    window = source.allocator.map_host(src)
    if window is None:
        return False
    to.allocator.copy_in(dst, window)
    return True


def stream(to: OpenDevice, dst: Any, source: OpenDevice, src: Any, nbytes: int) -> bool:
    """The source is read in pieces, and each is written to a window of the destination."""
    if nbytes > CHUNK and not _windows_at(to, CHUNK):
        return False
    pieces = source.allocator.stream_out(src, CHUNK)
    if pieces is None:
        return False
    offset = 0
    for piece in pieces:
        if piece.nbytes == nbytes:
            part = dst
        elif _windows_at(to, offset):
            part = to.allocator.view(dst, offset, piece.nbytes)
        else:
            raise CapabilityError(
                "the destination has no window for a piece of a stream",
                asked=f"{piece.nbytes} bytes at byte {offset} on {to.name}",
                because=f"pieces should have {CHUNK} bytes, the last one excepted",
                try_=f"report it to the plugin that streams {source.name}",
            )
        to.allocator.copy_in(part, piece)
        offset += piece.nbytes
    return True


def bounce(to: OpenDevice, dst: Any, source: OpenDevice, src: Any, nbytes: int) -> bool:
    """Copy through fresh host memory; in pieces where both devices have windows."""
    piecewise = nbytes > CHUNK and _windows_at(to, CHUNK) and _windows_at(source, CHUNK)
    between = host_bytes(CHUNK if piecewise else nbytes)
    if not piecewise:
        source.allocator.copy_out(between, src)
        to.allocator.copy_in(dst, between)
        return True
    for offset, length in chunks(nbytes, CHUNK):
        part = between[:length]
        source.allocator.copy_out(part, source.allocator.view(src, offset, length))
        to.allocator.copy_in(to.allocator.view(dst, offset, length), part)
    return True


METHODS: dict[str, Method] = {
    "link": link,
    "destination_window": destination_window,
    "source_window": source_window,
    "stream": stream,
    "bounce": bounce,
}
"""The copy methods, in the order in which they are tried."""


def copy(dst: Buffer, src: Buffer, method: str | None = None) -> str:
    """Copy all of ``src`` into ``dst`` of the same size; returns the name of the method used.

    :param method: the only method to try, for tests; None: the first that the devices support.
    :raises ArgumentError: if the sizes differ.
    :raises CapabilityError: if these devices do not support the requested method.
    """
    if dst.nbytes != src.nbytes:
        raise ArgumentError(
            "a copy needs two buffers of one size",
            asked=f"{src!r} -> {dst!r}",
            because=f"{src.nbytes} bytes do not fill {dst.nbytes}",
        )
    nbytes = dst.nbytes
    if not nbytes:
        return "nothing to do"
    there, here = dst.handle, src.handle
    to, source = dst.holder(), src.holder()
    with trace.span("copy", source=src.device, to=dst.device, nbytes=nbytes) as span:
        for name in METHODS if method is None else (method,):
            try:
                taken = METHODS[name](to, there, source, here, nbytes)
            except Exception as error:
                let_through(error)
                _failed(to, source, nbytes, error)
            if taken:
                span.note(method=name)
                return name
    raise CapabilityError(
        "these devices do not support this copy method",
        asked=f"copying {source.name} -> {to.name} by {method}",
        because="one of them does not implement it",
        try_=f"method=None uses the first supported one of {', '.join(METHODS)}",
    )


def _failed(to: OpenDevice, source: OpenDevice, nbytes: int, error: Exception) -> NoReturn:
    """Raise the error in the name of the device whose plugin raised it, if the traceback shows
    it."""
    guilty = to
    makers = {getattr(maker, "__name__", "").partition(".")[0] for maker in source.makers}
    if (makers - {"weft"}).intersection(_modules_of(error)):
        guilty = source
    guilty.failed(f"copying {human_size(nbytes)} from {source.name} to {to.name}", error)


def _modules_of(error: Exception) -> Iterator[str]:
    """The packages of the frames in the traceback of an error."""
    place = error.__traceback__
    while place is not None:
        yield str(place.tb_frame.f_globals.get("__name__")).partition(".")[0]
        place = place.tb_next


def _windows_at(device: OpenDevice, offset: int) -> bool:
    alignment = device.capabilities.memory.alignment
    return alignment is not None and offset % alignment == 0
