"""A program over the whole public interface, which type checkers accept at their strictest.

`test_typing.py` checks it with pyright and mypy, and runs it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, assert_type

import numpy

import weft
import weft.array_api as xp
from weft import Device, Tensor, Variable, WeftError, dtypes, jit, nn, settings
from weft.autograd import Context
from weft.base.dtype import DType, ImageDType
from weft.engine import stats
from weft.nn.state import get_parameters, get_state_dict, load_state_dict, safe_load, safe_save
from weft.uop import GroupOp, Ops, UOp


def takes_tensor(x: Tensor) -> tuple[int, ...]:
    return x.shape


# ---- creation ------------------------------------------------------------------------------------


def creation() -> list[Tensor]:
    array = numpy.ones((2, 3), dtype=numpy.float32)
    made = [
        Tensor([[1, 2, 3], [4, 5, 6]]),
        Tensor(1.5, dtype=dtypes.float16),
        Tensor(array, dtype="float32", device=Device.DEFAULT),
        Tensor(b"ab"),
        Tensor(range(3)),
        Tensor.zeros(2, 3),
        Tensor.zeros((2, 3), dtype=numpy.int64),
        Tensor.ones(4, dtype=float, requires_grad=True),
        Tensor.full((2, 2), 7),
        Tensor.arange(10),
        Tensor.arange(0, 1, 0.25),
        Tensor.linspace(0, 1, 5),
        Tensor.eye(3),
        Tensor.rand(2, 2),
        Tensor.randn(2, 2, dtype=dtypes.float32),
        Tensor.randint(4, low=0, high=9),
        Tensor.uniform(3, low=-1.0, high=1.0),
        Tensor.normal(3, mean=1.0, std=2.0),
        Tensor.glorot_uniform(3, 4),
        Tensor.empty(2).zeros_like(),
        Tensor.from_dlpack(array),
    ]
    Tensor.manual_seed(3)
    return made


# ---- methods -------------------------------------------------------------------------------------


def arithmetic(x: Tensor, y: Tensor) -> Tensor:
    z = x + y * 2 - 1 / (x + 3) // 1
    z = -z @ y.T + abs(x).sum() ** 2
    z += 1
    z *= 0.5
    mask = (x > 0) & (y <= 2) | ~(x == y)
    total = mask.where(x, 0).sum() + numpy.float32(2)
    return z + total + numpy.ones(1) * z


def indexing(x: Tensor) -> list[Tensor]:
    x[0, 0] = 5.0
    x[x > 3] = 0
    n = Variable("n", 1, 2).bind(1)
    return [
        x[0],
        x[0, 1:],
        x[..., None],
        x[:, ::-1],
        x[[0, 1]],
        x[Tensor([0, 1])],
        x[x > 0],
        x[:, :n],
        x.gather(1, Tensor([[0], [1]])),
        x.cast("int32").one_hot(4),
    ]


def reductions(x: Tensor) -> list[Tensor]:
    values, places = x.sort(dim=1)
    top, _ = x.topk(2, dim=-1)
    middle, _ = x.median(1)
    spread, mean = x.var_mean(dim=0)
    distinct, counts = x.unique(return_counts=True)
    return [
        x.sum(),
        x.sum(0),
        x.sum(axis=(0, 1), keepdim=True),
        x.sum(dim=1, keepdims=True),
        x.mean(axis=1),
        x.max(1),
        x.argmax(dim=1),
        x.std(axis=0, ddof=0),
        x.softmax(dim=-1),
        x.log_softmax(axis=-1),
        x.cumsum(dim=1),
        x.norm(dim=1),
        x.any(axis=0),
        x.all(),
        x.median(),
        x.unique(),
        *(values, places, top, middle, spread, mean, distinct, counts),
    ]


def movement(x: Tensor) -> list[Tensor]:
    first, *_ = x.split(1, dim=0)
    left, right = x.chunk(2, axis=0)
    return [
        x.reshape(3, 2),
        x.reshape((-1,)).unflatten(0, (2, 3)),
        x.permute(1, 0),
        x.transpose(0, 1).swapaxes(0, 1),
        x.unsqueeze(0).squeeze(0),
        x.unsqueeze(axis=1).expand(2, 4, 3),
        x.flip(0).roll(1, dims=1),
        x.pad(((0, 1), (1, 0)), value=2.0),
        x.cat(x, dim=0),
        Tensor.stack([x, x], dim=1),
        Tensor.cat(x, x, axis=1),
        x.repeat(2, 1),
        x.clamp(min=0, max=1),
        first,
        left,
        right,
        *x,
    ]


def out(x: Tensor) -> tuple[float, list[float], bytes]:
    number: float = x.sum().item()
    array = x.numpy()
    nested: list[float] = x.flatten().tolist()
    shared = numpy.from_dlpack(x)
    rows: int = x.shape[0] + x.size(1) + x.numel() + len(x) + x.ndim
    text = f"{x.sum():.3f} {x!r} {rows} {x.dtype} {x.device}"
    same: Tensor = x.cast(dtypes.float64).float().to("REF").contiguous().clone().detach()
    return (
        number + float(x[0, 0]) + int(same[0, 0]),
        nested,
        text.encode() + (array.tobytes() + shared.tobytes()),
    )


# ---- as PyTorch has it ---------------------------------------------------------------------------


class Square(weft.autograd.Function):
    @staticmethod
    def forward(ctx: Context, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx: Context, gradient: Tensor) -> Tensor:
        x: Tensor = ctx.saved_tensors[0]
        return gradient * 2 * x


def familiar(x: Tensor) -> list[Tensor]:
    values, indices = x.max(dim=1)
    found = weft.max(x, 1)
    y = x.clone().add_(1).exp_().masked_fill_(x > 1, 0.0).to(weft.float64)
    made = weft.zeros(2, device=weft.device("REF"), dtype=weft.get_default_dtype())
    w = weft.tensor([1.0, 2.0], requires_grad=True)
    handle = w.register_hook(lambda gradient: gradient)
    squared: Tensor = Square.apply(w)
    squared.sum().backward(retain_graph=True)
    handle.remove()
    slopes: tuple[Tensor, ...] = weft.autograd.grad((w * w).sum(), [w])
    limits = weft.finfo(weft.float16).max, weft.iinfo(weft.int8).min
    size: int = x.t().shape[0] + x.nelement() + len(limits)
    return [
        x.sort(dim=1).values,
        x.topk(2).indices,
        weft.max(x),
        found.values,
        found.indices,
        *(values, indices, y, made, *slopes),
        x.aminmax().min,
        x.cummax(dim=0).values,
        x.new_zeros(size),
        x.type(weft.int32).inverse() if size < 0 else x.absolute(),
        *weft.broadcast_tensors(x, x),
        weft.dstack([x, x]),
    ]


# ---- a network -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Config:
    width: int = 8
    heads: int = 2
    classes: int = 4


class Attention(nn.Module):
    def __init__(self, config: Config) -> None:
        super().__init__()
        self.heads = config.heads
        self.qkv = nn.Linear(config.width, 3 * config.width, bias=False)
        self.out = nn.Linear(config.width, config.width)

    def forward(self, x: Tensor) -> Tensor:
        batch, length, width = x.shape
        q, k, v = (
            part.reshape(batch, length, self.heads, width // self.heads).transpose(1, 2)
            for part in self.qkv(x).chunk(3, dim=-1)
        )
        mixed = q.scaled_dot_product_attention(k, v, is_causal=True)
        return self.out(mixed.transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):
    def __init__(self, config: Config) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(config.width)
        self.attention = Attention(config)
        self.mlp = nn.Sequential(
            nn.Linear(config.width, 4 * config.width), nn.GELU(), nn.Dropout(0.1),
            nn.Linear(4 * config.width, config.width),
        )  # fmt: skip

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention.forward(self.norm(x))
        mixed: Tensor = self.mlp(x)
        return x + mixed


class Model(nn.Module):
    def __init__(self, config: Config) -> None:
        super().__init__()
        self.embed = nn.Embedding(16, config.width)
        self.blocks = [Block(config) for _ in range(2)]
        self.conv = nn.Conv2d(1, 2, kernel_size=3, padding=1)
        self.scale = nn.Parameter(Tensor.ones(config.width))
        self.head = nn.Linear(config.width, config.classes)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.embed(tokens)
        for block in self.blocks:
            x = block.forward(x)
        picture = self.conv(x.unsqueeze(1)).max_pool2d((1, 1)).mean(axis=1)
        return self.head((picture * self.scale).relu()[:, -1])

    @jit
    def predict(self, tokens: Tensor, top: int = 1) -> Tensor:
        return self.forward(tokens).topk(top)[1]


def batches(count: int) -> Iterator[tuple[Tensor, Tensor]]:
    for _ in range(count):
        yield Tensor.randint(4, 6, high=16), Tensor.randint(4, high=4)


def train(model: Model, steps: int) -> list[float]:
    optimiser = nn.optim.AdamW(get_parameters(model), lr=1e-2, weight_decay=0.1)
    schedule = nn.optim.CosineAnnealingLR(optimiser, T_max=steps)
    criterion = nn.CrossEntropyLoss()

    @jit
    def step(tokens: Tensor, labels: Tensor) -> Tensor:
        optimiser.zero_grad()
        loss: Tensor = criterion(model.forward(tokens), labels)
        loss.backward()
        nn.optim.clip_grad_norm_(get_parameters(model), 1.0)
        optimiser.step()
        return loss.realize()

    losses: list[float] = []
    with Tensor.train():
        for tokens, labels in batches(steps):
            losses.append(step(tokens, labels).item())
            schedule.step()
    return losses


def keep(model: Model) -> dict[str, Tensor]:
    state = get_state_dict(model)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.safetensors"
        safe_save(state, str(path))
        load_state_dict(model, safe_load(str(path)))
    for name, parameter in model.named_parameters():
        gradient: Tensor | None = parameter.grad
        if gradient is not None:
            state[name + ".grad"] = gradient
    return {name: value.to("REF") for name, value in state.items()}


# ---- functions of functions ----------------------------------------------------------------------


@jit(limit=4)
def scaled(x: Tensor, by: float = 2.0) -> tuple[Tensor, float]:
    return x * by, by


@Tensor.no_grad()
def without_gradients(x: Tensor) -> Tensor:
    return x.exp()


def slope(function: Callable[[Tensor], Tensor], at: float) -> float:
    x = Tensor(at, requires_grad=True)
    (gradient,) = weft.checkpoint(function, x).sum().gradient(x)
    return gradient.item()


def standard(x: xp.Array) -> xp.Array:
    return xp.sum(xp.exp(x), axis=0) + xp.mean(x)


def devices() -> dict[str, str]:
    x = Tensor.arange(4).shard(("REF:1", "REF:2"), axis=0)
    parts = [part.device for part in x.shards()]
    found = {name: Device[name].name for name in Device if name == "REF"}
    return found | {"parts": ", ".join(parts), "canonical": Device.canonicalize("ref:0")}


def inner(x: Tensor) -> str:
    kinds = [node.op.name for node in x.uop.toposort()]
    items, _ = x.schedule_with_vars()
    info = dtypes.finfo(dtypes.float32)
    return f"{kinds} {len(items)} {info.max} {dtypes.is_float(x.dtype)} {dtypes.int8.itemsize}"


# ---- enumerations and tables ---------------------------------------------------------------------


def names(x: Tensor) -> None:
    assert_type(dtypes.float32, DType)
    assert_type(dtypes.half.vec(4), DType)
    assert_type(dtypes.default_float, DType)
    assert_type(dtypes.imagef((1, 1, 4)), ImageDType)
    assert_type(x.dtype, DType)
    assert_type(Ops.ADD, Literal[Ops.ADD])
    assert_type(Ops.ADD.value, int)
    assert_type(Ops(1), Ops)
    assert_type(Ops["ADD"], Ops)
    assert_type(list(Ops), list[Ops])
    assert_type(Ops.ADD < Ops.MUL, bool)
    assert_type(GroupOp.ALU, frozenset[Ops])
    assert_type(x.uop, UOp)
    assert_type(x.uop.op, Ops)


def main() -> None:
    x = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]).contiguous().realize()
    square = Tensor.eye(3)
    results = [*creation(), arithmetic(square, square), *indexing(x.clone().realize())]
    results += [*reductions(x), *movement(x), *familiar(x)]
    Tensor.realize(*(result for result in results if result.numel()))
    print(out(x)[0], takes_tensor(x), slope(lambda value: value.square(), 3.0))
    model = Model(Config())
    with settings.override(DEBUG=0, NOOPT=False):
        losses = train(model, 3)
    tokens, _ = next(batches(1))
    print(len(losses), model.predict(tokens, top=2).shape, len(keep(model)))
    double, by = scaled(x)
    print(double.shape, by, scaled.replays, without_gradients(x).requires_grad)
    print(standard(xp.asarray([1.0, 2.0])), devices(), inner(x + 1))
    names(x)
    try:
        x.reshape(4, 4)
    except WeftError as error:
        print(error.summary)
    print(stats.kernels > 0, stats.peak_memory > 0, settings.DEBUG, settings.CACHE_DIR != "")


if __name__ == "__main__":
    main()
