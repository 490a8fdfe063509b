"""What is passed to a captured function: in containers, views of each other, pending, constant."""

from collections import namedtuple
from dataclasses import dataclass

from helpers.jit_comparison import CALLS, both, numbers
from weft import Tensor, dtypes, jit

Pair = namedtuple("Pair", "left right")


def test_positional_and_keyword_arguments():
    def program(wrap):
        step = wrap(lambda a, *, b: a * 2 + b)
        return [
            step(Tensor(numbers(3, seed=i)), b=Tensor(numbers(3, seed=9 + i))) for i in range(CALLS)
        ]

    both(program, CALLS - 2)


@dataclass
class Batch:
    images: Tensor
    labels: Tensor


def test_inputs_in_containers():
    def program(wrap):
        @wrap
        def step(lists, pair, batch):
            return (
                lists[0]
                + lists[1]["deep"][0] * pair.right
                - pair.left
                + batch.images @ batch.labels
            )

        found = []
        for i in range(CALLS):
            a, b, c, d, e, f = (Tensor(numbers(4, 4, seed=10 * i + n)) for n in range(6))
            found.append(step([a, {"deep": (b,)}], Pair(c, d), Batch(e, f)))
        return found

    both(program, CALLS - 2)


def test_the_same_tensor_twice_is_another_program_than_two_tensors():
    def program(wrap):
        @wrap
        def step(a, b):
            a.assign(a + 1)
            return a * b

        found = []
        for i in range(CALLS):
            a, b = Tensor(numbers(3, seed=i)).realize(), Tensor(numbers(3, seed=i + 7)).realize()
            found += [step(a, b), step(a, a), a]
        return found

    both(program, 2 * (CALLS - 2))


def test_an_input_that_is_a_view_of_another():
    def program(wrap):
        step = wrap(lambda a, row: a + row)
        found = []
        for i in range(CALLS):
            a = Tensor(numbers(3, 3, seed=i)).realize()
            found += [step(a, a[i % 2]), step(a, Tensor(numbers(3, seed=i)).realize())]
        return found

    both(program)


def test_a_view_of_an_input_that_is_written():
    def program(wrap):
        @wrap
        def step(a, row):
            a.assign(a * 2)
            return row + 1

        found = []
        for i in range(CALLS):
            a = Tensor(numbers(3, 3, seed=i)).realize()
            row = a[1]
            found += [step(a, row), row, a]
        return found

    both(program)


def test_an_input_that_is_a_view_of_state():
    def program(wrap):
        table = Tensor(numbers(4, 3)).realize()

        @wrap
        def step(row):
            table.assign(table + 1)
            return table.sum() + row

        found = []
        for i in range(CALLS):
            found += [step(table[i % 2]), step(Tensor(numbers(3, seed=i)).realize())]
        return [*found, table]

    both(program)


def test_inputs_that_are_pending_permuted_or_constant():
    def program(wrap):
        step = wrap(lambda a: a.sum(0) * 2)
        found = []
        for i in range(CALLS):
            a = Tensor(numbers(3, 3, seed=i))
            found += [step(a + 1), step(a.realize().T), step(Tensor.full((3, 3), float(i)))]
            found.append(step(Tensor.arange(9).reshape(3, 3).float() + i))
        return found

    made = both(program)
    assert made.replays > CALLS


def test_an_input_that_is_a_number_tensor_is_not_frozen():
    def program(wrap):
        step = wrap(lambda a, k: a * k)
        return [step(Tensor([1.0, 2.0]), Tensor(float(i))) for i in range(CALLS)]

    both(program, CALLS - 2)


def test_inputs_may_be_deleted_afterwards():
    def program(wrap):
        step = wrap(lambda a: (a + 1, a[1:3]))
        found = []
        for i in range(CALLS):
            a = Tensor(numbers(5, seed=i)).realize()
            found.append(step(a))
            del a
        return found

    both(program, CALLS - 2)


def test_other_shapes_dtypes_and_containers_are_recorded_side_by_side():
    def program(wrap):
        step = wrap(lambda xs: [x * 2 + 1 for x in xs])
        found = []
        for i in range(CALLS):
            a = Tensor(numbers(i % 2 + 2, seed=i))
            found += [step([a]), step((a, a)), step([a.cast(dtypes.int)]), step([])]
        return found

    made = both(program, quiet=False)
    assert made.replays


def test_no_more_signatures_are_kept_than_allowed():
    step = jit(lambda a, n: a + n, limit=3)
    for n in range(10):
        assert step(Tensor([1.0]), n).tolist() == [1.0 + n]
    assert "3 signatures" in repr(step)


def test_inputs_that_are_detached():
    """Nothing is pending in them, and what they are detached from is memory that may be another
    one's at the next call."""

    def program(wrap):
        step = wrap(lambda x, y: (x * 2 + y, x.detach(), y[1:].detach()))
        found = []
        for i in range(CALLS):
            weight = Tensor(numbers(3, seed=i), requires_grad=True)
            plain = Tensor(numbers(3, seed=9 + i)).realize()
            found.append(step(weight.detach(), plain.detach()))
        return found

    both(program, CALLS - 2)


def test_a_detached_number_is_no_other_program():
    step = jit(lambda x: x * 2)
    found = [step(Tensor(float(i)).detach()).item() for i in range(CALLS)]
    assert found == [2.0 * i for i in range(CALLS)] and step.replays == CALLS - 2
