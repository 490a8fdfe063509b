"""Cases compared with PyTorch: movement, indexing, joining, sorting, creation."""

from __future__ import annotations

from typing import Any

from cases.torch_cases import FLOATS, INTS, Case, Cases, Input, family
from weft.base.sequences import prod
from weft.tensor import Tensor

_KINDS = (*FLOATS, *INTS, "bool")
_TENSOR = 1000  # in a list of indices: from here on the numbers of tensors


def _method(name: str) -> Any:
    return lambda x, *rest, **named: getattr(x, name)(*rest, **named)


@family(
    "reshape",
    "expand",
    "permute",
    "flip",
    "repeat",
    "unsqueeze",
    "squeeze",
    "transpose",
    "flatten",
    "unflatten",
    "roll",
    "triu",
    "tril",
    "diag",
    "diagonal",
    "T",
    "view",
)
def moves(c: Cases, name: str) -> Case:
    """Everything that computes nothing."""
    least = {"triu": 2, "tril": 2, "diagonal": 2, "T": 2, "flip": 1, "diag": 1, "unflatten": 1}
    x = c.array(c.shape(least.get(name, 0), {"diag": 1, "diagonal": 2, "T": 2}.get(name, 4)))
    rank = x.ndim
    if name == "T":
        return c.case(name, [x], {}, lambda x: x.T, weft=lambda x: x.T)
    if name in ("diag", "diagonal"):
        if name == "diagonal" and x.shape[0] != x.shape[1]:
            x = c.array((3, 3))
        return c.case(name, [x], {}, _method(name))
    if name in ("reshape", "view"):
        shape = list(x.shape)
        c.pick.shuffle(shape)
        if len(shape) > 1 and c.chance():
            shape = [shape[0] * shape[1], *shape[2:]]
        if shape and 0 not in x.shape and c.chance():
            shape[c.integer(0, len(shape) - 1)] = -1
        return c.case(name, [x], {"shape": tuple(shape)}, lambda x, shape: x.reshape(shape))
    if name == "expand":
        x = c.array(kind=("float32", "float64"))
        shape = (
            *[c.integer(1, 3) for _ in range(c.integer(0, 2))],
            *(c.choice([3, -1]) if s == 1 else c.choice([s, -1]) for s in x.shape),
        )
        return c.case(name, [x], {"shape": shape}, lambda x, shape: x.expand(shape))
    if name == "permute":
        order = c.pick.sample(range(rank), rank)
        order = tuple(a - rank if c.chance(0.3) else a for a in order)
        return c.case(name, [x], {"order": order}, lambda x, order: x.permute(order))
    if name == "flip":
        axes = c.axes(x) or 0
        axes = axes if isinstance(axes, tuple) else (axes,)
        return c.case(name, [x], {"axis": axes}, lambda x, axis: x.flip(axis))
    if name == "repeat":
        x = c.array(kind=("float32", "float64"))  # PyTorch sums gradients of halves as halves
        rank = x.ndim
        times = tuple(
            c.integer(0 if c.chance(0.1) else 1, 3) for _ in range(rank + c.integer(0, 1))
        )
        return c.case(name, [x], {"repeats": times}, lambda x, repeats: x.repeat(repeats))
    if name == "unsqueeze":
        return c.case(name, [x], {"dim": c.integer(-rank - 1, rank)}, _method(name))
    if name == "squeeze":
        dim = c.choice([None, c.axis(x), c.axes(x)]) if rank else None
        return c.case(name, [x], {} if dim is None else {"dim": dim}, _method(name))
    if name == "transpose":
        return c.case(name, [x], {"dim0": c.axis(x), "dim1": c.axis(x)}, _method(name))
    if name == "flatten":
        first = c.integer(0, max(rank - 1, 0))
        arguments = {"start_dim": first, "end_dim": c.integer(first, max(rank - 1, 0))}
        return c.case(name, [x], arguments, _method(name))
    if name == "unflatten":
        sizes = c.choice([(1, -1), (-1, 1), (-1,), (-1, 2)])
        x = c.array((4, *x.shape[1:])) if sizes[-1] == 2 else x
        return c.case(name, [x], {"dim": 0, "sizes": sizes}, _method(name))
    if name == "roll":
        if rank and c.chance(0.7):
            dims = tuple(c.pick.sample(range(rank), c.integer(1, rank)))
            return c.case(
                name,
                [x],
                {"shifts": tuple(c.integer(-7, 7) for _ in dims), "dims": dims},
                _method(name),
            )
        return c.case(name, [x], {"shifts": c.integer(-7, 7)}, _method(name))
    return c.case(name, [x], {"diagonal": c.integer(-5, 5)}, _method(name))


