"""Expression templates: equal to a direct construction, built once, without holding operands."""

import gc
import weakref

import numpy as np
import pytest

from weft import Tensor, Variable, dtypes
from weft.quantization import FORMATS, dequantize, linear_int16, quantize
from weft.quantization.dequantization import block_values
from weft.quantization.expression_templates import from_template

built = []


def scaled_sum(x, y, factor):
    built.append(factor)
    return (x * factor + y).sum(-1)


def test_a_template_is_built_once_for_each_kind():
    built.clear()
    operands = [Tensor([float(n), 1.0]).realize() for n in range(4)]
    found = [from_template(scaled_sum, (x, operands[0]), (3.0,)).item() for x in operands]
    assert found == [3.0 * n + 4.0 for n in range(4)]
    from_template(scaled_sum, (operands[0], operands[1]), (5.0,))
    from_template(scaled_sum, (operands[0].cast(dtypes.float64), operands[1]), (3.0,))
    assert built == [3.0, 5.0, 3.0]


def test_the_graph_is_that_of_a_direct_construction():
    x, y = Tensor([1.0, 2.0]).realize(), Tensor([3.0, 4.0]).realize()
    assert from_template(scaled_sum, (x, y), (2.0,)).uop is scaled_sum(x, y, 2.0).uop


def test_one_operand_twice_and_operands_that_are_graphs():
    x = Tensor([1.0, 2.0]).realize()
    assert from_template(scaled_sum, (x, x), (2.0,)).item() == 9.0
    assert from_template(scaled_sum, (x + 1, x * x), (2.0,)).item() == 15.0


def test_symbolic_shapes_are_built_directly():
    x = Tensor(np.arange(8, dtype=np.float32)).realize()
    for extent in (3, 5):
        n = Variable("n", 1, 8).bind(extent)
        assert from_template(scaled_sum, (x[:n], x[:n]), (1.0,)).item() == extent * (extent - 1)


def test_gradients_pass_through_a_template():
    x = Tensor([1.0, 2.0], requires_grad=True)
    from_template(scaled_sum, (x, x * x), (3.0,)).backward()
    assert x.grad.tolist() == [5.0, 7.0]


def test_templates_hold_no_operands():
    x = Tensor([1.0, 2.0]).realize()
    found = from_template(scaled_sum, (x, x), (7.0,))
    node = weakref.ref(x.uop)
    del x, found
    gc.collect()
    assert node() is None


@pytest.mark.parametrize("name", ["q4_0", "q4_k"])
def test_weights_of_one_shape_have_values_of_their_own(name):
    source = np.random.default_rng(0)
    values = [source.standard_normal((4, 256)).astype(np.float32) for _ in range(3)]
    weights = [quantize(Tensor(each), name) for each in values]
    x = source.standard_normal((1, 256)).astype(np.float32)
    for weight, each in zip(weights, values):
        assert np.abs(weight.numpy() - each).max() < 0.5
        got = linear_int16(Tensor(x), weight).numpy()
        np.testing.assert_allclose(got, x @ weight.numpy().T, atol=1e-2)


def test_dequantize_is_its_expression():
    layout = FORMATS["q8_0"]
    data = Tensor(np.zeros(4 * layout.nbytes, np.uint8)).realize()
    assert (
        dequantize(data, layout, (4, 32)).uop.src[0]
        is block_values(data, layout).reshape(4, 32).uop
    )
