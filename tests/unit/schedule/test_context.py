"""What the scheduler asks of devices."""

from weft.base.settings import settings
from weft.device.capabilities import Capabilities, ComputeCaps, KernelLimits
from weft.testing.graphs import STORES, lookup


def test_capabilities_answer_by_device():
    limited = Capabilities(compute=ComputeCaps(limits=KernelLimits(max_buffers=8)))
    ctx = lookup(S=STORES, L=limited)
    assert ctx.computes("X") and not ctx.computes("S")
    assert (ctx.max_buffers("X"), ctx.max_buffers("S"), ctx.max_buffers("L")) == (None, None, 8)
    assert ctx.alignment("X") == 1


def test_the_setting_overrides_the_limit():
    limited = Capabilities(compute=ComputeCaps(limits=KernelLimits(max_buffers=8)))
    with settings.override(MAX_KERNEL_BUFFERS=5):
        assert lookup(L=limited).max_buffers("L") == 5
