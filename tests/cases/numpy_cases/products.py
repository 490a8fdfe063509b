"""Programs of products: einsum with any letters, matrices that broadcast, outer and inner ones."""

from __future__ import annotations

from cases.numpy_cases import WHOLE, Draw, family
from cases.numpy_cases.indexing import summed
from cases.numpy_cases.movement import moved

_EXACT = ("float32", "float64", "int32", "int64", "float32")


def equation(draw: Draw) -> tuple[str, list[tuple[int, ...]]]:
    """Letters of one to three operands and of their result, and the shapes that they require."""
    letters = "ijklmn"[: draw.integer(1, 5)]
    sizes = {letter: draw.choice([1, 2, 3, 4, 5, 8, 17]) for letter in letters}
    dots = draw.choice([(), (), (2,), (3, 2)])
    parts, shapes = [], []
    for _ in range(draw.choice([1, 2, 2, 2, 3])):
        mine = [draw.choice(letters) for _ in range(draw.integer(0 if dots else 1, 3))]
        shape = [sizes[letter] for letter in mine]
        if dots and draw.chance(0.7):
            at = draw.integer(0, len(mine))
            own = [1 if draw.chance(0.2) else n for n in dots[draw.integer(0, len(dots) - 1) :]]
            mine.insert(at, "...")
            shape[at:at] = own
        parts.append("".join(mine))
        shapes.append(tuple(shape))
    used = sorted({letter for part in parts for letter in part if letter != "."})
    text = ",".join(parts)
    if draw.chance(0.2):
        return text, shapes
    kept = draw.pick.sample(used, draw.integer(0, len(used)))
    if "..." in text:
        kept.insert(draw.integer(0, len(kept)), "...")
    return f"{text}->{''.join(kept)}", shapes


@family
def einsum(draw: Draw) -> None:
    """Sums over letters: repeated ones, those of one operand alone, dots, permuted results."""
    import numpy

    for _ in range(3):
        text, shapes = equation(draw)
        kind = draw.choice(_EXACT)
        pairs = [draw.input(shape, kind, "few") for shape in shapes]
        arrays = [a for _, a in pairs]
        first, *rest = [x for x, _ in pairs]
        want = numpy.einsum(text, *arrays)
        if want.size > 20000:
            continue
        got = first.einsum(text, first, *rest)
        draw.ask(f"{kind} {text} of {shapes}", got, want, kind, near=0.5)


@family
def matrices(draw: Draw) -> None:
    """Matrix products whose other axes broadcast, of vectors too, and what is made of them."""
    import numpy

    kind = draw.choice([*_EXACT, "uint8", "int8", "int16"])
    front = tuple(draw.choice([1, 2, 3]) for _ in range(draw.integer(0, 2)))
    m, k, n = (draw.size(65) for _ in range(3))
    ours = tuple(1 if draw.chance(0.3) else s for s in front)[draw.integer(0, len(front)) :]
    theirs = tuple(1 if draw.chance(0.3) else s for s in front)[draw.integer(0, len(front)) :]
    values = "few" if kind in ("float32", "float64") else "any"
    x, a = draw.input((*ours, m, k) if draw.chance(0.8) else (k,), kind, values)
    y, b = draw.input((*theirs, k, n) if draw.chance(0.8) else (k,), kind, values)
    told = f"{kind}{list(a.shape)} @ {list(b.shape)}"
    to = summed(kind) if kind in WHOLE else kind
    want = numpy.matmul(a.astype(to), b.astype(to)).astype(kind)
    draw.ask(told, x @ y, want, kind, near=0.5)
    if kind in ("float32", "float64"):
        rest = numpy.maximum(want + want.dtype.type(1), 0)
        draw.ask(f"{told} relu", (x @ y + 1).relu(), rest, kind, 0.5)
    if want.ndim > 1 and kind in ("int32", "int64", "float32"):
        name, z, c = moved(draw, x @ y, want)
        if c.size < 20000:
            draw.ask(f"{told}, {name}", z, c, kind, near=0.5)
            summing = c.sum(dtype="float64" if kind == "float32" else "int64")
            total = kind if kind == "float32" else "int64"
            draw.ask(f"{told}, {name}, sum", z.sum(), summing, total, near=0.5)


@family
def outer(draw: Draw) -> None:
    """Outer, inner and Kronecker products, sums over any axes of two."""
    import numpy

    kind = draw.choice(_EXACT)
    (x, a), (y, b) = (draw.input((draw.size(100),), kind, "few") for _ in range(2))
    draw.ask("outer", x.outer(y), numpy.outer(a, b), kind, near=0.5)
    shapes = [tuple(draw.integer(1, 6) for _ in range(draw.integer(1, 3))) for _ in range(2)]
    (x, a), (y, b) = (draw.input(shape, kind, "few") for shape in shapes)
    if len(shapes[0]) == len(shapes[1]):
        draw.ask(f"kron {shapes}", x.kron(y), numpy.kron(a, b), kind, near=0.5)
    common = [draw.integer(1, 7) for _ in range(draw.integer(0, 2))]
    own = [[draw.integer(1, 9) for _ in range(draw.integer(0, 2))] for _ in range(2)]
    left, right = (draw.pick.sample(range(len(o) + len(common)), len(common)) for o in own)
    given = []
    for mine, axes in zip(own, (left, right)):
        rest, sizes = iter(mine), dict(zip(axes, common))
        count = len(mine) + len(common)
        given.append(tuple(sizes[i] if i in sizes else next(rest) for i in range(count)))
    (x, a), (y, b) = (draw.input(shape, kind, "few") for shape in given)
    told = f"tensordot {given} over {left}, {right}"
    want = numpy.tensordot(a, b, (left, right))
    draw.ask(told, x.tensordot(y, (left, right)), want, kind, near=0.5)


@family
def slopes_of_products(draw: Draw) -> None:
    """Gradients of matrix products and einsum, of whole numbers: exact in every order."""

    m, k, n = (draw.size(40) for _ in range(3))
    a, b = draw.array((m, k), "float64", "few"), draw.array((k, n), "float64", "few")
    x, y = (draw.tensor(v, layout="plain").requires_grad_() for v in (a, b))
    weights = draw.array((m, n), "float64", "few")
    w = draw.tensor(weights)
    ways = [lambda: x @ y, lambda: (y.T @ x.T).T, lambda: x.einsum("ik,kj->ij", x, y)]
    product = draw.choice(ways)
    for leaf, got, want in zip(
        "xy", (product() * w).sum().gradient(x, y), (weights @ b.T, a.T @ weights)
    ):
        draw.ask(f"{m} {k} {n} by {leaf}", got, want, "float64", near=0.5)
    twice = (product().relu() * w).sum().gradient(x)[0]
    want = (weights * (a @ b > 0)) @ b.T
    draw.ask(f"{m} {k} {n} relu", twice, want, "float64", near=0.5)
