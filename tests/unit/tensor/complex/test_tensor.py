"""Complex tensors: construction, facts, movement, indexing, writes, reductions, exchange, jit."""

import copy
import pickle

import numpy as np
import pytest

import weft
import weft.io
from weft import Tensor, dtypes, jit
from weft.base.errors import DTypeError, ExchangeError, GradientError, IndexingError
from weft.tensor.complex import ComplexTensor, conversion, creation, inherited, movement
from weft.tensor.complex.construction import dtype_of, interleaved
from weft.tensor.complex.parts import parts_of, result_dtype

RNG = np.random.default_rng(5)
Z = (RNG.standard_normal((2, 3, 4)) + 1j * RNG.standard_normal((2, 3, 4))).astype(np.complex64)
W = (RNG.standard_normal((4, 3)) + 1j * RNG.standard_normal((4, 3))).astype(np.complex64)


def close(found, expected, rtol=1e-5):
    found = found.numpy() if isinstance(found, Tensor) else found
    return found.shape == expected.shape and np.allclose(found, expected, rtol=rtol, atol=1e-5)


@pytest.mark.parametrize(
    "data",
    [1j, [1j, 2], [[1, 2j], [0.5, True]], (1j,), np.complex64(2j), Z, Z.astype(np.complex128), Z.T,
     [np.complex64(1j), 2]],
)  # fmt: skip
def test_construction(data):
    made = Tensor(data)
    assert isinstance(made, ComplexTensor) and made.dtype.is_complex
    assert np.array_equal(made.numpy(), np.asarray(data).astype(made.dtype.name))


def test_construction_with_a_dtype():
    assert Tensor([1, 2], dtype="complex128").dtype is dtypes.complex128
    assert Tensor([1.5, 2], dtype=complex).tolist() == [1.5, 2]
    assert Tensor(Tensor([1, 2]), dtype=dtypes.complex64).tolist() == [1, 2]
    assert Tensor(None, dtype=dtypes.complex64).shape == (0,)
    assert Tensor([Tensor([1j]), Tensor([2j])]).tolist() == [[1j], [2j]]
    assert Tensor(Z.tobytes(), dtype=dtypes.complex64).shape == (24,)
    with pytest.raises(DTypeError):
        Tensor([1j], dtype=dtypes.float32)
    assert dtype_of([1j, np.complex128(2)]) is dtypes.complex128


def test_creation():
    assert Tensor.zeros(2, dtype=dtypes.complex64).tolist() == [0j, 0j]
    assert Tensor.full((2,), 1 + 2j).tolist() == [1 + 2j] * 2
    assert Tensor.full((2,), 3, dtype="complex128").dtype is dtypes.complex128
    assert Tensor.empty(2, 3, dtype=dtypes.complex64).shape == (2, 3)
    assert Tensor.arange(3, dtype=dtypes.complex64).tolist() == [0, 1, 2]
    assert Tensor.eye(2, dtype=dtypes.complex64).tolist() == [[1, 0], [0, 1]]
    z = Tensor(Z)
    for name in ("zeros_like", "ones_like", "empty_like", "randn_like"):
        made = getattr(z, name)()
        assert made.shape == z.shape and made.dtype is z.dtype
    assert z.full_like(2j).tolist()[0][0][0] == 2j and z.new_full((1,), 1j).tolist() == [1j]
    assert z.new_tensor([1]).tolist() == [1] and z.new_zeros(2).dtype is z.dtype
    assert z.new_ones(2).tolist() == [1, 1] and z.new_empty(2).shape == (2,)
    assert ComplexTensor.ones(2).dtype is dtypes.float32
    assert all(name in creation.METHODS for name in ("zeros", "full_like"))


def test_facts():
    z = Tensor(Z)
    assert (z.shape, z.ndim, z.numel(), len(z)) == ((2, 3, 4), 3, 24, 2)
    assert (z.itemsize, z.nbytes(), z.element_size(), z.size(1)) == (8, 192, 8, 3)
    assert z.is_complex() and not z.is_floating_point() and z.device == Tensor([1]).device
    assert z.uop.shape == (2, 3, 4, 2)
    with pytest.raises(DTypeError):
        _ = z._uop
    with pytest.raises(DTypeError):
        bool(z)


def test_parts_are_views():
    z = Tensor([1 + 2j, 3 + 4j])
    z.real[0] = 10.0
    z.imag += 1
    assert z.tolist() == [10 + 3j, 3 + 5j]
    assert parts_of(1 + 2j, z.dtype) == (1.0, 2.0) and parts_of(2, z.dtype).imag is None
    assert result_dtype(z, 1.0) is z.dtype
    assert interleaved(Tensor([1.0]), Tensor([2.0])).tolist() == [[1.0, 2.0]]