@family("pad")
def pads(c: Cases) -> Case:
    """Every mode, flat from the last axis on, below zero too."""
    mode = c.choice(["constant", "constant", "reflect", "replicate", "circular"])
    axes = c.integer(1, 2)
    if mode == "constant":
        x = c.array(c.shape(axes, 3, (2, 3, 4, 5)))
        padding = tuple(c.integer(-1, 3) for _ in range(2 * axes))
        arguments = {"padding": padding, "mode": mode, "value": c.choice([0.0, 1.5, -1.0])}
    else:
        x = c.array((c.integer(1, 2), c.integer(1, 3), *(c.integer(3, 5) for _ in range(axes))))
        padding = tuple(c.integer(0, 2) for _ in range(2 * axes))
        arguments = {"padding": padding, "mode": mode}

    def theirs(x: Any, padding: Any, **rest: Any) -> Any:
        import torch

        return torch.nn.functional.pad(x, padding, **rest)

    return c.case("pad", [x], arguments, theirs)


@family("cat", "stack", "split", "chunk", "unfold", "repeat_interleave", "meshgrid")
def joins(c: Cases, name: str) -> Case:
    """Joined and cut."""
    import torch

    x = c.array(c.shape(0 if name in ("stack", "repeat_interleave") else 1), _KINDS)
    if name in ("cat", "stack"):
        dim = c.axis(x) if name == "cat" else c.integer(-x.ndim - 1, x.ndim)
        others = []
        for _ in range(c.integer(0, 3)):
            shape = list(x.shape)
            if name == "cat":
                shape[dim] = c.integer(0, 4)
            others.append(c.array(tuple(shape), _KINDS))
        return c.case(
            name,
            [x, *others],
            {"dim": dim},
            lambda *xs, dim: getattr(torch, name)(xs, dim),
            weft=lambda x, *xs, dim: getattr(x, name)(*xs, dim=dim),
            named=1,
        )
    dim = c.axis(x)
    size = x.shape[dim] if x.ndim else 1
    if name == "split":
        sizes = c.integer(1, 4)
        if c.chance():
            first = c.integer(0, size)
            sizes = [first, size - first]
        return c.case(
            name, [x], {"sizes": sizes, "dim": dim}, lambda x, sizes, dim: x.split(sizes, dim)
        )
    if name == "chunk":
        return c.case(name, [x], {"chunks": c.integer(1, 4), "dim": dim}, _method(name))
    if name == "unfold":
        arguments = {"dim": dim, "size": c.integer(1, max(size, 1)), "step": c.integer(1, 3)}
        return c.case(name, [x], arguments, lambda x, dim, size, step: x.unfold(dim, size, step))
    if name == "meshgrid":
        others = [c.array((c.integer(1, 4),), "float32") for _ in range(c.integer(1, 2))]
        indexing = c.choice(["ij", "xy"])
        return c.case(
            name,
            others,
            {"indexing": indexing},
            lambda *xs, indexing: torch.meshgrid(*xs, indexing=indexing),
            weft=lambda x, *xs, indexing: x.meshgrid(*xs, indexing=indexing),
            named=1,
        )
    where = None if c.chance(0.3) or not x.ndim else dim
    return c.case(name, [x], {"repeats": c.integer(1, 3), "dim": where}, _method(name))


# ---- by index ------------------------------------------------------------------------------------


def _index(c: Cases, shape: Any, low: int, high: int) -> Input:
    array = c.numbers.integers(low, max(high, low + 1), shape).astype("int64")
    return Input(array, "int64", "plain")


