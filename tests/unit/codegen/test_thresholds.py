"""What the passes of every device compute from its capabilities."""

from weft.base.dtype import dtypes
from weft.codegen.thresholds import ACCESS_BYTES, widest_access
from weft.device.capabilities import ComputeCaps


def test_the_widest_access_is_that_of_any_dtype():
    widths = {dtypes.float32: (2,), dtypes.float16: (16, 2), dtypes.float64: (2,)}
    assert widest_access(ComputeCaps(vector_widths=widths)) == 32
    assert widest_access(ComputeCaps()) == ACCESS_BYTES
