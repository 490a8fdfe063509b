"""Looking rows up by number."""

import numpy as np
import pytest

from weft import Tensor, dtypes, settings
from weft.base.errors import ArgumentError, DTypeError, IndexingError, ShapeError
from weft.nn import Embedding, functional


@pytest.mark.parametrize("indices", [[3], [0, 4, 4, 1], [[1, 2], [3, 0]]])
def test_rows_come_back(indices: list) -> None:
    table = Embedding(5, 3)
    result = table(Tensor(indices)).numpy()
    np.testing.assert_array_equal(result, table.weight.numpy()[np.array(indices)])


def test_gradient_reaches_only_the_rows_that_were_read_and_adds_up() -> None:
    table = Embedding(4, 2)
    table.weight.requires_grad_(True)
    table(Tensor([1, 3, 1])).sum().backward()
    np.testing.assert_array_equal(table.weight.grad.numpy(), [[0, 0], [2, 2], [0, 0], [1, 1]])


def test_only_integers_number_rows() -> None:
    with pytest.raises(DTypeError) as caught:
        Embedding(4, 2)(Tensor([1.0], dtype=dtypes.float32))
    assert "cast" in caught.value.try_


def test_the_row_of_padding_is_zero_and_is_not_trained() -> None:
    table = Embedding(4, 2, padding_idx=-2)
    np.testing.assert_array_equal(table.weight.numpy()[2], [0, 0])
    table.weight.requires_grad_(True)
    table(Tensor([1, 2, 2])).sum().backward()
    np.testing.assert_array_equal(table.weight.grad.numpy(), [[0, 0], [1, 1], [0, 0], [0, 0]])
    with pytest.raises(ArgumentError, match="no such row"):
        Embedding(4, 2, padding_idx=4)


@pytest.mark.parametrize("number", [-1, 3])
def test_indices_out_of_bounds_are_refused(number):
    table = Tensor([[1.0], [2.0], [3.0]])
    calls = [Embedding(3, 1), lambda i: functional.embedding(i, table)]
    for look_up in calls:
        with pytest.raises(IndexingError, match=f"index {number} is out of bounds") as caught:
            look_up(Tensor([0, number]))
        assert caught.value.try_ == "numbers from 0 to 2"
        with settings.override(CHECK=1), pytest.raises(IndexingError, match="out of bounds"):
            look_up(Tensor([0, number]).realize() + 0).tolist()


@pytest.mark.parametrize("power", [2.0, 1.0])
def test_rows_are_limited_and_gradients_divided_as_in_pytorch(power: float) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch says what the values are")
    value = np.random.default_rng(0).standard_normal((5, 3))
    how = {"max_norm": 1.0, "norm_type": power, "scale_grad_by_freq": True}
    theirs = torch.nn.Embedding(5, 3, dtype=torch.float64, **how)
    ours = Embedding(5, 3, dtype=dtypes.float64, **how)
    for each, make in ((ours, Tensor), (theirs, torch.tensor)):
        each.load_state_dict({"weight": make(value)})
    indices = np.array([[0, 3], [3, 3]])
    got, expected = ours(Tensor(indices)), theirs(torch.tensor(indices))
    (got * got).sum().backward(), (expected * expected).sum().backward()
    for one, other in ((got, expected), (ours.weight, theirs.weight)):
        np.testing.assert_allclose(one.numpy(), other.detach().numpy(), rtol=1e-6)
    np.testing.assert_allclose(ours.weight.grad.numpy(), theirs.weight.grad.numpy(), rtol=1e-6)
    bags = functional.embedding_bag(Tensor(indices), Tensor(value), None, 1.0, power)
    wanted = torch.nn.functional.embedding_bag(
        torch.tensor(indices), torch.tensor(value), None, 1.0, power
    )
    np.testing.assert_allclose(bags.numpy(), wanted.numpy(), rtol=1e-6)


def test_a_table_of_given_rows() -> None:
    table = Embedding(2, 1, _weight=Tensor([[1.0], [2.0]]), _freeze=True)
    assert table(Tensor([1])).tolist() == [[2.0]] and not table.weight.requires_grad
    with pytest.raises(ShapeError, match="rows of the table"):
        Embedding(3, 1, _weight=Tensor([[1.0], [2.0]]))