MOVES = {
    "reshape": lambda x: x.reshape(6, 4), "permute": lambda x: x.transpose(2, 0, 1),
    "T": lambda x: x[0].T, "flip": lambda x: x[::-1, :, ::-1], "slice": lambda x: x[:, 1:, ::2],
    "new axis": lambda x: x[None, ..., 0], "int": lambda x: x[1, -1], "ravel": lambda x: x.ravel(),
    "squeeze": lambda x: x[:1].squeeze(0), "array": lambda x: x[:, [2, 0]],
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(MOVES))
def test_moves_are_those_of_numpy(name):
    z = Tensor(Z)
    found = z.permute(2, 0, 1) if name == "permute" else MOVES[name](z)
    assert np.array_equal(found.numpy(), MOVES[name](Z))


METHODS = {
    "movedim": ((0, 2), lambda x: np.moveaxis(x, 0, 2)),
    "swapaxes": ((0, 1), lambda x: np.swapaxes(x, 0, 1)),
    "unsqueeze": ((-1,), lambda x: x[..., None]), "flatten": ((1,), lambda x: x.reshape(2, 12)),
    "unflatten": ((2, (2, 2)), lambda x: x.reshape(2, 3, 2, 2)),
    "roll": ((1, 1), lambda x: np.roll(x, 1, 1)), "tril": ((), np.tril),
    "triu": ((1,), lambda x: np.triu(x, 1)),
    "repeat": ((1, 2, 1), lambda x: np.tile(x, (1, 2, 1))), "tile": ((2,), lambda x: np.tile(x, 2)),
    "narrow": ((1, 1, 2), lambda x: x[:, 1:3]), "select": ((1, 2), lambda x: x[:, 2]),
    "diagonal": ((), lambda x: np.diagonal(x)), "rot90": ((), np.rot90),
    "index_select": ((1, [2, 0]), lambda x: x[:, [2, 0]]), "flip": ((1,), lambda x: np.flip(x, 1)),
    "pad": ((((0, 0), (1, 0), (0, 2)),), lambda x: np.pad(x, ((0, 0), (1, 0), (0, 2)))),
    "diff": ((), lambda x: np.diff(x)),
    "shrink": ((((0, 1), None, (1, 3)),), lambda x: x[:1, :, 1:3]),
    "expand": ((5, 2, 3, 4), lambda x: np.broadcast_to(x, (5, 2, 3, 4))), "fliplr": ((), np.fliplr),
    "broadcast_to": ((5, 2, 3, 4), lambda x: np.broadcast_to(x, (5, 2, 3, 4))),
    "repeat_interleave": ((2, 1), lambda x: np.repeat(x, 2, 1)),
    "rearrange": (("a b c -> c (a b)",), lambda x: x.transpose(2, 0, 1).reshape(4, 6)),
    "view": ((24,), lambda x: x.reshape(24)), "squeeze": ((), lambda x: x),
    "atleast_2d": ((), lambda x: x),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(METHODS))
def test_methods_that_move(name):
    args, expected = METHODS[name]
    assert np.array_equal(getattr(Tensor(Z), name)(*args).numpy(), expected(Z))


@pytest.mark.parametrize("name", ["split", "chunk", "unbind", "tensor_split", "hsplit"])
def test_pieces(name):
    args = {"split": (1,), "chunk": (2,), "unbind": (), "tensor_split": (2,), "hsplit": (3,)}[name]
    pieces = getattr(Tensor(Z), name)(*args)
    assert all(isinstance(piece, ComplexTensor) for piece in pieces)
    axis = 1 if name == "hsplit" else 0
    joined = Tensor.stack(pieces) if name == "unbind" else Tensor.cat(pieces, dim=axis)
    assert np.array_equal(joined.numpy(), Z)


def test_joining_with_real_tensors():
    x = Tensor([1.0, 2.0])
    assert x.cat(Tensor([1j])).tolist() == [1, 2, 1j]
    assert Tensor.stack(x, Tensor([1j, 2j])).tolist() == [[1, 2], [1j, 2j]]
    assert weft.cat([Tensor([1j]), x]).tolist() == [1j, 1, 2]
    assert weft.hstack([x, Tensor([1j])]).tolist() == [1, 2, 1j]


def test_choice():
    mask = Tensor([[True], [False]])
    assert mask.where(Tensor([1j, 2]), 0).tolist() == [[1j, 2], [0, 0]]
    assert mask.where(1.5, Tensor([1j, 2])).tolist() == [[1.5, 1.5], [1j, 2]]
    assert Tensor([True, False]).where(1j, Tensor([1.0])).tolist() == [1j, 1]
    assert movement.where(mask, Tensor([1j]), 0).shape == (2, 1)


