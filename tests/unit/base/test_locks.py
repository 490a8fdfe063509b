"""Locks behave as usual, and are free in a forked child."""

from __future__ import annotations

import gc
import os
import threading
import time

import pytest

from weft.base import locks


@pytest.mark.parametrize("make", [locks.lock, locks.reentrant_lock])
def test_one_thread_at_a_time(make):
    own, got = make(), []
    with own:
        other = threading.Thread(target=lambda: got.append(own.acquire(blocking=False)))
        other.start()
        other.join()
    assert got == [False]
    assert own.acquire(blocking=False)


def test_the_reentrant_one_is_taken_twice_by_its_thread():
    own = locks.reentrant_lock()
    with own, own:
        pass


def test_locks_are_not_kept():
    gc.collect()
    before = len(locks._made)
    own = locks.lock()
    assert len(locks._made) == before + 1
    del own
    gc.collect()
    assert len(locks._made) == before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.parametrize("make", [locks.lock, locks.reentrant_lock])
def test_free_in_a_child_while_another_thread_holds_it(make):
    own, held, end = make(), threading.Event(), threading.Event()

    def hold():
        with own:
            held.set()
            end.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    child = os.fork()
    if not child:
        os._exit(0 if own.acquire(timeout=5) else 1)
    status = os.waitpid(child, 0)[1]
    assert not own.acquire(blocking=False)  # the parent's is what it was
    end.set()
    thread.join()
    assert status == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_fork_waits_for_held_locks():
    own, held, done = locks.lock_around_forks(), threading.Event(), []

    def hold():
        with own:
            held.set()
            time.sleep(0.2)
            done.append(1)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    child = os.fork()
    if not child:
        os._exit(0 if done and own.acquire(blocking=False) else 1)
    assert os.waitpid(child, 0)[1] == 0
    thread.join()
    assert own.acquire(blocking=False)
    own.release()
