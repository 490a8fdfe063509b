"""The samples of ready kernels: they are computations of one small kernel each."""

from itertools import islice

from weft.engine.ready_kernels import general_ast
from weft.tools.ready_kernels import samples
from weft.uop import Ops


def test_samples_have_general_kernels():
    found = 0
    for sample in islice(samples(), 0, None, 23):
        asts = [item.ast for item in sample().schedule() if item.ast.op is Ops.SINK]
        found += any(general_ast(ast) is not None for ast in asts)
    assert found > 10
