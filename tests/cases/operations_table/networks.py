"""What products, convolutions, losses, linear algebra, creation, random numbers and conversions are
compared with, for the table of operations: see `cases.operations_table.elementwise`."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

from cases.operations_table.cells import Maker
from cases.operations_table.elementwise import check, method, quiet, single
from weft.base.dtype import dtypes
from weft.base.scalars import truncate
from weft.tensor import Tensor
from weft.uop.evaluate import threefry2x32

# ---- products and networks -----------------------------------------------------------------------

PRODUCTS = "Products and networks"


def product(name: str, ours: Any, theirs: Any, inputs: Any, **facts: Any) -> None:
    """A method that multiplies and sums: errors are relative to the largest element."""
    check(name, PRODUCTS, ours, theirs, inputs, **{"most": 4, "loose": True, **facts})


def _matrices(m: Maker) -> list[Any]:
    return [m.calm(3, 5), m.calm(5, 4)]


def _times(np: Any, a: Any, b: Any) -> Any:
    """Sums of bool are 'or', those of short integers wrap."""
    return (a @ b).astype(a.dtype)


def _images(m: Maker) -> list[Any]:
    return [m.calm(1, 2, 5, 5), m.calm(3, 2, 2, 2)]


product("matmul", lambda a, b: a.matmul(b), quiet(_times), _matrices)
product("dot", lambda a, b: a.dot(b), quiet(_times), _matrices)
product("einsum", lambda a, b: Tensor.einsum("ij,jk->ik", a, b), quiet(_times), _matrices)
product("linear", lambda x, w: x.linear(w), quiet(_times), _matrices)


def torch_layer(name: str, *rest: Any, whole: bool = True, **named: Any) -> Callable[..., Any]:
    """A function of `torch.nn.functional`; `whole`: integers give integers, in 32 bits at least."""

    def call(*arrays: Any) -> Any:
        import torch

        tensors = [torch.from_numpy(single(a).astype("float64")) for a in arrays]
        found = getattr(torch.nn.functional, name)(*tensors, *rest, **named)
        results = found if isinstance(found, tuple) else (found,)
        done = [r.numpy() for r in results]
        if whole and arrays[0].dtype.kind != "f":
            done = [r.astype("int64") for r in done]
        return done if isinstance(found, tuple) else done[0]

    return call


product("conv2d", lambda x, w: x.conv2d(w), torch_layer("conv2d"), _images, result="products",
        against="PyTorch")  # fmt: skip
product("conv_transpose2d", lambda x, w: x.conv_transpose2d(w), torch_layer("conv_transpose2d"),
        lambda m: [m.calm(1, 3, 4, 4), m.calm(3, 2, 2, 2)], result="products",
        against="PyTorch")  # fmt: skip
product("avg_pool2d", method("avg_pool2d"), torch_layer("avg_pool2d", 2, whole=False),
        lambda m: [m.calm(1, 2, 4, 4)], result="float", against="PyTorch")  # fmt: skip
product("max_pool2d", method("max_pool2d"), torch_layer("max_pool2d", 2),
        lambda m: [m.grid(1, 2, 4, 4)], most=0, against="PyTorch")  # fmt: skip
product("layernorm", method("layernorm"), torch_layer("layer_norm", (6,), whole=False),
        lambda m: [m.grid(3, 6)], most=8, result="float", against="PyTorch")  # fmt: skip
product("scaled_dot_product_attention",
        lambda q, k, v: q.scaled_dot_product_attention(k, v),
        torch_layer("scaled_dot_product_attention", whole=False),
        lambda m: [m.calm(1, 2, 3, 4), m.calm(1, 2, 5, 4), m.calm(1, 2, 5, 4)], most=8,
        result="float", against="PyTorch")  # fmt: skip

product("image_dot", lambda a, b: a.image_dot(b), quiet(_times), _matrices)
product("image_conv2d", lambda x, w: x.image_conv2d(w), torch_layer("conv2d"), _images,
        result="products", against="PyTorch")  # fmt: skip


def _rounded(like: Any, values: Any) -> Any:
    """Integers are rounded to the nearest, halves up."""
    return values if like.dtype.kind == "f" else (values + 0.5) // 1


product("interpolate", method("interpolate", (8,)), lambda x: _rounded(x, torch_layer(
        "interpolate", (8,), mode="linear", whole=False)(x)), lambda m: [m.grid(1, 2, 4)], most=8,
        against="PyTorch")  # fmt: skip
product("batchnorm", lambda x, w, b, mean, scale: x.batchnorm(w, b, mean, scale),
        quiet(lambda np, x, *rest: _normalised(x, *(v[None, :, None] for v in rest))),
        lambda m: [m.calm(2, 3, 4), *(m.calm(3) for _ in range(4))], kinds="number", most=16,
        against="its formula")  # fmt: skip


def _normalised(x: Any, weight: Any, bias: Any, mean: Any, scale: Any) -> Any:
    return ((x - mean) * scale * weight + bias).astype(x.dtype)


def _one_top(m: Maker) -> Sequence[Any]:
    """One of every two by two is larger than the others."""
    if m.dtype is not dtypes.bool:
        return [m.apart(1, 1, 4, 4) + m.own(1)]
    return [m.own([[[[1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 1, 0, 0]]]])]


def _tops(np: Any, x: Any) -> Any:
    """The largest of every two by two, where it is; 0 elsewhere."""
    blocks = x.reshape(2, 2, 2, 2)
    return np.where(blocks == blocks.max((1, 3), keepdims=True), blocks, 0).reshape(x.shape)


product("max_unpool2d", lambda x: x.max_pool2d(return_indices=True)[0].max_unpool2d(
        x.max_pool2d(return_indices=True)[1]), quiet(lambda np, x: _tops(np, x)),
        _one_top, most=0, against="its law")  # fmt: skip

# ---- losses --------------------------------------------------------------------------------------

LOSSES = "Losses"


def _classes(m: Maker) -> list[Any]:
    return [m.grid(4, 5), m.places(5, 4)]


def _shares(m: Maker) -> list[Any]:
    shares = m.random.uniform(0.1, 0.9, (3, 4))
    return [m.own(shares), m.own(m.truths(3, 4))]


def loss(name: str, ours: Any, theirs: Any, inputs: Any, **facts: Any) -> None:
    """A loss compared with PyTorch's."""
    check(name, LOSSES, ours, theirs, inputs, **{"most": 8, "loose": True, "against": "PyTorch",
          "result": "float", **facts})  # fmt: skip


