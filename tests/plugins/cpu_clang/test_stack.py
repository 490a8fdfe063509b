"""Threads with small stacks: their launches are done by others, with the same results."""

from __future__ import annotations

import sys
import threading

import numpy as np
import pytest

from weft import Tensor, jit
from weft_cpu_clang import stack

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="other systems do not say how large a stack is"
)
SMALL = 128 << 10


def in_thread(nbytes, work):
    """What `work` gives in a thread with a stack of so many bytes."""
    found, go = [], threading.Event()
    before = threading.stack_size(nbytes)
    thread = threading.Thread(target=lambda: go.wait() and found.append(work()))
    try:
        thread.start()
    finally:
        threading.stack_size(before)
    go.set()
    thread.join()
    (result,) = found
    return result


def test_the_size_of_a_stack_is_known():
    assert SMALL <= in_thread(SMALL, stack.stack_bytes) < 2 * SMALL
    assert not in_thread(SMALL, stack.has_enough_stack)
    assert in_thread(2 * stack.NEEDED, stack.has_enough_stack)
    assert in_thread(SMALL, lambda: stack.elsewhere(stack.has_enough_stack))


def test_exceptions_of_the_other_stack_are_propagated():
    with pytest.raises(ZeroDivisionError):
        stack.elsewhere(divmod, 1, 0)


def test_the_size_of_other_stacks_stays():
    before = threading.stack_size(1 << 20)
    assert stack.elsewhere(int, "7") == 7
    assert threading.stack_size(before) == 1 << 20


def test_kernels_with_large_arrays_run_in_a_small_thread():
    generator = np.random.default_rng(5)
    left = generator.integers(-4, 5, (200, 1000)).astype(np.float32)
    right = generator.integers(-4, 5, (1000, 300)).astype(np.float32)

    @jit
    def product(a, b):
        return ((a @ b) + 1).realize()

    def work():
        found = [product(Tensor(left, "CPU"), Tensor(right, "CPU")).numpy() for _ in range(4)]
        return [Tensor(left, "CPU").matmul(Tensor(right, "CPU")).numpy() + 1, *found]

    for result in in_thread(SMALL, work):
        np.testing.assert_array_equal(result, left @ right + 1)
