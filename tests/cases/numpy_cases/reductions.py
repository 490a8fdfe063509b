"""Programs of reduces, scans and order: axes, ties, NaN, infinities, nothing at all."""

from __future__ import annotations

import math
from typing import Any

from cases.numpy_cases import REAL, WHOLE, Draw, family, numpy_name, rounded
from cases.numpy_cases.indexing import summed
from cases.numpy_cases.movement import moved

_ALL = (*WHOLE, *REAL, "bool")


def _chosen_axes(draw: Draw, rank: int) -> Any:
    """None, one axis, or several."""
    if rank == 0 or draw.chance(0.2):
        return None
    axes = draw.axes(rank) or (draw.integer(-rank, rank - 1),)
    return axes[0] if len(axes) == 1 else axes


def _input(draw: Draw, shape: Any, kind: str, values: str = "any") -> tuple[Any, Any]:
    """A tensor, moved once or twice before it is reduced."""
    x, a = draw.input(shape, kind, values)
    for _ in range(draw.choice([0, 0, 1, 2])):
        _, y, b = moved(draw, x, a)
        if b.size <= 6000:
            x, a = y, b
    return x, a


def _count(a: Any, axes: Any) -> int:
    if axes is None:
        return int(a.size)
    return math.prod(a.shape[i] for i in ((axes,) if isinstance(axes, int) else axes))


@family
def sums(draw: Draw) -> None:
    """Sums, products and means over any axes; floats within what rounding may do."""
    import numpy

    for _ in range(3):
        kind = draw.choice(_ALL)
        x, a = _input(draw, draw.shape(0, 4, 4000), kind, draw.choice(["any", "few", "calm"]))
        axes, keep = _chosen_axes(draw, a.ndim), draw.chance()
        told = f"{kind}{list(a.shape)} axes {axes} keepdim {keep}"
        wide = a.astype("float64") if kind in REAL else a
        count = _count(a, axes)
        size = numpy.abs(wide).sum(axes, keepdims=keep) if kind in REAL else None
        near = 4 + math.sqrt(count) if kind in ("float32", "float64") else 1
        if size is not None:  # intermediate overflow is undefined
            size = numpy.where(size < numpy.finfo(a.dtype).max / 4, size, math.nan)
        total = wide.sum(axes, keepdims=keep, dtype=wide.dtype if kind in REAL else summed(kind))
        draw.ask("sum " + told, x.sum(axes, keep), total, summed(kind), near, size)
        if kind in REAL and count:
            mean = total / count
            draw.ask("mean " + told, x.mean(axes, keep), mean, kind, near, size / count)
        if kind not in REAL:
            product = a.prod(axes, keepdims=keep, dtype=summed(kind))
            draw.ask("prod " + told, x.prod(axes, keepdim=keep), product, summed(kind))
            there = (a != 0).sum(axes, keepdims=keep, dtype="int64")
            draw.ask("count " + told, (x != 0).sum(axes, keep), there)
        to = draw.choice(["float32", "int64", "float64", "int32"])
        if kind in WHOLE and to in WHOLE:
            want = a.sum(axes, dtype=to, keepdims=keep)
            draw.ask(f"sum in {to} {told}", x.sum(axes, keep, dtype=to), want, to)


@family
def extremes(draw: Draw) -> None:
    """Largest and least elements, and where: NaN, then the first of equal ones; any and all."""
    import numpy

    for _ in range(3):
        kind = draw.choice(_ALL)
        x, a = _input(draw, draw.shape(0, 4, 4000), kind, draw.choice(["any", "few"]))
        axes, keep = _chosen_axes(draw, a.ndim), draw.chance()
        told = f"{kind}{list(a.shape)} axes {axes} keepdim {keep}"
        draw.ask("any " + told, x.any(axes, keep), (a != 0).any(axes, keepdims=keep))
        draw.ask("all " + told, x.all(axes, keep), (a != 0).all(axes, keepdims=keep))
        if not _count(a, axes):
            continue
        draw.ask("max " + told, x.max(axes, keep), a.max(axes, keepdims=keep), kind, 0.5)
        draw.ask("min " + told, x.min(axes, keep), a.min(axes, keepdims=keep), kind, 0.5)
        axis = draw.choice([None, *range(-a.ndim, a.ndim)])
        if not _count(a, axis):
            continue
        most, least = a.argmax(axis).astype("int32"), a.argmin(axis).astype("int32")
        draw.ask(f"argmax {axis} {told}", x.argmax(axis), most)
        draw.ask(f"argmin {axis} {told}", x.argmin(axis), least)
        if axis is not None and kind in WHOLE:
            kept = numpy.expand_dims(a.max(axis), axis)
            found = x.gather(axis, x.argmax(axis, keepdim=True).cast("int64"))
            draw.ask(f"what is at argmax {axis} {told}", found, kept, kind)


