"""Plans of transforms: roots of unity."""

import numpy as np

import weft
from weft import Tensor
from weft.fft import plan


def test_roots_of_unity_are_exact_at_quarters():
    found = plan.roots_of_unity(np.arange(-4, 8), 4, -1)
    np.testing.assert_array_equal(found, [1, -1j, -1, 1j] * 3)
    eighths = plan.roots_of_unity(np.arange(8), 8, 1)
    np.testing.assert_allclose(eighths, np.exp(2j * np.pi * np.arange(8) / 8), atol=1e-15)


def test_real_transforms_have_real_ends():
    x = np.random.default_rng(0).standard_normal(48)
    found = weft.fft.rfft(Tensor(x)).numpy()
    assert found[0].imag == found[-1].imag == 0.0
