"""Windows of memory, realized or waiting, and writes to either side: no value changes."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from weft import Tensor

LENGTH = 8
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["window", "bits", "copy", "write", "write part", "realize", "forget"]),
        st.integers(0, 7),
        st.integers(0, LENGTH - 1),
        st.integers(1, LENGTH),
    ),
    min_size=1,
    max_size=12,
)


def window(t, start, length):
    size = t.shape[0]
    start = min(start, size - 1)
    return slice(start, min(size, start + length))


def run(steps, device):
    values = np.arange(1, LENGTH + 1, dtype=np.int32)
    pool = [[Tensor(values, device=device).realize(), values]]
    for number, (kind, which, start, length) in enumerate(steps):
        entry = pool[which % len(pool)]
        t, known = entry
        part = window(t, start, length)
        if kind == "window":
            pool.append([t[part].contiguous(), known[part]])
        elif kind == "bits":
            pool.append([t[part].bitcast("short").contiguous().bitcast("int"), known[part]])
        elif kind == "copy":
            pool.append([t[part].to("REF:vector").to(device), known[part]])
        elif kind == "write":
            entry[0], entry[1] = t.assign(t * 2 + number), known * np.int32(2) + np.int32(number)
        elif kind == "write part":
            entry[1] = known.copy()
            entry[1][part] = number
            t[part] = number
        elif kind == "realize":
            t.realize()
        elif len(pool) > 1:
            del pool[which % len(pool)]
        # a tensor that another one is stays one with it
        for other in pool:
            if other[0] is entry[0]:
                other[1] = entry[1]
    return pool


@given(STEPS, st.randoms(use_true_random=False))
def test_no_write_is_seen_through_a_window(steps, order):
    pool = run(steps, "REF")
    order.shuffle(pool)
    for t, known in pool:
        assert t.tolist() == known.tolist()