@family
def spread(draw: Draw) -> None:
    """Variances and deviations with any correction, logarithms of sums, shares of exponentials."""
    import numpy

    kind = draw.choice(["float32", "float32", "float64", "float16", "bfloat16"])
    x, a = _input(draw, draw.shape(1, 3, 3000), kind, draw.choice(["calm", "few", "any"]))
    if not a.ndim:
        return
    axes, keep = _chosen_axes(draw, a.ndim), draw.chance()
    wide, count = a.astype("float64"), _count(a, axes)
    told = f"{kind}{list(a.shape)} axes {axes} keepdim {keep}"
    near = 8 + 2 * math.sqrt(count)
    correction = draw.choice([0, 1, 1, 2])
    if count > correction:
        var = wide.var(axes, ddof=correction, keepdims=keep)
        finite = numpy.where(numpy.isfinite(var), var, math.nan)
        size = finite + rounded(1, kind)
        draw.ask(f"var {correction} {told}", x.var(axes, keep, correction), var, kind, near, size)
        draw.ask(f"std {correction} {told}", x.std(axes, keep, correction), numpy.sqrt(var), kind,
                 near, numpy.sqrt(size))  # fmt: skip
    axis = draw.integer(-a.ndim, a.ndim - 1)
    if not a.shape[axis]:
        return
    top = wide.max(axis, keepdims=True)
    safe = numpy.where(numpy.isinf(top), 0, top)
    powers = numpy.exp(wide - safe)
    total = powers.sum(axis, keepdims=True)
    log_sum = numpy.log(total) + safe
    size = numpy.abs(wide).max(axis, keepdims=True) + 8
    size = numpy.where(numpy.isfinite(size), size, 400)
    draw.ask(f"logsumexp {axis} {told}", x.logsumexp(axis, keepdim=True), log_sum, kind, 4, size)
    shares = numpy.where(numpy.isinf(top), math.nan, powers / total)
    draw.ask(f"softmax {axis} {told}", x.softmax(axis), shares, kind, 40, shares + 1e-30)
    logs = numpy.where(numpy.isinf(top), math.nan, wide - log_sum)
    draw.ask(f"log_softmax {axis} {told}", x.log_softmax(axis), logs, kind, 8, size + 0 * logs)


@family
def scans(draw: Draw) -> None:
    """Running sums, products and extremes along an axis, short and long."""
    import numpy

    kind = draw.choice([*WHOLE, "bool", "float32", "float64", "float16"])
    x, a = _input(draw, draw.shape(1, 3, 6000), kind, draw.choice(["few", "any"]))
    if not a.ndim or not a.size:
        return
    axis = draw.integer(-a.ndim, a.ndim - 1)
    told = f"{kind}{list(a.shape)} along {axis}"
    if kind in WHOLE or kind == "bool":
        total, product = x.cumsum(axis), x.cumprod(axis)
        draw.ask("cumsum " + told, total, a.cumsum(axis, dtype=summed(kind)))
        draw.ask("cumprod " + told, product, a.cumprod(axis, dtype=summed(kind)))
    elif kind != "float16":
        wide = a.astype("float64")
        size = numpy.abs(wide).cumsum(axis)
        near = 4 + math.sqrt(a.shape[axis])
        size = numpy.where(numpy.isfinite(size), size, math.nan)
        draw.ask("cumsum " + told, x.cumsum(axis), wide.cumsum(axis), kind, near, size)
        calm = numpy.where(numpy.isfinite(a), 0.5 + numpy.abs(numpy.sin(a)), a).astype(a.dtype)
        part = calm[(slice(None),) * (axis % a.ndim) + (slice(0, 60),)]
        part = numpy.ascontiguousarray(part)
        running = part.astype("float64").cumprod(axis)
        draw.ask("cumprod " + told, draw.tensor(part).cumprod(axis), running, kind, 80)
    if kind != "bool":
        most = numpy.maximum.accumulate(a, axis)
        draw.ask("cummax " + told, x.cummax(axis), most, kind, 0.5)
        draw.ask("cummin " + told, x.cummin(axis), numpy.minimum.accumulate(a, axis), kind, 0.5)
    if a.shape[axis] > 1 and kind in WHOLE:
        draw.ask("diff " + told, x.diff(dim=axis), numpy.diff(a, axis=axis), kind)
        back = x.flip(axis).cumsum(axis).flip(axis)
        want = numpy.flip(numpy.flip(a, axis).cumsum(axis, dtype=numpy_name(back.dtype)), axis)
        draw.ask("cumsum from the end " + told, back, want)


def ordered(a: Any, axis: int, descending: bool) -> tuple[Any, Any]:
    """(values, places) in stable order, NaN above everything."""
    import numpy

    if a.dtype == bool:
        a = a.astype("int8")
    if a.dtype.kind == "f":
        # ranks: equal ones share one, of the zeros too
        _, rank = numpy.unique(a, return_inverse=True, equal_nan=True)
        key = rank.reshape(a.shape)
    else:
        _, rank = numpy.unique(a, return_inverse=True)
        key = rank.reshape(a.shape)
    places = numpy.argsort(-key if descending else key, axis, kind="stable")
    return numpy.take_along_axis(a, places, axis), places.astype("int32")


