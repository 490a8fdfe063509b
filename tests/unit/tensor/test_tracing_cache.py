"""Traces are what methods record: the same nodes, flags and provenance, for every signature."""

from __future__ import annotations

import inspect
import itertools

import numpy as np
import pytest

import weft
from weft import Tensor, Variable, nn, settings
from weft.base.errors import IndexingError, SpecError
from weft.tensor import tracing_cache
from weft.tensor.tracing_cache import METHODS, traced_once

CALLS = 4
"""The first call of a signature is noted, the second is traced, the others are instantiated."""


def number(seed, *shape):
    return Tensor(np.random.default_rng(seed).standard_normal(shape).astype(np.float32)).realize()


def integers(seed, high, *shape):
    return Tensor(np.random.default_rng(seed).integers(0, high, shape).astype(np.int32)).realize()


@pytest.fixture
def instantiated(monkeypatch):
    """How often a trace was instantiated."""
    found = []
    instantiate = tracing_cache._Trace.instantiate

    def noted(trace, nodes):
        found.append(trace)
        return instantiate(trace, nodes)

    monkeypatch.setattr(tracing_cache._Trace, "instantiate", noted)
    return found


PROGRAMS = {
    "softmax": lambda seed: number(seed, 3, 5).softmax(-1),
    "log_softmax of a transposed": lambda seed: number(seed, 3, 5).transpose(0, 1).log_softmax(0),
    "layernorm": lambda seed: number(seed, 2, 3, 4).layernorm(),
    "gelu": lambda seed: number(seed, 7).gelu(),
    "product": lambda seed: number(seed, 3, 4) @ number(seed + 1, 4, 2),
    "product with itself": lambda seed: (x := number(seed, 3, 3)) @ x,
    "linear": lambda seed: number(seed, 3, 4).linear(number(seed + 1, 4, 2), number(seed + 2, 2)),
    "attention": lambda seed: number(seed, 2, 5, 4).scaled_dot_product_attention(
        number(seed + 1, 2, 5, 4), number(seed + 2, 2, 5, 4), is_causal=True
    ),
    "convolution": lambda seed: number(seed, 1, 2, 6, 6).conv2d(number(seed + 1, 3, 2, 3, 3)),
    "pooling": lambda seed: number(seed, 1, 2, 6, 6).max_pool2d(2),
    "classes": lambda seed: number(seed, 4, 5).sparse_categorical_crossentropy(
        integers(seed, 5, 4)
    ),
    "mean": lambda seed: number(seed, 4, 5).mean(0),
    "deviation": lambda seed: number(seed, 4, 5).std(axis=1, keepdim=True),
    "argmax": lambda seed: number(seed, 4, 5).argmax(1),
    "half": lambda seed: number(seed, 4, 5).half().softmax(),
    "of a pending sum": lambda seed: (number(seed, 4, 5) + 1).softmax(),
    "of a reduction": lambda seed: number(seed, 4, 5).sum(0).gelu(),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_traces_give_the_recorded_nodes(name, instantiated):
    program = PROGRAMS[name]
    with settings.override(TRACING_CACHE=2):  # raises if they differ
        for seed in range(CALLS):
            found = program(seed)
    assert instantiated, "no trace was used"
    with settings.override(TRACING_CACHE=0):
        np.testing.assert_array_equal(program(seed).numpy(), found.numpy())


@pytest.mark.parametrize("layer", [
    nn.Linear(4, 3), nn.Linear(4, 3, bias=False), nn.LayerNorm(4), nn.RMSNorm(4), nn.GELU(),
    nn.GroupNorm(2, 4), nn.BatchNorm1d(4),
], ids=lambda layer: type(layer).__name__)  # fmt: skip
def test_layers_in_both_modes(layer, instantiated):
    for training in (False, True):
        layer.train(training)
        with settings.override(TRACING_CACHE=2):
            for seed in range(CALLS):
                layer(number(seed, 5, 4)).realize()
        assert len(instantiated) > 0
        instantiated.clear()


def test_flags_of_operands_and_modes():
    flags = (True, None, False)
    with settings.override(TRACING_CACHE=2):
        for one, other, _ in itertools.product(flags, flags, range(CALLS)):
            x, y = number(0, 3, 4), number(1, 4, 2)
            x._requires_grad, y._requires_grad = one, other
            assert ((x @ y).requires_grad is True) == (one is True or other is True)
            with Tensor.no_grad():
                assert (x @ y).requires_grad is not True


def test_equal_operands_are_another_signature():
    for _ in range(CALLS):
        x, y = number(0, 3, 3), number(1, 3, 3)
        np.testing.assert_allclose((x @ y).numpy(), x.numpy() @ y.numpy(), rtol=1e-5)
        np.testing.assert_allclose((x @ x).numpy(), x.numpy() @ x.numpy(), rtol=1e-5)


def test_an_operand_that_equals_an_intermediate():
    """The mean is an operand, and an equal node is recorded inside of the function."""

    @traced_once
    def deviation(x, mean):
        return (x - x.mean()) + (x - mean)

    for seed in range(CALLS):
        x = number(seed, 6)
        deviation(x, x.mean())
    x, other = number(9, 6), number(10, 6)
    expected = 2 * x.numpy() - x.numpy().mean() - other.numpy().mean()
    np.testing.assert_allclose(deviation(x, other.mean()).numpy(), expected, rtol=1e-5)


def test_numbers_of_several_classes_and_zeros_of_both_signs():
    @traced_once
    def scaled(x, factor):
        return x * factor

    x = Tensor([1, 2]).realize()
    for _ in range(CALLS):
        assert scaled(x, 1).dtype is weft.dtypes.int and scaled(x, 1.0).dtype is weft.dtypes.float
    y = Tensor([1.0]).realize()
    for _ in range(CALLS):
        assert np.signbit(scaled(y, -0.0).numpy()) and not np.signbit(scaled(y, 0.0).numpy())


def test_settings_are_part_of_a_signature():
    for _ in range(CALLS):
        x, y = number(0, 3, 4), number(1, 4, 2)
        assert (x @ y).dtype is weft.dtypes.float
        with weft.autocast(dtype="bfloat16"):
            assert (x @ y).dtype is weft.dtypes.bfloat16


def test_a_block_that_is_entered_again_has_the_same_signature(instantiated):
    for _ in range(CALLS):
        with weft.autocast(dtype="bfloat16"):
            assert (number(0, 3, 4) @ number(1, 4, 2)).dtype is weft.dtypes.bfloat16
    assert instantiated


def test_functions_that_look_at_the_graph_are_recorded_at_each_call(instantiated):
    @traced_once
    def unmoved(x):
        return x * (2.0 if x.uop.src[0].op.name == "BUFFER" else 3.0)

    for seed in range(CALLS):
        x = number(seed, 3, 2)
        np.testing.assert_array_equal(unmoved(x).numpy(), 2 * x.numpy())
        y = number(seed, 2, 3).reshape(6).reshape(3, 2)
        np.testing.assert_array_equal(unmoved(y).numpy(), 3 * y.numpy())


def test_functions_of_other_memory_are_recorded_at_each_call(instantiated):
    table = number(0, 3)

    @traced_once
    def shifted(x):
        return x + table

    for seed in range(CALLS):
        x = number(seed, 3)
        np.testing.assert_allclose(shifted(x).numpy(), x.numpy() + table.numpy())
    assert not instantiated


def test_sizes_of_variables_and_constants():
    n = Variable("n", 1, 8)
    x = number(0, 8)
    for size in (3, 5, 3, 5, 3, 5):
        part = x[: n.bind(size)]
        np.testing.assert_allclose(part.softmax().sum().item(), 1.0, rtol=1e-5)
    for _ in range(CALLS):
        assert Tensor(2.0).softmax(0).item() == 1.0
        np.testing.assert_allclose(Tensor.ones(3).softmax().numpy(), np.full(3, 1 / 3), rtol=1e-6)


def test_checked_mode_checks_each_call(instantiated):
    logits, right = number(0, 2, 3), Tensor([0, 2]).realize()
    with settings.override(CHECK=1):
        for _ in range(CALLS):
            logits.sparse_categorical_crossentropy(right).realize()
        with pytest.raises(IndexingError):
            logits.sparse_categorical_crossentropy(Tensor([0, 7]).realize()).realize()
    assert not instantiated


def test_deep_containers_are_recorded_at_each_call():
    @traced_once
    def scaled(x, nested):
        return x * 2

    deep = []
    for _ in range(100_000):
        deep = [deep]
    assert scaled(Tensor([1.0]), deep).tolist() == [2.0]


def test_views_are_read_after_writes():
    base = Tensor([1.0, 2.0, 3.0, 4.0]).contiguous().realize()
    view = base[1:3]
    for step in range(CALLS):
        base[1] = float(step)
        np.testing.assert_allclose(view.mean().item(), (step + 3.0) / 2)


def test_nodes_have_the_line_of_each_call():
    for _ in range(CALLS):
        x = number(0, 3, 4)
        y, here = x.softmax(), inspect.currentframe().f_lineno
        assert y.uop.meta.where[1] == here and str(y.uop.meta) == "softmax"
    for _ in range(CALLS):
        x = number(0, 3, 4)
        z, here = nn.LayerNorm(4)(x), inspect.currentframe().f_lineno
        assert z.uop.meta.where[1] == here


def test_gradients_flow_through_traces():
    def gradients(seed):
        x, w = number(seed, 3, 4).requires_grad_(), number(seed + 1, 4, 5).requires_grad_()
        (x @ w).softmax().square().sum().backward()
        return x.grad.numpy(), w.grad.numpy()

    for seed in range(2 * CALLS):
        found = gradients(seed)
        with settings.override(TRACING_CACHE=0):
            expected = gradients(seed)
        for one, other in zip(found, expected):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-7)


def test_a_trace_that_differs_is_an_error_in_verification(monkeypatch):
    factor = [2.0]

    @traced_once
    def scaled(x):
        return x * factor[0]

    with settings.override(TRACING_CACHE=2):
        for seed in range(CALLS):
            scaled(number(seed, 3))
        factor[0] = 3.0
        with pytest.raises(SpecError, match="scaled"):
            scaled(number(0, 3))


def test_every_method_in_the_table_is_there():
    assert [name for name in METHODS if not hasattr(Tensor, name)] == []


def test_a_call_with_dropout_draws_random_numbers_once():
    query = Tensor.ones(1, 2, 3, 2).realize()
    drawn = []
    with Tensor.train():
        for _ in range(4):
            Tensor.manual_seed(1)
            query.scaled_dot_product_attention(query, query, dropout_p=0.5)
            drawn.append(weft.get_rng_state()["drawn"])
    assert drawn == [drawn[0]] * 4
