"""`as_strided` of views reads the memory that the views are of."""

import pytest

pytest.importorskip("torch", reason="the package torch is not installed")

import torch
import torch._dynamo

import weft.torch

X = torch.arange(16.0).reshape(4, 4)
IMAGES = torch.arange(60.0).reshape(1, 3, 4, 5)

VIEWS = {
    "transposed": lambda x: (x + 1).t().as_strided((2, 2), (1, 4)),
    "sliced rows": lambda x: (x + 1)[1:].as_strided((2, 3), (4, 1)),
    "sliced columns": lambda x: (x + 1)[:, 1:].as_strided((2, 2), (1, 4), 2),
    "a part": lambda x: (x * 2).split(2)[1].as_strided((2, 2), (1, 4)) + 1,
    "a view of views": lambda x: (x * 2).t()[1:].unflatten(1, (2, 2)).as_strided((3,), (4,)) + 1,
}


class Called(torch.nn.Module):
    """A function as a module."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", VIEWS)
def test_view_of_a_computed_value(name):
    function = VIEWS[name]
    torch._dynamo.reset()
    expected = function(X)
    assert torch.equal(torch.compile(function, backend="weft")(X), expected)
    exported = torch.export.export(Called(function), (X,))
    found = weft.torch.from_exported(exported)(X)
    assert found.tolist() == expected.tolist()


@pytest.mark.filterwarnings("ignore")
def test_views_of_inputs():
    function = lambda x: x.as_strided((2, 3), (1, 4)) + 1  # noqa: E731
    for x in (X, X.t(), X[:3], X[1:], X[:, 1:], IMAGES.to(memory_format=torch.channels_last)):
        torch._dynamo.reset()
        assert torch.equal(torch.compile(function, backend="weft")(x), function(x))


@pytest.mark.filterwarnings("ignore")
def test_gradient_of_a_view():
    function = lambda x: ((x * x).t().as_strided((2, 2), (1, 4), 1) * 3).sum()  # noqa: E731
    torch._dynamo.reset()
    expected, found = (X.clone().requires_grad_() for _ in range(2))
    function(expected).backward()
    torch.compile(function, backend="weft")(found).backward()
    assert torch.equal(found.grad, expected.grad)