@family
def order(draw: Draw) -> None:
    """Sorting, positions, the k largest, medians: stable, with ties and NaN."""
    import numpy

    kind = draw.choice([*WHOLE, "bool", *REAL])
    x, a = _input(draw, draw.shape(1, 3, 3000), kind, draw.choice(["any", "few"]))
    if not a.ndim or not a.size:
        return
    axis, descending = draw.integer(-a.ndim, a.ndim - 1), draw.chance()
    told = f"{kind}{list(a.shape)} along {axis} descending {descending}"
    values, places = ordered(a, axis, descending)
    got, at = x.sort(axis, descending)
    draw.ask("sort " + told, got, values, kind, 0)
    draw.ask("its places " + told, at, places)
    draw.ask("argsort " + told, x.argsort(axis, descending), places)
    k = draw.integer(1, a.shape[axis])
    part = (slice(None),) * (axis % a.ndim) + (slice(0, k),)
    top, where = x.topk(k, axis, largest=descending)
    draw.ask(f"topk {k} {told}", top, values[part], kind, 0.5)
    draw.ask(f"places of topk {k} {told}", where, places[part])
    up, up_at = ordered(a, axis, False)
    if kind != "bool":
        found, found_at = x.kthvalue(k, axis)
        draw.ask(f"kthvalue {k} {told}", found, numpy.take(up, k - 1, axis), kind, 0.5)
        draw.ask(f"its place {k} {told}", found_at, numpy.take(up_at, k - 1, axis))


@family
def counts(draw: Draw) -> None:
    """What occurs how often: unique elements, bins, places in what is in order."""
    import numpy

    kind = draw.choice([*WHOLE, "float32", "float64"])
    x, a = draw.input(draw.shape(1, 2, 2000), kind, draw.choice(["any", "few"]))
    if not a.size:
        return
    told = f"{kind}{list(a.shape)}"
    if kind in WHOLE:
        values, back, many = numpy.unique(a, return_inverse=True, return_counts=True)
        got = x.unique(return_inverse=True, return_counts=True)
        draw.ask("unique " + told, got[0], values, kind)
        inverse = got[1].reshape(-1)
        draw.ask("its inverse " + told, inverse, back.ravel(), numpy_name(inverse.dtype))
        draw.ask("its counts " + told, got[2], many, numpy_name(got[2].dtype))
    edges = numpy.sort(draw.array((draw.size(257),), kind, draw.choice(["any", "few"])))
    if kind in REAL:
        edges, a = numpy.nan_to_num(edges), numpy.nan_to_num(a)
        edges = numpy.sort(edges)
        x = draw.tensor(a)
    right = draw.chance()
    side = "right" if right else "left"
    want = numpy.searchsorted(edges, a, side)
    line = draw.tensor(edges)
    got = line.searchsorted(x, right=right)
    draw.ask(f"searchsorted {side} {edges.size} {told}", got, want, numpy_name(got.dtype))
    got = x.bucketize(line, right=right)
    draw.ask(f"bucketize {side} {edges.size} {told}", got, want, numpy_name(got.dtype))
    if kind in WHOLE:
        most = draw.choice([1, 3, 9, 60, 127])
        small = (a.astype("int64") % most).astype(kind).ravel()
        some = draw.tensor(small)
        want = numpy.bincount(small.astype("int64"), minlength=most + 2)
        got = some.bincount(minlength=most + 2)
        draw.ask(f"bincount {told}", got, want, numpy_name(got.dtype))
    else:
        low, high, bins = draw.integer(-9, 0), draw.integer(1, 9), draw.choice([1, 4, 8, 16])
        whole = numpy.round(a)
        want = numpy.histogram(whole.astype("float64") + 0.0, bins, (low, high))[0]
        if (high - low) % bins == 0:  # bounds that floats have
            got = draw.tensor(whole).histc(bins, low, high)
            draw.ask(f"histc {bins} {low} {high} {told}", got, want, numpy_name(got.dtype))


@family
def quantiles(draw: Draw) -> None:
    """Medians and quantiles along an axis, interpolated and not."""
    import numpy

    kind = draw.choice(["float32", "float64"])
    x, a = _input(draw, draw.shape(1, 3, 2000), kind, draw.choice(["few", "calm", "any"]))
    if not a.ndim or not a.size:
        return
    axis, keep = draw.choice([None, *range(-a.ndim, a.ndim)]), draw.chance()
    told = f"{kind}{list(a.shape)} along {axis} keepdim {keep}"
    finite = numpy.where(numpy.isinf(a), a.dtype.type(3), a)
    x = draw.tensor(finite)
    q = draw.choice([0, 0.25, 0.5, 0.75, 1, 0.9])
    way = draw.choice(["linear", "lower", "higher", "midpoint", "linear"])
    want = numpy.quantile(finite.astype("float64"), q, axis, method=way, keepdims=keep)
    size = numpy.nanmax(numpy.abs(finite), axis, keepdims=keep) if finite.size else None
    got = x.quantile(q, axis, keepdim=keep, interpolation=way)
    draw.ask(f"quantile {q} {way} {told}", got, want, kind, 8, size)
