"""MNIST, Fashion-MNIST and CIFAR-10 from files that are there. Nothing is downloaded.

Formats: IDX (Y. LeCun, http://yann.lecun.com/exdb/mnist/), and CIFAR's binary version
(A. Krizhevsky, https://www.cs.toronto.edu/~kriz/cifar.html).
"""

from __future__ import annotations

import errno
import gzip
import os
import zlib
from pathlib import Path
from typing import NoReturn

from weft.base.errors import FileError, FormatError
from weft.base.interrupts import let_through
from weft.tensor import Tensor

Split = tuple[Tensor, Tensor, Tensor, Tensor]
_IDX = ("train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte",
        "t10k-labels-idx1-ubyte")  # fmt: skip
_CIFAR_SIDE, _CIFAR_ROW = 32, 1 + 3 * 32 * 32


def mnist(
    folder: str | os.PathLike[str] | None = None,
    device: str | None = None,
    fashion: bool = False,
) -> Split:
    """Images (N, 1, 28, 28) and labels (N,) to train with, then those to test with: uint8.

    :param folder: where the four IDX files are, as they are published, packed by gzip or not.
    :raises FileError: without a folder, which would need a download; or if a file is missing.
    :raises FormatError: if a file is not of that format.

    >>> nn.datasets.mnist()
    Traceback (most recent call last):
        ...
    weft.base.errors.FileError: MNIST does not come with weft
      asked:   nn.datasets.mnist()
      because: its files have to be downloaded first, which is left to you
      try:     nn.datasets.mnist(folder)
               or without a network load_digits, load_iris, load_wine, load_text
    """
    called = "fashion_mnist" if fashion else "mnist"
    if folder is None:
        _needs_download("Fashion-MNIST" if fashion else "MNIST", called)
    parts = []
    for name in _IDX:
        raw, path = _read(Path(folder), name)
        parts.append(_idx(raw, path, device))
    images, labels, test_images, test_labels = parts
    return images.unsqueeze(1), labels, test_images.unsqueeze(1), test_labels


def fashion_mnist(folder: str | os.PathLike[str] | None = None, device: str | None = None) -> Split:
    """`mnist` of clothes: the files have the same names and format. Raises as `mnist`.

    >>> nn.datasets.fashion_mnist()
    Traceback (most recent call last):
        ...
    weft.base.errors.FileError: Fashion-MNIST does not come with weft
      asked:   nn.datasets.fashion_mnist()
      because: its files have to be downloaded first, which is left to you
      try:     nn.datasets.fashion_mnist(folder)
               or without a network load_digits, load_iris, load_wine, load_text
    """
    return mnist(folder, device, fashion=True)


def cifar10(folder: str | os.PathLike[str] | None = None, device: str | None = None) -> Split:
    """Images (N, 3, 32, 32) and labels (N,) to train with, then those to test with: uint8.

    :param folder: where the files of the binary version are (`data_batch_1.bin` and so on).
    :raises FileError: without a folder, which would need a download; or if a file is missing.
    :raises FormatError: if a file is not of that format.

    >>> nn.datasets.cifar10()
    Traceback (most recent call last):
        ...
    weft.base.errors.FileError: CIFAR-10 does not come with weft
      asked:   nn.datasets.cifar10()
      because: its files have to be downloaded first, which is left to you
      try:     nn.datasets.cifar10(folder)
               or without a network load_digits, load_iris, load_wine, load_text
    """
    if folder is None:
        _needs_download("CIFAR-10", "cifar10")
    training = [f"data_batch_{number}.bin" for number in range(1, 6)]
    found = [_cifar(Path(folder), names, device) for names in (training, ["test_batch.bin"])]
    return (*found[0], *found[1])


cifar = cifar10


def _needs_download(title: str, called: str) -> NoReturn:
    raise FileError(
        f"{title} does not come with weft",
        asked=f"nn.datasets.{called}()",
        because="its files have to be downloaded first, which is left to you",
        try_=f"nn.datasets.{called}(folder)\n"
        "or without a network load_digits, load_iris, load_wine, load_text",
    )


def _read(folder: Path, name: str) -> tuple[bytes, str]:
    """A file, packed or not, and its path."""
    tried = [folder / name, folder / f"{name}.gz", folder / name.replace("-idx", ".idx")]
    path = next((each for each in tried if each.is_file()), None)
    if path is None:
        raise FileError.of(
            FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT)),
            "a file of the data set is missing",
            path=tried[0],
            asked=str(tried[0]),
            because=f"neither that nor {tried[1].name} is in {folder}",
        )
    try:
        raw = path.read_bytes()
        return gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw, str(path)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise FormatError(
            "a file of the data set cannot be read", asked=str(path), because=str(error)
        ) from error
    except OSError as error:
        let_through(error)
        raise FileError.of(
            error, "a file of the data set cannot be read", path=path, asked=str(path)
        ) from error


def _idx(raw: bytes, path: str, device: str | None) -> Tensor:
    """The array of an IDX file of bytes: zero, zero, 8, the rank; sizes; values."""
    rank = raw[3] if len(raw) > 3 else 0
    start = 4 + 4 * rank
    sizes = [int.from_bytes(raw[4 * i + 4 : 4 * i + 8], "big") for i in range(rank)]
    count = 1
    for size in sizes:
        count *= size
    if raw[:3] != b"\0\0\x08" or not rank or len(raw) != start + count:
        raise FormatError(
            "this is not an IDX file of bytes",
            asked=path,
            because=f"it has {len(raw)} bytes, and begins with {raw[:4]!r}",
            try_="download it again",
        )
    return Tensor(raw[start:], device=device).reshape(*sizes)


def _cifar(folder: Path, names: list[str], device: str | None) -> tuple[Tensor, Tensor]:
    pieces = []
    for name in names:
        raw, path = _read(folder, name)
        if not raw or len(raw) % _CIFAR_ROW:
            raise FormatError(
                "this is not a file of CIFAR-10's binary version",
                asked=path,
                because=f"its rows have {_CIFAR_ROW} bytes, and it has {len(raw)}",
                try_="download it again",
            )
        pieces.append(raw)
    rows = Tensor(b"".join(pieces), device=device).reshape(-1, _CIFAR_ROW)
    side = _CIFAR_SIDE
    return rows[:, 1:].reshape(-1, 3, side, side).contiguous(), rows[:, 0].contiguous()
