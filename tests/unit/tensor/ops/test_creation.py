"""Constants and ranges."""

import gzip
from fractions import Fraction

import numpy as np
import pytest

from weft import Device, Tensor, dtypes, settings
from weft.base.errors import ArgumentError, FileError, OutOfRange, ShapeError
from weft.uop import Ops


def test_constants():
    assert Tensor.zeros(2, 3).tolist() == [[0.0] * 3] * 2 and Tensor.zeros((2,)).shape == (2,)
    assert Tensor.ones(2, dtype="int32").tolist() == [1, 1]
    assert Tensor.full((2, 1), 7).dtype is dtypes.int32 and Tensor.full((), 2.5).item() == 2.5
    assert Tensor.zeros(10**9).uop.base.op is Ops.CONST
    x = Tensor([1.0, 2.0], dtype="half")
    assert x.zeros_like().dtype is dtypes.half and x.ones_like().tolist() == [1.0, 1.0]
    assert (
        x.full_like(3).tolist() == [3.0, 3.0] and x.full_like(1, dtype="int8").dtype is dtypes.int8
    )
    assert Tensor.zeros(0, 3).tolist() == []
    for wrong in ((-1,), (2.5,)):
        with pytest.raises(ShapeError):
            Tensor.zeros(*wrong)


@pytest.mark.parametrize(
    "args", [(5,), (2, 7), (7, 2), (0, 10, 3), (10, 0, -3), (5, 5), (1, 2, 5), (0,), (-3, 3)]
)
def test_ranges_of_integers(args):
    got = Tensor.arange(*args)
    assert got.dtype is dtypes.int32 and got.tolist() == np.arange(*args).tolist()


@pytest.mark.parametrize(
    ("args", "dtype"),
    [
        ((2**31 - 2, 2**31), "int32"),
        ((2**31 - 1, 2**31 + 1), "int64"),
        ((-(2**31), -(2**31) + 2), "int32"),
        ((-(2**31) - 1, -(2**31) + 1), "int64"),
        ((0, 2**40, 2**38), "int64"),
        ((2**40, 0), "int32"),
    ],
)
def test_ranges_beyond_the_default_integer_are_wider(args, dtype):
    got = Tensor.arange(*args)
    assert got.dtype is dtypes.to_dtype(dtype) and got.tolist() == list(range(*args))


def test_long_ranges_count_on():
    n = 2**31 + 3
    assert Tensor.arange(n)[n - 2 :].tolist() == [n - 2, n - 1]
    assert Tensor.arange(n)[-1].item() == n - 1 and Tensor.linspace(0, 1, n)[-1].item() == 1.0
    assert Tensor.arange(0.0, n * 0.5, 0.5, dtype="double")[-1].item() == (n - 1) * 0.5
    places = Tensor([0, n - 1, -1], dtype="int64")
    assert Tensor.arange(n)[places].tolist() == [0, n - 1, n - 1]
    assert Tensor([7]).expand(n)[places].tolist() == [7, 7, 7]


@pytest.mark.parametrize("args", [(10**400,), (0, 3, 10**400), (0, 10**400, 1.0)])
def test_ends_of_ranges_that_no_float_represents_are_refused(args):
    with pytest.raises(OutOfRange):
        Tensor.arange(*args)


def test_ranges_that_cannot_be_counted_are_refused():
    with pytest.raises(ArgumentError, match="can be counted"):
        Tensor.arange(0, 3, 5e-324)
    assert Tensor.arange(0, -3, 5e-324).tolist() == []


@pytest.mark.parametrize("args", [(2.5,), (0, 1, 0.25), (1.0, 0, -0.3), (0.5, 3)])
def test_ranges_of_floats(args):
    got = Tensor.arange(*args)
    np.testing.assert_allclose(
        got.numpy(), np.arange(*args, dtype=np.float32), rtol=1e-6, atol=1e-7
    )


def test_ranges_beyond_32_bits_and_in_other_dtypes():
    low = 2**40
    assert Tensor.arange(low, low + 3, dtype=dtypes.int64).tolist() == [low, low + 1, low + 2]
    assert Tensor.arange(3, dtype="half").tolist() == [0.0, 1.0, 2.0]
    assert (Tensor.arange(2050, dtype="half").numpy() == np.arange(2050).astype(np.float16)).all()
    with pytest.raises(ArgumentError):
        Tensor.arange(1, 2, 0)


