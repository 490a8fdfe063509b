"""Random numbers, modes and settings: a replay is a call like any other."""

from helpers.jit_comparison import CALLS, both
from weft import Tensor, jit, settings


def test_random_numbers_are_new_and_the_same_stream():
    def program(wrap):
        @wrap
        def step(x):
            unused = Tensor.rand(7)
            del unused
            return x + Tensor.rand(3), Tensor.randn(2, 2), Tensor.randint(4, high=100)

        found = []
        for i in range(CALLS):
            found += [step(Tensor([0.0, 0.0, 0.0])), Tensor.rand(2)]
        return found

    both(program, CALLS - 2)


def test_a_seed_set_inside_is_set_at_every_call():
    def program(wrap):
        @wrap
        def step(x):
            Tensor.manual_seed(5)
            return x + Tensor.rand(3)

        found = []
        for _ in range(CALLS):
            found += [step(Tensor([0.0, 0.0, 0.0])), Tensor.rand(3)]
        return found

    both(program, CALLS - 2)


def test_training_mode_no_grad_and_settings():
    def program(wrap):
        w = Tensor([1.0, 2.0], requires_grad=True)

        @wrap
        def step(x):
            made = (x * w).dropout(0.5)
            return made.detach() if made.requires_grad else made + 100

        found = []
        for i in range(16):
            with Tensor.train(bool(i % 2)):
                if i % 4 < 2:
                    found.append(step(Tensor([3.0, 4.0])))
                else:
                    with Tensor.no_grad():
                        found.append(step(Tensor([3.0, 4.0])))
        return found

    both(program)


def test_default_float_is_seen():
    def program(wrap):
        step = wrap(lambda x: Tensor.ones(2) * x)
        found = []
        for i in range(9):
            with settings.override(DEFAULT_FLOAT=("float32", "float64", "float16")[i % 3]):
                found.append(str(step(Tensor([1, 2])).dtype))
        return found

    both(program)


def test_jit_0_runs_as_written():
    calls = []

    @jit
    def step(x):
        calls.append(x)
        return (x + 1).item()

    with settings.override(JIT=0):
        assert [step(Tensor([float(i)])) for i in range(4)] == [1.0, 2.0, 3.0, 4.0]
    assert len(calls) == 4
