"""Views of views say the same as one view: every short chain of moves over small shapes."""

import itertools

import numpy as np
import pytest

from weft import Tensor
from weft.base.errors import CapabilityError

MOVES = {
    "flip": lambda x: x.flip(0) if isinstance(x, Tensor) else np.flip(x, 0),
    "transpose": lambda x: (
        x.permute(*reversed(range(x.ndim))) if isinstance(x, Tensor) else x.transpose()
    ),
    "flat": lambda x: x.reshape(-1),
    "two": lambda x: x.reshape(2, -1),
    "three": lambda x: x.reshape(3, -1),
    "rest": lambda x: x[1:],
    "pad": lambda x: (
        x.pad(((1, 1),) + ((0, 0),) * (x.ndim - 1))
        if isinstance(x, Tensor)
        else np.pad(x, ((1, 1),) + ((0, 0),) * (x.ndim - 1))
    ),
    "every other": lambda x: x[::2],
}


@pytest.mark.parametrize("first", MOVES)
def test_every_chain_of_four_moves(first):
    """A chain is one kernel that copies through one merged view; some hundred chains at a time."""
    data = np.arange(1, 13, dtype=np.int32).reshape(3, 4)
    pairs = []
    for rest in itertools.product(MOVES, repeat=3):
        expected, got = data, Tensor(data)
        try:
            for name in (first, *rest):
                expected = MOVES[name](expected)
        except ValueError:
            continue
        if expected.size == 0:
            continue
        for name in (first, *rest):
            got = MOVES[name](got)
        pairs.append(((first, *rest), expected, got.uop.st))
    assert len(pairs) > 50
    for chain, expected, st in pairs:
        np.testing.assert_array_equal(_read(st, data), expected, err_msg=str(chain))


def _read(st, data: np.ndarray) -> np.ndarray:
    """What a reader of `data` sees through a ShapeTracker, by the definition of its views."""
    flat, elements = data.reshape(-1), np.arange(data.size)
    for number, view in enumerate(st.simplify().views):
        index = np.full(view.shape, view.offset)
        inside = np.ones(view.shape, bool)
        for axis, (extent, stride) in enumerate(zip(view.shape, view.strides)):
            place = np.arange(extent).reshape(
                [-1 if a == axis else 1 for a in range(len(view.shape))]
            )
            index = index + place * stride
            if view.mask is not None:
                start, stop = view.mask[axis]
                inside = inside & (place >= start) & (place < stop)
        source = elements if number == 0 else elements.reshape(-1)
        picked = source[np.where(inside, index, 0)]
        elements = np.where(inside, picked, -1)
    return np.where(elements >= 0, flat[np.maximum(elements, 0)], 0)


def test_views_across_kernelize_and_writes_that_wait():
    x = Tensor(np.arange(6, dtype=np.int32).reshape(2, 3))
    view, doubled = x.T, x * 2
    x.kernelize()
    view[0] += 10
    x[1].kernelize()
    doubled.kernelize()
    x[:, 2] = view[:2, 0]
    assert x.tolist() == [[10, 1, 10], [13, 4, 1]]
    assert view.tolist() == [[10, 13], [1, 4], [10, 1]]
    assert doubled.tolist() == [[0, 2, 4], [6, 8, 10]]


@pytest.mark.parametrize("axis", [0, 1, None])
def test_views_of_a_sharded_tensor(axis):
    data = np.arange(8, dtype=np.float32).reshape(2, 4)
    x = Tensor(data, device="REF").shard(("REF:1", "REF:2"), axis).realize()
    turned, row, copy = x.T, x[1], x[1].contiguous()
    turned[0] = 9
    row += 1
    assert x.tolist() == [[9.0, 1.0, 2.0, 3.0], [10.0, 6.0, 7.0, 8.0]]
    assert turned.tolist() == list(map(list, zip(*x.tolist())))
    assert copy.tolist() == [4.0, 5.0, 6.0, 7.0]


def test_views_of_a_pending_copy_to_a_file(tmp_path):
    x = Tensor([[1, 2], [3, 4]]).to(f"disk:{tmp_path}/numbers")
    x[0, 1] = 9
    row = x[1]
    row[0] = 7
    assert x.tolist() == [[1, 9], [7, 4]] and row.tolist() == [7, 4]


def stored(folder, data, dtype="int64"):
    return Tensor(data, dtype=dtype).to(f"disk:{folder}/stored").realize()


def test_a_file_is_read_through_any_view(tmp_path):
    x = stored(tmp_path, [[1, 2], [3, 4]])
    assert x.flip(0).tolist() == [[3, 4], [1, 2]] and x.T.numpy().tolist() == [[1, 3], [2, 4]]
    assert x[:, 1].detach().tolist() == [2, 4] and x.expand(2, 2, 2)[1].tolist() == x.tolist()
    assert x.T.bitcast("uint64")[0].tolist() == [1, 3]


def test_a_file_is_written_through_contiguous_views(tmp_path):
    x = stored(tmp_path, [[1, 2], [3, 4]])
    x.detach()[0] = [5, 6]
    x.bitcast("uint64")[1:].detach().reshape(2)[1] = 8
    x[1].bitcast("int32")[:2] = [9, 0]
    x[2:] = 1
    assert x.tolist() == [[5, 6], [9, 8]]
    x.flip(0).detach()[0].bitcast("uint64")[:1] = 3
    x.flip(0).detach()[0, 0] = 9
    x[0] = x[1]
    assert x.tolist() == [[9, 8], [9, 8]]
    x[0] = [1, 2]
    x[...] = x.flip(0)
    assert x.tolist() == [[9, 8], [1, 2]]
    with pytest.raises(CapabilityError, match="another order"):
        x.T.assign(0)
    with pytest.raises(CapabilityError, match="within an element"):
        x.bitcast("int32")[0, :1] = 0


def test_values_computed_from_a_window_of_a_file_survive_a_write(tmp_path):
    x = stored(tmp_path, [[1, 2], [3, 4]])
    window = x[1].realize()
    doubled = x[1].to("REF") * 2, window.to("REF") * 2, x[0].to("REF")
    x[1, 1] = 9
    x[0] = 0
    assert [t.tolist() for t in doubled] == [[6, 8], [6, 8], [1, 2]]
    assert window.tolist() == [3, 9]


def test_a_hundred_rows_are_written_through_their_views():
    """As many derivations as writes, and one kernel for each: nothing looks at all pairs."""
    x = Tensor.zeros(100, 2).contiguous().realize()
    rows = list(x)
    for row in rows:
        row.assign(1)
    assert len(x._alias) < 300
    assert x.sum().item() == 200.0


def test_two_thousand_updates_wait():
    x = Tensor([1.0, 2.0]).realize()
    for _ in range(2000):
        x += 1
    assert x.tolist() == [2001.0, 2002.0]


def test_bitcasts_are_read_with_their_base_in_one_schedule():
    x = Tensor(np.arange(4, dtype=np.uint8).reshape(2, 2)).to("REF")
    bits, turned = x.bitcast("int8"), x.T.bitcast("int8")
    bits.kernelize(turned)
    x[0, 1] = 7
    assert turned.tolist() == [[0, 2], [7, 3]] and bits.tolist() == [[0, 7], [2, 3]]
    y = x + 1
    bits, turned = y.bitcast("int8"), y.T.bitcast("int8")
    Tensor.kernelize(turned, bits, y)
    assert turned.tolist() == [[1, 3], [8, 4]] and bits.numpy().tolist() == [[1, 8], [3, 4]]