def torch_loss(name: str, logs: bool = False) -> Callable[..., Any]:
    """A loss of `torch.nn.functional`; `logs`: of the logarithms of what softmax says."""

    def call(x: Any, y: Any) -> Any:
        import torch

        given = torch.from_numpy(single(x).astype("float64"))
        if logs:
            given = torch.log_softmax(given, 1)
        wanted = torch.from_numpy(y.astype("float64"))
        wanted = wanted.long() if y.ndim == 1 else wanted
        return getattr(torch.nn.functional, name)(given, wanted).numpy()

    return call


for _name in ("cross_entropy", "sparse_categorical_crossentropy"):
    loss(_name, lambda x, y, n=_name: getattr(x, n)(y), torch_loss("cross_entropy"), _classes)
loss("nll_loss", lambda x, y: x.log_softmax(1).nll_loss(y), torch_loss("nll_loss", True), _classes)
loss("binary_crossentropy", lambda x, y: x.binary_crossentropy(y),
     torch_loss("binary_cross_entropy"), _shares)  # fmt: skip
loss("binary_crossentropy_logits", lambda x, y: x.binary_crossentropy_logits(y),
     torch_loss("binary_cross_entropy_with_logits"), _shares)  # fmt: skip

# ---- linear algebra ------------------------------------------------------------------------------

