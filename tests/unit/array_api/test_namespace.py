"""The names of the standard: all there, with its constants, versions and inspection functions."""

import math

import pytest

import weft
import weft.array_api as xp
from weft import Tensor, dtypes
from weft.array_api.constants import newaxis
from weft.array_api.info import Info
from weft.base.errors import ArgumentError

ELEMENTWISE = """abs acos acosh add asin asinh atan atan2 atanh bitwise_and bitwise_left_shift
bitwise_invert bitwise_or bitwise_right_shift bitwise_xor ceil clip conj copysign cos cosh divide
equal exp expm1 floor floor_divide greater greater_equal hypot imag isfinite isinf isnan less
less_equal log log1p log2 log10 logaddexp logical_and logical_not logical_or logical_xor maximum
minimum multiply negative nextafter not_equal positive pow real reciprocal remainder round sign
signbit sin sinh square sqrt subtract tan tanh trunc"""
OTHERS = """all any arange argmax argmin argsort asarray astype broadcast_arrays broadcast_to
can_cast concat count_nonzero cumulative_prod cumulative_sum diff empty empty_like expand_dims eye
finfo flip from_dlpack full full_like iinfo isdtype linspace matmul matrix_transpose max mean
meshgrid min moveaxis nonzero ones ones_like permute_dims prod repeat reshape result_type roll
searchsorted sort squeeze stack std sum take take_along_axis tensordot tile tril triu
unique_all unique_counts unique_inverse unique_values unstack var vecdot where zeros zeros_like
__array_namespace_info__"""
LINALG = """cholesky cross det diagonal eigh eigvalsh inv matmul matrix_norm matrix_power
matrix_rank matrix_transpose outer pinv qr slogdet solve svd svdvals tensordot trace vecdot
vector_norm"""


@pytest.mark.parametrize("name", [*ELEMENTWISE.split(), *OTHERS.split()])
def test_every_function_of_the_standard_is_here(name):
    assert callable(getattr(xp, name))
    assert name in xp.__all__


@pytest.mark.parametrize("name", LINALG.split())
def test_the_extension_of_linear_algebra_is_whole(name):
    assert callable(getattr(xp.linalg, name))


def test_constants_and_version():
    assert (xp.e, xp.pi, xp.inf, xp.newaxis) == (math.e, math.pi, math.inf, newaxis)
    assert math.isnan(xp.nan)
    assert xp.__array_api_version__ == "2024.12"
    assert weft.array_api is xp


def test_tensors_lead_to_the_namespace():
    assert Tensor([1]).__array_namespace__() is xp
    assert xp.ones(1).__array_namespace__(api_version="2023.12") is xp
    with pytest.raises(ArgumentError, match="version"):
        Tensor([1]).__array_namespace__(api_version="2019.12")


def test_namespace_info():
    info = xp.__array_namespace_info__()
    assert isinstance(info, Info)
    assert info.capabilities()["boolean indexing"] is True
    assert info.capabilities()["data-dependent shapes"] is True
    assert info.devices()[0] == info.default_device() == Tensor([1]).device
    assert "NULL" not in info.devices(), "devices for tests are used by name alone"
    kinds = info.default_dtypes()
    assert kinds["real floating"] is xp.float32
    assert kinds["integral"] is xp.int32 and kinds["indexing"] is xp.int64
    assert kinds["complex floating"] is xp.complex64


def test_dtypes_by_kind():
    info = xp.__array_namespace_info__()
    assert info.dtypes()["float64"] is dtypes.float64
    assert set(info.dtypes(kind="unsigned integer")) == {"uint8", "uint16", "uint32", "uint64"}
    assert set(info.dtypes(kind=("bool", "real floating"))) == {"bool", "float32", "float64"}
    assert set(info.dtypes(kind="complex floating")) == {"complex64", "complex128"}
    with pytest.raises(ArgumentError, match="no kind"):
        info.dtypes(kind="quaternion")