def test_linspace():
    np.testing.assert_allclose(Tensor.linspace(0, 1, 5).numpy(), np.linspace(0, 1, 5))
    got = Tensor.linspace(-3, 11, 7).numpy()
    assert got[0] == -3 and got[-1] == 11
    assert Tensor.linspace(5, 9, 1).tolist() == [5.0] and Tensor.linspace(0, 1, 0).shape == (0,)


@pytest.mark.parametrize(
    ("start", "stop", "steps"),
    [
        (0, 123456789, 4), (5, 2**31 - 1, 4), (-(2**31), 2**31 - 1, 2), (-7, 37, 8), (3, -25, 50),
        (9.0, -9.0, 5), (4, 4, 3), (0, 1, 2), (5, 9, 1), (0, 1, 0), (0, 2**31 - 1, 300),
    ],
)  # fmt: skip
def test_whole_steps_are_exact_and_cut_off_toward_zero(start, stop, steps):
    first, apart, parts = int(start), int(stop) - int(start), max(steps - 1, 1)
    exact = [Fraction(first * parts + i * apart, parts) for i in range(steps)]
    for kind in ("int32", "int64"):
        assert Tensor.linspace(start, stop, steps, dtype=kind).tolist() == list(map(int, exact))


def test_whole_numbers_of_broken_steps():
    for ends in ((-4.75, 30.5), (0.5, 123456789.5)):
        expected = np.trunc(np.linspace(*ends, 7)).astype(np.int64)
        assert Tensor.linspace(*ends, 7, dtype="int64").tolist() == expected.tolist()
    assert Tensor.linspace(0, 2**64 - 2048, 2, dtype="uint64").tolist() == [0, 2**64 - 2048]
    both = Tensor.linspace(0, 3.5, 4, dtype="int32", device=("REF:0", "REF:1"))
    assert both.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("base", [2, 3, 5, 7, 10])
def test_whole_powers_are_exact(base):
    top = int(np.log(2**31 - 1) / np.log(base))
    for kind in ("int32", "int64"):
        got = Tensor.logspace(0, top, top + 1, base=base, dtype=kind)
        assert got.tolist() == [base**i for i in range(top + 1)]


@pytest.mark.parametrize("n, m", [(3, None), (2, 4), (4, 2), (0, None), (1, 1)])
def test_eye(n, m):
    np.testing.assert_array_equal(Tensor.eye(n, m).numpy(), np.eye(n, m))


def test_empty_has_memory_of_its_own():
    x = Tensor.empty(2, 3, dtype="int16")
    assert x.shape == (2, 3) and x.dtype is dtypes.int16 and x.uop.base.op is Ops.BUFFER
    assert x.assign(5).tolist() == [[5] * 3] * 2


def test_requires_grad_reaches_the_result():
    for made in (Tensor.ones(2, requires_grad=True), Tensor.linspace(0, 1, 2, requires_grad=True),
                 Tensor.eye(2, requires_grad=True), Tensor.rand(2, requires_grad=True),
                 Tensor.randn(2, requires_grad=True), Tensor.uniform(2, requires_grad=True),
                 Tensor.empty(2, requires_grad=True)):  # fmt: skip
        assert made.requires_grad and made.is_leaf


def test_bytes_from_an_address(tmp_path):
    (tmp_path / "x.gz").write_bytes(gzip.compress(bytes(range(10))))
    address = (tmp_path / "x.gz").as_uri()
    with settings.override(CACHE_DIR=str(tmp_path / "cache")):
        stored = Tensor.from_url(address, gunzip=True)
        assert stored.dtype is dtypes.uint8 and stored.shape == (10,)
        assert stored.device.partition(":")[0] != Device.DEFAULT  # nothing is read yet
        here = Tensor.from_url(address, gunzip=True, device=Device.DEFAULT)
        assert here.tolist() == list(range(10)) and here.device == Device.DEFAULT
        with pytest.raises(FileError):
            Tensor.from_url((tmp_path / "missing").as_uri())


def test_powers_and_triangles():
    np.testing.assert_allclose(Tensor.logspace(-1, 2, 4, base=2).numpy(), [0.5, 1, 2, 4])
    assert Tensor.logspace(0, 1, 2, dtype="int32").tolist() == [1, 10]
    assert Tensor.tri(2, 3, 1).tolist() == np.tri(2, 3, 1).tolist()
    x = Tensor([[1, 2]], dtype="int8")
    assert (x.empty_like().shape, x.empty_like().dtype) == ((1, 2), dtypes.int8)
    assert x.randint_like(3, 4).tolist() == [[3, 3]] and x.randint_like().dtype is dtypes.int8
    assert Tensor.full((50,), 0.5).bernoulli().unique().tolist() == [0.0, 1.0]
