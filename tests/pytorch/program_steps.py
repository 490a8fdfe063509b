"""Families of steps of random programs: operators and layers of PyTorch.

in:  a drawing      out: one more step of it
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

UNARY = (
    "sin cos tanh exp sigmoid erf atan asinh sinh neg abs square relu softplus_ silu_ gelu_ mish_ "
    "elu_ selu_ celu_ logsigmoid_ hardtanh_ hardswish_ hardsigmoid_ softsign_ tanhshrink_ "
    "leaky_relu_ expm1 rsqrt+ sqrt+ log+ log1p+ log2+ reciprocal+ sign"
).split()
BINARY = "add sub mul div+ maximum minimum pow+ atan2 hypot fmax fmin".split()
ACTIVATIONS = (nn.ReLU, nn.GELU, nn.SiLU, nn.ELU, nn.PReLU, nn.Hardswish, nn.Softplus, nn.ReLU6,
               nn.Tanh, nn.Sigmoid, nn.LogSigmoid, nn.Softsign, nn.Hardshrink, nn.GLU)  # fmt: skip


def unary(d: Any) -> None:
    name = d.choice(UNARY)
    op = getattr(F, name[:-1]) if name.endswith("_") else getattr(torch, name.strip("+"))
    function = (lambda x: op(x.abs() + 0.5)) if name.endswith("+") else op
    d.step(name, function, d.pick())


def binary(d: Any) -> None:
    name = d.choice(BINARY)
    op = getattr(torch, name.strip("+"))
    one = d.pick()
    shape = tuple(d.values[one].shape)
    shape = [1 if d.chance(0.25) else size for size in shape[d.between(0, len(shape)) :]]
    function = (lambda x, y: op(x.abs() + 0.5, y.abs() + 0.5)) if name.endswith("+") else op
    d.step(name, function, one, d.like(shape))


def scalar(d: Any) -> None:
    number = d.choice((2, 0.5, -1.5, 3))
    name, function = d.choice(
        (("x * n", lambda x: x * number), ("n - x", lambda x: number - x),
         ("x ** 2", lambda x: x**2), ("clamp", lambda x: x.clamp(-1.1, 1.2)),
         ("clamp min", lambda x: x.clamp(min=-0.3)), ("lerp", lambda x: x.lerp(x.flip(0), 0.3)),
         ("addcmul", lambda x: torch.addcmul(x, x, x, value=0.5)),
         ("remainder", lambda x: x - x.detach().floor().clamp(-1, 1)))
    )  # fmt: skip
    d.step(f"{name} {number}", function, d.pick(1, 4))


def reduction(d: Any) -> None:
    place = d.pick(1, 4)
    rank = d.values[place].ndim
    dim = d.between(-rank, rank - 1)
    dims = d.random.sample(range(rank), d.between(1, rank))
    keep = d.chance(0.5)
    options = {
        "sum": lambda x: x.sum(dims, keepdim=keep), "mean": lambda x: x.mean(dims, keepdim=keep),
        "amax": lambda x: x.amax(dims, keepdim=keep), "amin": lambda x: x.amin(dims, keepdim=keep),
        "var": lambda x: x.var(dims, unbiased=False, keepdim=keep), "prod": lambda x: x.prod(dim),
        "logsumexp": lambda x: x.logsumexp(dims, keepdim=keep),
        "norm": lambda x: torch.linalg.vector_norm(x, 2, dims, keepdim=keep),
        "norm1": lambda x: torch.linalg.vector_norm(x, 1, dims, keepdim=keep),
        "max": lambda x: x.max(dim, keepdim=keep).values, "sum all": lambda x: x.sum(),
        "cumsum": lambda x: x.cumsum(dim), "cumprod": lambda x: x.cumprod(dim),
        "softmax": lambda x: x.softmax(dim), "log_softmax": lambda x: x.log_softmax(dim),
        "normalize": lambda x: F.normalize(x, dim=dim), "std": lambda x: (x + x.flip(0) ** 2).var(),
        "logcumsumexp": lambda x: x.logcumsumexp(dim), "median": lambda x: x.median(dim).values,
    }  # fmt: skip
    name = d.choice(sorted(options))
    d.step(f"{name} {dim} {dims} {keep}", options[name], place)


def product(d: Any) -> None:
    kind = d.choice(("matmul", "linear", "bmm", "einsum", "bilinear", "outer", "addmm", "cdist"))
    place = d.pick(1 if kind != "bmm" else 3, 4 if kind != "bmm" else 3)
    shape = tuple(d.values[place].shape)
    if kind == "linear":
        d.layer(nn.Linear(shape[-1], d.between(1, 5), bias=d.chance(0.7)), place)
    elif kind == "bilinear":
        other = d.like(shape)
        d.layer(nn.Bilinear(shape[-1], shape[-1], d.between(1, 4)), place, other)
    elif kind == "einsum" and len(shape) >= 2:
        other = d.like((shape[-1], d.between(1, 4)))
        d.step("einsum", lambda x, y: torch.einsum("...ij,jk->...ki", x, y), place, other)
    elif kind == "outer" and len(shape) == 1:
        d.step("outer", torch.outer, place, d.like((3,)))
    elif kind == "addmm" and len(shape) == 2:
        other, more = d.like((shape[1], 3)), d.like((3,))
        d.step("addmm", lambda x, y, z: torch.addmm(z, x, y, beta=0.5, alpha=2), place, other, more)
    elif kind == "cdist" and len(shape) == 2:
        d.step("cdist", lambda x, y: torch.cdist(x, y + 7), place, d.new((3, shape[1])))
    else:
        columns = () if len(shape) > 1 and d.chance(0.2) else (d.between(1, 4),)
        d.step("matmul", torch.matmul, place, d.like((*shape[:-2], shape[-1], *columns)
               if len(shape) > 1 and columns else (shape[-1], *columns)))  # fmt: skip


def _image(d: Any, axes: int, channels: int) -> int:
    found = [
        place for place, each in enumerate(d.values)
        if each.dtype == d.dtype and each.ndim == axes + 2 and each.shape[1] == channels
        and min(each.shape[2:]) >= 4
    ]  # fmt: skip
    if found and d.chance(0.7):
        return found[-1]
    return d.new((d.between(1, 3), channels, *(d.between(4, 7) for _ in range(axes))))


def convolution(d: Any) -> None:
    axes, groups = d.choice((1, 2, 2, 3)), d.choice((1, 1, 2, 3))
    place = _image(d, axes, groups * d.between(1, 2))
    channels = d.values[place].shape[1]
    settings = {"stride": d.between(1, 2), "padding": d.between(0, 2), "dilation": d.between(1, 2),
                "groups": groups, "bias": d.chance(0.6)}  # fmt: skip
    size = d.between(1, 3)
    if d.chance(0.35):
        if settings["stride"] > 1 and d.chance(0.5):
            settings["output_padding"] = 1
        kind = (nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d)[axes - 1]
    else:
        kind = (nn.Conv1d, nn.Conv2d, nn.Conv3d)[axes - 1]
        if d.chance(0.3):
            settings["padding_mode"] = d.choice(("reflect", "replicate", "circular"))
        elif d.chance(0.2):
            settings |= {"padding": "same", "stride": 1}
    d.layer(kind(channels, groups * d.between(1, 2), size, **settings), place)


def pool(d: Any) -> None:
    axes = d.choice((1, 2, 2, 3))
    place = _image(d, axes, d.between(1, 3))
    name = d.choice(("MaxPool", "AvgPool", "AdaptiveAvgPool", "AdaptiveMaxPool", "LPPool"))
    if name == "LPPool" and axes == 3:
        name = "AvgPool"
    kind = getattr(nn, f"{name}{axes}d")
    if name.startswith("Adaptive"):
        module = kind(d.between(1, 5))
    elif name == "LPPool":
        module = kind(2, d.between(1, 3))
    else:
        size = d.between(2, 3)
        settings = {"padding": d.between(0, 1), "stride": d.between(1, 3)}
        if d.chance(0.4):
            settings["ceil_mode"] = True
        if name == "MaxPool" and d.chance(0.3):
            settings["dilation"] = 2
        if name == "AvgPool" and d.chance(0.3):
            settings["count_include_pad"] = False
        module = kind(size, **settings)
    d.layer(module, place)


def normalization(d: Any) -> None:
    axes = d.choice((1, 2, 3))
    place = d.pick(2, 4) if d.chance(0.3) else _image(d, axes, d.choice((2, 4, 6)))
    shape = d.values[place].shape
    kind = d.choice(("layer", "batch", "group", "instance", "rms", "local", "eval"))
    if kind in ("layer", "rms"):
        last = shape[-d.between(1, 2) :]
        module: nn.Module = nn.LayerNorm(last) if kind == "layer" else nn.RMSNorm(last)
    elif kind in ("batch", "instance", "eval") and 3 <= len(shape) <= 5:
        name = "InstanceNorm" if kind == "instance" else "BatchNorm"
        module = getattr(nn, f"{name}{len(shape) - 2}d")(shape[1], affine=True)
        if kind == "eval":
            module.eval()
    elif kind == "group":
        groups = d.choice([n for n in range(1, shape[1] + 1) if shape[1] % n == 0])
        module = nn.GroupNorm(groups, shape[1])
    else:
        module = nn.LocalResponseNorm(3)
    d.layer(module, place)


def activation(d: Any) -> None:
    kind = d.choice(ACTIVATIONS)
    place = d.pick(1, 4)
    if kind is nn.GLU and d.values[place].shape[-1] % 2:
        return
    d.layer(kind(), place)


def movement(d: Any) -> None:
    place = d.pick(1, 4)
    x = d.values[place]
    rank, dim = x.ndim, d.between(0, x.ndim - 1)
    size = x.shape[dim]
    order = d.random.sample(range(rank), rank)
    low = d.between(0, size - 1)
    index = tuple(
        slice(d.between(0, n - 1), None, d.between(1, 2)) if d.chance(0.6) else slice(None)
        for n in x.shape
    )
    pads = [d.between(-1, 2) if min(x.shape) > 2 else d.between(0, 2) for _ in range(2)]
    options = {
        "permute": lambda x: x.permute(order),
        "reshape": lambda x: x.reshape(-1),
        "flatten": lambda x: x.flatten(dim),
        "slice": lambda x: x[index],
        "select": lambda x: x.select(dim, low),
        "narrow": lambda x: x.narrow(dim, low, size - low),
        "flip": lambda x: x.flip(dim),
        "roll": lambda x: x.roll(2, dim),
        "unsqueeze": lambda x: x.unsqueeze(dim),
        "squeeze": lambda x: x.squeeze(),
        "expand": lambda x: x.unsqueeze(0).expand(2, *x.shape),
        "repeat": lambda x: x.repeat(2, *[1] * rank),
        "chunk": lambda x: x.chunk(2, dim),
        "split": lambda x: x.split([low, size - low], dim),
        "unbind": lambda x: x.unbind(dim),
        "stack": lambda x: torch.stack([x, x * 2], dim),
        "cat": lambda x: torch.cat([x, x.flip(0), x], dim),
        "pad": lambda x: F.pad(x, pads),
        "unfold": lambda x: x.unfold(dim, min(2, size), 1) + 0,
        "diagonal": lambda x: x.diagonal(0, 0, -1),
        "tril": lambda x: x.tril(1),
        "triu": lambda x: x.triu(-1),
        "rot90": lambda x: x.rot90(1, (0, 1)),
        "repeat_interleave": lambda x: x.repeat_interleave(2, dim),
        "movedim": lambda x: x.movedim(0, -1),
        "diag_embed": lambda x: x.diag_embed(1),
        "contiguous": lambda x: x.permute(order).contiguous(),
        "view": lambda x: x.reshape(x.shape[0], -1).t(),
        "swap": lambda x: x.transpose(0, -1) + 1,
        "diff": lambda x: x.diff(dim=dim),
    }
    name = d.choice(sorted(options))
    d.step(f"{name} {dim} {order} {index} {pads}", options[name], place)


def padding(d: Any) -> None:
    axes = d.choice((1, 2, 3))
    place = _image(d, axes, d.between(1, 3))
    mode = d.choice(("reflect", "replicate", "circular", "constant"))
    pads = [d.between(0, 3) for _ in range(2 * axes)]
    d.step(f"pad {mode} {pads}", lambda x: F.pad(x, pads, mode), place)


def indexing(d: Any) -> None:
    place = d.pick(1, 3)
    shape = tuple(d.values[place].shape)
    dim = d.between(0, len(shape) - 1)
    size = shape[dim]
    kind = d.choice(("gather", "index_select", "index", "where", "masked_fill", "scatter_add",
                     "index_add", "take", "embedding", "index_put", "reduce"))  # fmt: skip
    if kind == "gather":
        d.step(kind, lambda x, i: x.gather(dim, i), place, d.integers(shape, size))
    elif kind == "index_select":
        d.step(kind, lambda x, i: x.index_select(dim, i), place, d.integers((4,), size))
    elif kind == "index":
        indices = d.integers((2, 3), shape[0], -shape[0])
        d.step(kind, lambda x, i: x[i], place, indices)
    elif kind in ("where", "masked_fill"):
        mask = d.booleans(shape)
        if kind == "where":
            d.step(kind, lambda x, m, y: torch.where(m, x, y), place, mask, d.like(shape))
        else:
            d.step(kind, lambda x, m: x.masked_fill(m, 0.7), place, mask)
    elif kind in ("scatter_add", "reduce"):
        indices, updates = d.integers(shape, size), d.like(shape)
        if kind == "reduce":
            how = d.choice(("sum", "mean", "amax", "amin", "prod"))
            d.step(f"scatter_reduce {how}", lambda x, i, u: x.scatter_reduce(dim, i, u, how),
                   place, indices, updates)  # fmt: skip
        else:
            d.step(kind, lambda x, i, u: x.scatter_add(dim, i, u), place, indices, updates)
    elif kind == "index_add":
        updates = d.like((*shape[:dim], 4, *shape[dim + 1 :]))
        indices = d.integers((4,), size)
        d.step(kind, lambda x, i, u: x.index_add(dim, i, u), place, indices, updates)
    elif kind == "embedding":
        d.layer(nn.Embedding(5, d.between(1, 4)), d.integers(shape, 5))
    elif kind == "index_put":
        rows = d.integers((3,), shape[0])
        d.step(kind, lambda x, i: x.index_put((i,), x[:1] * 2, accumulate=True), place, rows)
    else:
        indices = d.integers((3,), d.values[place].numel())
        d.step(kind, lambda x, i: x.take(i), place, indices)


def ordering(d: Any) -> None:
    """Sort and the largest: of inputs, whose order is certain."""
    place = d.pick(1, 3, is_input=True)
    rank = d.values[place].ndim
    dim, down = d.between(0, rank - 1), d.chance(0.5)
    count = d.between(1, d.values[place].shape[dim])
    name, function = d.choice(
        (("sort", lambda x: list(x.sort(dim, down))), ("topk", lambda x: list(x.topk(count, dim))),
         ("argmax", lambda x: x.argmax(dim)), ("kthvalue", lambda x: x.kthvalue(count, dim).values),
         ("argsort", lambda x: x.argsort(dim)), ("compare", lambda x: (x > 0.2) & (x < 1.3)),
         ("floor", lambda x: x.floor() + x), ("round", lambda x: x.round() * x),
         ("cast", lambda x: x.to(torch.int32) % 3), ("fmod", lambda x: x.fmod(0.7)),
         ("cummax", lambda x: x.cummax(dim).values), ("any", lambda x: (x > 0).any(dim)))
    )  # fmt: skip
    d.step(name, function, place)


def layers(d: Any) -> None:
    kind = d.choice(("LSTM", "GRU", "RNN", "MHA", "encoder", "sdpa", "shuffle", "interpolate",
                     "grid", "fold", "unfold"))  # fmt: skip
    if kind in ("LSTM", "GRU", "RNN"):
        place = d.pick(3, 3)
        settings = {"num_layers": d.between(1, 2), "bidirectional": d.chance(0.4),
                    "batch_first": d.chance(0.5)}  # fmt: skip
        d.layer(getattr(nn, kind)(d.values[place].shape[-1], d.between(1, 4), **settings), place)
    elif kind == "MHA":
        place = d.like((2, 4, 8))
        d.layer(nn.MultiheadAttention(8, 2, batch_first=True), place, place, d.like((2, 4, 8)))
    elif kind == "encoder":
        settings = {"batch_first": True, "norm_first": d.chance(0.5)}
        d.layer(nn.TransformerEncoderLayer(8, 2, 12, 0.0, **settings), d.like((2, 4, 8)))
    elif kind == "sdpa":
        causal = d.chance(0.5)
        shape = (2, 2, d.between(1, 5), 4)
        attend = lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=causal)  # noqa: E731
        d.step(f"sdpa {causal}", attend, d.like(shape), d.like(shape), d.like(shape))
    elif kind == "shuffle":
        place = d.like((1, 8, 4, 6))
        d.layer(nn.PixelShuffle(2) if d.chance(0.5) else nn.PixelUnshuffle(2), place)
    elif kind == "interpolate":
        axes = d.between(1, 3)
        mode = d.choice(("nearest", "nearest-exact", ("linear", "bilinear", "trilinear")[axes - 1],
                         *(["bicubic"] if axes == 2 else []), "area"))  # fmt: skip
        settings: dict[str, Any] = {"mode": mode}
        if "linear" in mode or mode == "bicubic":
            settings["align_corners"] = d.chance(0.5)
        factor = d.choice((0.5, 1.5, 2.0, 2.3))
        resize = lambda x: F.interpolate(x, scale_factor=factor, **settings)  # noqa: E731
        d.step(f"interpolate {settings} {factor}", resize, _image(d, axes, 2))
    elif kind == "grid":
        mode, border = (
            d.choice(("bilinear", "nearest")),
            d.choice(("zeros", "border", "reflection")),
        )
        sample = lambda x, g: F.grid_sample(x, g.tanh() * 1.1, mode, border, align_corners=False)  # noqa: E731
        d.step(f"grid {mode} {border}", sample, d.like((2, 2, 4, 5)), d.new((2, 3, 3, 2)))
    elif kind == "fold":
        d.step("fold", lambda x: F.fold(x, (4, 5), (2, 2)), d.like((2, 8, 12)))
    else:
        d.step("unfold", lambda x: F.unfold(x, (2, 2), 1, 1, 2), _image(d, 2, 2))


def writes(d: Any) -> None:
    """Writes in place, which graphs without writes express as new values."""
    place = d.pick(1, 3)

    def set_row(x: torch.Tensor) -> torch.Tensor:
        y = x.clone()
        y[0] = y[-1] * 2
        y[..., :1].mul_(3)
        return y

    def set_masked(x: torch.Tensor) -> torch.Tensor:
        y = x + 0
        y.add_(x.sum()).clamp_(-5, 5)
        y.t_() if y.ndim == 2 else y.neg_()
        return y

    d.step(*d.choice((("set_row", set_row), ("in place", set_masked))), place)


def loss(d: Any) -> None:
    place = d.pick(2, 2)
    shape = tuple(d.values[place].shape)
    name = d.choice(("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "cross_entropy",
                     "nll_loss", "binary_cross_entropy_with_logits", "kl_div",
                     "cosine_similarity", "gaussian"))  # fmt: skip
    how = d.choice(("mean", "sum", "none"))
    if name in ("cross_entropy", "nll_loss"):
        target = d.integers(shape[:1], shape[1])
        op = getattr(F, name)
        smooth = {"label_smoothing": 0.1} if name == "cross_entropy" and d.chance(0.4) else {}
        d.step(
            f"{name} {how} {smooth}", lambda x, t: op(x, t, reduction=how, **smooth), place, target
        )
    elif name == "cosine_similarity":
        d.step(name, F.cosine_similarity, place, d.new(shape))
    elif name == "gaussian":
        d.step(name, lambda x, y: F.gaussian_nll_loss(x, y, y.abs() + 1), place, d.new(shape))
    else:
        op = getattr(F, name)
        d.step(
            f"{name} {how}", lambda x, y: op(x, y.sigmoid(), reduction=how), place, d.like(shape)
        )


FAMILIES = (
    unary, unary, binary, binary, scalar, reduction, reduction, product, convolution, convolution,
    pool, normalization, activation, movement, movement, movement, padding, indexing, indexing,
    ordering, layers, layers, writes, loss,
)  # fmt: skip


def draw_step(d: Any) -> None:
    """Draw a step of a random family."""
    d.choice(FAMILIES)(d)
