"""Every converter of the table beside the operator of PyTorch, over samples of arguments."""

import operator
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the package torch is not installed")
sys.path.insert(0, str(Path(__file__).parent))

import aten_samples
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils import _pytree as pytree

from weft.torch.compiled_graph import CompiledGraph
from weft.torch.program import is_convertible

UNSUPPORTED = {
    "_fft_c2r": "complex numbers",
    "_fft_r2c": "complex numbers",
    "atan2.out": "an output argument, which core graphs lack",
    "resize_": "a write, which functional graphs lack",
    "sym_is_contiguous": "a question about strides, which tensors of weft lack",
}
"""Core ATen operators without a converter, and what they would need."""

WITHOUT_VALUES = {"empty.memory_format", "empty_strided"}
READS_VALUES = {"nonzero", "_local_scalar_dense"}
OTHER_TESTS = {"_native_batch_norm_legit", "_embedding_bag"}


def overload(name):
    packet, _, chosen = name.partition(".")
    return getattr(getattr(torch.ops.aten, packet), chosen or "default")


def core_names():
    """Core ATen operators, of all that are registered: attributes of `torch.ops` appear at use."""
    names = []
    for full in torch._C._dispatch_get_all_op_names():
        name = full.removeprefix("aten::")
        try:
            found = overload(name) if name != full else None
        except AttributeError:  # a schema without Python bindings
            continue
        if found is not None and torch.Tag.core in found.tags:
            names.append(name)
    return names


def graph_of(function, args, kwargs):
    """A graph module with one call; its tensors are the inputs."""
    graph = torch.fx.Graph()
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    flat, spec = pytree.tree_flatten((args, kwargs))
    inputs, nodes, examples = [], [], []
    for each in flat:
        if isinstance(each, torch.Tensor):
            node = graph.placeholder(f"x{len(inputs)}")
            node.meta["val"] = mode.from_tensor(each)
            inputs.append(each)
            nodes.append(node)
            examples.append(node.meta["val"])
        else:
            nodes.append(each)
            examples.append(each)
    call = graph.call_function(function, *pytree.tree_unflatten(nodes, spec))
    real = function(*args, **kwargs)
    call.meta["val"] = pytree.tree_map_only(torch.Tensor, mode.from_tensor, real)
    graph.output((call,) if not isinstance(real, (tuple, list)) else call)
    if isinstance(real, (tuple, list)):
        output = next(node for node in graph.nodes if node.op == "output")
        graph.erase_node(output)
        items = []
        for place, each in enumerate(real):
            item = graph.call_function(operator.getitem, (call, place))
            item.meta["val"] = call.meta["val"][place]
            items.append(item)
        graph.output(tuple(items))
    return torch.fx.GraphModule(torch.nn.Module(), graph), inputs, real


def arguments(function, seed):
    given = function(aten_samples.Generator(seed))
    has_keywords = len(given) == 2 and isinstance(given[0], tuple) and isinstance(given[1], dict)
    return given if has_keywords else (given, {})


def check_equal(result, expected):
    if expected is None:
        return
    if not isinstance(expected, torch.Tensor):
        assert result == pytest.approx(expected)
        return
    assert result.dtype == expected.dtype
    assert tuple(result.shape) == tuple(expected.shape)
    wide = expected.dtype == torch.float64
    rtol, atol = (1e-9, 1e-9) if wide else (2e-5, 2e-5)
    if expected.dtype in (torch.float16, torch.bfloat16):
        rtol = atol = 1e-2
    torch.testing.assert_close(result, expected, rtol=rtol, atol=atol, equal_nan=True)


@pytest.mark.parametrize("name", sorted(aten_samples.SAMPLES))
def test_operator(name):
    tested = overload(name)
    for seed, function in enumerate(aten_samples.SAMPLES[name]):
        args, kwargs = arguments(function, seed)
        graph, inputs, expected = graph_of(tested, args, kwargs)
        several = isinstance(expected, (tuple, list))
        if name in READS_VALUES or _has_mask(args):
            results = _eager(graph, inputs)
        else:
            results = CompiledGraph(graph)(*inputs)
        for result, each in zip(results, expected if several else [expected], strict=True):
            check_equal(result, each)


def _has_mask(args):
    indices = args[1] if len(args) > 1 and isinstance(args[1], list) else []
    return any(isinstance(each, torch.Tensor) and each.dtype is torch.bool for each in indices)


def _eager(graph, inputs):
    """The results without tracing, for operators that read values."""
    from weft.torch import from_torch_tensor, to_torch_tensor
    from weft.torch.program import Program

    program = Program(graph)
    output = next(node for node in graph.graph.nodes if node.op == "output").args[0]
    program.set_outputs(output)
    results = program([from_torch_tensor(each) for each in inputs])
    return [each if isinstance(each, (int, float)) else to_torch_tensor(each) for each in results]


def test_every_core_operator_is_sampled_or_listed():
    known = {*aten_samples.SAMPLES, *aten_samples.DISTRIBUTIONS, *UNSUPPORTED, *WITHOUT_VALUES}
    assert len(core_names()) > 150
    assert set(core_names()) - known - OTHER_TESTS == set()


@pytest.mark.parametrize("name", sorted(UNSUPPORTED))
def test_listed_operators_have_no_converter(name):
    from weft.torch.registry import find

    found = find(overload(name))
    assert found is None or name == "atan2.out"


@pytest.mark.parametrize("name", sorted(aten_samples.DISTRIBUTIONS))
def test_distribution(name):
    args = aten_samples.DISTRIBUTIONS[name]()
    graph, inputs, expected = graph_of(overload(name), args, {})
    compiled = CompiledGraph(graph)
    torch.manual_seed(0)
    first = compiled(*inputs)[0]
    second = compiled(*inputs)[0]
    torch.manual_seed(0)
    again = compiled(*inputs)[0]
    expected = expected[0] if isinstance(expected, tuple) else expected
    assert first.dtype == expected.dtype and first.shape == expected.shape
    assert torch.equal(first, again) and not torch.equal(first, second)
    if name == "randperm":
        assert torch.equal(first.sort().values, torch.arange(50))
    else:
        for moment in (1, 2):
            ours = (first.double() ** moment).mean()
            theirs = (expected.double() ** moment).mean()
            assert abs(ours - theirs) < 0.15 * max(1.0, abs(float(theirs)))


@pytest.mark.parametrize("name", sorted(WITHOUT_VALUES))
def test_empty(name):
    args = ([2, 3],) if name == "empty.memory_format" else ([2, 3], [3, 1])
    graph, inputs, expected = graph_of(overload(name), args, {})
    result = CompiledGraph(graph)(*inputs)[0]
    assert result.shape == expected.shape and result.dtype == expected.dtype


def test_operators_that_read_values_are_not_traced():
    graph, _, _ = graph_of(overload("nonzero"), (torch.ones(3),), {})
    call = next(node for node in graph.graph.nodes if node.op == "call_function")
    assert is_convertible(call) and not is_convertible(call, traced=True)