def test_indexing_by_tensors_and_writes():
    z, expected = Tensor(Z), Z.copy()
    places = Tensor([1, 0, 1])
    assert np.array_equal(z[places].numpy(), Z[[1, 0, 1]])
    assert np.array_equal(z[:, places].numpy(), Z[:, [1, 0, 1]])
    mask = Z.real > 0
    assert np.array_equal(z[Tensor(mask)].numpy(), Z[mask])
    view = z[0]
    z[0, 1] = 1 + 2j
    z[:, 0] = Tensor([1.0, 2.0, 3.0, 4.0])
    z[..., -1] = Tensor(W[:2, :])
    z[Tensor(mask)] = 0
    expected[0, 1], expected[:, 0], expected[..., -1] = 1 + 2j, [1, 2, 3, 4], W[:2]
    expected[mask] = 0
    assert np.array_equal(z.numpy(), expected) and np.array_equal(view.numpy(), expected[0])
    with pytest.raises(IndexingError):
        z[Tensor([1j])]
    with pytest.raises(DTypeError):
        Tensor([1.0])[0] = 1j


@pytest.mark.parametrize("axis", [None, 0, -1, (0, 2)])
@pytest.mark.parametrize("name", ["sum", "prod", "mean", "var", "std"])
def test_reductions(name, axis):
    options = {"ddof": 1} if name in ("var", "std") else {}
    found = getattr(Tensor(Z), name)(axis)
    assert close(found, np.asarray(getattr(Z, name)(axis, **options)), 1e-4)
    kept = getattr(Tensor(Z), name)(axis, keepdim=True)
    assert kept.shape == np.sum(Z, axis, keepdims=True).shape


def test_other_reductions():
    z = Tensor(Z)
    assert close(z.cumsum(1), np.cumsum(Z, 1)) and close(z.cumprod(1), np.cumprod(Z, 1))
    assert z.any().item() and z.all().item() and not Tensor([0j]).any().item()
    assert z.count_nonzero().item() == 24
    assert np.isclose(z.norm().item(), np.linalg.norm(Z), rtol=1e-5)
    assert Tensor(Z[:0]).sum().item() == 0 and Tensor(Z[:0]).prod().item() == 1
    assert z.sum(dtype="complex128").dtype is dtypes.complex128


def test_products():
    z, w, x = Tensor(Z), Tensor(W), Tensor(W.real.copy())
    assert close(z @ w, Z @ W) and close(z @ x, Z @ W.real)
    assert close(x @ Tensor(W.T.copy()), W.real @ W.T) and close(x.T @ w, W.real.T @ W)
    assert close(z.matmul(w), Z @ W) and close(w.T.mm(w), W.T @ W)
    a, b = Tensor(W[0]), Tensor(W[1])
    assert close(a.dot(b), np.asarray(W[0] @ W[1])) and close(a.outer(b), np.outer(W[0], W[1]))
    assert close(a.vdot(b), np.asarray(np.vdot(W[0], W[1])))
    assert close(w.vecdot(w), np.sum(W.conj() * W, -1))
    assert close(z.tensordot(w, 1), np.tensordot(Z, W, 1)) and close(a.kron(b), np.kron(W[0], W[1]))
    assert close(Tensor.einsum("abc,cd->bd", z, w), np.einsum("abc,cd->bd", Z, W))
    assert close(Tensor.einsum("cd,abc,cd->b", x, z, w), np.einsum("cd,abc,cd->b", W.real, Z, W))
    assert close(w.T.matmul(w).matrix_power(3), np.linalg.matrix_power(W.T @ W, 3), 1e-3)
    assert close((w.T @ w).trace(), np.asarray(np.trace(W.T @ W)))


def test_conversion():
    z = Tensor([1 + 2j, 3])
    assert (
        z.cast("complex128").dtype is dtypes.complex128 and z.to(dtypes.complex128).itemsize == 16
    )
    assert Tensor([1.0]).cast(complex).tolist() == [1] and Tensor([1]).to("complex64").tolist() == [
        1
    ]
    assert z.to(z.device).tolist() == z.tolist() and z.bool().tolist() == [True, True]
    assert Tensor(1j).item() == complex(Tensor(1j)) == 1j
    for convert in (lambda: z.cast("float32"), z.float, lambda: float(z[0])):
        with pytest.raises(DTypeError):
            convert()


def test_text():
    z = Tensor([1 + 2j, 3], device="REF").realize()
    assert repr(z) == "Tensor([1.+2.j, 3.+0.j], dtype=complex64, device='REF')"
    assert "pending" in repr(z * z) and "shape=(2,)" in repr(z * z)
    assert repr(z[::-1].realize()).startswith("Tensor([3.+0.j, 1.+2.j]")


