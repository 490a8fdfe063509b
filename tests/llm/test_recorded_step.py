"""Recorded steps: one recording for each shape, state that is overwritten, programs on disk."""

import numpy as np
import pytest

from weft import Tensor, Variable, dtypes, settings
from weft.export import store_key
from weft_llm import recorded_step
from weft_llm.recorded_step import RecordedStep


class Counted:
    """x summed onto a row of the state; counts how often it is recorded."""

    def __init__(self):
        self.calls = 0
        self.state = Tensor.zeros(4, 3).contiguous().realize()
        self.row = Variable("row", 0, 3)
        self.step = RecordedStep(self, [self.state], "a sum")

    def __call__(self, inputs, bound):
        self.calls += 1
        (x,), (row,) = inputs, bound
        self.state[row : row + 1] = x.sum(0, keepdim=True)
        return [self.state.sum(0) + x[0]]

    def run(self, row, *rows):
        (found,) = self.step([np.array(rows, dtype=np.float32)], {self.row: row})
        return found.numpy().tolist()


@pytest.fixture
def cache(tmp_path):
    with settings.override(CACHE_DIR=str(tmp_path)):
        yield


def test_state_is_overwritten(cache):
    counted = Counted()
    assert counted.run(0, [1, 2, 3]) == [2, 4, 6]
    assert counted.run(2, [1, 1, 1]) == [3, 4, 5]
    assert counted.run(0, [0, 0, 0]) == [1, 1, 1]
    assert counted.run(3, [1, 0, 0], [0, 1, 0]) == [3, 2, 1]
    assert counted.state.numpy().tolist() == [[0, 0, 0], [0, 0, 0], [1, 1, 1], [1, 1, 0]]
    assert counted.calls == 2  # one for each shape


def test_a_program_on_disk_is_not_recorded(cache):
    first, second = Counted(), Counted()
    if store_key(str(first.state.device)) is None:
        pytest.skip("programs of this device are not stored")
    assert first.run(1, [1, 2, 3]) == second.run(1, [1, 2, 3]) == [2, 4, 6]
    assert (first.calls, second.calls) == (1, 0)
    second.run(0, [5, 5, 5])
    assert first.state.numpy().tolist()[0] == [0, 0, 0]


def test_a_damaged_program_is_recorded_again(cache, monkeypatch):
    monkeypatch.setattr(
        recorded_step._programs, "get", lambda key: b"\x08" + b"\0" * 7 + b"nothing!"
    )
    counted = Counted()
    assert counted.run(1, [1, 2, 3]) == [2, 4, 6]
    assert counted.calls == 1


def test_a_state_in_part_of_a_memory_is_refused():
    part = Tensor.arange(6, dtype=dtypes.float32).contiguous().realize()[2:4]
    step = RecordedStep(lambda inputs, bound: [inputs[0] + part], [part], "a part")
    with pytest.raises(Exception, match="no memory of its own"):
        step([np.zeros(2, dtype=np.float32)], {})
