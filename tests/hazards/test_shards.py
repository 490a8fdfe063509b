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


@pytest.mark.parametrize(
    "change",
    [
        lambda x: x.flip(0).fuse(),
        lambda x: x[0].fuse(),
        lambda x: ~(x - 3).unsqueeze(-1).expand(2, 3, 4),
        lambda x: (x + 1).unsqueeze(0).expand(5, 2, 3).fuse() * 2,
    ],
)
def test_a_value_is_realized_before_a_copy_to_another_device(change):
    a = np.arange(6, dtype=np.int32).reshape(2, 3)
    value = change(Tensor(a, device="REF").realize())
    there, here = value.to("REF:1").tolist(), value.tolist()
    assert there == here


def test_two_names_of_one_sharded_result_are_two_values():
    x = Tensor([1.0, 2.0, 3.0], device="REF").shard(THREE, 0)
    doubled = x + x
    other = (x + x).realize()
    other += other
    assert (other.tolist(), doubled.tolist()) == ([4.0, 8.0, 12.0], [2.0, 4.0, 6.0])


@pytest.mark.parametrize("axis", [0, None])
@pytest.mark.parametrize("grouped", [False, True])
def test_a_write_of_mutually_dependent_shards_is_atomic(axis, grouped):
    x = Tensor([6, 12], device="REF").shard(THREE[:2], axis).realize()
    x += x.flip(0).contiguous()
    if grouped:
        x.kernelize()
    assert x[::2].tolist() == [18]
    assert x.tolist() == [18, 18]


def test_a_window_is_written_from_other_places_of_the_same_value():
    x = Tensor([1, 2, 3, 4], device="REF").shard(THREE, 0).realize()
    x[1:4] = x[0:3]
    assert x.tolist() == [1, 1, 2, 3]
    y = Tensor([1, 2, 3, 4], device="REF").shard(THREE).realize()
    y[::-2] = y[0:2]
    assert y.tolist() == [1, 2, 3, 1]
