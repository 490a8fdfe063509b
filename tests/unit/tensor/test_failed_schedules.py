"""A schedule that fails on the way: what was written is not written again, the rest is computed."""

import signal

import pytest

from weft import Tensor
from weft.base.errors import DeviceError
from weft.engine import ExecItem, stats
from weft.tensor import failed_schedules
from weft.uop import Ops

MOST = 6
"""More steps than any of these takes."""


class Failure:
    """Makes the step of this number fail, once, while it is awaited."""

    def __init__(self, monkeypatch, step):
        self.step, self.seen, self.awaited = step, 0, False
        run = ExecItem.run

        def run_or_fail(item, *arguments, **keywords):
            self.seen += 1
            if self.awaited and self.seen == self.step + 1:
                raise DeviceError("this step fails", asked="a step")
            return run(item, *arguments, **keywords)

        monkeypatch.setattr(ExecItem, "run", run_or_fail)

    def once(self, work):
        """The error that the work ends with; None where it has fewer steps."""
        self.seen, self.awaited = 0, True
        try:
            work()
        except DeviceError as error:
            return error
        finally:
            self.awaited = False
        return None

    def tried(self, work):
        """The work fails, and is done once more."""
        if self.once(work) is not None:
            work()


@pytest.fixture(params=range(MOST))
def failure(request, monkeypatch):
    return Failure(monkeypatch, request.param)


def counted(*values):
    """Tensors that are memory of their own."""
    return [Tensor(value).realize() for value in values]


def test_an_executed_addition_is_not_repeated(failure):
    (total,) = counted([1.0, 2.0])
    total += 1
    mean = (total.sum() * Tensor.ones(3)).contiguous()
    failure.tried(lambda: Tensor.realize(total, mean))
    assert total.tolist() == [2.0, 3.0] and mean.tolist() == [5.0] * 3


def test_writes_to_several_tensors(failure):
    parameter, moment = counted([4.0, 8.0], [1.0, 1.0])
    moment.assign(moment * 0.5 + parameter)
    parameter.assign(parameter - moment)
    failure.tried(lambda: Tensor.realize(parameter, moment))
    assert moment.tolist() == [4.5, 8.5] and parameter.tolist() == [-0.5, -0.5]


def test_a_part_that_is_written(failure):
    (table,) = counted([[1.0, 2.0], [3.0, 4.0]])
    table[0] += 1
    rows = table.sum(1).contiguous().max()
    failure.tried(lambda: Tensor.realize(table, rows))
    assert table.tolist() == [[2.0, 3.0], [3.0, 4.0]] and rows.item() == 7.0


def test_readers_of_the_old_value(failure):
    (total,) = counted([1.0, 2.0])
    old = total * 10
    total += 1
    new = (total * 100).contiguous()
    failure.tried(lambda: Tensor.realize(new, total))
    assert [t.tolist() for t in (old, total, new)] == [[10.0, 20.0], [2.0, 3.0], [200.0, 300.0]]


def test_kernels_that_wait(failure):
    (total,) = counted([1.0, 2.0])
    total += 1
    top = (total.sum() * Tensor.ones(3)).contiguous()
    Tensor.kernelize(total, top)
    failure.tried(lambda: Tensor.realize(total, top))
    assert total.tolist() == [2.0, 3.0] and top.tolist() == [5.0] * 3


def on_two(value, axis=0):
    return Tensor(value, device="REF").shard(("REF", "REF:1"), axis=axis).realize()


def test_shards(failure):
    total = on_two([1.0, 2.0, 3.0, 4.0])
    total += 1
    top = (total.sum() * Tensor.ones(2, device="REF").shard(("REF", "REF:1"))).contiguous()
    failure.tried(lambda: Tensor.realize(total, top))
    assert total.tolist() == [2.0, 3.0, 4.0, 5.0] and top.tolist() == [14.0, 14.0]


def test_shards_of_which_one_is_looked_at_by_another_tensor(failure):
    total = on_two([1.0, 2.0, 3.0, 4.0])
    total += 1
    failure.once(total.realize)
    twice, total = (total * 2).contiguous(), total * 1
    assert twice.tolist() == [4.0, 6.0, 8.0, 10.0] and total.tolist() == [2.0, 3.0, 4.0, 5.0]


def test_memory_that_is_written_several_times(failure):
    (total,) = counted([1.0, 2.0, 3.0])
    total += 1
    total[1] = total.sum()
    total *= 2
    failure.tried(total.realize)
    assert total.tolist() == [4.0, 18.0, 8.0]


def test_a_later_write_waits_for_the_unfinished_schedule(failure):
    total, other = on_two([1.0, 2.0, 3.0, 4.0]), on_two([5.0], axis=None)
    total += other
    failure.once(total.realize)
    other *= 100
    failure.tried(other.realize)
    assert total.tolist() == [6.0, 7.0, 8.0, 9.0] and other.tolist() == [500.0]


def test_it_may_fail_again_and_again(monkeypatch):
    failure = Failure(monkeypatch, 0)
    (total,) = counted([1.0, 2.0, 3.0])
    total += 1
    total[1] = total.sum()
    total *= 2
    for step in (1, 0, 1, 0, 0, 1):
        failure.step = step
        failure.once(total.realize)
    assert total.tolist() == [4.0, 18.0, 8.0]


def test_an_unfinished_schedule_is_freed_with_its_tensors(failure):
    kept = stats.memory
    total = on_two([1.0, 2.0, 3.0, 4.0])
    total += 1
    failure.once(total.realize)
    del total
    assert not failed_schedules.has_unfinished() and stats.memory == kept


@pytest.fixture
def ctrl_c():
    """What starts tests in the background may have it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize("several", [False, True])
def test_ctrl_c_comes_when_a_step_is_done(monkeypatch, several):
    run = ExecItem.run

    def run_and_interrupt(item, *arguments, **keywords):
        seconds = run(item, *arguments, **keywords)
        if total.uop.base.op is Ops.ASSIGN:
            signal.raise_signal(signal.SIGINT)
        return seconds

    (total,) = counted([1.0, 2.0, 3.0])
    total += 1
    if several:
        total[1] = total.sum()
    monkeypatch.setattr(ExecItem, "run", run_and_interrupt)
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            total.realize()
        if total.uop.base.op is not Ops.ASSIGN:
            break
    assert total.tolist() == ([2.0, 9.0, 4.0] if several else [2.0, 3.0, 4.0])


def test_a_freed_tensor(failure):
    (total,) = counted([1.0, 2.0])
    window = total[:1]
    total += 1
    shown = (total.sum() * Tensor.ones(2)).contiguous()
    del total
    failure.tried(shown.realize)
    assert shown.tolist() == [5.0, 5.0] and window.tolist() == [2.0]


def test_a_failure_without_writes_changes_nothing(failure):
    (x,) = counted([1.0, 2.0])
    rows = (x.sum() * Tensor.ones(2)).contiguous()
    before = rows.uop
    error = failure.once(rows.realize)
    assert error is None or (rows.uop is before and not hasattr(error, "__notes__"))
    assert rows.tolist() == [3.0, 3.0]


def test_pending_readers_of_the_old_content_are_computed(failure):
    (total,) = counted([[1.0, 2.0], [3.0, 4.0]])
    old = (total.sum(1).contiguous() * 10).contiguous()
    total += 1
    failure.once(lambda: Tensor.realize(total, old))
    assert total.tolist() == [[2.0, 3.0], [4.0, 5.0]] and old.tolist() == [30.0, 70.0]
