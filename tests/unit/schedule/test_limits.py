"""How many buffers a kernel touches."""

from weft.device.capabilities import Capabilities, ComputeCaps, KernelLimits
from weft.testing.graphs import buffer, kernels, lookup
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
