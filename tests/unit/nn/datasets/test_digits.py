"""The digits that travel with the package."""

import zlib
from collections import Counter

import pytest

from weft.base.errors import FormatError
from weft.nn.datasets import digits


def test_every_image_is_there_with_values_in_range() -> None:
    data = digits.load_digits()
    assert len(data) == 1797
    assert len(data.images) == 1797 * 64
    assert set(data.images) == set(range(17))
    assert set(data.labels) == set(range(10))


def test_class_counts_are_those_the_data_set_publishes() -> None:
    counts = Counter(digits.load_digits().labels)
    published = [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
    assert [counts[label] for label in range(10)] == published


def test_split_holds_out_a_fifth_of_each_class_and_loses_nothing() -> None:
    data = digits.load_digits()
    training, held_out = data.split()
    assert len(training) + len(held_out) == len(data)
    whole = Counter(data.labels)
    for label, count in Counter(held_out.labels).items():
        assert count == whole[label] // 5
    images = {data.image(index) for index in range(len(data))}
    kept = {training.image(index) for index in range(len(training))}
    held = {held_out.image(index) for index in range(len(held_out))}
    assert kept | held == images
    assert not kept & held


def test_take_keeps_image_and_label_together() -> None:
    data = digits.load_digits()
    picked = data.take([5, 0, 1796])
    assert list(picked.labels) == [data.labels[5], data.labels[0], data.labels[1796]]
    assert picked.image(2) == data.image(1796)


@pytest.mark.parametrize(
    "packed",
    [
        b"",
        b"not zlib at all",
        zlib.compress(b"other bytes"),
        zlib.compress(bytes(200_000)),
    ],
)
def test_anything_else_is_refused(packed: bytes) -> None:
    with pytest.raises(FormatError) as caught:
        digits.unpack(packed)
    assert caught.value.because
    assert caught.value.try_
