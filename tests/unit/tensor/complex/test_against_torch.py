"""Values and gradients of complex tensors against PyTorch's, which has the same convention."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import weft  # noqa: E402
from weft import Tensor  # noqa: E402

A = np.array([0.3 + 0.4j, -1.2 + 0.1j, 0.1 - 2j, 1.5 + 0.7j])
B = np.array([1.0 - 0.5j, 0.2 + 2j, -0.7 + 0.3j, 2.0 + 0.1j])
FUNCTIONS = {
    "product": lambda lib, a, b: a * b, "quotient": lambda lib, a, b: a / b,
    "power": lambda lib, a, b: a**b, "conjugate": lambda lib, a, b: a.conj() * b,
    "size": lambda lib, a, b: abs(a) * b, "angle": lambda lib, a, b: lib.angle(a) * b,
    "dot": lambda lib, a, b: lib.outer(a, b) @ b, "sum": lambda lib, a, b: (a * b).sum() * a,
    "prod": lambda lib, a, b: a.prod() * b, "exp": lambda lib, a, b: lib.exp(a) * lib.sqrt(b),
    "log": lambda lib, a, b: lib.log(a) * lib.tanh(b), "fft": lambda lib, a, b: lib.fft.fft(a) * b,
    "parts": lambda lib, a, b: lib.complex(a.real * b.imag, a.imag),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_values_and_gradients(name):
    function = FUNCTIONS[name]
    x, y = Tensor(A, requires_grad=True), Tensor(B, requires_grad=True)
    p, q = torch.tensor(A, requires_grad=True), torch.tensor(B, requires_grad=True)
    found, expected = function(weft, x, y), function(torch, p, q)
    assert np.allclose(found.detach().numpy(), expected.detach().numpy())
    (found.real * 2.0 + found.imag).sum().backward()
    (expected.real * 2.0 + expected.imag).sum().backward()
    for ours, theirs in ((x, p), (y, q)):
        if theirs.grad is not None:
            assert np.allclose(ours.grad.numpy(), theirs.grad.resolve_conj().numpy())


def test_memory_is_exchanged():
    x = torch.tensor(A)
    assert np.array_equal(Tensor.from_dlpack(x).numpy(), A)
    made = (Tensor(B) * 1).realize()
    assert np.array_equal(torch.from_dlpack(made).numpy(), B)