ALGEBRA = "Linear algebra"


def _well(m: Maker) -> list[Any]:
    """A symmetric matrix whose largest numbers are on its diagonal."""
    import numpy as np

    low = np.tril(m.random.integers(0, 2, (4, 4)), -1) * (m.dtype is not dtypes.bool)
    return [m.own((low + low.T + 6 * np.eye(4)).astype("int64"))]


def _decomposed(name: str) -> Any:
    return lambda np, x: getattr(np.linalg, name)(x.astype(np.float64))


def _whole_again(name: str) -> Callable[..., Any]:
    """What a decomposition multiplies up to: its parts are no two libraries' same."""

    def call(x: Any) -> Any:
        if name == "qr":
            q, r = x.qr()
            return q @ r
        if name == "svd":
            u, s, v = x.svd()
            return (u * s.unsqueeze(0)) @ v
        values, vectors = getattr(x, name)()
        scaled = vectors * values.unsqueeze(0)
        return scaled @ (vectors.inv() if name == "eig" else vectors.transpose(0, 1))

    return call


def algebra(name: str, ours: Any, theirs: Any, inputs: Any = _well, **facts: Any) -> None:
    """A method of linear algebra."""
    check(name, ALGEBRA, ours, theirs, inputs, **{"most": 64, "loose": True, "result": "single",
          **facts})  # fmt: skip


for _name in ("inv", "det", "cholesky", "pinv", "eigvalsh"):
    algebra(_name, method(_name), quiet(_decomposed(_name)))
algebra("logdet", method("logdet"), quiet(lambda np, x: np.linalg.slogdet(x.astype(float))[1]))
algebra("slogdet", method("slogdet"), quiet(lambda np, x: list(np.linalg.slogdet(x.astype(float)))))
algebra("solve", lambda a, b: a.solve(b), quiet(lambda np, a, b: np.linalg.solve(
    a.astype(np.float64), b.astype(np.float64))), lambda m: [*_well(m), m.calm(4, 2)])  # fmt: skip
algebra("svdvals", method("svdvals"), quiet(lambda np, x: np.linalg.svd(x.astype(float))[1]))
algebra("matrix_rank", method("matrix_rank"), quiet(_decomposed("matrix_rank")), result="int32")
algebra("lstsq", lambda a, b: a.lstsq(b).solution, quiet(lambda np, a, b: np.linalg.lstsq(
    a.astype(np.float64), b.astype(np.float64), None)[0]),
    lambda m: [*_well(m), m.calm(4, 2)])  # fmt: skip
for _name in ("qr", "svd", "eigh", "eig"):
    algebra(_name, _whole_again(_name), lambda x: x, against="the matrix it takes apart")

# ---- creation ------------------------------------------------------------------------------------

CREATION = "Creation"


def makes(name: str, ours: Any, theirs: Any, **facts: Any) -> None:
    """A class method with the parameters dtype and device."""

    def reference(dtype: Any) -> Any:
        import numpy as np

        return theirs(np).astype(dtype)

    check(name, CREATION, ours, reference, lambda m: [], creates=True, **facts)


makes("zeros", lambda **at: Tensor.zeros(2, 3, **at), lambda np: np.zeros((2, 3)))
makes("ones", lambda **at: Tensor.ones(2, 3, **at), lambda np: np.ones((2, 3)))
makes("full", lambda **at: Tensor.full((2, 3), 1, **at), lambda np: np.full((2, 3), 1))
makes("arange", lambda **at: Tensor.arange(1, 7, 2, **at), lambda np: np.arange(1, 7, 2))
makes("linspace", lambda **at: Tensor.linspace(0, 4, 5, **at), lambda np: np.linspace(0, 4, 5),
      kinds="number")  # fmt: skip
