"""Every family of these cases makes one, and it agrees."""

import pytest

from weft.testing import torch_cases_algebra as room
from weft.testing.oracle import evaluated_by_oracle
from weft.testing.torch_cases import FAMILIES, case, check

pytest.importorskip("torch", reason="PyTorch is what weft is compared with")
MAKERS = {f for f in vars(room).values() if getattr(f, "__module__", "") == room.__name__}
NAMES = [
    n for n, maker in FAMILIES.items()
    if maker in MAKERS or any(c.cell_contents in MAKERS for c in maker.__closure__ or ()
                              if callable(c.cell_contents))
]  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", NAMES)
def test_family(name):
    with evaluated_by_oracle():
        check(case(11, [name]))