def test_exchange_of_memory():
    a = Z.copy()
    z = Tensor.from_dlpack(a)
    assert isinstance(z, ComplexTensor) and np.array_equal(z.numpy(), a)
    assert np.array_equal(np.from_dlpack(z), a) and np.array_equal(np.asarray(z), a)
    w = (z * 1).realize()
    window = np.from_dlpack(w)
    assert window.base is not None and not window.flags.writeable
    assert np.array_equal(np.asarray(w, copy=False), w.numpy())
    assert np.array_equal(np.from_dlpack(w[:, 1:, ::2]), a[:, 1:, ::2])
    big = Tensor.from_dlpack(a.astype(np.complex128))
    assert np.array_equal(np.from_dlpack(big), a.astype(np.complex128))
    with pytest.raises(ExchangeError):
        np.asarray(w.flip(0), copy=False)
    assert conversion.array_of(z, np.complex128).dtype == np.complex128


def test_numpy_functions():
    z = Tensor(Z)
    assert close(np.exp(z), np.exp(Z)) and close(np.add(z, 1j), Z + 1j) and close(np.abs(z), abs(Z))
    assert isinstance(np.sin(z), ComplexTensor)
    assert close(np.concatenate([z, z]), np.concatenate([Z, Z]))


def test_copies_and_pickles():
    z = Tensor(Z)
    for made in (copy.copy(z), copy.deepcopy(z), pickle.loads(pickle.dumps(z)), z.clone()):
        assert isinstance(made, ComplexTensor) and np.array_equal(made.numpy(), Z)
    changed = z.clone()
    changed[0] = 0
    assert np.array_equal(z.numpy(), Z)


def test_gradients():
    z = Tensor(Z, requires_grad=True)
    assert z.requires_grad and z.is_leaf
    ((z * z.conj()).real.sum() + (z * 2j).imag.sum()).backward()
    assert close(z.grad, 2 * Z + 2)
    (direct,) = (z * z).real.sum().gradient(z)
    assert close(direct, 2 * Z.conj())
    (through,) = (z * z).gradient(z, gradient=Tensor(Z))
    assert close(through, Z * (2 * Z).conj())
    with pytest.raises(GradientError):
        z.sum().backward()
    assert not z.detach().requires_grad


@pytest.mark.parametrize(
    "name", ["exp", "log", "sqrt", "sin", "tanh", "asin", "atan", "abs", "reciprocal"]
)
def test_gradients_by_differences(name):
    real = 0.5 if name == "asin" else 2.0  # no branch cut
    points = np.array([0.3 + 0.4j, -1.2 + 0.1j, real, 0.1 - 2j])
    z = Tensor(points, requires_grad=True)
    made = getattr(z, name)()
    value = (made if not made.is_complex() else made.real + made.imag * 0.5).sum()
    (found,) = value.gradient(z)

    def at(p):
        made = getattr(Tensor(p), name)()
        return (made if not made.is_complex() else made.real + made.imag * 0.5).numpy()

    step = 1e-6
    numeric = (at(points + step) - at(points - step)) / (2 * step)
    numeric = numeric + 1j * (at(points + 1j * step) - at(points - 1j * step)) / (2 * step)
    assert np.allclose(found.numpy(), numeric, rtol=1e-5, atol=1e-6)


def test_jit():
    @jit
    def f(z, w):
        return z * w + 1j, z.abs()

    for k in range(4):
        z, w = Tensor(Z * (k + 1)).realize(), Tensor(Z[0]).realize()
        made, size = f(z, w)
        assert isinstance(made, ComplexTensor) and close(made, Z * (k + 1) * Z[0] + 1j)
        assert close(size, abs(Z * (k + 1)))


def test_jit_with_state():
    weight = Tensor(W).realize()

    @jit
    def f(x):
        return x @ weight

    for k in range(4):
        assert close(f(Tensor(Z + k).realize()), (Z + np.complex64(k)) @ W, 1e-4)


def test_every_method_of_tensors_is_sorted():
    """Each public method is lifted, composed, of the interleaved numbers, or refused."""
    kept = inherited.COMPOSED
    for name in dir(Tensor):
        if name.startswith("_") or name in kept:
            continue
        own = vars(ComplexTensor).get(name)
        assert own is not None, f"{name} is neither lifted nor refused"


def test_functions_of_weft():
    z = Tensor(Z)
    assert close(weft.exp(z), np.exp(Z)) and close(weft.sum(z), np.asarray(Z.sum()))
    with pytest.raises(DTypeError):
        weft.floor(z)


def test_files(tmp_path):
    z = Tensor(Z)
    weft.io.safe_save({"z": z, "x": z.real}, tmp_path / "z.safetensors")
    loaded = weft.io.safe_load(tmp_path / "z.safetensors")
    assert loaded["z"].dtype is dtypes.complex64 and np.array_equal(loaded["z"].numpy(), Z)
    for dtype in (np.complex64, np.complex128):
        np.save(tmp_path / "z.npy", Z.astype(dtype))
        assert np.array_equal(weft.io.npy_load(tmp_path / "z.npy").numpy(), Z.astype(dtype))
