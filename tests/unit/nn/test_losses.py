"""Losses as modules compared with PyTorch's of the same name and arguments."""

import numpy as np
import pytest

from weft import Tensor, nn
from weft.base.errors import ArgumentError
from weft.nn import losses

CHANCE = np.random.default_rng(0)
X, Y, Z = (CHANCE.standard_normal((5, 3)) for _ in range(3))
P, Q, WEIGHT = (CHANCE.uniform(0.05, 0.95, shape) for shape in ((5, 3), (5, 3), (3,)))
LABELS, SIGNS = np.array([0, 2, 1, 2, 0]), np.array([1.0, -1.0, 1.0, 1.0, -1.0])
LOGS = np.log(CHANCE.dirichlet(np.ones(4), (6, 2)))
PATHS = np.array([[2, 2, 3], [0, 1, 1]])
CASES = [
    ("MSELoss", {}, (X, Y)), ("MSELoss", {"reduction": "sum"}, (X, Y)), ("L1Loss", {}, (X, Y)),
    ("CrossEntropyLoss", {"weight": WEIGHT, "label_smoothing": 0.1}, (X, LABELS)),
    ("CrossEntropyLoss", {"ignore_index": 2, "reduction": "none"}, (X, LABELS)),
    ("NLLLoss", {"weight": WEIGHT}, (X, LABELS)), ("BCELoss", {"weight": WEIGHT}, (P, Q)),
    ("BCEWithLogitsLoss", {"pos_weight": WEIGHT}, (X, Q)),
    ("KLDivLoss", {"reduction": "batchmean"}, (X, P)), ("SmoothL1Loss", {"beta": 0.3}, (X, Y)),
    ("HuberLoss", {"delta": 0.3}, (X, Y)), ("SoftMarginLoss", {}, (X[:, 0], SIGNS)),
    ("HingeEmbeddingLoss", {"margin": 0.5}, (X[:, 0], SIGNS)),
    ("MarginRankingLoss", {"margin": 0.5}, (X[:, 0], Y[:, 0], SIGNS)),
    ("CosineEmbeddingLoss", {"margin": 0.2}, (X, Y, SIGNS)),
    ("TripletMarginLoss", {"margin": 0.5, "p": 1.0}, (X, Y, Z)),
    ("CTCLoss", {"blank": 1}, (LOGS, PATHS, np.array([6, 5]), np.array([3, 1]))),
    ("PoissonNLLLoss", {"full": True}, (X, P * 5)), ("GaussianNLLLoss", {}, (X, Y, P)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "how", "given"), CASES, ids=lambda value: str(value)[:20])
def test_values_are_pytorchs(name: str, how: dict, given: tuple) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch says what the values are")

    def made(library, tensor):
        arguments = {k: tensor(v) if isinstance(v, np.ndarray) else v for k, v in how.items()}
        return getattr(library, name)(**arguments)(*map(tensor, given))

    expected, got = made(torch.nn, torch.tensor), made(nn, Tensor)
    assert got.shape == tuple(expected.shape)
    np.testing.assert_allclose(got.numpy(), expected.numpy(), rtol=1e-6, atol=1e-9)


def test_weights_are_buffers_and_reductions_are_checked() -> None:
    loss = losses.CrossEntropyLoss(Tensor(WEIGHT))
    assert list(loss.state_dict()) == ["weight"] and not list(loss.parameters())
    assert not list(nn.CrossEntropyLoss().state_dict())
    with pytest.raises(ArgumentError, match="reduction"):
        nn.MSELoss("average")


def test_a_loss_takes_its_tensors_by_name() -> None:
    x, y = Tensor([1.0, 2.0]), Tensor([1.0, 4.0])
    assert nn.MSELoss()(input=x, target=y).item() == 2.0
    assert nn.GaussianNLLLoss()(x, target=y, var=Tensor([1.0, 1.0])).item() == 1.0
