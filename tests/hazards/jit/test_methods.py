"""Captured methods, captured functions inside one another, threads."""

import threading
import warnings

from helpers.jit_comparison import CALLS, both, numbers
from weft import Tensor, jit, nn


def test_methods_capture_for_each_instance():
    class Model:
        def __init__(self, by):
            self.w = Tensor([by, by]).realize()

        @jit
        def step(self, x):
            self.w.assign(self.w + 1)
            return x * self.w

    models = [Model(1.0), Model(10.0)]
    for i in range(CALLS):
        for model, by in zip(models, (1.0, 10.0)):
            assert model.step(Tensor([1.0, 2.0])).tolist() == [by + i + 1, 2 * (by + i + 1)]
    assert models[0].step is models[0].step and models[0].step is not models[1].step
    assert models[0].step.replays == CALLS - 2
    assert set(nn.state.get_state_dict(models[0])) == {"w"}


def test_copies_of_an_instance_do_not_share_recordings():
    import copy

    class Model:
        def __init__(self):
            self.w = Tensor([1.0]).realize()

        @jit
        def step(self, x):
            return x + self.w

    first = Model()
    for _ in range(4):
        first.step(Tensor([1.0]))
    for other in (copy.copy(first), copy.deepcopy(first)):
        other.w = Tensor([5.0]).realize()
        assert [other.step(Tensor([1.0])).item() for _ in range(4)] == [6.0] * 4
    assert first.step(Tensor([1.0])).item() == 2.0


def test_an_instance_is_let_go():
    import gc
    import weakref

    class Model:
        @jit
        def step(self, x):
            return x + 1

    model = Model()
    for _ in range(4):
        model.step(Tensor([1.0]))
    seen = weakref.ref(model)
    del model
    gc.collect()
    assert seen() is None


def test_class_methods_capture_for_each_class():
    class Base:
        scale = 2.0

        @classmethod
        @jit
        def inner(cls, x):
            return x * cls.scale

        @jit
        @classmethod
        def outer(cls, x):
            return x * cls.scale + 1

        @jit
        @staticmethod
        def alone(x):
            return x + 1

    class Other(Base):
        scale = 3.0

    for i in range(2 * CALLS):
        Base.scale = 2.0 + i // CALLS
        for kind in (Base, Other):
            x, by = Tensor([float(i)]), kind.scale
            found = [kind.inner(x), kind().outer(x), kind.outer(x), kind.alone(x)]
            assert [t.item() for t in found] == [by * i, by * i + 1, by * i + 1, i + 1]
    assert Base.inner.replays and Other.outer.replays


def test_a_class_that_is_passed_in_may_change():
    class Options:
        scale = 1.0

    step = jit(lambda x, options: x * options.scale)
    for i in range(2 * CALLS):
        Options.scale = float(i // 4)
        assert step(Tensor([2.0]), Options).item() == 2.0 * (i // 4)


def test_defaults_that_change():
    def plain(x, by=1.0, *, more=2.0):
        return x * by + more

    step = jit(plain)
    for i in range(3 * CALLS):
        if i == 5:
            plain.__defaults__ = (7.0,)
        if i == 10:
            plain.__kwdefaults__ = {"more": 9.0}
        if i == 14:
            plain.__kwdefaults__["more"] = 1.0
        x = Tensor([float(i)])
        assert step(x).item() == plain(x).item()
    assert step.replays


def test_nested_functions_take_part():
    def program(wrap):
        w = Tensor([1.0]).realize()
        inner = wrap(lambda x: x * w)

        @wrap
        def outer(x):
            return inner(inner(x)) + inner(x)

        found = []
        for i in range(12):
            found += [outer(Tensor([float(i)])), inner(Tensor([3.0]))]
            if i == 5:
                w.assign(w + 1)
        return found

    both(program)


def test_recursion():
    @jit
    def power(x, n):
        return x if n == 1 else x * power(x, n - 1)

    assert [power(Tensor([2.0]), 5).item() for _ in range(5)] == [32.0] * 5


def test_threads():
    step = jit(lambda x, k: (x * k).sum())
    wrong = []

    def work(seed):
        for i in range(20):
            data = numbers(50, seed=seed * 100 + i)
            found = step(Tensor(data), float(seed)).item()
            if abs(found - (data * seed).sum()) > 1e-3:
                wrong.append((seed, i, found))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not wrong


def test_realize_in_the_middle():
    def program(wrap):
        @wrap
        def step(x):
            y = (x + 1).realize()
            z = (y * 2).contiguous().realize()
            return y + z, z.sum()

        return [step(Tensor(numbers(4, seed=i))) for i in range(CALLS)]

    both(program, CALLS - 2)
