"""Parameters as one vector; clipping is tested with the optimisers."""

import pytest

from weft import Tensor, nn
from weft.base.errors import ShapeError
from weft.nn import utils


def test_there_and_back() -> None:
    one, other = (nn.Sequential(nn.Linear(3, 2), nn.Linear(2, 1)) for _ in range(2))
    vector = utils.parameters_to_vector(one.parameters())
    assert vector.shape == (11,)
    before = vector.tolist()
    utils.vector_to_parameters(vector, other.parameters())
    assert utils.parameters_to_vector(other.parameters()).tolist() == before
    x = Tensor.ones(4, 3)
    assert other(x).tolist() == one(x).tolist()
    assert all(isinstance(each, nn.Parameter) for each in other.parameters())
    with pytest.raises(ShapeError, match="11 elements"):
        utils.vector_to_parameters(Tensor.ones(10), other.parameters())
    assert utils.clip_grad_norm_ is nn.optim.clip_grad_norm_
