"""Joining samples, and putting batches on a device."""

import dataclasses
from typing import NamedTuple

import numpy as np
import pytest

from weft import Tensor, data
from weft.base.errors import ArgumentError, ShapeError
from weft.data.collate import on_device


class Pair(NamedTuple):
    x: object
    y: object


@dataclasses.dataclass
class Sample:
    image: object
    name: str


def test_structures_are_joined_member_by_member():
    samples = [
        {"a": np.ones(2) * i, "b": (i, [i / 2, f"n{i}"]), "c": Pair(i, True), "d": None or b"x"}
        for i in range(3)
    ]
    joined = data.default_collate(samples)
    assert joined["a"].shape == (3, 2)
    numbers, (halves, names) = joined["b"]
    assert numbers.dtype == np.int32 and halves.dtype == np.float32
    assert names == ["n0", "n1", "n2"]
    assert isinstance(joined["c"], Pair) and joined["c"].y.dtype == np.bool_
    assert joined["d"] == [b"x"] * 3


def test_dataclasses_arrays_of_arrays_and_tensors():
    made = data.default_collate([Sample(np.zeros((2, 2)), "a"), Sample(np.ones((2, 2)), "b")])
    assert isinstance(made, Sample) and made.image.shape == (2, 2, 2) and made.name == ["a", "b"]
    assert data.default_collate([np.float16(1), np.float16(2)]).dtype == np.float16
    assert data.default_collate([Tensor([1, 2]), Tensor([3, 4])]).tolist() == [[1, 2], [3, 4]]


def test_large_integers_keep_their_digits():
    assert data.default_collate([1, 1 << 40]).tolist() == [1, 1 << 40]


def test_samples_that_cannot_be_joined():
    with pytest.raises(ShapeError, match="different shapes"):
        data.default_collate([np.zeros(2), np.zeros(3)])
    with pytest.raises(ShapeError, match="different numbers of parts"):
        data.default_collate([(1, 2), (1,)])
    with pytest.raises(ArgumentError, match="cannot be joined"):
        data.default_collate([None, None])


def test_on_a_device():
    placed = on_device(
        {"x": np.ones((2, 2), np.float32), "s": ["a"], "n": np.int32(4), "p": Pair(1, np.zeros(1))},
        "REF",
    )
    assert placed["x"].device == "REF" and placed["x"].tolist() == [[1.0, 1.0]] * 2
    assert placed["s"] == ["a"] and placed["n"].item() == 4 and placed["p"].x == 1
    assert placed["p"].y.device == "REF"
    assert on_device(Tensor([1], device="REF"), "REF:1").device == "REF:1"
    assert on_device(np.array(["text"]), None).tolist() == ["text"]


def test_on_several_devices_batches_are_sharded():
    x = on_device(np.arange(4, dtype=np.int32), ("REF:1", "REF:2"))
    assert x.device == ("REF:1", "REF:2") and x.tolist() == [0, 1, 2, 3]
    assert [part.tolist() for part in x.shards()] == [[0, 1], [2, 3]]
