"""Complex tensors of parts, and their parts."""

import numpy as np
import pytest

import weft
from weft import Tensor, dtypes
from weft.base.errors import ShapeError, WrongKind
from weft.functions import complex_numbers


def test_of_parts():
    z = weft.complex(Tensor([1.0, 2.0]), Tensor([[3.0], [4.0]]))
    assert z.tolist() == [[1 + 3j, 2 + 3j], [1 + 4j, 2 + 4j]]
    assert weft.complex(Tensor([1.0]), Tensor([1.0], dtype="float64")).dtype is dtypes.complex128
    assert np.allclose(weft.polar(Tensor([2.0]), Tensor([np.pi / 2])).numpy(), 2j, atol=1e-6)
    with pytest.raises(WrongKind):
        weft.complex(Tensor([1j]), Tensor([1.0]))


def test_views():
    z = Tensor([1 + 2j])
    weft.view_as_real(z)[0, 1] = 5.0
    assert z.tolist() == [1 + 5j]
    x = Tensor([[1.0, 2.0]])
    weft.view_as_complex(x)[0] = 3j
    assert x.tolist() == [[0.0, 3.0]]
    with pytest.raises(ShapeError):
        weft.view_as_complex(Tensor([1.0, 2.0, 3.0]))
    with pytest.raises(WrongKind):
        weft.view_as_real(x)


def test_parts():
    assert weft.real(Tensor([1 + 2j])).tolist() == [1.0]
    assert weft.imag(Tensor([1 + 2j])).tolist() == [2.0]
    assert weft.imag(Tensor([1.0])).tolist() == [0.0]
    assert weft.angle(Tensor([-1.0])).item() == pytest.approx(np.pi)
    assert weft.conj(Tensor([1j])).tolist() == [-1j] and weft.is_complex(Tensor([1j]))
    assert set(complex_numbers.__all__) >= {"complex", "polar"}
