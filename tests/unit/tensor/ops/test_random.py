"""Random numbers: known answers, ranges, shares, reproducibility."""

import numpy as np
import pytest

from weft import Tensor, dtypes
from weft.base.errors import ArgumentError, DTypeError
from weft.tensor import rng
from weft.uop import Ops, UOp


@pytest.fixture(autouse=True)
def _seed():
    saved = rng.state()
    Tensor.manual_seed(1234)
    yield
    rng.restore(saved)


def test_threefry_gives_the_published_vectors():
    counters = [0, 2**64 - 1, 0x85A308D3243F6A88]
    keys = [0, 2**64 - 1, 0x0370734413198A2E]
    c, k = Tensor(counters, dtype="ulong"), Tensor(keys, dtype="ulong")
    got = Tensor(UOp(Ops.THREEFRY, dtypes.uint64, (c.uop, k.uop))).tolist()
    words = [(x & 0xFFFFFFFF, x >> 32) for x in got]
    assert words[0] == (0x6B200159, 0x99BA4EFE)
    assert words[1] == (0x1CB996FC, 0xBB002BE7)
    assert words[2] == (0xC4923A9C, 0x483DF7A0)


@pytest.mark.parametrize("dtype", list(dtypes.floats), ids=lambda d: d.name)
def test_uniform_numbers(dtype):
    x = Tensor.rand(4000, dtype=dtype)
    values = x.float().numpy()
    assert x.dtype is dtype and values.min() >= 0 and values.max() < 1
    assert abs(values.mean() - 0.5) < (0.03 if dtype.itemsize > 1 else 0.1)


def test_normal_numbers():
    values = Tensor.randn(20000).numpy()
    assert np.isfinite(values).all() and abs(values.mean()) < 0.03 and abs(values.std() - 1) < 0.03
    assert abs((values**3).mean()) < 0.1 and abs((values**4).mean() - 3) < 0.3
    shifted = Tensor.normal(5000, mean=3.0, std=0.5).numpy()
    assert abs(shifted.mean() - 3) < 0.05 and abs(shifted.std() - 0.5) < 0.05


def test_one_seed_one_stream():
    first = [Tensor.rand(5).tolist(), Tensor.rand(5).tolist()]
    Tensor.manual_seed(1234)
    assert [Tensor.rand(5).tolist(), Tensor.rand(5).tolist()] == first
    assert first[0] != first[1]
    Tensor.manual_seed(1235)
    assert Tensor.rand(5).tolist() != first[0]
    # the stream does not depend on how it is cut
    Tensor.manual_seed(1234)
    assert Tensor.rand(10).tolist() == first[0] + first[1]


def test_integers_cover_their_range():
    x = Tensor.randint(2000, low=-2, high=3)
    assert x.dtype is dtypes.int32 and sorted(set(x.tolist())) == [-2, -1, 0, 1, 2]
    counts = np.bincount(x.numpy() + 2)
    assert counts.min() > 300
    assert Tensor.randint(5, low=2**40, high=2**40 + 1, dtype=dtypes.int64).tolist() == [2**40] * 5
    with pytest.raises(ArgumentError):
        Tensor.randint(3, low=5, high=5)
    with pytest.raises(DTypeError):
        Tensor.randint(3, dtype="float32")


def test_permutations():
    x = Tensor.randperm(50)
    assert sorted(x.tolist()) == list(range(50)) and x.tolist() != list(range(50))
    assert Tensor.randperm(0).shape == (0,)


def test_initialisers_stay_in_their_bounds():
    assert abs(Tensor.glorot_uniform(20, 30).numpy()).max() <= np.sqrt(6 / 50)
    assert abs(Tensor.kaiming_uniform(20, 30, a=0).numpy()).max() <= np.sqrt(6 / 30)
    assert abs(Tensor.scaled_uniform(10, 10).numpy()).max() <= 0.1
    assert abs(Tensor.kaiming_normal(50, 40, a=0).numpy().std() - np.sqrt(2 / 40)) < 0.02
    values = Tensor.uniform(500, low=-3, high=5).numpy()
    assert values.min() >= -3 and values.max() < 5
    assert set(Tensor.uniform(300, low=0, high=3, dtype="int32").tolist()) == {0, 1, 2}


