"""Special functions of PyTorch in a compiled function, forward and backward."""

import pytest

torch = pytest.importorskip("torch", reason="the package torch is not installed")

FUNCTIONS = {
    "lgamma": (torch.lgamma, (0.1, 6.0)),
    "digamma": (torch.digamma, (0.2, 6.0)),
    "polygamma": (lambda x: torch.polygamma(2, x), (0.5, 6.0)),
    "erfc": (torch.erfc, (-3.0, 3.0)),
    "erfinv": (torch.erfinv, (-0.9, 0.9)),
    "i0": (torch.i0, (-9.0, 9.0)),
    "i1": (torch.special.i1, (-9.0, 9.0)),
    "log_ndtr": (torch.special.log_ndtr, (-6.0, 3.0)),
    "ndtri": (torch.special.ndtri, (0.05, 0.95)),
    "entr": (torch.special.entr, (0.1, 3.0)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_and_gradients(name):
    function, (low, high) = FUNCTIONS[name]
    torch._dynamo.reset()
    torch.manual_seed(0)
    ours = (torch.rand(40, dtype=torch.float64) * (high - low) + low).requires_grad_()
    theirs = ours.detach().clone().requires_grad_()
    compiled = torch.compile(lambda x: function(x) * 1.5, backend="weft", fullgraph=True)
    found, expected = compiled(ours), function(theirs) * 1.5
    torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-11)
    found.sum().backward()
    expected.sum().backward()
    torch.testing.assert_close(ours.grad, theirs.grad, rtol=1e-8, atol=1e-10)
