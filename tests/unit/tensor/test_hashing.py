"""Hashes against the standard library's."""

import hashlib

import numpy as np
import pytest

from weft import Tensor, dtypes
from weft.base.errors import ArgumentError, DTypeError, ShapeError

FORMS = ["sha3_224", "sha3_256", "sha3_384", "sha3_512", "shake_128", "shake_256"]


def expected(form: str, data: bytes) -> bytes:
    made = hashlib.new(form, data)
    return made.digest(made.block_size and {"shake_128": 16, "shake_256": 32}[form]) if (
        form.startswith("shake")) else made.digest()  # fmt: skip


LENGTHS = [(0, 0), (1, -1), (1, 0), (2, 3)]
# Of a form there is its block's size, which every length is counted in, and the byte that ends what
# is hashed, one for each of the two names: of either name one form goes through all lengths.
THOROUGH = ["sha3_256", "shake_128"]


@pytest.mark.parametrize(
    "form, blocks, more",
    [(f, *n) for f in FORMS for n in (LENGTHS if f in THOROUGH else LENGTHS[-1:])],
)
def test_every_form_and_length(form, blocks, more):
    """Nothing; one byte less than goes in at once, as much, and more than twice that."""
    length = blocks * hashlib.new(form).block_size + more
    data = np.random.default_rng(length).integers(0, 256, length, dtype=np.uint8)
    got = Tensor(data, dtype=dtypes.uint8).keccak(form)
    assert bytes(got.tolist()) == expected(form, data.tobytes())


def test_rows_are_hashed_apart():
    data = np.random.default_rng(0).integers(0, 256, (2, 3, 5), dtype=np.uint8)
    got = Tensor(data).keccak()
    assert (got.shape, got.dtype) == ((2, 3, 32), dtypes.uint8)
    for row, digest in zip(data.reshape(-1, 5), got.reshape(-1, 32).tolist()):
        assert bytes(digest) == hashlib.sha3_256(row.tobytes()).digest()


def test_unsupported_inputs():
    with pytest.raises(DTypeError, match="bytes"):
        Tensor([1]).keccak()
    with pytest.raises(ShapeError):
        Tensor(1, dtype=dtypes.uint8).keccak()
    with pytest.raises(ArgumentError, match="md5"):
        Tensor(b"x", dtype=dtypes.uint8).keccak("md5")
