"""How each peer of `limits.py` holds numbers, captures a function, and takes a step of a model.

A peer has a `kind`, the text of a workload that it runs, and gives a `Job`: the call to be timed,
and what its results are compared by. weft, tinygrad and JAX run what they captured once (`jit`),
PyTorch and NumPy compute as written; "PyTorch compiled" goes through `torch.compile`.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np
from models import WORDS, Arrays, Model
from workloads import Workload

WARM_UP = 3  # calls until compilers, caches and recorders have settled; then results are compared


@dataclass
class Job:
    """call: does the work once, completely. numbers: what its result is compared by."""

    call: Callable[[], Any]
    numbers: Callable[[Any], list[float]]


def sampled(results: Iterable[np.ndarray]) -> list[float]:
    """Seven numbers of each array."""
    found: list[float] = []
    for array in results:
        values = array.reshape(-1)
        found += [float(values[len(values) * part // 7]) for part in range(7)]
    return found


def learnt(before: Arrays, after: list[np.ndarray]) -> list[float]:
    """How far each parameter has come, by its logarithm, and how far along a drawn direction."""
    found: list[float] = []
    random = np.random.default_rng(12)
    for old, new in zip(before.values(), after, strict=True):
        change = new - old
        length = float(np.linalg.norm(change)) + 1e-30
        found.append(float(np.log10(length)))
        found.append(float((change * random.standard_normal(old.shape)).sum()) / length)
    return found


class NumPy:
    """Computes at once."""

    kind = "numpy"

    def __init__(self, threads: int) -> None:
        self.version, self.lib = np.__version__, np

    def own(self, array: np.ndarray, cast: str | None = None) -> Any:
        return array

    def values(self, result: Any) -> np.ndarray:
        return np.asarray(result, np.float64)

    def forget(self) -> None:
        """Let go of what earlier workloads left."""
        gc.collect()

    def job(self, row: Workload | Model) -> Job:
        """:raises LookupError: where this kind of peer does not take part."""
        if isinstance(row, Model):
            return self.model(row)
        function = row.by.get(self.kind, row.by.get("torch") if self.kind == "compiled" else None)
        if function is None:
            raise LookupError("does not take part")
        casts = [row.cast if array.dtype == np.float32 else None for array in row.inputs()]
        given = [self.own(array, cast) for array, cast in zip(row.inputs(), casts, strict=True)]
        return Job(self.call(function, given), self.compared)

    def compared(self, result: Any) -> list[float]:
        several = result if isinstance(result, (tuple, list)) else (result,)
        return sampled(self.values(one) for one in several)

    def call(self, function: Callable[..., Any], given: list[Any]) -> Callable[[], Any]:
        return lambda: function(self.lib, *given)

    def model(self, model: Model) -> Job:
        raise LookupError("does not take part")

    def held(self, model: Model) -> tuple[Arrays, dict[str, Any], list[Any], list[Any]]:
        """(arrays, the peer's own parameters, caches, inputs)."""
        arrays = model.parameters()
        parameters = {name: self.own(array) for name, array in arrays.items()}
        caches = [self.own(array) for array in (model.caches() if model.caches else ())]
        return arrays, parameters, caches, [self.own(array) for array in model.inputs()]


class Torch(NumPy):
    """PyTorch as written: modules' functions, its own optimisers."""

    kind = "torch"

    def __init__(self, threads: int) -> None:
        import torch

        torch.set_num_threads(threads)
        self.version, self.lib, self.words = torch.__version__, torch, WORDS["torch"](torch)

    def own(self, array: np.ndarray, cast: str | None = None) -> Any:
        made = self.lib.from_numpy(array)
        return made if cast is None else made.to(getattr(self.lib, cast))

    def values(self, result: Any) -> np.ndarray:
        return result.detach().double().numpy()

    def capture(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return function

    def model(self, model: Model) -> Job:
        arrays, p, caches, inputs = self.held(model)
        network = self.capture(model.network)
        state = (caches,) if caches else ()
        if model.optimiser is None:

            def infer() -> Any:
                with self.lib.no_grad():
                    found = network(self.words, p, *state, *inputs)
                return found[0] if caches else found

            return Job(infer, self.compared)
        p = {name: self.lib.nn.Parameter(one.clone()) for name, one in p.items()}
        kinds = {"sgd": self.lib.optim.SGD, "adam": self.lib.optim.Adam}
        optimiser = kinds[model.optimiser](p.values(), lr=model.rate)
        update = self.capture(optimiser.step)

        def step() -> Any:
            optimiser.zero_grad()
            loss = network(self.words, p, *inputs)
            loss.backward()
            update()
            return loss

        def numbers(loss: Any) -> list[float]:
            return [loss.item(), *learnt(arrays, [self.values(one) for one in p.values()])]

        return Job(step, numbers)


class Compiled(Torch):
    """The same through `torch.compile`, loss and update of a training step each for itself."""

    kind = "compiled"

    def capture(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return self.lib.compile(function)

    def call(self, function: Callable[..., Any], given: list[Any]) -> Callable[[], Any]:
        captured = self.capture(lambda *tensors: function(self.lib, *tensors))
        return lambda: captured(*given)

    def forget(self) -> None:
        self.lib._dynamo.reset()  # else what compiled before counts as compiling again and again
        super().forget()


class Jax(NumPy):
    """`jax.jit`, waited for; steps give their parameters away and take the new ones."""

    kind = "jax"

    def __init__(self, threads: int) -> None:
        import jax

        self.version, self.lib, self.words = jax.__version__, jax, WORDS["jax"](jax)

    def own(self, array: np.ndarray, cast: str | None = None) -> Any:
        return self.lib.numpy.asarray(array, None if cast is None else cast)

    def values(self, result: Any) -> np.ndarray:
        return np.asarray(result.astype(self.lib.numpy.float32), np.float64)

    def forget(self) -> None:
        self.lib.clear_caches()
        super().forget()

    def job(self, row: Workload | Model) -> Job:
        written = None if isinstance(row, Model) else row.by.get("jax as written")
        if written is None:
            return super().job(row)
        given = [self.own(array) for array in row.inputs()]
        return Job(lambda: written(self.lib, *given), self.compared)

    def call(self, function: Callable[..., Any], given: list[Any]) -> Callable[[], Any]:
        captured = self.lib.jit(lambda *arrays: function(self.lib, *arrays))
        return lambda: self.lib.block_until_ready(captured(*given))

    def model(self, model: Model) -> Job:
        arrays, p, caches, inputs = self.held(model)
        wait, words = self.lib.block_until_ready, self.words
        if model.optimiser is not None:
            return self.training(model, arrays, p, inputs)
        if not caches:
            infer = self.lib.jit(lambda p, *inputs: model.network(words, p, *inputs))
            return Job(lambda: wait(infer(p, *inputs)), self.compared)
        infer = self.lib.jit(
            lambda p, caches, *inputs: model.network(words, p, caches, *inputs), donate_argnums=1
        )
        state = [caches]

        def token() -> Any:
            logits, state[0] = wait(infer(p, state[0], *inputs))
            return logits

        return Job(token, self.compared)

    def training(self, model: Model, arrays: Arrays, p: Any, inputs: list[Any]) -> Job:
        update = {"sgd": self.sgd, "adam": self.adam}[model.optimiser or ""]

        def whole(p: Any, moments: Any, *inputs: Any) -> Any:
            loss, gradients = self.lib.value_and_grad(
                lambda p: model.network(self.words, p, *inputs)
            )(p)
            return loss, *update(model.rate, p, gradients, moments)

        captured = self.lib.jit(whole, donate_argnums=(0, 1))
        zeros = {name: self.lib.numpy.zeros_like(one) for name, one in p.items()}
        also = {name: self.lib.numpy.zeros_like(one) for name, one in p.items()}
        start = (zeros, also, self.lib.numpy.zeros(())) if model.optimiser == "adam" else ()
        state = [p, start]

        def step() -> Any:
            loss, *state[:] = self.lib.block_until_ready(captured(*state, *inputs))
            return loss

        def numbers(loss: Any) -> list[float]:
            return [float(loss), *learnt(arrays, [self.values(state[0][one]) for one in arrays])]

        return Job(step, numbers)

    def sgd(self, rate: float, p: Any, gradients: Any, moments: Any) -> Any:
        return {name: one - rate * gradients[name] for name, one in p.items()}, moments

    def adam(self, rate: float, p: Any, gradients: Any, moments: Any) -> Any:
        """Kingma and Ba's, with their constants."""
        first, second, steps = moments
        steps = steps + 1
        first = {name: 0.9 * first[name] + 0.1 * one for name, one in gradients.items()}
        second = {name: 0.999 * second[name] + 0.001 * one**2 for name, one in gradients.items()}
        made = {}
        for name, one in p.items():
            mean, square = first[name] / (1 - 0.9**steps), second[name] / (1 - 0.999**steps)
            made[name] = one - rate * mean / (self.lib.numpy.sqrt(square) + 1e-8)
        return made, (first, second, steps)


class Weft(NumPy):
    """`weft.jit` around the whole call."""

    kind = "lazy"

    def __init__(self, threads: int) -> None:
        from weft import Tensor, jit
        from weft.nn import optim

        self.version, self.lib, self.capture = version("weft"), None, jit
        self.tensor, self.optim, self.words = Tensor, optim, WORDS["lazy"](Tensor)

    def own(self, array: np.ndarray, cast: str | None = None) -> Any:
        made = self.tensor(array)
        return (made if cast is None else made.cast(cast)).contiguous().realize()

    def values(self, result: Any) -> np.ndarray:
        return result.float().numpy().astype(np.float64)

    def learning(self) -> Any:
        """What a training step runs in."""
        return self.tensor.train()

    def call(self, function: Callable[..., Any], given: list[Any]) -> Callable[[], Any]:
        lib = self.lib  # in `self` there is more, all of which a captured function would look after

        def all_of(*tensors: Any) -> Any:
            found = function(lib, *tensors)
            several = found if isinstance(found, (list, tuple)) else (found,)
            several[0].realize(*several[1:])
            return found

        captured = self.capture(all_of)
        return lambda: captured(*given)

    def model(self, model: Model) -> Job:
        arrays, p, caches, inputs = self.held(model)
        if model.optimiser is not None:
            return self.training(model, arrays, p, inputs)
        state = (caches,) if caches else ()

        @self.capture
        def infer(*inputs: Any) -> Any:
            found = model.network(self.words, p, *state, *inputs)
            return found[0].realize(*found[1]) if caches else found.realize()

        return Job(lambda: infer(*inputs), self.compared)

    def training(self, model: Model, arrays: Arrays, p: Any, inputs: list[Any]) -> Job:
        kinds = {"sgd": self.optim.SGD, "adam": self.optim.Adam}
        optimiser = kinds[model.optimiser or ""](list(p.values()), lr=model.rate)

        @self.capture
        def captured(*inputs: Any) -> Any:
            optimiser.zero_grad()
            loss = model.network(self.words, p, *inputs)
            loss.backward()
            return loss.realize(*optimiser.schedule_step())

        def step() -> Any:
            with self.learning():
                return captured(*inputs)

        def numbers(loss: Any) -> list[float]:
            return [float(loss.item()), *learnt(arrays, [self.values(p[one]) for one in arrays])]

        return Job(step, numbers)


class Tinygrad(Weft):
    """`TinyJit`, which gives the same memory at every call."""

    def __init__(self, threads: int) -> None:
        from tinygrad import Tensor, TinyJit
        from tinygrad.nn import optim

        self.version, self.lib, self.capture = version("tinygrad"), None, TinyJit
        self.tensor, self.optim, self.words = Tensor, optim, WORDS["lazy"](Tensor)

    def learning(self) -> Any:
        from tinygrad.helpers import Context

        return Context(TRAINING=1)


PEERS: dict[str, Callable[[int], NumPy]] = {
    "weft": Weft,
    "NumPy": NumPy,
    "PyTorch": Torch,
    "PyTorch compiled": Compiled,
    "JAX": Jax,
    "tinygrad": Tinygrad,
}
