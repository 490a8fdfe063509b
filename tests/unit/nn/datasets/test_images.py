"""Files of MNIST's and CIFAR's formats, made here."""

import gzip
import struct

import numpy as np
import pytest

from weft import dtypes
from weft.base.errors import FileError, FormatError
from weft.nn import datasets

RNG = np.random.default_rng(0)


def idx(array):
    return struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape) + array.tobytes()


@pytest.fixture(params=["plain", "packed"])
def mnist(request, tmp_path):
    arrays = [RNG.integers(0, 256, shape, dtype=np.uint8) for shape in
              ((5, 28, 28), (5,), (3, 28, 28), (3,))]  # fmt: skip
    names = ["train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte",
             "t10k-labels-idx1-ubyte"]  # fmt: skip
    for name, array in zip(names, arrays):
        if request.param == "packed":
            (tmp_path / f"{name}.gz").write_bytes(gzip.compress(idx(array)))
        else:
            (tmp_path / name).write_bytes(idx(array))
    return tmp_path, arrays


@pytest.mark.parametrize("load", [datasets.mnist, datasets.fashion_mnist])
def test_images_and_labels_are_those_of_the_files(mnist, load):
    folder, arrays = mnist
    found = load(folder)
    assert [tuple(t.shape) for t in found] == [(5, 1, 28, 28), (5,), (3, 1, 28, 28), (3,)]
    assert all(t.dtype is dtypes.uint8 for t in found)
    for tensor, array in zip(found, arrays):
        assert tensor.numpy().reshape(array.shape).tolist() == array.tolist()


def test_cifar(tmp_path):
    rows = RNG.integers(0, 256, (6, 2, 3073), dtype=np.uint8)
    names = [*(f"data_batch_{n}.bin" for n in range(1, 6)), "test_batch.bin"]
    for name, part in zip(names, rows):
        (tmp_path / name).write_bytes(part.tobytes())
    x, y, test_x, test_y = datasets.cifar(tmp_path)
    assert x.shape == (10, 3, 32, 32) and y.tolist() == rows[:5, :, 0].reshape(-1).tolist()
    assert test_x.numpy().reshape(2, 3072).tolist() == rows[5, :, 1:].tolist()
    assert test_y.tolist() == rows[5, :, 0].tolist()
    (tmp_path / "test_batch.bin").write_bytes(b"short")
    with pytest.raises(FormatError, match="CIFAR"):
        datasets.cifar10(tmp_path)


@pytest.mark.parametrize("name", ["mnist", "fashion_mnist", "cifar10", "cifar"])
def test_missing_files_name_the_alternatives(name, tmp_path):
    load = getattr(datasets, name)
    with pytest.raises(FileError, match="does not come with weft") as caught:
        load()
    assert "load_digits" in str(caught.value) and "download" in str(caught.value)
    with pytest.raises(FileError, match="is missing"):
        load(tmp_path)


def test_damaged_files(mnist):
    folder, _ = mnist
    path = next(folder.glob("t10k-labels*"))
    plain = path.suffix != ".gz"
    path.write_bytes(b"<html>" if plain else gzip.compress(b"<html>"))
    with pytest.raises(FormatError, match="IDX"):
        datasets.mnist(folder)
    if not plain:
        path.write_bytes(gzip.compress(b"x" * 100)[:-9])
        with pytest.raises(FileError, match="cannot be read"):
            datasets.mnist(folder)
