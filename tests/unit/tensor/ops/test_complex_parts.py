"""Parts of complex numbers, of real tensors."""

import math

from weft import Tensor, dtypes


def test_of_real_tensors():
    x = Tensor([-1.0, 2.0, math.nan])
    assert not x.is_complex() and x.conj().shape == x.real.shape == (3,)
    x.real[1] = 3.0
    assert x.tolist()[1] == 3.0 and x.imag.tolist() == [0.0] * 3
    found = x.angle().tolist()
    assert math.isclose(found[0], math.pi, rel_tol=1e-6) and found[1] == 0 and math.isnan(found[2])
    assert Tensor([1]).angle().dtype is dtypes.float32 and Tensor([1]).imag.dtype is dtypes.int32
