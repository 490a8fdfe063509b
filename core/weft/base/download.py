"""Downloads: fetch files from the network into `settings.CACHE_DIR`.

A file is fetched once for each address. Readers find it complete or not at all, since it is written
under a temporary name first. With the setting CACHE off it is fetched every time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from weft.base.arguments import shown
from weft.base.atomic_write import replaced
from weft.base.errors import ArgumentError, FileError, FormatError
from weft.base.interrupts import let_through
from weft.base.settings import settings

if TYPE_CHECKING:
    from pathlib import Path

DOWNLOADED = ("http", "https", "file")
"""The schemes of URLs that `download` fetches."""

_PIECE = 1 << 20


def download(url: str, gunzip: bool = False, timeout: float = 60.0) -> Path:
    """The path of the downloaded file of `url` (http, https or file); `gunzip` unpacks it.

    :raises ArgumentError: for an address of another scheme.
    :raises FileError: if it cannot be fetched or kept.
    :raises FormatError: if it is to be unpacked and is not packed by gzip.
    """
    scheme = url.partition(":")[0].lower() if isinstance(url, str) else None
    if scheme not in DOWNLOADED:
        raise ArgumentError(
            "this address cannot be fetched",
            asked=f"a download of {shown(url)}",
            because="it begins with none of " + ", ".join(f"{s}://" for s in DOWNLOADED),
            try_="a file of this machine: Tensor(pathlib.Path(...))",
        )
    import hashlib
    from pathlib import Path

    name = hashlib.sha256(url.encode()).hexdigest() + (".unpacked" if gunzip else "")
    path = Path(settings.CACHE_DIR).absolute() / "downloads" / name
    if not settings.CACHE or not path.is_file():
        _fetch(url, path, gunzip, timeout)
    return path


def _fetch(url: str, path: Path, gunzip: bool, timeout: float) -> None:
    import gzip
    import zlib
    from http.client import HTTPException
    from urllib.request import urlopen

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with (
            replaced(path) as temporary,
            open(temporary, "wb") as file,
            urlopen(url, timeout=timeout) as reply,
        ):
            source = gzip.GzipFile(fileobj=reply) if gunzip else reply
            while piece := source.read(_PIECE):
                file.write(piece)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise FormatError(
            "this file is not packed by gzip, or not whole",
            asked=f"{url} unpacked",
            because=str(error),
            try_="gunzip=False for its bytes as they are",
        ) from None
    except OSError as error:
        let_through(error)
        raise FileError.of(
            error,
            "this address could not be fetched",
            path=error.filename or url,
            asked=url,
            because=str(error) or repr(error),
        ) from None
    except (HTTPException, ValueError) as error:
        raise FileError(
            "this address could not be fetched", asked=url, because=str(error) or repr(error)
        ) from None
