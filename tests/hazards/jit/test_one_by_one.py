"""What captures elsewhere get wrong without a word: one short program for each way.

The programs are as small as they can be; what happens around such things is in the other files.
"""

import numpy as np
import pytest

from helpers.jit_comparison import CALLS, both, numbers
from weft import Device, Tensor, Variable, jit
from weft.base.errors import CaptureError, WeftError
from weft.engine import stats


def vector(i):
    return Tensor([float(i), 1.0, 2.0]).realize()


def test_kept_results_are_not_overwritten_by_later_calls():
    both(lambda wrap: [step(vector(i)) for step in [wrap(lambda x: x * 2)] for i in range(CALLS)])


def test_a_result_may_be_passed_in_again():
    def program(wrap):
        step, x, found = wrap(lambda x: x + 1), vector(0), []
        for _ in range(CALLS):
            x = step(x)
            found.append(x)
        return found

    both(program, CALLS - 2)


def test_a_result_may_be_written_to_and_passed_in_again():
    def program(wrap):
        step, x, found = wrap(lambda x: (x, x + 1)), vector(0), []
        for i in range(CALLS):
            old, x = step(x)
            old.assign(old * 0 - i).realize()
            found += [old, x * 1]
        return found

    both(program, CALLS - 2)


def test_two_results_over_one_value_do_not_share_memory_that_is_written():
    def program(wrap):
        step, found = wrap(lambda x: (x + 1, x + 1)), []
        for i in range(CALLS):
            one, two = step(vector(i))
            one.assign(one * 10).realize()
            found += [one, two]
        return found

    both(program, CALLS - 2)


def test_tensors_in_lists_and_dicts_are_inputs():
    def program(wrap):
        step = wrap(lambda many: many[0] + many[1]["x"])
        return [step([vector(i), {"x": vector(10 * i)}]) for i in range(CALLS)]

    both(program, CALLS - 2)


def test_tensors_in_attributes_are_inputs():
    class Box:
        pass

    def program(wrap):
        step, box, found = wrap(lambda box: box.x * 2), Box(), []
        for i in range(CALLS):
            box.x = vector(i)
            found.append(step(box))
        return found

    both(program, CALLS - 2)


def test_an_assignment_to_an_input_is_made_again():
    def program(wrap):
        @wrap
        def step(x):
            x.assign(x * 2)

        found = []
        for i in range(CALLS):
            x = vector(i)
            step(x)
            found.append(x)
        return found

    both(program, CALLS - 2)


def test_a_part_that_is_written_without_realize_is_written_again():
    def program(wrap):
        cache = Tensor.zeros(CALLS, 3).contiguous().realize()
        at = Variable("at", 0, CALLS - 1)

        @wrap
        def step(x, place):
            cache[place] = x
            return cache.sum(0)

        return [*[step(vector(i), at.bind(i)) for i in range(CALLS)], cache]

    both(program, CALLS - 2)


def test_a_number_in_the_arguments_is_not_frozen():
    both(
        lambda wrap: [f(vector(1), k) for f in [wrap(lambda x, k: x * k)] for k in (1, 2, 1, 2, 3)]
    )