def test_like_and_shapes():
    x = Tensor(np.zeros((2, 3), np.float16))
    assert x.rand_like().shape == (2, 3) and x.randn_like().dtype is dtypes.half
    assert Tensor.rand(0, 3).shape == (0, 3) and Tensor.rand().shape == ()
    with pytest.raises(DTypeError):
        Tensor.rand(3, dtype="int32")


def test_multinomial():
    weights = Tensor([0.0, 1.0, 3.0])
    drawn = weights.multinomial(4000, replacement=True).numpy()
    assert set(drawn) == {1, 2} and abs((drawn == 2).mean() - 0.75) < 0.05
    rows = Tensor([[1.0, 1.0, 1.0, 0.0], [0.0, 5.0, 1.0, 1.0]]).multinomial(3).numpy()
    assert sorted(rows[0]) == [0, 1, 2] and sorted(rows[1]) == [1, 2, 3]
    with pytest.raises(ArgumentError):
        weights.multinomial(4)


def test_dropout():
    x = Tensor.ones(4000)
    assert x.dropout(0.5).uop is x.uop
    with Tensor.train():
        values = x.dropout(0.25).numpy()
        assert set(np.unique(values)) == {0.0, np.float32(1 / 0.75)}
        assert abs((values == 0).mean() - 0.25) < 0.04
        assert x.dropout(0).uop is x.uop and not x.dropout(1).numpy().any()
    with pytest.raises(ArgumentError):
        x.dropout(1.5)


def test_normal_numbers_of_any_dtype_are_those_of_float32_converted():
    drawn = {}
    for dtype in ("float", "half", "int8", "int64"):
        Tensor.manual_seed(5)
        drawn[dtype] = Tensor.randn(50, dtype=dtype)
        assert drawn[dtype].dtype is dtypes.to_dtype(dtype)
    for dtype, values in drawn.items():
        assert values.tolist() == drawn["float"].cast(dtype).tolist()


def test_doubles_are_drawn_as_doubles():
    x = Tensor.randn(4000, dtype="double").numpy()
    assert x.dtype == np.float64 and (x != x.astype(np.float32)).mean() > 0.99
    assert abs(x.mean()) < 0.06 and abs(x.std() - 1) < 0.04


@pytest.mark.parametrize(
    ("low", "high", "dtype"),
    [(-1, 5, "uint8"), (0, 257, "uint8"), (-129, 0, "int8"), (0, 2**31 + 1, "int32")],
)
def test_integers_that_the_dtype_does_not_hold_are_not_drawn(low, high, dtype):
    with pytest.raises(ArgumentError, match="does not hold"):
        Tensor.randint(3, low=low, high=high, dtype=dtype)


def test_all_integers_of_a_dtype_can_be_drawn():
    assert set(Tensor.randint(8000, low=0, high=256, dtype="uint8").tolist()) == set(range(256))


def test_a_draw_that_is_rounded_to_the_whole_weight_takes_the_last_place_with_one(monkeypatch):
    monkeypatch.setattr(Tensor, "rand", lambda shape, **rest: Tensor.ones(shape, **rest))
    assert Tensor([0.5, 0.0, 1.5, 0.0]).multinomial(3, replacement=True).tolist() == [2, 2, 2]
    assert Tensor([[1.0, 2.0], [3.0, 0.0]]).multinomial(1).tolist() == [[1], [0]]


@pytest.mark.parametrize("device", ["REF:vector", "REF:grid"])
@pytest.mark.parametrize("dtype", list(dtypes.floats), ids=lambda d: d.name)
def test_the_stream_is_equal_on_all_devices(device, dtype):
    drawn = []
    for place in ("REF", device):
        Tensor.manual_seed(3)
        drawn.append(Tensor.rand(33, dtype=dtype, device=place).tolist())
    assert drawn[0] == drawn[1]
