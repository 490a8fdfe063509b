"""Threads that share values which are still to be computed."""

import sys
import threading

import numpy as np
import pytest

from weft import Tensor

START = np.arange(12, dtype=np.float32).reshape(3, 4)


@pytest.fixture
def often():
    """Threads are switched much more often than usual."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def read_at_once(values):
    """What a thread for each of them reads, or raises."""
    found = [None] * len(values)

    def read(place):
        try:
            found[place] = values[place].numpy()
        except Exception as error:  # noqa: BLE001
            found[place] = error

    threads = [threading.Thread(target=read, args=(place,)) for place in range(len(values))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def test_a_pending_write_read_by_several_threads_runs_once(often):
    written = (START + 1) * 2
    wanted = [written.sum(0), (written * 3)[:, ::-1], written, written.sum(0)]
    for _ in range(40):
        x = Tensor(START).realize()
        x += 1
        x.assign(x * 2)
        rows = x.sum(0)
        for found, right in zip(read_at_once([rows, (x * 3).flip(1), x, rows]), wanted):
            np.testing.assert_array_equal(found, right)
        np.testing.assert_array_equal(x.numpy(), written)


def test_a_read_value_survives_a_write_by_another_thread(often):
    for _ in range(40):
        x = Tensor(START).realize()
        before = x.flip(0) + 1
        x += 5
        found = read_at_once([before, x, before])
        np.testing.assert_array_equal(found[0], START[::-1] + 1)
        np.testing.assert_array_equal(found[1], START + 5)
        np.testing.assert_array_equal(found[2], found[0])