makes("logspace", lambda **at: Tensor.logspace(0, 3, 4, base=2.0, **at),
      lambda np: np.logspace(0, 3, 4, base=2.0), most=4)  # fmt: skip
makes("tri", lambda **at: Tensor.tri(3, 4, **at), lambda np: np.tri(3, 4))
makes("eye", lambda **at: Tensor.eye(3, 4, **at), lambda np: np.eye(3, 4))
makes("empty", lambda **at: Tensor.empty(2, 3, **at).assign(Tensor.ones(2, 3, **at)),
      lambda np: np.ones((2, 3)))  # fmt: skip
for _name, _value in (("zeros_like", 0), ("ones_like", 1)):
    check(_name, CREATION, method(_name), quiet(lambda np, x, v=_value: np.full_like(x, v)))
check("empty_like", CREATION, lambda x: x.empty_like().assign(x), lambda x: x)
check("full_like", CREATION, method("full_like", 1), quiet(lambda np, x: np.full_like(x, 1)))


RANDOM = "Random numbers and hashes"


def lawful(name: str, made: Callable[..., Tensor], law: Callable[[Any], Any], **facts: Any) -> None:
    """Random numbers: the law that all of them obey, as true or false."""

    def ours(**at: Any) -> Any:
        import numpy as np

        Tensor.manual_seed(7)
        drawn = made(**at)
        if drawn.dtype is not at["dtype"]:
            return drawn  # its dtype is wrong, and said to be
        values = drawn.numpy()
        wide = values.astype(np.float64) if values.dtype.kind not in "biu" else values
        return Tensor([bool(law(wide))])

    def reference(dtype: Any) -> Any:
        import numpy as np

        return np.array([True])

    check(name, RANDOM, ours, reference, lambda m: [], creates=True, result="bool",
          against="the law of its numbers", **facts)  # fmt: skip


lawful("rand", lambda **at: Tensor.rand(50, **at),
       lambda x: ((x >= 0) & (x < 1)).all() and 0.3 < x.mean() < 0.7, kinds="float")  # fmt: skip
lawful("uniform", lambda **at: Tensor.uniform(50, low=1, high=3, **at),
       lambda x: ((x >= 1) & (x <= 3)).all())  # fmt: skip
# of integers the draws are those of floats without their fractions, which unsigned ones wrap
lawful("randn", lambda **at: Tensor.randn(80, **at),
       lambda x: x.dtype.kind != "f" or (abs(x.mean()) < 0.5 and 0.6 < x.std() < 1.5))  # fmt: skip
lawful("normal", lambda **at: Tensor.normal(80, mean=2, std=0.5, **at),
       lambda x: 1.7 < x.mean() < 2.3 and x.std() < 1, kinds="float")  # fmt: skip
lawful("randint", lambda **at: Tensor.randint(50, low=2, high=9, **at),
       lambda x: ((x >= 2) & (x < 9)).all() and x.std() > 0.5, kinds="integer")  # fmt: skip
lawful("randperm", lambda **at: Tensor.randperm(9, **at),
       lambda x: sorted(x.tolist()) == list(range(9)), kinds="number")  # fmt: skip
for _name in ("glorot_uniform", "kaiming_uniform", "scaled_uniform"):
    lawful(_name, lambda n=_name, **at: getattr(Tensor, n)(8, 8, **at),
           lambda x: abs(x).max() <= 2.5 and x.std() > 0.01, kinds="float")  # fmt: skip
lawful("kaiming_normal", lambda **at: Tensor.kaiming_normal(8, 8, **at),
       lambda x: abs(x).max() <= 2.5 and x.std() > 0.01, kinds="float")  # fmt: skip
lawful("rand_like", lambda **at: Tensor.zeros(60, **at).rand_like(),
       lambda x: ((x >= 0) & (x < 1)).all() and x.std() > 0.1, kinds="float")  # fmt: skip
