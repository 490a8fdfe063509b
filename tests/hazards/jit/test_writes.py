"""What a captured function writes persists, and changes no other tensor."""

from helpers.jit_comparison import CALLS, both, numbers
from weft import Tensor, jit


def test_views_of_an_input_after_a_write_to_it():
    def program(wrap):
        @wrap
        def step(x):
            x.assign(x + 1)
            return x.sum()

        found = []
        for i in range(CALLS):
            x = Tensor(numbers(3, 3, seed=i)).realize()
            row, pending = x[0], x.T * 2
            found += [step(x), row, pending, x]
        return found

    both(program)


def test_results_with_the_old_value_of_assigned_state():
    def program(wrap):
        a = Tensor(numbers(4, 4)).realize()

        @wrap
        def step(x):
            y = a + 0
            a.assign(x)
            return y, a.T + 1, a[1:3]

        return [step(Tensor(numbers(4, 4, seed=i)).realize()) for i in range(CALLS)]

    both(program, CALLS - 2)


def test_two_captured_functions_over_one_state():
    def program(wrap):
        a = Tensor(numbers(3)).realize()
        add, scale = wrap(lambda x: a.assign(a + x)), wrap(lambda x: a.assign(a * x))
        found = []
        for i in range(CALLS):
            added = add(Tensor([1.0, 2.0, float(i)])) * 1
            found += [added, scale(Tensor([0.5, 0.5, 2.0])) * 1]
        return [*found, a]

    both(program, CALLS - 2)


def test_assign_to_an_input_persists():
    def program(wrap):
        @wrap
        def step(a, b):
            a += b
            b[0] = 5.0
            return a * 2

        found = []
        for i in range(CALLS):
            a, b = Tensor(numbers(3, seed=i)).realize(), Tensor(numbers(3, seed=i + 50)).realize()
            found += [step(a, b), a, b]
        return found

    both(program, CALLS - 2)


def test_assign_to_an_input_that_has_no_memory_of_its_own():
    def program(wrap):
        @wrap
        def step(a):
            a.assign(a + 1)
            return a.sum()

        found = []
        for i in range(CALLS):
            whole = Tensor(numbers(3, 2, seed=i)).realize()
            a, b = whole.T, Tensor.zeros(3, 2)
            found += [step(a), a, whole, step(b), b]
        return found

    both(program)


def test_writes_to_state_persist_without_realize():
    def program(wrap):
        total = Tensor.zeros(3).contiguous().realize()

        @wrap
        def step(x):
            total.assign(total + x)

        found = []
        for i in range(CALLS):
            step(Tensor([1.0, 2.0, float(i)]))
            found.append(total * 1)
        return [*found, total]

    both(program, CALLS - 2)


def test_views_of_state_after_a_write_to_it():
    def program(wrap):
        a = Tensor(numbers(3, 3)).realize()

        @wrap
        def step(x):
            a.assign(a + x)
            return a[1]

        found = []
        for i in range(CALLS):
            found += [a[0], a.T + 1, step(Tensor([1.0, 2.0, 3.0])), a.reshape(9)[2:5], a.detach()]
        return [*found, a]

    made = both(program)
    assert made.replays >= CALLS - 3


def test_a_reader_that_comes_when_a_kept_graph_goes():
    """Equal numbers of references are not the same references."""
    state = Tensor([0.0, 1.0, 2.0, 3.0]).realize().requires_grad_()

    @jit
    def write(change):
        state.assign(state.detach() - change)

    change = Tensor([1.0] * 4).realize()
    for _ in range(5):
        loss = (state.reshape(2, 2) * 2).exp().sum().realize()  # its graph is kept for backward
        write(change)
    assert write.replays == 3
    del loss
    seen, kept = state.reshape(2, 2), state.reshape(2, 2).contiguous()
    write(change)
    assert seen.tolist() == [[-6.0, -5.0], [-4.0, -3.0]]
    assert kept.tolist() == [[-5.0, -4.0], [-3.0, -2.0]]
    assert state.tolist() == [-6.0, -5.0, -4.0, -3.0]


def test_a_result_that_waits_to_be_written_into_memory_of_the_state():
    def program(wrap):
        state = Tensor(numbers(2, 4)).realize()

        @wrap
        def step(x):
            state[:, ::-1] = state.contiguous()
            return state.contiguous(), x + 1

        found = []
        for i in range(CALLS):
            result, _ = step(Tensor([1.0]))
            result[::-1] = i  # until now it shares the memory of the state
            found += [result, state.clone()]
        return [*found, state]

    both(program, CALLS - 2)


def test_a_result_that_waits_to_be_written_into_memory_of_an_argument():
    def program(wrap):
        x = Tensor(numbers(2, 4)).realize()

        @wrap
        def step(x):
            x[:, ::-1] = x.contiguous()
            return x.contiguous()

        found = []
        for i in range(CALLS):
            result = step(x)
            if i == 1:  # between the second recorded run and the first replay
                result[::-1] = 4
            found += [result, x.clone()]
        return [*found, x]

    both(program, CALLS - 2)


def test_a_reader_that_waits_to_be_written_into_memory_that_is_read_out_of_sight():
    hidden = __import__("types").ModuleType("numpy.hidden")

    def program(wrap):
        look = vars(hidden)
        look["w"] = Tensor(numbers(4)).realize()
        take = eval("lambda key: look[key]", {"look": look, "__name__": "numpy.hidden"})
        state = Tensor(numbers(4, seed=1)).realize()

        @wrap
        def step(x):
            state[...] = state + x
            return state * take("w")

        found = []
        for i in range(2 * CALLS):
            if i == CALLS:
                twin = take("w").contiguous()
                twin[...] = state * 2  # until now it shares the memory of the hidden tensor
                found.append(twin)
            found.append(step(Tensor([1.0])))
        return [*found, state]

    both(program)
