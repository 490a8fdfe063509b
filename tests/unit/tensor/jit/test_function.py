"""When a captured function records, replays and gives up. What it computes: tests/hazards."""

import pickle

import pytest

from weft import Tensor, jit, settings
from weft.base.errors import ArgumentError, CaptureError
from weft.device import Registry, registry
from weft.engine import stats
from weft.tensor.jit import Jit


@jit
def captured(x):
    """Twice x."""
    return x * 2


def test_two_calls_record_and_the_others_replay():
    step = jit(lambda x: x + 1)
    seen = []
    for i in range(5):
        step(Tensor([float(i)]))
        seen.append(step.replays)
    assert seen == [0, 0, 1, 2, 3]


def test_it_looks_like_the_function():
    assert (captured.__name__, captured.__doc__) == ("captured", "Twice x.")
    assert isinstance(captured, Jit) and "captured" in repr(captured)


def test_options():
    step = jit(limit=2)(lambda x: x + 1)
    assert step(Tensor([1.0])).item() == 2.0


def test_pickling_is_by_name():
    assert pickle.loads(pickle.dumps(captured)) is captured


def test_replays_build_no_graph(monkeypatch):
    step = jit(lambda x: (x + 1).sum())
    x = Tensor([1.0, 2.0]).realize()
    for _ in range(3):
        step(x)
    monkeypatch.setattr("weft.tensor.realize.template_for", None)
    before = stats.kernels
    step(x)
    assert stats.kernels > before


def test_the_warning_of_an_uncapturable_function_appears_once():
    step = jit(lambda xs: xs.append(xs[0]) or xs[0] * 2)
    with pytest.warns(UserWarning, match="changes a container") as caught:
        for _ in range(4):
            step([Tensor([1.0])])
    assert len(caught) == 1 and "changes a container" in step.reason


def test_slots_without_a_dict():
    class Slotted:
        __slots__ = ()

        @jit
        def step(self, x):
            return x

    with pytest.raises(ArgumentError):
        Slotted().step(Tensor([1.0]))


def test_a_captured_method_is_not_set():
    class Model:
        @jit
        def step(self, x):
            return x

    with pytest.raises(AttributeError):
        Model().step = 3


def test_other_settings_are_another_recording():
    step = jit(lambda x: x * 2 + 1)
    for _ in range(3):
        step(Tensor([1.0]))
    with settings.override(NOOPT=1):
        assert step(Tensor([1.0])).item() == 3.0
    assert "2 signatures" in repr(step)


def test_refusals_name_keywords_and_extra_arguments():
    step = jit(lambda x, *more, **options: x)
    with pytest.raises(CaptureError) as caught:
        step(Tensor([1.0]), 1, iter([]))
    assert caught.value.asked.startswith("argument 2 of ")
    with pytest.raises(CaptureError) as caught:
        step(Tensor([1.0]), way=[iter([])])
    assert caught.value.asked.startswith("way[0] of ")


def test_functions_that_never_replay_are_not_captured():
    step = jit(lambda x, k: x * k)
    x = Tensor([1.0]).realize()
    with pytest.warns(UserWarning, match="at every call: .*: k was 3, then 4"):
        for k in range(70):
            assert step(x, k).item() == k
    assert "0 signatures" in repr(step)
    step.reset()
    for _ in range(4):
        step(x, 3)
    assert step.replays == 2


def test_a_machine_without_a_default_device():
    """A recording names its devices; no other one is needed."""
    plugins = [plugin for plugin in Registry().plugins if plugin.from_core]
    with registry.use(Registry(plugins)), settings.override(DEVICE=""):
        assert registry.default_if_any() is None
        step = jit(lambda x: (x * 2).realize())
        x = Tensor([1, 2], device="REF").realize()
        assert [step(x).tolist() for _ in range(4)] == [[2, 4]] * 4
        assert step.replays == 2
