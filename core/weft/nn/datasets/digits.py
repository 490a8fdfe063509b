"""Handwritten digits: 1,797 images of 8 x 8 pixels with their labels, and how they are split.

Data: E. Alpaydin and C. Kaynak, Optical Recognition of Handwritten Digits, UCI Machine Learning
Repository, 1998, https://doi.org/10.24432/C50P49, licence CC BY 4.0 (see README.md here).
"""

from __future__ import annotations

import hashlib
import zlib
from dataclasses import dataclass
from importlib import resources

from weft.base.errors import FileError, FormatError
from weft.base.interrupts import let_through

IMAGES = 1797
SIDE = 8
PIXELS = SIDE * SIDE
CLASSES = 10
DARKEST = 16

_FILE = "digits.zlib"
_SHA256 = "e1d88a0854e29e01d16358d2cd026aa8fc20dfc4cdb3fce004300857ea82aa70"


@dataclass(frozen=True)
class Digits:
    """Images and labels as plain bytes, so that no array library is needed to hold them.

    `images` is len(self) * 64 bytes, row by row, each 0 (paper) to 16 (ink); `labels` is
    len(self) bytes, each 0 to 9.
    """

    images: bytes
    labels: bytes

    def __len__(self) -> int:
        return len(self.labels)

    def image(self, index: int) -> bytes:
        """The 64 pixels of one image, row by row."""
        return self.images[index * PIXELS : (index + 1) * PIXELS]

    def take(self, indices: list[int]) -> Digits:
        """The chosen images in the given order."""
        return Digits(
            b"".join(self.image(index) for index in indices),
            bytes(self.labels[index] for index in indices),
        )

    def split(self, every: int = 5) -> tuple[Digits, Digits]:
        """(training, held out): every `every`-th image of each class, in file order, is held out.

        Counting within a class keeps the classes balanced. It needs no random numbers, so that the
        held-out images are always the same.
        """
        seen = [0] * CLASSES
        training: list[int] = []
        held_out: list[int] = []
        for index, label in enumerate(self.labels):
            seen[label] += 1
            (training if seen[label] % every else held_out).append(index)
        return self.take(training), self.take(held_out)


def unpack(packed: bytes) -> Digits:
    """Undo the container. Raises FormatError when the bytes are not the digits we ship."""
    try:
        # The limit keeps a damaged or foreign file from unpacking to more than was packed.
        raw = zlib.decompressobj().decompress(packed, IMAGES * (1 + PIXELS) + 1)
    except zlib.error as error:
        raise _damaged(str(error)) from error
    if hashlib.sha256(raw).hexdigest() != _SHA256:
        raise _damaged("its checksum is not the one recorded with the code")
    return Digits(images=raw[IMAGES:], labels=raw[:IMAGES])


def load_digits() -> Digits:
    """All 1,797 images and labels. Raises FileError or FormatError when the file is damaged."""
    try:
        packed = resources.files(__package__ or "").joinpath(_FILE).read_bytes()
    except OSError as error:
        let_through(error)
        raise FileError(
            "the handwritten digits that come with weft cannot be read",
            asked=f"read {_FILE}",
            because=str(error),
            try_="install weft again",
        ) from error
    return unpack(packed)


def _damaged(why: str) -> FormatError:
    return FormatError(
        "the handwritten digits that come with weft are damaged",
        asked=f"unpack {_FILE}",
        because=why,
        try_="install weft again",
    )
