"""Defaults and facts under PyTorch's names."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import weft
from weft import Tensor, settings
from weft.base.errors import DTypeError, UnknownDevice, WrongKind
from weft.functions import defaults


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    """What a test changes for good is taken back."""
    before = settings.DEVICE, settings.DEFAULT_FLOAT
    yield
    settings.DEVICE, settings.DEFAULT_FLOAT = before
    weft.set_grad_enabled(True)


def test_limits_of_dtypes() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch says what the limits are")
    for name in ("float16", "bfloat16", "float32", "float64"):
        found, expected = weft.finfo(getattr(weft, name)), torch.finfo(getattr(torch, name))
        for fact in ("bits", "eps", "max", "min", "tiny", "smallest_normal", "resolution"):
            if (name, fact) != ("bfloat16", "resolution"):
                assert getattr(found, fact) == getattr(expected, fact), (name, fact)
    for name in ("int8", "int16", "int32", "int64", "uint8"):
        found, expected = weft.iinfo(getattr(weft, name)), torch.iinfo(getattr(torch, name))
        assert (found.bits, found.min, found.max) == (expected.bits, expected.min, expected.max)
    assert weft.finfo().dtype is weft.get_default_dtype() is weft.float32
    with pytest.raises(DTypeError):
        weft.finfo(weft.int32)
    with pytest.raises(DTypeError):
        weft.iinfo(weft.float32)


def test_the_default_dtype() -> None:
    weft.set_default_dtype(weft.float64)
    assert weft.zeros(1).dtype is weft.tensor(0.5).dtype is weft.get_default_dtype() is weft.float64
    weft.set_default_dtype("float32")
    assert weft.zeros(1).dtype is weft.float32
    with pytest.raises(DTypeError) as error:
        weft.set_default_dtype(weft.int64)
    assert "weft.float64" in str(error.value.try_)


def test_the_default_device() -> None:
    weft.set_default_device("ref:1")
    assert weft.zeros(1).device == weft.get_default_device() == weft.device() == "REF:1"
    weft.set_default_device(None)
    assert settings.DEVICE == ""
    with pytest.raises(UnknownDevice):
        weft.set_default_device("nowhere")
    assert defaults.device("ref:0") == weft.device("REF") == "REF"


def test_dtypes_of_results() -> None:
    assert weft.promote_types(weft.int32, weft.float16) is weft.float16
    assert weft.promote_types("uint8", "int8") is weft.int16


def test_the_gradient_mode_is_set_at_once_and_restored_by_a_block() -> None:
    x = Tensor([1.0], requires_grad=True)
    with weft.set_grad_enabled(False):
        assert not weft.is_grad_enabled() and not (x * 2).requires_grad
        with weft.set_grad_enabled(True):
            assert (x * 2).requires_grad
        assert not weft.is_grad_enabled()
    assert weft.is_grad_enabled()
    weft.set_grad_enabled(False)
    assert not (x * 2).requires_grad
    weft.set_grad_enabled(True)
    assert (x * 2).requires_grad

    @weft.set_grad_enabled(False)
    def twice(x: Tensor) -> Tensor:
        return x * 2

    assert weft.is_grad_enabled() and not twice(x).requires_grad and weft.is_grad_enabled()
    with pytest.raises(WrongKind):
        weft.set_grad_enabled(1)
