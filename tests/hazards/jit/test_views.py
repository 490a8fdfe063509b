"""Captured functions see views, write through them and give them as functions as written do."""

import numpy as np
import pytest

from helpers.jit_comparison import CALLS, both, numbers
from weft import Tensor, Variable, jit


def test_a_view_outside_sees_writes_inside():
    def program(wrap):
        x = Tensor(numbers(3, 4)).realize()
        row, flipped = x[1], x.flip(0)

        @wrap
        def step(y):
            x[1:] += y
            return x.sum()

        found = []
        for i in range(CALLS):
            found += [step(Tensor(numbers(2, 4, seed=i))), row.clone(), flipped.clone()]
        return found

    assert both(program).replays >= CALLS - 2


def test_a_view_that_is_given_is_written_and_its_base_sees_it():
    def program(wrap):
        step = wrap(lambda part: part.assign(part * 2 + 1))
        x = Tensor(numbers(3, 4)).realize()
        found = []
        for i in range(CALLS):
            part = step(x[1:, ::2])
            part[0] = float(i)
            found.append(x.clone())
        return found

    assert both(program).replays >= CALLS - 2


def test_results_are_views_of_arguments_and_of_one_another():
    @jit
    def step(x):
        made = x + 1
        return x[0], made, made.T

    for i in range(CALLS):
        x = Tensor(numbers(2, 3, seed=i)).realize()
        row, made, turned = step(x)
        row[...] = 7
        turned[0] = 5
        assert x[0].tolist() == [7.0] * 3 and made[:, 0].tolist() == [5.0, 5.0]
    assert step.replays == CALLS - 2


@pytest.mark.filterwarnings("ignore:.*runs as written")
def test_arguments_that_share_their_value_are_another_recording():
    @jit
    def step(x, y):
        y += 1
        return x * 1

    for i in range(3 * CALLS):
        x = Tensor(numbers(4, seed=i)).realize()
        y = (x[...], x.contiguous().realize(), Tensor(numbers(4)))[i % 3]
        expected = x.numpy() + (1 if i % 3 == 0 else 0)
        np.testing.assert_allclose(step(x, y).numpy(), expected, rtol=1e-6)


def test_an_argument_in_the_memory_of_a_state_that_waits_to_be_written():
    def program(wrap):
        state = Tensor([1.0, 2.0])
        twin = Tensor([3.0, 4.0])
        state[...] = twin
        step = wrap(lambda x: (state, x * 2))
        found = []
        for i in range(CALLS):
            same, doubled = step(twin)
            found.append(doubled)
            same += float(i)
        return [*found, state, twin]

    both(program)


@pytest.mark.parametrize("state", ["settled", "computed before its base"])
def test_bitcasts_of_written_memory_follow_every_replay(state):
    def program(wrap):
        x = Tensor(numbers(3, 4)).realize()
        y = x + 1 if state != "settled" else x
        bits, rest = y.bitcast("int32"), y[1:].T.bitcast("uint32")
        Tensor.realize(bits, rest)
        y.realize()

        @wrap
        def step(a):
            y.assign(y * 2 + a)
            return bits[0] * 1

        found = []
        for i in range(CALLS):
            first = step(Tensor(numbers(3, 4, seed=i)))
            found += [first, bits.clone(), rest.clone()]
        return found

    assert both(program).replays >= CALLS - 2


def test_bits_take_no_memory_of_their_own():
    x = Tensor(numbers(3, 4)).realize()
    bits = x.bitcast("int32").realize()
    assert bits.uop.src == (x.uop,)
    step = jit(lambda x, bits: (x.assign(x + 1), bits * 1))
    for _ in range(CALLS):
        step(x, bits)
        assert bits.uop.src == (x.uop,)


def test_a_cache_of_keys_and_values_that_is_written_through_windows():
    """As language models do it: the position is a variable, the window moves on with each call."""

    def program(wrap):
        cache = Tensor.zeros(2, 1, 8, 2, 4).contiguous().realize()
        keys, position = cache[0], Variable("position", 0, 7)

        @wrap
        def attend(k, v, start):
            n = k.shape[1]
            window = cache.shrink((None, None, (start, start + n), None, None))
            window.assign(Tensor.stack(k, v)).realize()
            seen = cache[0].shrink((None, (0, start + n), None, None))
            values = cache[1].shrink((None, (0, start + n), None, None))
            return (seen * values).sum(1)

        found = []
        for i in range(CALLS):
            k, v = (Tensor(numbers(1, 1, 2, 4, seed=s)).realize() for s in (i, i + 100))
            found += [attend(k, v, position.bind(i)), keys.clone(), cache[1, :, i].clone()]
        return found

    assert both(program).replays >= CALLS - 2


def test_parameters_are_views_of_one_buffer_that_is_updated():
    def program(wrap):
        flat = Tensor(numbers(10)).realize()
        weight, bias = flat[:8].view(4, 2), flat[8:]
        mean = Tensor.zeros(2).contiguous().realize()

        @wrap
        def step(x):
            mean.mul_(0.9).add_((x @ weight + bias).mean(0), alpha=0.1)
            weight.sub_(weight * 0.5)
            bias[:1] -= mean[:1]
            flat.mul_(2)
            return (x @ weight + bias).sum()

        found = []
        for i in range(CALLS):
            found += [
                step(Tensor(numbers(3, 4, seed=i))),
                flat.clone(),
                weight.clone(),
                mean.clone(),
            ]
        return found

    assert both(program).replays >= CALLS - 2


@pytest.mark.parametrize("copy", [Tensor.contiguous, Tensor.clone, lambda x: x.contiguous()[1:]])
def test_a_contiguous_part_that_waits_keeps_its_value(copy):
    def program(wrap):
        x = Tensor(numbers(4, 3)).realize()

        @wrap
        def step(part, other):
            other += 1
            return part

        found = []
        for _ in range(CALLS):
            found.append(copy(step(x[1:], x[:-1])))
        return found

    assert both(program).replays >= CALLS - 2


def test_a_recording_that_gives_an_argument_another_value_is_not_for_views():
    def program(wrap):
        def change(a):
            twin = a.contiguous()
            twin[twin > 0] = 1
            return a, twin

        step = wrap(change)
        found = []
        for i in range(2 * CALLS):
            x = Tensor(numbers(3, 2, seed=i)).realize()
            given, twin = step(x[...] if i >= CALLS else x)
            found += [x, given, twin]
        return found

    assert both(program).replays >= CALLS - 2


def test_a_view_of_a_copy_that_no_name_refers_to_is_written():
    def program(wrap):
        step = wrap(lambda a: (a.assign(4), a * 1))
        x = Tensor(numbers(3, 4)).realize()
        found = []
        for _ in range(CALLS):
            found += [*step(x.T.reshape(-1).reshape(4, 3)), x.clone()]
        return found

    both(program, quiet=False)


@pytest.mark.parametrize(
    "repeat", [lambda x: x.expand(4, 3), lambda x: x[0].expand(5, 3), lambda x: x.unfold(1, 2, 1)]
)
def test_a_result_with_repeated_elements_of_an_intermediate_is_not_writable(repeat):
    step = jit(lambda x: repeat(x * 2))
    for i in range(CALLS):
        result = step(Tensor(numbers(1, 3, seed=i)).realize())
        with pytest.raises(RuntimeError, match="are one element of its base"):
            result[...] = 1
    assert step.replays == CALLS - 2
