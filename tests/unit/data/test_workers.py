"""Workers: threads and processes load the same batches, and say what went wrong."""

import functools
import gc
import os
import signal
import subprocess
import sys
import threading
import time
import traceback

import numpy as np
import pytest

from weft import data
from weft.base.errors import ArgumentError, WorkerError

slow_sets = pytest.importorskip("slow_sets", reason="tests/unit/data is put on the path")
KINDS = ["thread", "process"]


def batches(loader):
    return [[part.tolist() for part in batch] for batch in loader]


def threads():
    return [t for t in threading.enumerate() if t.name.startswith("weft-data")]


def are_gone(found, seconds=20):
    end = time.monotonic() + seconds
    while found() and time.monotonic() < end:
        time.sleep(0.01)
    return not found()


@pytest.mark.parametrize(("kind", "count"), [("thread", 1), ("thread", 3), ("process", 2)])
def test_workers_load_the_same_batches_as_the_main_thread(kind, count):
    options = {"batch_size": 3, "shuffle": True, "seed": 1}
    expected = data.DataLoader(slow_sets.Squares(), **options)
    loader = data.DataLoader(
        slow_sets.Squares(), num_workers=count, worker_kind=kind, persistent_workers=True, **options
    )
    for _ in range(2):
        assert batches(loader) == batches(expected)
    loader.close()


@pytest.mark.parametrize("kind", KINDS)
def test_an_error_arrives_with_the_traceback_of_the_worker(kind):
    loader = data.DataLoader(slow_sets.Failing(), batch_size=2, num_workers=2, worker_kind=kind)
    taken = []
    with pytest.raises(KeyError, match="sample 5 is damaged") as caught:
        for batch in loader:
            taken.append(batch[1].tolist())
    assert taken in ([[0, 1]], [[0, 1], [2, 3]])
    text = "".join(traceback.format_exception(caught.value))
    assert "deep_below" in text and "slow_sets.py" in text
    assert are_gone(threads)


def test_an_error_in_the_main_thread_is_as_it_was():
    with pytest.raises(KeyError, match="damaged"):
        list(data.DataLoader(slow_sets.Failing()))


def test_a_dead_process_is_reported():
    loader = data.DataLoader(slow_sets.Dying(), batch_size=2, num_workers=2, worker_kind="process")
    with pytest.raises(WorkerError, match="died"):
        list(loader)


def test_a_slow_worker_is_reported():
    loader = data.DataLoader(slow_sets.Sleeping(4), num_workers=1, timeout=0.5)
    with pytest.raises(WorkerError, match="in time"):
        list(loader)
    assert len(list(data.DataLoader(slow_sets.Sleeping(2), num_workers=1, timeout=60))) == 2


def test_leaving_early_ends_the_threads():
    loader = data.DataLoader(slow_sets.Squares(100), num_workers=3)
    for _ in loader:
        assert threads()
        break
    assert are_gone(threads)
    epoch = iter(loader)
    next(epoch)
    epoch.close()
    assert are_gone(threads)


def test_leaving_early_ends_the_processes():
    import multiprocessing

    loader = data.DataLoader(slow_sets.Squares(100), num_workers=2, worker_kind="process")
    for _ in loader:
        assert len(multiprocessing.active_children()) >= 2
        break
    assert are_gone(multiprocessing.active_children)


def test_an_interrupt_ends_the_workers():
    loader = data.DataLoader(slow_sets.Squares(100), num_workers=2)
    with pytest.raises(KeyboardInterrupt):
        for number, _ in enumerate(loader):
            if number == 3:
                raise KeyboardInterrupt
    gc.collect()
    assert are_gone(threads)


def test_an_interrupt_while_waiting_for_a_worker():
    import _thread

    class Waiting(slow_sets.Squares):
        def __getitem__(self, index):
            if index == 3:
                _thread.interrupt_main()
                time.sleep(0.5)
            return super().__getitem__(index)

    # shells start background jobs with the signal ignored
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            list(data.DataLoader(Waiting(), num_workers=1))
    finally:
        signal.signal(signal.SIGINT, before)
    assert are_gone(threads)


@pytest.mark.parametrize("kind", KINDS)
def test_streams_are_shared_by_the_workers(kind):
    loader = data.DataLoader(
        slow_sets.Stream(11), batch_size=2, num_workers=2, worker_kind=kind, persistent_workers=True
    )
    for _ in range(2):
        taken = [batch.tolist() for batch in loader]
        assert taken == [[0, 2], [1, 3], [4, 6], [5, 7], [8, 10], [9]]
    loader.close()
    assert [b.tolist() for b in data.DataLoader(slow_sets.Stream(3), batch_size=2)] == [[0, 1], [2]]


def test_more_workers_than_batches():
    assert len(list(data.DataLoader(slow_sets.Squares(2), num_workers=5))) == 2
    assert len(list(data.DataLoader(slow_sets.Stream(2), num_workers=5))) == 2
    assert list(data.DataLoader(slow_sets.Squares(0), num_workers=2)) == []


@pytest.mark.parametrize("workers", [0, 1, 3])
def test_random_augmentation_is_a_function_of_seed_epoch_and_batch(workers):
    def epochs(**options):
        loader = data.DataLoader(slow_sets.Noisy(), batch_size=2, seed=7, **options)
        return [[batch.tolist() for batch in loader] for _ in range(2)]

    one = epochs()
    assert epochs(num_workers=workers) == one
    assert one[0] != one[1]


@pytest.mark.parametrize("kind", KINDS)
def test_an_initial_function(kind, tmp_path):
    note = functools.partial(slow_sets.note, str(tmp_path))
    options = {"num_workers": 2, "worker_kind": kind, "worker_init_fn": note}
    assert len(list(data.DataLoader(slow_sets.Squares(2), **options))) == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0 of 2", "1 of 2"]
    with pytest.raises(RuntimeError, match="has no data"):
        list(data.DataLoader([1], num_workers=1, worker_init_fn=slow_sets.refusing))


def test_unpicklable_arguments_are_refused():
    loader = data.DataLoader(
        [1, 2], num_workers=1, worker_kind="process", collate_fn=lambda samples: samples
    )
    with pytest.raises(ArgumentError, match="cannot be sent"):
        list(loader)
    assert data.DataLoader([1], multiprocessing_context="spawn").worker_kind == "process"


def test_batches_copied_ahead_keep_their_values():
    x = np.arange(64, dtype=np.float32).reshape(16, 4)
    loader = data.DataLoader(data.TensorDataset(x), batch_size=4, num_workers=2)
    kept = [batch for (batch,) in loader]
    assert [b.tolist() for b in kept] == [x[i : i + 4].tolist() for i in range(0, 16, 4)]


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="process groups are of POSIX")
@pytest.mark.parametrize("kind", KINDS)
def test_ctrl_c_ends_the_program_and_its_workers(kind, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import signal, slow_sets\nfrom weft import data\n"
        "if __name__ == '__main__':\n"
        "    signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "    for batch in data.DataLoader(slow_sets.Sleeping(10_000), batch_size=1,\n"
        f"                                 num_workers=2, worker_kind={kind!r}):\n"
        "        print('batch', flush=True)\n"
    )
    running = subprocess.Popen(
        [sys.executable, str(program)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip
    try:
        assert running.stdout.readline() == "batch\n"
        os.killpg(running.pid, signal.SIGINT)
        _, said = running.communicate(timeout=60)
    finally:
        running.kill()
    assert said.count("Traceback") == 1 and said.rstrip().endswith("KeyboardInterrupt")