@family("gather", "scatter", "scatter add", "scatter_reduce")
def by_index(c: Cases, name: str) -> Case:
    """Along one axis by an index of the same rank."""
    shape = c.shape(1, 3, (1, 2, 3, 4))
    shape = tuple(max(s, 1) for s in shape)
    dim = c.integer(-len(shape), len(shape) - 1)
    at = dim % len(shape)
    x = c.array(shape, ("float32", "float64", "int32"), "calm")
    small = tuple(
        c.integer(0 if c.chance(0.1) else min(1, s), 5 if i == at else s)
        for i, s in enumerate(shape)
    )
    if shape[at] == 0:
        small = (*small[:at], 0, *small[at + 1 :])
    if name == "gather":
        index = _index(c, small, 0, shape[at])
        return c.case(
            name,
            [x, index],
            {},
            lambda x, index: x.gather(dim, index),
            weft=lambda x, index: x.gather(dim, index),
        )
    # PyTorch has no gradient where the source is larger than the index
    more = int(c.chance(0.3))
    source = c.array(tuple(s + more for s in small), x.kind, "calm")
    if name == "scatter":
        # of several writes to one place PyTorch keeps any: there is one
        counted = min(small[at], shape[at])
        small = (*small[:at], counted, *small[at + 1 :])
        order = c.numbers.random((*shape[:at], shape[at], *shape[at + 1 :])).argsort(at)
        order = order[tuple(slice(0, s) for s in small)]
        index = Input(order.astype("int64"), "int64", "plain")
        if c.chance(0.3):
            number = c.choice([2.5, -1]) if x.kind != "int32" else 3
            return c.case(
                name,
                [x, index],
                {"src": number},
                lambda x, i, src: x.scatter(dim, i, src),
                weft=lambda x, i, src: x.scatter(dim, i, src),
            )
        source = source if more else c.array(small, x.kind, "calm")
        return c.case(
            name,
            [x, index, source],
            {},
            lambda x, i, s: x.scatter(dim, i, s),
            differentiable=not more,
            weft=lambda x, i, s: x.scatter(dim, i, s),
        )
    index = _index(c, small, 0, shape[at])
    if name == "scatter add":
        how = c.choice(["add", "multiply"])
        theirs = (
            (lambda x, i, s: x.scatter_add(dim, i, s))
            if how == "add"
            else (lambda x, i, s: x.scatter_reduce(dim, i, s, "prod"))
        )
        return c.case(
            name,
            [x, index, source],
            {},
            theirs,
            loose=True,
            second=False,
            differentiable=not more,
            weft=lambda x, i, s: x.scatter(dim, i, s, reduce=how),
        )
    how = c.choice(["sum", "prod", "mean", "amax", "amin"])
    own = c.chance()
    floats = x.kind != "int32" or how != "mean"
    x, source = (
        (x, source) if floats else (c.array(shape, "float32"), c.array(source.shape, "float32"))
    )
    return c.case(
        name,
        [x, index, source],
        {"include_self": own},
        loose=True,
        second=False,
        differentiable=not more,
        named=1,
        torch=lambda x, i, s, include_self: x.scatter_reduce(
            dim, i, s, how, include_self=include_self
        ),
        weft=lambda x, i, s, include_self: x.scatter_reduce(dim, i, s, how, include_self),
    )


def _random_items(c: Cases, shape: Any, tensors: bool) -> tuple[list[Any], list[Input]]:
    items: list[Any] = []
    index: list[Input] = []
    common = tuple(c.integer(1, 3) for _ in range(c.integer(0, 2)))
    for size in shape[: c.integer(0, len(shape))]:
        # an int next to tensors is an index here, as in NumPy; in PyTorch it is not
        kinds = ["none", "tensor"] if tensors else ["int", "none"]
        kind = c.choice(["slice", "slice", "all", *kinds])
        if kind == "none":
            items.append(None)
        if kind == "int" and size:
            items.append(c.integer(-size, size - 1))
        elif kind == "tensor" and size:
            here = tuple(1 if c.chance(0.2) else s for s in common)
            index.append(_index(c, here, -size, size))
            items.append(_TENSOR + len(index) - 1)
        elif kind in ("slice", "none") and size:
            ends = [c.choice([None, c.integer(-size - 1, size + 1)]) for _ in range(2)]
            items.append(slice(*ends, c.choice([None, 1, 2, 3])))
        else:
            items.append(slice(None))
    if c.chance(0.2):
        items.append(Ellipsis)
    return items, index


def _filled(items: list[Any], tensors: Any) -> Any:
    def one(item: Any) -> Any:
        return tensors[item - _TENSOR] if isinstance(item, int) and item >= _TENSOR else item

    return tuple(one(i) for i in items)