lawful("randn_like", lambda dtype, **at: Tensor.zeros(60, dtype=dtype, **at).randn_like()
       .cast(dtype), lambda x: x.dtype.kind != "f" or abs(x).max() <= 5)  # fmt: skip
lawful("randint_like", lambda dtype, **at: Tensor.zeros(60, dtype=dtype, **at).randint_like(2, 9)
       .cast(dtype), lambda x: ((x >= 1) & (x < 9)).all())  # fmt: skip
lawful("bernoulli", lambda **at: Tensor.full((60,), 1, **at).bernoulli(),
       lambda x: (x == 1).all(), kinds="float")  # fmt: skip
lawful("dropout", lambda **at: _dropped(Tensor.ones(60, **at)),
       lambda x: set(x.tolist()) <= {0, 1, 2} and 10 < (x == 0).sum() < 50)  # fmt: skip
lawful("multinomial", lambda dtype, **at: Tensor([0, 1, 1, 0], dtype=dtype, **at).multinomial(
       30, True).cast(dtype), lambda x: set(x.tolist()) <= {1, 2})  # fmt: skip


def _dropped(x: Tensor) -> Tensor:
    with Tensor.train():
        return x.dropout(0.5).cast(x.dtype)


# ---- conversions and facts -----------------------------------------------------------------------

CONVERSIONS = "Conversions and reading"


def law_of_casts(target: Any) -> Callable[..., Any]:
    """The house's own law: what `weft.base.scalars.truncate` says of every number."""

    def call(x: Any) -> Any:
        import numpy as np

        flat = [truncate(v.item() if x.dtype.kind in "biu" else float(v), target) for v in x]
        return np.array(flat, dtype="float64" if dtypes.is_float(target) else None)

    return call


for _name, _target in {
    "float": dtypes.float32, "half": dtypes.float16, "double": dtypes.float64,
    "int": dtypes.int32, "long": dtypes.int64, "bool": dtypes.bool, "short": dtypes.int16,
    "bfloat16": dtypes.bfloat16,
}.items():  # fmt: skip
    check(_name, CONVERSIONS, method(_name), law_of_casts(_target), lambda m: [m.line()],
          result=_target.name if _name != "float" else "float32",
          against="the law of casts")  # fmt: skip
check("cast", CONVERSIONS, method("cast", "uint8"), law_of_casts(dtypes.uint8),
      lambda m: [m.line()], result="uchar", against="the law of casts")  # fmt: skip
check("llvm_bf16_cast", CONVERSIONS, method("llvm_bf16_cast", "float32"),
      law_of_casts(dtypes.float32), lambda m: [m.line()], result="float32",
      against="the law of casts")  # fmt: skip
check("keccak", RANDOM, method("keccak"),
      quiet(lambda np, x: np.frombuffer(hashlib.sha3_256(x.tobytes()).digest(), np.uint8)),
      lambda m: [m.line()], kinds="bytes", against="hashlib")  # fmt: skip
check("threefry", RANDOM, lambda x, k: x.threefry(k),
      quiet(lambda np, x, k: np.array(
          [threefry2x32(int(a), int(b)) for a, b in zip(x, k)], np.uint64)),
      lambda m: m.pairs(), kinds="words", against="its law")  # fmt: skip
check("bitcast", CONVERSIONS, method("bitcast", "uint8"), lambda x: x.view("uint8"),
      lambda m: [m.line()], result="uchar", raw=True)  # fmt: skip
check("tolist", CONVERSIONS, lambda x: Tensor(x.tolist(), dtype=x.dtype), lambda x: x,
      lambda m: [m.line()])  # fmt: skip
check("item", CONVERSIONS, lambda x: Tensor(x[3].item(), dtype=x.dtype), lambda x: x[3],
      lambda m: [m.line()])  # fmt: skip
check("data", CONVERSIONS, lambda x: Tensor(bytes(x.data().cast("B")), dtype=x.dtype), lambda x: x,
      lambda m: [m.line()])  # fmt: skip
