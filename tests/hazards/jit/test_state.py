"""Tensors that a captured function reaches besides its arguments: replaced, or out of sight."""

from helpers.jit_comparison import CALLS, both, numbers
from weft import Tensor


def test_closure_over_a_tensor_that_is_replaced():
    def program(wrap):
        w = Tensor([1.0, 2.0]).realize()
        step = wrap(lambda x: x + w)
        kept, found = [], []
        for i in range(CALLS):
            found.append(step(Tensor([1.0, 1.0])))
            kept.append(w)
            w = Tensor([float(i), 5.0]).realize()
        return found

    made = both(program)
    assert made.replays > 1


def test_closure_over_a_tensor_that_is_assigned():
    def program(wrap):
        w = Tensor([1.0, 2.0]).realize()
        step = wrap(lambda x: x + w)
        found = []
        for i in range(CALLS):
            found.append(step(Tensor([1.0, 1.0])))
            w.assign(w * 2 + i)
            if i % 2:
                w.realize()
        return found

    both(program, CALLS - 2)


def test_state_of_another_shape_or_on_another_view():
    def program(wrap):
        state = {"w": Tensor(numbers(3, 3)).realize()}
        step = wrap(lambda x: (x + state["w"]).sum(0))
        found = []
        for i in range(4 * CALLS):
            found.append(step(Tensor([1.0, 1.0, 1.0])))
            if i % 4 == 3:
                state["w"] = state["w"].flip(1) if i % 8 == 3 else Tensor(numbers(i, 3)).realize()
        return found

    made = both(program)
    assert made.replays > 4


def test_tensors_out_of_sight_are_watched():
    hidden = __import__("types").ModuleType("numpy.hidden")

    def program(wrap):
        hidden.w = Tensor([1.0, 2.0]).realize()
        hidden.__dict__["get"] = None
        look = vars(hidden)
        take = eval("lambda key: look[key]", {"look": look, "__name__": "numpy.hidden"})
        step = wrap(lambda x: x + take("w"))
        found = []
        for i in range(3 * CALLS):
            found.append(step(Tensor([1.0, 1.0])))
            if i == CALLS:
                look["w"] = Tensor([7.0, 7.0]).realize()
            if i == 2 * CALLS:
                look["w"].assign(look["w"] * 3).realize()
        return found

    made = both(program)
    assert made.replays > CALLS


def test_functions_of_hidden_tensors_are_not_constant():
    hidden = __import__("types").ModuleType("numpy.hidden")

    def program(wrap):
        look = vars(hidden)
        look["w"] = Tensor(numbers(4, 4)).realize()
        take = eval("lambda key: look[key]", {"look": look, "__name__": "numpy.hidden"})
        step = wrap(lambda x: x + take("w").sum(0).contiguous().realize())
        found = []
        for i in range(2 * CALLS):
            found.append(step(Tensor(numbers(4))))
            if i > CALLS:
                look["w"].assign(look["w"] * 3).realize()
        return found

    made = both(program)
    assert made.replays > CALLS


def test_state_that_changes_places():
    def program(wrap):
        state = [Tensor(numbers(4)).realize(), Tensor(numbers(4, seed=2)).realize()]

        @wrap
        def step(x):
            old = state[0]
            state[0], state[1] = state[1], (old * 0.5 + x).realize()
            return old, state[0] + x

        return [step(Tensor(numbers(4, seed=i))) for i in range(2 * CALLS)] + [state]

    both(program)


def test_state_that_is_replaced_inside():
    def program(wrap):
        class Model:
            def __init__(self):
                self.cache = Tensor([1.0, 1.0]).realize()
                self.pair = None

        model = Model()

        @wrap
        def step(x):
            model.cache = model.cache * 2 + x
            model.pair = [model.cache, {"x": x + 1}]
            return model.cache.sum()

        found = []
        for i in range(CALLS):
            found += [step(Tensor([1.0, float(i)])), model.cache, model.pair]
        return found

    made = both(program)
    assert made.replays >= CALLS - 3


def test_a_list_that_is_appended_to():
    def program(wrap):
        seen = []

        @wrap
        def step(x):
            seen.append(x * 2)
            return x + 1

        return [step(Tensor([float(i)])) for i in range(CALLS)] + [seen]

    both(program, quiet=False)


def test_a_list_among_the_arguments_that_is_changed():
    def program(wrap):
        @wrap
        def step(xs):
            xs[0] = xs[0] + 1
            return xs[0] * 2

        found = []
        for i in range(CALLS):
            xs = [Tensor([float(i)])]
            found += [step(xs), xs[0]]
        return found

    both(program, 0, quiet=False)


def test_state_that_is_detached():
    def program(wrap):
        state = {"seen": Tensor([1.0, 2.0]).realize().detach()}

        @wrap
        def step(x):
            state["seen"] = (state["seen"] * 2 + x).realize().detach()
            return x + state["seen"]

        found = []
        for i in range(CALLS):
            found.append(step(Tensor([float(i), 1.0]).realize()))
            if i == 3:
                state["seen"] = Tensor([5.0, float(i)]).realize().detach()
        return [*found, state["seen"]]

    both(program)
