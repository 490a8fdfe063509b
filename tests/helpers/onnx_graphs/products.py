"""Matrix products and Einstein sums."""

from __future__ import annotations

import numpy as np

from helpers.onnx_graphs.drawing import FLOAT32, FLOATS, SIGNED, Drawing

EQUATIONS = (
    "ij,jk->ik", "ij,kj->ik", "bij,bjk->bik", "i,i->", "i,j->ij", "ij->ji", "ij->", "ii->i",
    "ii->", "bhid,bhjd->bhij", "...ij,...jk->...ik", "ij,j", "abc,cd->abd", "ij,ij->i",
    "i...,i...->...", "ijk,kl,lj->i",
)  # fmt: skip


def matmul(drawing: Drawing) -> None:
    dtype = drawing.choice((FLOAT32, FLOAT32, *FLOATS, *SIGNED[:2]))
    inner = drawing.size()
    batch = drawing.shape(0, 2)
    one = (*batch, drawing.size(), inner)
    other = (*drawing.broadcastable(batch), inner, drawing.size())
    if drawing.chance(0.15):
        one = (inner,)
    if drawing.chance(0.15):
        other = (inner,)
    drawing.node("MatMul", [drawing.like(one, dtype), drawing.like(other, dtype)],
                 exact=dtype in SIGNED)  # fmt: skip


def gemm(drawing: Drawing) -> None:
    dtype = drawing.choice((FLOAT32, FLOAT32, FLOATS[1], FLOATS[2]))
    rows, inner, columns = (max(drawing.size(), 1) for _ in range(3))
    flags = {name: drawing.between(0, 1) for name in ("transA", "transB")}
    flags = {name: flag for name, flag in flags.items() if flag or drawing.chance(0.5)}
    one = (inner, rows) if flags.get("transA") else (rows, inner)
    other = (columns, inner) if flags.get("transB") else (inner, columns)
    inputs = [drawing.like(one, dtype), drawing.like(other, dtype)]
    if drawing.opset < 11 or drawing.chance(0.6):
        inputs.append(drawing.like(drawing.broadcastable((rows, columns)), dtype))
    scales = {name: drawing.choice((0.0, 0.5, 2.0)) for name in ("alpha", "beta")
              if drawing.chance(0.4)}  # fmt: skip
    drawing.node("Gemm", inputs, **flags, **scales)


def einsum(drawing: Drawing) -> None:
    equation = drawing.choice(EQUATIONS)
    sizes = {letter: drawing.between(1, 4) for letter in "abcdefhijkl"}
    dtype = drawing.choice((FLOAT32, FLOATS[1], *SIGNED[:2]))
    inputs = []
    for term in equation.partition("->")[0].split(","):
        shape = [(3,) if part == "." else (sizes[part],) for part in term.replace("...", ".")]
        inputs.append(drawing.like([size for part in shape for size in part], dtype))
    drawing.node("Einsum", inputs, equation=equation)


def determinant(drawing: Drawing) -> None:
    size = drawing.between(1, 4)
    array = drawing.array((*drawing.shape(0, 1), size, size), FLOAT32)
    array = array + 6 * np.eye(size, dtype=np.float32)
    drawing.node("Det", [drawing.value(array)])


FAMILY = (matmul, matmul, matmul, gemm, gemm, einsum, determinant)
