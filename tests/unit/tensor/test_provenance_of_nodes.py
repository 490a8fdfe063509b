"""Nodes know which method, and which line of the user's, they are from."""

import inspect

from weft import Tensor, settings


def line():
    return inspect.currentframe().f_back.f_lineno


def test_the_outermost_method_and_the_line():
    x = Tensor([1.0, 2.0])
    y, here = x + 1, line()
    assert str(y.uop.meta) == "__add__"
    assert y.uop.meta.where[1] == here and y.uop.meta.where[0] == __file__
    z = x.softmax()
    # nodes without x in them may be those of another tensor that still lives
    nodes = [n for n in z.uop.toposort() if n.meta is not None and x.uop in n.toposort()]
    inner = {str(n.meta) for n in nodes}
    assert inner <= {"softmax", "__init__"} and "softmax" in inner


def test_it_can_be_switched_off():
    x = Tensor([3.0, 4.0])
    with settings.override(TRACEMETA=0):
        y = x * 7.25
    assert y.uop.meta is None


def test_wrapped_methods_have_their_own_names():
    x = Tensor([1.0, 2.0])
    assert str(x.tanh().uop.meta) == "tanh" and str(x.half().log1p().uop.meta) == "log1p"
