"""Places of weights in the bytes of a model."""

import numpy as np
import pytest

from helpers.onnx_models import BOOL, constant, graph, model, node, value
from weft.onnx.weight_places import LEAST, WeightPlaces

RNG = np.random.default_rng(0)


def array(count=LEAST):
    return RNG.standard_normal(count).astype(np.float32)


def test_constants_of_graphs_nodes_and_subgraphs_are_found():
    top, of_node, inner, shifted = array(), array(), array(), array(LEAST + 3)
    branch = graph([node("Add", ["x", "i"], ["b"])], [], [value("b")], [constant("i", inner)], "b")
    nodes = [
        node("Constant", [], ["n"], value=constant("n", of_node)),
        node("If", ["flag"], ["y"], then_branch=branch, else_branch=branch),
    ]
    data = model(
        nodes,
        [value("x"), value("flag", [], BOOL)],
        [value("y")],
        [constant("t", top), constant("s", shifted)],
    )
    places = WeightPlaces(data)
    for each in (top, of_node, inner, shifted):
        start, length = places.of(memoryview(each.tobytes()))
        assert data[start : start + length] == each.tobytes()


def test_other_and_small_constants_are_not_found():
    known = array()
    places = WeightPlaces(model([], [], [], [constant("t", known), constant("u", array(4))]))
    changed = known.copy()
    changed[len(changed) // 2] += 1
    assert places.of(memoryview(changed.tobytes())) is None
    assert places.of(memoryview(known.tobytes()[:64])) is None


@pytest.mark.parametrize("data", [b"\x3a\x05\x00", b"\x3a\xff\xff\xff", b"\x3b", b"\xff" * 20])
def test_bytes_that_are_no_message_are_refused(data):
    with pytest.raises(ValueError):
        WeightPlaces(data)
