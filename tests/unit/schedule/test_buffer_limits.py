"""How many buffers a kernel touches."""

import numpy
import pytest

from helpers.graphs import buffer, kernels, lookup
from weft import Tensor
from weft.base.dtype import dtypes
from weft.base.settings import settings
from weft.device.capabilities import Capabilities, ComputeCaps, KernelLimits
from weft.uop import Ops


def test_the_buffer_limit_is_kept_and_exactly_reached():
    limited = Capabilities(compute=ComputeCaps(limits=KernelLimits(max_buffers=4)))
    ctx = lookup(X=limited)

    def summed(count):
        total = buffer(4)
        for _ in range(count - 1):
            total = total + buffer(4)
        return kernels(total, ctx=ctx)

    def loads(ast):
        return len({u.arg for u in ast.toposort() if u.op is Ops.DEFINE_GLOBAL})

    assert len(summed(3)) == 1
    for count in (4, 9, 20):
        asts = summed(count)
        assert len(asts) > 1
        assert max(map(loads, asts)) <= 4


@pytest.mark.parametrize("dtype", [dtypes.float, dtypes.bool, dtypes.half, dtypes.long])
def test_a_choice_between_two_values_is_split_where_three_buffers_are_all(dtype):
    where, yes, no = buffer(4, dtypes.bool), buffer(4, dtype), buffer(4, dtype)
    chosen = where.where(yes, no)
    for limit, count in ((4, 1), (3, 3)):
        limited = Capabilities(compute=ComputeCaps(limits=KernelLimits(max_buffers=limit)))
        asts = kernels(chosen, ctx=lookup(X=limited))
        assert len(asts) == count
        for ast in asts:
            assert len({u.arg for u in ast.toposort() if u.op is Ops.DEFINE_GLOBAL}) <= limit


def test_both_halves_of_a_choice_together_are_exact():
    nan, inf = float("nan"), float("inf")
    yes = numpy.array([-0.0, nan, 1.0, -inf], numpy.float32)
    no = numpy.array([inf, -0.0, nan, 3.0], numpy.float32)
    where = numpy.array([True, False, True, False])
    with settings.override(MAX_KERNEL_BUFFERS=3):
        parts = [Tensor(part, device="REF").realize() for part in (where, yes, no)]
        found = parts[0].where(*parts[1:]).numpy()
    expected = numpy.where(where, yes, no)
    assert found.view(numpy.uint32).tolist() == expected.view(numpy.uint32).tolist()
