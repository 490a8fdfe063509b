"""Operations of einops on tensors and arrays, against those on arrays of NumPy."""

import numpy as np
import pytest

einops = pytest.importorskip("einops")

from weft import Tensor  # noqa: E402
from weft import array_api as xp  # noqa: E402
from weft.array_api.einops_backend import WeftBackend  # noqa: E402

X = np.arange(48, dtype=np.float32).reshape(2, 3, 4, 2)
KINDS = [Tensor, xp.asarray, lambda x: Tensor(x + 1j * x)]


@pytest.mark.parametrize("kind", KINDS, ids=["Tensor", "Array", "complex"])
def test_rearrange_and_repeat(kind):
    x = kind(X)
    values = x.numpy()
    for pattern, sizes in (
        ("b c h w -> b (c h w)", {}), ("b (p q) h w -> q b h (w p)", {"p": 3}),
        ("b c h w -> w h c b", {}), ("b c h w -> b c h w 1", {}),
    ):  # fmt: skip
        found = einops.rearrange(x, pattern, **sizes)
        assert isinstance(found, Tensor)
        assert np.array_equal(found.numpy(), einops.rearrange(values, pattern, **sizes))
    found = einops.repeat(x, "b c h w -> b (c r) h w k", r=2, k=3)
    expected = einops.repeat(values, "b c h w -> b (c r) h w k", r=2, k=3)
    assert np.array_equal(found.numpy(), expected)


@pytest.mark.parametrize("operation", ["min", "max", "sum", "mean", "prod"])
@pytest.mark.parametrize("kind", KINDS[:2], ids=["Tensor", "Array"])
def test_reduce(kind, operation):
    x = X[:1] / 10 + 1
    found = einops.reduce(kind(x), "b c (h k) w -> b h", operation, k=2)
    expected = einops.reduce(x, "b c (h k) w -> b h", operation, k=2)
    assert np.allclose(found.numpy(), expected, rtol=1e-5)


def test_lists_packs_and_products():
    rows = [Tensor(x) for x in X]
    assert np.array_equal(einops.rearrange(rows, "b c h w -> c (b h) w").numpy(),
                          einops.rearrange(X, "b c h w -> c (b h) w"))  # fmt: skip
    packed, shapes = einops.pack([Tensor(X[0]), Tensor(X[1, 0])], "* w")
    assert packed.shape == (16, 2)
    assert [part.shape for part in einops.unpack(packed, shapes, "* w")] == [(3, 4, 2), (4, 2)]
    found = einops.einsum(Tensor(X), Tensor(X), "b c h w, b k h w -> c k")
    assert np.allclose(found.numpy(), np.einsum("bchw,bkhw->ck", X, X))
    assert einops.asnumpy(Tensor(X)).shape == X.shape
    backend = WeftBackend()
    assert backend.arange(1, 3).tolist() == [1, 2] and backend.from_numpy(X).shape == X.shape
