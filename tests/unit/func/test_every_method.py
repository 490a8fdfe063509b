"""vmap of every method there is, against a loop over the samples, evaluated by the oracle.

The methods are those of the table of operations, which names every public one.
"""

import numpy as np
import pytest

import cases.operations_table.networks
import cases.operations_table.shapes
import cases.operations_table.torch_names
import weft
from cases.operations_table.cells import Maker
from cases.operations_table.elementwise import CHECKS
from helpers.oracle import evaluated_by_oracle
from weft import Tensor, dtypes
from weft.base.errors import CaptureError

LOADED = cases.operations_table  # whose modules enter their checks

SAMPLES = 2

READS = (
    "allclose",
    "argwhere",
    "bincount",
    "data",
    "equal",
    "item",
    "masked_select",
    "nonzero",
    "numpy",
    "realize",
    "tolist",
    "unique",
)
"""Methods that read values, or whose result has a shape that depends on values."""

WRITES = ("add_", "assign", "clamp_", "div_", "kernelize", "mul_", "sub_")
"""Methods whose case writes to its argument, or reads a tensor in order to write."""


def dtype_of(check):
    """A dtype that the method takes."""
    kinds = (dtypes.float64, dtypes.int32, dtypes.uint8, dtypes.bool)
    if check.name in ("mod", "remainder"):  # their cases of floats have random lengths
        kinds = kinds[1:]
    return next((kind for kind in kinds if check.takes(kind)), dtypes.uint64)


def samples_of(check):
    """For each argument the arrays of all samples, stacked."""
    rows = []
    for number in range(SAMPLES):
        maker = Maker(dtype_of(check), f"{check.name} {number}")
        rows.append([np.asarray(each) for each in check.inputs(maker)])
    return [np.stack(column) for column in zip(*rows, strict=True)]


def results(found):
    found = found if isinstance(found, (tuple, list)) else (found,)
    return [each for each in found if isinstance(each, Tensor)]


def mapped(check, stacked):
    function = weft.vmap(lambda *given: results(check.call(*given)))
    return results(function(*map(Tensor, stacked)))


METHODS = {name for name in CHECKS if not CHECKS[name].creates}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted(METHODS - {*READS, *WRITES}))
def test_mapped(name):
    check = CHECKS[name]
    stacked = samples_of(check)
    with evaluated_by_oracle():
        found = mapped(check, stacked)
        for number in range(SAMPLES):
            expected = results(check.call(*[Tensor(each[number]) for each in stacked]))
            assert len(found) == len(expected)
            for all_samples, one in zip(found, expected, strict=True):
                assert all_samples.shape[1:] == one.shape and all_samples.dtype == one.dtype
                np.testing.assert_allclose(
                    all_samples.numpy()[number], one.numpy(), rtol=1e-12, atol=1e-12
                )


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", READS)
def test_values_cannot_be_read(name):
    with evaluated_by_oracle(), pytest.raises(CaptureError, match="has no values"):
        mapped(CHECKS[name], samples_of(CHECKS[name]))


@pytest.mark.parametrize("name", WRITES)
def test_arguments_cannot_be_written(name):
    with evaluated_by_oracle(), pytest.raises(CaptureError, match="write|has no values"):
        mapped(CHECKS[name], samples_of(CHECKS[name]))
