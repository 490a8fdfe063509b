"""Settings shared by all tests.

The default run tries the same examples every time, so that it says the same for everybody.
WEFT_TEST_EXAMPLES=1000 explores: as many examples of each property, and others each time.
WEFT_TEST_FEWER=10 tries the first of the usual ones, for slow devices.
"""

import gc
import os

from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings

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
