"""Thresholds are shares of the caches of a machine, and all of them stand in one table."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from pathlib import Path

import pytest

from helpers.simd import simd_target
from weft.base.dtype import dtypes
from weft.codegen.opt.opts import OptKind
from weft.codegen.opt.search_space import by_heuristic
from weft.codegen.pipeline import loops_for
from weft.device.capabilities import ComputeCaps
from weft.plugin import MachineModel
from weft.shape.tracker import ShapeTracker
from weft.uop import Ops, UOp
from weft_simd import thresholds

FOLDER = Path(thresholds.__file__).parent
MODULES = sorted(path for path in FOLDER.rglob("*.py") if path.name != "thresholds.py")
MASKS = {"_SIGN", "_ONES"}  # bits of a word, which nobody tunes
EIGHT = ComputeCaps(vector_widths={dtypes.float: (8,)}, vector_bytes=32)


def test_shares_of_a_usual_machine_are_those_that_were_measured():
    usual = MachineModel()
    assert thresholds.l1_share(usual, thresholds.UNPACKED) == 1 << 12
    assert thresholds.l2_share(usual, thresholds.PANEL) == 1 << 18
    assert thresholds.l2_share(usual, thresholds.NEAR) == 7 << 17
    assert thresholds.l2_share(usual, thresholds.STREAMED_ROWS) == 9 << 14
    assert thresholds.page_share(usual, thresholds.SKINNY_STRIDE) == 2048


def test_shares_follow_the_machine():
    small = MachineModel(l1_bytes=1 << 14, l2_bytes=1 << 18, page_bytes=1 << 14)
    assert thresholds.l1_share(small, thresholds.UNPACKED) == 1 << 11
    assert thresholds.l2_share(small, thresholds.PANEL) == 1 << 16
    assert thresholds.page_share(small, thresholds.LEAST_BLOCK) == 1 << 14


def test_a_last_level_cache_that_is_not_known_is_several_of_the_second():
    assert thresholds.last_level_bytes(MachineModel()) == 1 << 22
    assert thresholds.last_level_bytes(ComputeCaps(cache_bytes=1 << 25).machine) == 1 << 25


@pytest.mark.parametrize(("l2_bytes", "exchanged"), [(1 << 23, False), (1 << 20, True)])
def test_an_operand_that_a_cache_holds_is_not_read_in_strips(l2_bytes, exchanged):
    rows, terms, columns = 512, 128, 768
    extents = (rows, columns, terms)

    def load(slot, size, strides):
        pointer = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(size), (), slot)
        return pointer.view(ShapeTracker.from_shape(extents, strides)).load()

    left, right = load(1, rows * terms, (terms, 0, 1)), load(2, terms * columns, (0, 1, columns))
    out = UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(rows * columns), (), 0)
    shape = ShapeTracker.from_shape((rows, columns, 1))
    ast = UOp.sink(out.view(shape).store((left * right).reduce(Ops.ADD, (2,))))
    limits = replace(EIGHT.limits, scratch_bytes=0)
    compute = replace(EIGHT, limits=limits, machine=MachineModel(l2_bytes=l2_bytes))
    kinds = [opt.kind for opt in by_heuristic(loops_for(ast, simd_target(compute), True)).opts]
    assert (OptKind.SWAP in kinds) == exchanged


def tuned_numbers(tree: ast.Module):
    """The lines of numbers other than 0, 1 and 2 in assignments of a module."""
    for statement in tree.body:
        if not isinstance(statement, ast.Assign | ast.AnnAssign) or statement.value is None:
            continue
        names = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
        for node in ast.walk(statement.value):
            number = isinstance(node, ast.Constant) and type(node.value) in (int, float)
            if number and node.value not in (0, 1, 2) and names.isdisjoint(MASKS):
                yield statement.lineno


def test_a_tuned_number_is_found():
    text = "A = 1\nB = {Ops.ADD: 3}\nC: float = 0.5\n_SIGN = 0x80\ndef f():\n    return 7\n"
    assert list(tuned_numbers(ast.parse(text))) == [2, 3]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(FOLDER).as_posix())
def test_numbers_that_were_tuned_stand_in_the_table(path):
    assert list(tuned_numbers(ast.parse(path.read_text(encoding="utf-8")))) == []


def test_every_threshold_has_its_reason_and_is_used():
    text = Path(thresholds.__file__).read_text(encoding="utf-8")
    rows = re.findall(r"^([A-Z]\w+(?:, [A-Z]\w+)*) = (.+)$", text, re.M)
    assert len(rows) > 100 and all("  # " in row for _, row in rows)
    used = "".join(path.read_text(encoding="utf-8") for path in MODULES)
    unused = {
        name for left, _ in rows for name in left.split(", ") if f"thresholds.{name}" not in used
    }
    assert unused <= {"FROM_MEMORY"}  # of a function of the table
