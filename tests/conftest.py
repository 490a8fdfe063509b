"""Settings shared by all tests.

The default run tries the same examples every time, so that it says the same for everybody.
WEFT_TEST_EXAMPLES=1000 explores: as many examples of each property, and others each time.
WEFT_TEST_FEWER=10 tries the first of the usual ones, for slow devices.
"""

import gc
import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings

from weft import Tensor
from weft.base.dtype import dtypes
from weft.engine import ready_kernels
from weft.tensor.protocol import grad_enabled

# tests count the kernels that they compile: there is no table, nor in processes that tests start
os.environ.setdefault("WEFT_READY_KERNELS", "0")
ready_kernels.use(False)

_asked = os.environ.get("WEFT_TEST_EXAMPLES")

hypothesis_settings.register_profile(
    "weft",
    max_examples=int(_asked or os.environ.get("WEFT_TEST_FEWER", "60")),
    derandomize=_asked is None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
hypothesis_settings.load_profile("weft")


def pytest_collection_finish() -> None:
    """Thousands of tests and modules stay to the end: the search for cycles leaves them out."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def _modes_are_restored() -> Iterator[None]:
    """A mode that a test leaves behind would make others fail: the test that leaves it fails."""
    yield
    left = (grad_enabled(), Tensor.training, dtypes.default_float)
    assert left == (True, False, dtypes.float32), "gradients on, training off, default dtype"
