"""What the formats share: streams over tensors, windows of files."""

import io

import numpy as np
import pytest

from weft import Tensor, dtypes
from weft.base.errors import DTypeError, FormatError
from weft.io import TensorIO
from weft.io.windows import opened, window

DATA = np.arange(100, dtype=np.uint8)


def test_a_tensor_reads_like_a_file():
    stream, plain = TensorIO(Tensor(DATA)), io.BytesIO(DATA.tobytes())
    steps = [("read", 7), ("seek", -5, 2), ("read",), ("read",), ("seek", 3), ("seek", 10, 1)]
    for name, *args in [*steps, ("read", 2), ("seek", 500), ("read", 1), ("tell",)]:
        assert getattr(stream, name)(*args) == getattr(plain, name)(*args)
    assert stream.readable() and stream.seekable() and not stream.writable()


@pytest.mark.parametrize("tensor", [Tensor([1, 2]), Tensor(DATA.reshape(10, 10))])
def test_only_rows_of_bytes_are_files(tensor):
    with pytest.raises(DTypeError, match="one row of bytes"):
        opened(tensor)


@pytest.mark.parametrize("begin", [0, 4, 3])
def test_a_window_at_any_offset(begin):
    got = window(Tensor(DATA), begin, dtypes.int32, (2, 3), None)
    expected = np.frombuffer(DATA.tobytes(), np.int32, 6, begin).reshape(2, 3)
    np.testing.assert_array_equal(got.numpy(), expected)


@pytest.mark.parametrize("begin, shape", [(96, (2,)), (-4, (1,)), (0, (1 << 40,))])
def test_windows_beyond_the_file(begin, shape):
    with pytest.raises(FormatError, match="ends before"):
        window(Tensor(DATA), begin, dtypes.int32, shape, None)