@family("getitem", "setitem", "mask", "masked_select", "nonzero")
def indexing(c: Cases, name: str) -> Case:
    """Reading and writing parts."""
    shape = c.shape(1, 3)
    kind = c.choice(("float32", "float64", "int32"))
    x = c.array(shape, kind, "calm")
    if name == "masked_select":
        return c.case(
            name, [x, c.array(shape[c.integer(0, 1) :], "bool", plain=True)], {}, _method(name)
        )
    if name == "nonzero":
        return c.case(name, [c.array(shape, _KINDS)], {}, _method(name), differentiable=False)
    if name == "mask":
        mask = c.array(shape[: c.integer(1, len(shape))], "bool")
        value = c.choice([None, 7])

        def masked(x: Any, mask: Any, value: Any) -> Any:
            if value is None:
                return x[mask]
            x = x + 0
            x[mask] = value
            return x

        return c.case(name, [x, mask], {"value": value}, masked, weft=masked)
    items, index = _random_items(c, shape, c.chance(0.6))
    if name == "getitem":

        def get(x: Any, *index: Any) -> Any:
            return x[_filled(items, index)]

        return c.case(f"{name} {items}", [x, *index], {}, get, weft=get)
    # of several writes to one place the last counts here, any in PyTorch: there is one
    items, index = _random_items(c, shape, False)
    given = c.chance(0.7)

    def put(x: Any, value: Any, *index: Any) -> Any:
        x = x + 0
        part = x[_filled(items, index)]
        x[_filled(items, index)] = value[tuple(slice(0, s) for s in part.shape)] if given else 5
        return x

    value = c.array((6,) * (len(shape) + 3), kind, "calm", plain=True)
    rank = Tensor(x.array)[_filled(items, ())].ndim
    value = Input(value.array[(0,) * (value.ndim - rank)], kind, "plain")
    return c.case(f"{name} {items}", [x, value, *index], {}, put, weft=put)


# ---- order ---------------------------------------------------------------------------------------


@family("sort", "argsort", "topk")
def orders(c: Cases, name: str) -> Case:
    """Sorted; stable where positions are compared."""
    x = c.array(c.shape(0, 3, (1, 2, 3, 5, 9)), (*FLOATS, *INTS), c.choice(["any", "finite"]))
    axis = c.axis(x)
    if name == "topk":
        size = x.shape[axis] if x.ndim else 1
        arguments = {"k": c.integer(0, size), "dim": axis, "largest": c.chance()}
        x = c.array(x.shape, "float32", "calm", plain=True)
        return c.case(name, [x], arguments, _method(name))
    down = c.chance()
    if name == "argsort":
        return c.case(
            name,
            [x],
            {"dim": axis, "descending": down},
            differentiable=False,
            torch=lambda x, dim, descending: x.argsort(dim=dim, descending=descending, stable=True),
        )
    return c.case(
        name,
        [x],
        {"dim": axis, "descending": down},
        lambda x, dim, descending: x.sort(dim=dim, descending=descending, stable=True),
    )


# ---- from nothing --------------------------------------------------------------------------------


@family("arange", "linspace", "eye", "full", "one_hot")
def creation(c: Cases, name: str) -> Case:
    """Made of numbers. The input is not used."""
    import torch

    x = c.array((), "float32", "calm", plain=True)
    facts = {"differentiable": False}
    if name == "arange":
        start, step = c.integer(-5, 5), c.choice([1, 2, -1, 0.5, -0.25, 3])
        stop = start + c.integer(0, 6) * (1 if step > 0 else -1)
        return c.case(
            name,
            [x],
            {"start": start, "stop": stop, "step": step},
            lambda x, start, stop, step: torch.arange(start, stop, step),
            weft=lambda x, *a, **k: Tensor.arange(*a, **k),
            **facts,
        )
    if name == "linspace":
        arguments = {
            "start": c.choice([0, -1.5, 3]),
            "stop": c.choice([1, 2.5, -4]),
            "steps": c.integer(1, 7),
        }
        return c.case(
            name,
            [x],
            arguments,
            lambda x, start, stop, steps: torch.linspace(start, stop, steps),
            weft=lambda x, *a, **k: Tensor.linspace(*a, **k),
            **facts,
        )
    if name == "eye":
        return c.case(
            name,
            [x],
            {"n": c.integer(0, 4), "m": c.integer(0, 4)},
            lambda x, n, m: torch.eye(n, m),
            weft=lambda x, *a, **k: Tensor.eye(*a, **k),
            **facts,
        )
    if name == "full":
        return c.case(
            name,
            [x],
            {"shape": c.shape(), "fill_value": c.choice([2, 1.5, True])},
            lambda x, shape, fill_value: torch.full(shape, fill_value),
            weft=lambda x, *a, **k: Tensor.full(*a, **k),
            **facts,
        )
    index = _index(c, c.shape(0, 2), 0, 5)
    if not prod(index.shape):
        index = _index(c, (2,), 0, 5)
    return c.case(
        name,
        [index],
        {"num_classes": c.choice([-1, 5, 7])},
        lambda x, num_classes: torch.nn.functional.one_hot(x, num_classes),
        **facts,
    )
