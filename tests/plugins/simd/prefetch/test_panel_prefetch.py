"""Products prefetch what they pack and read next: in their buffers, first in the loop."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np
import pytest

from helpers.simd import simd_target
from weft import Tensor
from weft.base.dtype import AddrSpace, dtypes
from weft.base.settings import settings
from weft.codegen.pipeline import lower
from weft.device.capabilities import ComputeCaps, KernelLimits
from weft.device.machine import MachineModel
from weft.device.program import LinearProgram
from weft.render import CDialect, CStyleRenderer, VectorStyle
from weft.testing.reference.run import run_program
from weft.uop import Ops, UOp
from weft.uop.args import PREFETCH_L1
from weft_simd import thresholds

CAPS = ComputeCaps(
    vector_widths={dtypes.float: (4,)}, vector_bytes=16, vector_registers=16, cache_bytes=1 << 20,
    limits=KernelLimits(scratch_bytes=1 << 20),
)  # fmt: skip


class Prefetching(CStyleRenderer):
    """With a statement for each kind of software prefetch."""

    words: ClassVar[dict[object, str]] = {PREFETCH_L1: "soon"}

    def prefetch(self, mark: object, pointer: str) -> str:
        word = self.words.get(mark)
        return f"{word}({pointer});" if word else ""


def product(m: int, k: int, n: int, turned: str = "") -> Tensor:
    left, right = Tensor.empty(m, k), Tensor.empty(k, n)
    if "left" in turned:
        left = Tensor.empty(k, m).T
    if "right" in turned:
        right = Tensor.empty(n, k).T
    return left @ right


def program_of(found: Tensor, compute: ComputeCaps = CAPS) -> LinearProgram:
    with settings.override(SPEC=1):
        return lower(found.schedule()[0].ast, simd_target(compute))


def prefetches(program: LinearProgram) -> list[str]:
    """The lines with a prefetch."""
    lines = Prefetching(CDialect(vectors=VectorStyle())).render(program).splitlines()
    return [line.strip() for line in lines if "soon(" in line]


def test_the_next_panel_and_the_next_rows() -> None:
    program = program_of(product(600, 512, 512))
    lines = prefetches(program)
    assert any("data2" in line for line in lines) and any("data1" in line for line in lines)
    assert all(line.startswith("if (") for line in lines)


def test_prefetches_come_first_in_the_loop_of_the_reduction() -> None:
    nodes = program_of(product(600, 512, 512)).uops
    last = max(i for i, u in enumerate(nodes) if u.op is Ops.LOAD and u.arg == PREFETCH_L1)
    loop = max(i for i, u in enumerate(nodes[:last]) if u.op is Ops.RANGE)
    assert not any(u.op is Ops.LOAD and u.arg is None for u in nodes[loop:last])


@pytest.mark.parametrize(
    "found, compute",
    [
        (lambda: product(600, 512, 512), dataclasses.replace(CAPS, cache_bytes=0)),
        (lambda: product(128, 128, 128), CAPS),  # near enough
        (lambda: product(600, 512, 1), CAPS),  # nothing is packed
        (lambda: Tensor.empty(1024, 512) + 1, CAPS),
    ],
)
def test_kernels_without_prefetches(found, compute: ComputeCaps) -> None:
    assert not prefetches(program_of(found(), compute))


def test_a_renderer_without_prefetches_writes_none() -> None:
    program = program_of(product(600, 512, 512))
    plain = CStyleRenderer(CDialect(vectors=VectorStyle())).render(program)
    assert "soon(" not in plain and "coming" not in plain


def test_it_is_not_counted() -> None:
    found = product(600, 512, 512)
    ast = found.schedule()[0].ast
    caps = (CAPS, dataclasses.replace(CAPS, cache_bytes=0))
    ours, plain = (lower(ast, simd_target(one)) for one in caps)
    assert prefetches(ours) and ours.estimates == plain.estimates


@pytest.mark.parametrize("turned", ["", "left", "right", "left right"])
@pytest.mark.parametrize("m, k, n", [(34, 33, 9), (33, 37, 12)])
def test_prefetches_stay_in_their_buffers(monkeypatch, turned: str, m: int, k: int, n: int) -> None:
    """The reference executes prefetches, and refuses what is outside of a buffer."""
    monkeypatch.setattr(thresholds, "PREFETCHED", 0)
    monkeypatch.setattr(thresholds, "NEAREST", 0)
    monkeypatch.setattr(thresholds, "UNPACKED", 0)
    monkeypatch.setattr(thresholds, "REUSED", 4)
    monkeypatch.setattr(thresholds, "MANY_TILES", 0)
    monkeypatch.setattr(thresholds, "FAR", 0 if n == 12 else 1)
    short = dataclasses.replace(CAPS, machine=MachineModel(line_bytes=16))
    program = program_of(product(m, k, n, turned), short)
    assert prefetches(program)
    random = np.random.default_rng(m)
    left, right = random.standard_normal((2, 1 << 12)).astype(np.float32)
    left, right = left[: m * k].copy(), right[: k * n].copy()
    out = np.zeros(m * n, np.float32)
    run_program(program, (out, left, right))
    a = left.reshape(k, m).T if "left" in turned else left.reshape(m, k)
    b = right.reshape(n, k).T if "right" in turned else right.reshape(k, n)
    np.testing.assert_allclose(out.reshape(m, n), a @ b, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("turned", ["", "right"])
def test_every_cache_line_of_a_later_panel_is_prefetched(turned: str) -> None:
    k, n = 512, 320
    program = program_of(product(192, k, n, turned))
    pointer = next(u for u in program.uops if u.op is Ops.DEFINE_GLOBAL and u.arg == 2)
    loads = [u for u in program.uops if u.op is Ops.LOAD and u.arg == PREFETCH_L1]
    loads = [u for u in loads if u.src[0].src[0] is pointer]
    lines = set()
    for load in loads:
        at, gate = over_all_iterations(load.src[0].src[1:])
        lines.update((at[np.broadcast_to(gate, at.shape)] // 16).tolist())
    width = max(u.src[0].src[0].dtype.size for u in program.uops if is_from_a_panel(u)) // k
    later = np.arange(k * n).reshape(k, n)[:, width:]
    if turned:
        later = np.arange(k * n).reshape(n, k)[width:]
    assert set((later // 16).ravel().tolist()) <= lines


def is_from_a_panel(node: UOp) -> bool:
    return node.op is Ops.LOAD and node.src[0].src[0].dtype.space is AddrSpace.REG


def over_all_iterations(nodes: tuple[UOp, ...]) -> list[np.ndarray]:
    """The values of integer expressions in every iteration of their loops."""
    below = list(UOp.sink(*nodes).toposort())[:-1]
    loops = [u for u in below if u.op is Ops.RANGE]
    turns = np.meshgrid(*(np.arange(u.src[0].arg) for u in loops), indexing="ij", sparse=True)
    made: dict[UOp, np.ndarray] = dict(zip(loops, turns))
    does = {
        Ops.ADD: np.add, Ops.MUL: np.multiply, Ops.IDIV: np.floor_divide, Ops.MOD: np.mod,
        Ops.SHR: np.right_shift, Ops.AND: np.bitwise_and, Ops.CMPLT: np.less,
        Ops.CMPEQ: np.equal, Ops.WHERE: np.where, Ops.CAST: np.array, Ops.SHL: np.left_shift,
    }  # fmt: skip
    for u in below:
        if u.op is Ops.CONST:
            made[u] = np.array(u.arg)
        elif u not in made:
            made[u] = does[u.op](*(made[source] for source in u.src))
    return np.broadcast_arrays(*(made[u] for u in nodes))
