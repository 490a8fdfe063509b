"""Programs: recorded, run again on other memory, and stored as bytes."""

import numpy as np
import pytest

from weft import Tensor
from weft.base.errors import CaptureError
from weft.engine.recorded_steps import Unreplayable
from weft.export import Executable, fill, from_bytes, memory_of, own_tensor, record, to_bytes

DEVICE = Tensor([0.0]).device
RNG = np.random.default_rng(0)


def recorded(function, *arrays):
    """The program of a function of tensors, with the numbers of its outputs."""
    inputs = [own_tensor(each, DEVICE) for each in arrays]
    program, numbers, results = record(lambda given: function(*given), inputs, "function")
    return program, numbers, [each.numpy() for each in results]


def run(executable, program, *arrays):
    inputs = [fill(memory_of(own_tensor(each, DEVICE)), each) for each in arrays]
    return [each.numpy() for each in executable(inputs)]


def normalized(x, w):
    y = (x @ w).relu()
    return [y / (y.sum(axis=1, keepdim=True) + 1), y.max(axis=1)]


def expected(x, w):
    y = np.maximum(x @ w, 0)
    return [y / (y.sum(axis=1, keepdims=True) + 1), y.max(axis=1)]


@pytest.fixture
def arrays():
    return [RNG.standard_normal(shape).astype(np.float32) for shape in ((3, 8), (8, 5))]


def test_a_program_runs_on_other_memory(arrays):
    program, numbers, results = recorded(normalized, *arrays)
    for found, wanted in zip(results, expected(*arrays)):
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)
    executable = Executable(program)
    for factor in (1, -2, 3):
        other = [factor * each for each in arrays]
        outputs = run(executable, program, *other)
        for number, wanted in zip(numbers, expected(*other)):
            np.testing.assert_allclose(outputs[number], wanted.reshape(-1), rtol=1e-5, atol=1e-6)


def test_stored_bytes_give_the_same_program(arrays):
    weight = Tensor(arrays[1]).realize()
    program, numbers, results = recorded(lambda x: normalized(x, weight), arrays[0])
    loaded, notes = from_bytes(to_bytes(program, notes={"numbers": numbers}), lambda *_: None)
    assert notes == {"numbers": numbers}
    outputs = run(Executable(loaded), loaded, arrays[0])
    for number, wanted in zip(numbers, results):
        np.testing.assert_array_equal(outputs[number], wanted.reshape(-1))


def test_constants_may_be_references(arrays):
    weight = Tensor(arrays[1]).realize()
    program, _, (wanted,) = recorded(lambda x: [x @ weight], arrays[0])
    data = to_bytes(program, lambda buffer: "w" if buffer is memory_of(weight) else None)
    assert arrays[1].tobytes() not in data
    loaded, _ = from_bytes(data, lambda reference, memory: memory.filled(arrays[1]))
    (found,) = run(Executable(loaded), loaded, arrays[0])
    np.testing.assert_array_equal(found, wanted.reshape(-1))


def test_what_depends_on_constants_alone_is_computed_once(arrays):
    weight = Tensor(arrays[1]).realize()
    program, _, _ = recorded(lambda x: [x @ weight.exp().contiguous()], arrays[0])
    assert len(program.launches) == 1


@pytest.mark.parametrize("length", [0, 4, 40, 400])
def test_damaged_bytes_are_errors(length, arrays):
    program, _, _ = recorded(normalized, *arrays)
    with pytest.raises((ValueError, TypeError, KeyError, IndexError)):
        from_bytes(to_bytes(program)[:length], lambda *_: None)


def test_a_function_that_reads_a_value_is_refused(arrays):
    with pytest.raises(CaptureError):
        recorded(lambda x: [x * x.sum().item()], arrays[0])


def test_random_numbers_and_foreign_writes_are_refused(arrays):
    with pytest.raises(Unreplayable, match="random"):
        recorded(lambda x: [x + Tensor.rand(*x.shape)], arrays[0])
    state = Tensor.zeros(3, 8).contiguous().realize()

    def writes(x):
        state.assign(state + x).realize()
        return [state * 2]

    with pytest.raises(Unreplayable):
        recorded(writes, arrays[0])


def test_state_is_overwritten_and_other_inputs_are_not():
    x, total = (own_tensor(np.ones(3, np.float32), "REF") for _ in range(2))

    def add(inputs):
        total.assign(total + inputs[0]).realize()
        return [total * 2]

    with pytest.raises(Unreplayable, match="overwrites memory"):
        record(add, [x, total], "a sum")
    total = own_tensor(np.zeros(3, np.float32), "REF")
    program, (number,), _ = record(add, [x, total], "a sum", state=1)
    program, _ = from_bytes(to_bytes(program), lambda reference, memory: None)
    run, other = Executable(program), own_tensor(np.full(3, 5, np.float32), "REF")
    for state, expected in ((total, 4), (total, 6), (other, 12), (total, 8)):
        results = run([memory_of(x), memory_of(state)])
        assert results[number].numpy().tolist() == [expected] * 3
