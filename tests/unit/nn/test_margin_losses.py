"""Hinge losses as modules compared with PyTorch's of the same name and arguments."""

import numpy as np
import pytest

from weft import Tensor
from weft.nn import margin_losses

CHANCE = np.random.default_rng(0)
X, Y, Z = (CHANCE.standard_normal((4, 3)) for _ in range(3))
WEIGHT, TARGET = CHANCE.uniform(0.05, 0.95, (3,)), CHANCE.uniform(0.0, 1.0, (4, 3))
LABELS = np.array([0, 2, 1, 2])
NUMBERS = np.array([[2, 0, -1], [1, -1, 0], [-1, 2, 1], [0, 1, 2]])
CASES = [
    ("MultiMarginLoss", {"p": 2, "margin": 0.5, "weight": WEIGHT}, (X, LABELS)),
    ("MultiLabelMarginLoss", {"reduction": "none"}, (X, NUMBERS)),
    ("MultiLabelSoftMarginLoss", {"weight": WEIGHT, "reduction": "sum"}, (X, TARGET)),
    ("TripletMarginWithDistanceLoss", {"margin": 0.5, "swap": True}, (X, Y, Z)),
    ("TripletMarginWithDistanceLoss", {"distance_function": lambda x, y: (x - y).abs().sum(-1)},
     (X, Y, Z)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "how", "given"), CASES, ids=lambda value: str(value)[:30])
def test_values_are_pytorchs(name: str, how: dict, given: tuple) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch says what the values are")

    def made(library, tensor):
        arguments = {k: tensor(v) if isinstance(v, np.ndarray) else v for k, v in how.items()}
        return getattr(library, name)(**arguments)(*map(tensor, given))

    expected, got = made(torch.nn, torch.tensor), made(margin_losses, Tensor)
    np.testing.assert_allclose(got.numpy(), expected.numpy(), rtol=1e-6, atol=1e-9)
