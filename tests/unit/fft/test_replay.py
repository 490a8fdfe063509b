"""Transforms of memory are computed at once, by captured programs from the second call on."""

import numpy as np
import pytest

import weft
from weft import Tensor
from weft import array_api as xp
from weft.fft import replay
from weft.tensor.live_tensors import is_settled

RNG = np.random.default_rng(5)


@pytest.fixture(autouse=True)
def programs(monkeypatch):
    """No programs of other tests."""
    monkeypatch.setattr(replay, "_programs", replay.OrderedDict())
    return replay._programs


def drawn(*shape):
    return (RNG.standard_normal(shape) + 1j * RNG.standard_normal(shape)).astype(np.complex64)


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
def test_values_of_repeated_calls(name, programs):
    results = []
    for _ in range(5):
        data = drawn(2, 12)
        data = data.real.copy() if name in ("rfft", "ihfft") else data
        found = getattr(weft.fft, name)(Tensor(data).realize(), norm="ortho")
        assert is_settled(found._uop if found._interleaved is None else found._interleaved._uop)
        results.append((found, getattr(np.fft, name)(data, norm="ortho")))
    for found, expected in results:
        np.testing.assert_allclose(found.numpy(), expected, atol=1e-5)
    assert max(program.replays for program in programs.values() if program) >= 2


def test_options_have_programs_of_their_own(programs):
    x = Tensor(drawn(4, 6)).realize()
    calls = ({}, {"n": 5}, {"dim": 0}, {"norm": "ortho"})
    for _ in range(3):
        for options in calls:
            own = {"axis" if k == "dim" else k: v for k, v in options.items()}
            expected = np.fft.fft(x.numpy(), **own)
            np.testing.assert_allclose(weft.fft.fft(x, **options).numpy(), expected, atol=1e-4)
    assert len(programs) == len(calls)


def test_classes_stay():
    x = xp.asarray(drawn(8))
    x.realize()
    for _ in range(4):
        assert isinstance(xp.fft.fft(x), xp.ComplexArray)


def test_what_is_recorded(programs):
    data = drawn(8)
    x = Tensor(data, requires_grad=True)
    x.realize()
    for _ in range(3):
        (gradient,) = weft.fft.fft(x).abs().square().sum().gradient(x)
        np.testing.assert_allclose(gradient.numpy(), 16 * data, rtol=1e-4)
    pending = Tensor(data).realize() * 2
    assert not is_settled(weft.fft.fft(pending)._interleaved._uop)

    @weft.jit
    def power(x):
        return weft.fft.fft(x).abs().square().sum()

    for _ in range(4):
        assert power(Tensor(data).realize()).item() == pytest.approx(
            float((abs(np.fft.fft(data)) ** 2).sum()), rel=1e-4
        )
    assert not programs


def test_programs_that_are_not_used_are_dropped(programs, monkeypatch):
    monkeypatch.setattr(replay, "BUDGET", 30)
    for size in (4, 8, 8, 6):
        weft.fft.fft(Tensor(drawn(size)).realize())
    assert [key[2] for key in programs] == [(8, 2), (6, 2)]
    weft.fft.fft(Tensor(drawn(32)).realize())  # above the limit: recorded
    assert len(programs) == 2
