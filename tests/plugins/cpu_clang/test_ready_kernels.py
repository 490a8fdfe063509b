"""Ready kernels: small kernels that are on disk before they are needed, and their replacement."""

import numpy as np
import pytest

from weft import Device, Tensor, jit, settings
from weft.base import disk_cache
from weft.engine import forget_programs, kernel_replacement, programs, ready_kernels
from weft.tensor import general_plans, launch_plans
from weft.tools import ready_kernels as tool

rng = np.random.default_rng(3)


def forget_all():
    forget_programs()
    launch_plans.clear_plans()
    general_plans.clear_plans()


@pytest.fixture
def started():
    """The devices whose helper processes would have been started."""
    return []


@pytest.fixture(autouse=True)
def table(monkeypatch, tmp_path, started):
    """A cache of its own, in which no table was begun."""
    before = ready_kernels.use(True)
    monkeypatch.setattr(ready_kernels, "_start_helper", started.append)
    with settings.override(CACHE_DIR=str(tmp_path), READY_KERNELS=1, DEVICE="CPU", DEBUG=0):
        forget_all()
        yield
    ready_kernels.use(before)
    disk_cache.forget_files()
    forget_all()


@pytest.fixture
def built(monkeypatch):
    """The names of kernels that are compiled."""
    names = []
    build = programs._build

    def noted(*arguments):
        made = build(*arguments)
        names.append(made.name)
        return made

    monkeypatch.setattr(programs, "_build", noted)
    return names


def prepare(*samples):
    """Build a table of these samples."""
    with ready_kernels.building():
        for sample in samples:
            sample().realize()
    ready_kernels.complete_table(Device["CPU"])
    forget_all()


def of(*shape, dtype=np.float32):
    return Tensor((rng.random(shape) * 8 + 1).astype(dtype)).realize()


ELEMENTWISE = [
    lambda x, y: x + y,
    lambda x, y: x / y,
    lambda x, y: x * 3 + y,
    lambda x, y: (x > y).where(x, 2),
    lambda x, y: x.maximum(y),
    lambda x, y: x < y,
    lambda x, y: x.cast("int16"),
    lambda x, y: x.exp() + y.sin(),
    lambda x, y: x.sqrt() * y.log(),
]


@pytest.mark.parametrize("function", ELEMENTWISE)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64])
def test_equals_the_optimised_kernel_bit_for_bit(function, dtype, built):
    prepare(lambda: function(of(5, dtype=dtype), of(5, dtype=dtype)))
    built.clear()
    for shape in [(3,), (17,), (4, 9), (2, 3, 5), (1000,)]:
        x, y = of(*shape, dtype=dtype), of(*shape, dtype=dtype)
        ready = function(x, y).numpy()
        assert not built
        with settings.override(READY_KERNELS=0, KERNEL_ARGUMENTS=0):
            optimised = function(x, y).numpy()
        assert len(built) == 1
        built.clear()
        assert ready.tobytes() == optimised.tobytes()


@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("name", ["sum", "max", "min"])
def test_reductions_of_integers_are_equal(name, axis, built):
    prepare(lambda: getattr(of(5, 7, dtype=np.int64), name)(axis=axis))
    built.clear()
    for shape in [(3, 4), (40, 21)]:
        x = of(*shape, dtype=np.int64)
        assert (getattr(x, name)(axis=axis).numpy() == getattr(x.numpy(), name)(axis=axis)).all()
    assert not built


def test_one_kernel_serves_transposed_operands_windows_and_other_numbers(built):
    prepare(lambda: of(5, 7).T + of(7, 5), lambda: of(5, 7)[2] * 3)
    built.clear()
    x, y = of(11, 3), of(3, 11)
    assert (x.T + y).numpy().tobytes() == (x.numpy().T + y.numpy()).tobytes()
    assert (x[4] * 7).numpy().tobytes() == (x.numpy()[4] * 7).tobytes()
    assert not built