def test_a_number_outside_is_not_frozen():
    def program(wrap):
        scale, found = [1.0], []
        step = wrap(lambda x: x * scale[0])
        for i in range(2 * CALLS):
            scale[0] = float(i // 4)
            found.append(step(vector(i)))
        return found

    both(program)


def test_a_branch_is_not_frozen():
    def program(wrap):
        step = wrap(lambda x, up: x + 1 if up else x - 1)
        return [step(vector(i), i % 3 == 0) for i in range(3 * CALLS)]

    both(program)


def test_a_result_that_is_a_number_is_not_frozen():
    def program(wrap):
        step = wrap(lambda x, k: (x * k, k + 1, [k] * 2))
        return [step(vector(i), i % 2) for i in range(2 * CALLS)]

    both(program)


@pytest.mark.parametrize(
    "read",
    [
        lambda x: x * x.sum().item(),
        lambda x: x * float(x[1]),
        lambda x: x + x.tolist()[0],
        lambda x: x + Tensor(x.numpy()),
        lambda x: x[: int(x[1])],
        lambda x: sum(float(row) for row in x),
        lambda x: x.masked_select(x > 1),
        lambda x: x if (x > 0).all().item() else -x,
    ],
    ids="item float tolist numpy int iterated masked branch".split(),
)
def test_a_value_that_is_read_inside_is_refused_in_the_first_call(read):
    with pytest.raises(CaptureError, match="a value is read in the middle") as caught:
        jit(read)(vector(1))
    assert caught.value.try_


def test_the_value_of_a_variable_is_not_frozen():
    n = Variable("n", 1, 8)

    def program(wrap):
        table = Tensor(numbers(8, 3)).realize()
        step = wrap(lambda n: table[:n].sum(0) * int(n))
        return [step(n.bind(1 + i % 3)) for i in range(3 * CALLS)]

    both(program)


def test_padding_by_a_variable_is_not_frozen():
    n = Variable("n", 1, 3)

    def program(wrap):
        step = wrap(lambda x, n: x[:n].pad(((0, 3 - n),)))
        return [step(vector(i), n.bind(1 + i % 3)) for i in range(2 * CALLS)]

    both(program, 2 * CALLS - 2)


def test_one_tensor_passed_in_twice():
    both(
        lambda wrap: [f(x, x) for f in [wrap(lambda a, b: a * b)] for x in map(vector, range(6))], 4
    )


def test_views_with_other_offsets():
    def program(wrap):
        table, step = Tensor(numbers(CALLS, 3)).realize(), wrap(lambda row: row * 2)
        return [step(table[i]) for i in range(CALLS)]

    both(program)


def test_another_shape():
    def program(wrap):
        step = wrap(lambda x: x.sum() * 2)
        return [step(Tensor(numbers(2 + i % 3, seed=i))) for i in range(3 * CALLS)]

    both(program)


def test_another_dtype_or_device():
    family = Device.DEFAULT.partition(":")[0]

    def program(wrap):
        step, found = wrap(lambda x: x + 1), []
        for i in range(2 * CALLS):
            found += [
                step(vector(i)),
                step(vector(i).cast("int")),
                step(vector(i).to(f"{family}:1")),
            ]
        return found

    both(program)


def test_inputs_that_are_not_computed_yet():
    def program(wrap):
        step = wrap(lambda x, ones: x * 2 + ones)
        return [step(Tensor([1.0, 2.0]) * i + 1, Tensor.full((2,), float(i))) for i in range(CALLS)]

    both(program, CALLS - 2)


def test_state_that_is_not_computed_yet():
    def program(wrap):
        state = {"w": Tensor([1.0, 2.0, 3.0]) * 2}
        step, found = wrap(lambda x: x * state["w"]), []
        for i in range(2 * CALLS):
            found.append(step(vector(i)))
            if i % 4 == 3:
                state["w"] = state["w"] + i
        return found

    both(program)


def test_keywords_in_any_order_and_positional_arguments():
    def program(wrap):
        step, found = wrap(lambda x, y, z: x + 2 * y + 3 * z), []
        for i in range(CALLS):
            x, y, z = vector(i), vector(10 * i), vector(100 * i)
            found += [step(x, y=y, z=z), step(x, z=z, y=y), step(x, y, z), step(z=z, y=y, x=x)]
        return found

    both(program)


def test_instances_do_not_share_recordings_of_methods():
    class Model:
        def __init__(self, by):
            self.by = Tensor([by]).realize()

        @jit
        def __call__(self, x):
            return x * self.by

    models = [Model(2.0), Model(3.0)]
    for i in range(CALLS):
        assert [m(Tensor([float(i)])).item() for m in models] == [2.0 * i, 3.0 * i]


def test_python_side_effects_on_reachable_objects_continue():
    seen = []
    step = jit(lambda x: (seen.append(len(seen)), x + len(seen))[1])
    found = [step(Tensor([0.0])).item() for _ in range(CALLS)]
    assert found == [1.0 + i for i in range(CALLS)] and seen == list(range(CALLS))


def test_a_captured_function_inside_another():
    def program(wrap):
        inner = wrap(lambda x: x * 2)
        outer = wrap(lambda x: inner(x) + inner(x + 1))
        return [outer(vector(i)) for i in range(CALLS)]

    both(program)


def test_a_function_that_computes_nothing():
    same = jit(lambda x: x)
    for i in range(CALLS):
        x = vector(i)
        assert same(x) is x
    assert jit(lambda: None)() is None


def test_random_numbers_differ_at_every_call():
    def program(wrap):
        step = wrap(lambda x: x + Tensor.rand(3))
        return [step(vector(0)) for _ in range(CALLS)]

    both(program, CALLS - 2)
    step = jit(lambda: Tensor.rand(3))
    assert len({tuple(step().tolist()) for _ in range(CALLS)}) == CALLS


def test_constants_do_not_have_to_be_computed_first():
    def program(wrap):
        step = wrap(lambda x: x + Tensor.arange(3) + Tensor([1.0, 2.0, 3.0]) + Tensor.ones(3))
        return [step(vector(i)) for i in range(CALLS)]

    both(program, CALLS - 2)


def test_a_window_outside_is_an_error_in_a_replay_too():
    n = Variable("n", 1, 8)
    table = Tensor(numbers(5, 3)).realize()
    step = jit(lambda n: table[:n].sum(0))
    for i in (1, 2, 3, 1, 2, 3, 1, 2, 3):
        np.testing.assert_allclose(step(n.bind(i)).numpy(), numbers(5, 3)[:i].sum(0), rtol=1e-5)
    for _ in range(3):
        with pytest.raises(WeftError, match="not inside"):
            step(n.bind(6))


def test_all_values_of_a_variable_take_the_same_programs():
    n = Variable("n", 1, 8)
    table = Tensor(numbers(8, 3)).realize()
    step = jit(lambda n: (table[:n] @ table[:n].T).softmax(-1).sum())
    launched = []
    for i in range(8):
        before = stats.kernels
        step(n.bind(i + 1)).realize()
        launched.append(stats.kernels - before)
    assert step.replays == 6 and len(set(launched[2:])) == 1
