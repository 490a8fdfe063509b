"""Shards that do not divide, replicas that must not drift, writes to what others hold parts of."""

import numpy as np
import pytest

from weft import Tensor
from weft.base.settings import settings

THREE = ("REF", "REF:1", "REF:2")


@pytest.mark.parametrize("rows", [1, 2, 4, 7])
def test_rows_that_do_not_divide(rows):
    a = np.arange(rows * 2, dtype=np.float32).reshape(rows, 2) - 20
    x = Tensor(a, device="REF").shard(THREE, 0)
    assert x.numpy().tolist() == a.tolist()
    assert x.max().item() == a.max() and x.sum(0).tolist() == a.sum(0).tolist()
    assert (x.T @ x).tolist() == (a.T @ a).tolist()


@pytest.mark.parametrize("ring", [0, 2])
def test_every_replica_has_the_same_bits(ring):
    a = np.random.default_rng(0).normal(size=(31, 5)).astype(np.float32)
    with settings.override(RING=ring):
        total = Tensor(a, device="REF").shard(THREE, 0).sum(0).realize()
    first, *others = (part.numpy().tobytes() for part in total.shards())
    assert all(other == first for other in others)


def test_a_negative_zero_survives_being_put_together():
    x = Tensor([1.0, -0.0, -0.0], device="REF").shard(THREE, 0)
    assert np.signbit(x.numpy()).tolist() == [False, True, True]


def test_a_part_that_was_taken_keeps_its_value():
    x = Tensor([1.0, 2.0, 3.0], device="REF").shard(THREE).realize()
    taken = x.to("REF:1").realize()
    x += 1
    x.realize()
    assert (taken.tolist(), x.tolist()) == ([1.0, 2.0, 3.0], [2.0, 3.0, 4.0])


def test_a_write_happens_once_however_little_of_it_is_read():
    x = Tensor([1.0, 2.0, 3.0], device="REF").shard(THREE, 0).realize()
    x += 1
    assert x[0].item() == 2.0
    assert x.tolist() == [2.0, 3.0, 4.0]