def test_numbers_are_never_stale(built):
    prepare(lambda: of(5) * 2 - 7)
    built.clear()
    for length in (3, 8, 3):
        for number in (1.5, -0.0, float("inf"), 2.0):
            x = of(length)
            expected = x.numpy() * np.float32(number) - np.float32(7)
            assert (x * number - 7).numpy().tobytes() == expected.tobytes()


def test_equal_sizes_do_not_need_a_kernel_of_their_own(built):
    prepare(lambda: of(6, 6).sum(1), lambda: of(5, 7).sum(1))
    built.clear()
    for shape in ((3, 3), (3, 4)):
        x = of(*shape)
        np.testing.assert_allclose(x.sum(1).numpy(), x.numpy().sum(1), rtol=1e-6)
    assert not built


def test_long_kernels_are_optimised(built):
    prepare(lambda: of(5) + 1)
    built.clear()
    x = of(1 << 17)
    assert (x + 1).numpy().tobytes() == (x.numpy() + 1).tobytes()
    assert len(built) == 1


def test_captured_functions_have_optimised_kernels(built):
    prepare(lambda: of(5) + 1)
    built.clear()
    double = jit(lambda x: x + 1)
    for _ in range(3):
        x = of(9)
        assert (double(x).numpy() == x.numpy() + 1).all()
    assert len(built) == 1


def test_an_optimised_kernel_replaces_a_ready_one(built, monkeypatch):
    prepare(lambda: of(5) * 2)
    built.clear()
    x = of(2048)
    expected = (x.numpy() * 2).tobytes()
    made = []
    of_kernels = kernel_replacement._Optimised.of

    def noted(*given):
        made.append(of_kernels(*given))
        return made[-1]

    monkeypatch.setattr(kernel_replacement._Optimised, "of", staticmethod(noted))
    for _ in range(4 * kernel_replacement.LAUNCHES):
        assert (x * 2).numpy().tobytes() == expected
        for thread in kernel_replacement.running():
            thread.join()
    assert len(made) == 1
    assert made[0] is not None
    assert len(built) == 1


def test_a_kernel_that_cannot_be_optimised_stays(monkeypatch):
    prepare(lambda: of(5) * 2)

    def fail(*_):
        raise OSError("no process can be started")

    monkeypatch.setattr(programs, "_compile", fail)
    x = of(2048)
    for _ in range(3 * kernel_replacement.LAUNCHES):
        assert (x * 2).numpy().tobytes() == (x.numpy() * 2).tobytes()
        for thread in kernel_replacement.running():
            thread.join()


def test_the_first_compilation_begins_a_table_once(started):
    for number in (3, 4):
        (of(number) + 1).realize()
        (of(number) / 3).realize()
    forget_all()
    (of(5) * 9).realize()
    assert started == ["CPU"]


def test_no_table_is_begun_where_nothing_is_kept(started, tmp_path):
    with settings.override(CACHE=0):
        (of(3) + 1).realize()
    with settings.override(READY_KERNELS=0):
        (of(3) + 2).realize()
    assert started == []


def test_a_damaged_state_begins_the_table_anew(started):
    key = ready_kernels.key_of_table(Device["CPU"])
    ready_kernels._tables.put(key, b"begun x")
    (of(3) + 1).realize()
    assert started == ["CPU"]


def test_a_table_that_was_begun_long_ago_is_continued(started, monkeypatch):
    (of(3) + 1).realize()
    now = ready_kernels.time.time()
    monkeypatch.setattr(ready_kernels.time, "time", lambda: now + 2 * ready_kernels.AGAIN_AFTER)
    forget_all()
    (of(3) + 2).realize()
    assert started == ["CPU", "CPU"]


def test_the_tool_computes_every_sample(monkeypatch):
    samples = list(tool.samples())
    monkeypatch.setattr(tool, "samples", lambda: iter([samples[0], samples[-1]]))
    assert tool.build("CPU") == 0
    assert ready_kernels.has_table(Device["CPU"])
