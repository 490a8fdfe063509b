"""The layer of embedding bags beside PyTorch's."""

import numpy as np
import pytest

from weft import Tensor, nn
from weft.nn.embedding_bag import EmbeddingBag

INDICES, OFFSETS = np.array([1, 2, 4, 5, 4, 3, 2, 0]), np.array([0, 4, 4, 6])


@pytest.mark.parametrize("how", [{}, {"mode": "sum", "padding_idx": 2}, {"mode": "max"}], ids=str)
def test_weights_and_values_are_pytorchs(how: dict) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch says what the values are")
    theirs, ours = torch.nn.EmbeddingBag(6, 3, **how), nn.EmbeddingBag(6, 3, **how)
    assert list(ours.state_dict()) == list(theirs.state_dict()) == ["weight"]
    ours.load_state_dict({"weight": Tensor(theirs.weight.detach().numpy())})
    for given in ((INDICES, OFFSETS), (INDICES.reshape(2, 4),)):
        expected = theirs(*map(torch.tensor, given)).detach().numpy()
        np.testing.assert_allclose(ours(*map(Tensor, given)).numpy(), expected, rtol=1e-5)


def test_rows_of_a_given_table_are_not_trained() -> None:
    bags = EmbeddingBag.from_pretrained(Tensor([[1.0], [2.0]]), mode="sum")
    assert not bags.weight.requires_grad
    factors = Tensor([[0.5, 2.0]])
    assert bags(Tensor([[0, 1]]), per_sample_weights=factors).tolist() == [[4.5]]
