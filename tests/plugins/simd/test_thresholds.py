"""Thresholds are shares of the caches of a machine, and all of them are in one table."""

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
from weft.plugin import MachineModel, Throughput
from weft.shape.tracker import ShapeTracker
from weft.uop import Ops, UOp
from weft_simd import thresholds

FOLDER = Path(thresholds.__file__).parent
MODULES = sorted(path for path in FOLDER.rglob("*.py") if path.name != "thresholds.py")
MASKS = {"_SIGN", "_ONES"}  # bits of a word, not tuned
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
def test_tuned_numbers_are_in_the_table(path):
    assert list(tuned_numbers(ast.parse(path.read_text(encoding="utf-8")))) == []


def test_every_threshold_has_its_reason_and_is_used():
    text = Path(thresholds.__file__).read_text(encoding="utf-8")
    rows = re.findall(r"^([A-Z]\w+(?:, [A-Z]\w+)*) = (.+)$", text, re.M)
    assert len(rows) > 80 and all("  # " in row for _, row in rows)
    functions = text[text.index("\ndef ") :]
    used = "".join(path.read_text(encoding="utf-8") for path in MODULES)
    names = [name for left, _ in rows for name in left.split(", ")]
    assert [n for n in names if f"thresholds.{n}" not in used and n not in functions] == []


def machine_of(registers: int, nbytes: int, per_cycle: float, **sizes) -> MachineModel:
    """A model as a plugin fills it in; per_cycle: multiply-adds of float32."""
    throughputs = (Throughput(Ops.MULACC, dtypes.float32, per_cycle),)
    model = MachineModel(throughputs=throughputs, **sizes)
    return ComputeCaps(
        vector_bytes=nbytes, vector_registers=registers, cache_bytes=1 << 25, machine=model
    ).machine


KIB = 1 << 10
ZEN_3 = machine_of(
    16,
    32,
    16.0,
    l1_bytes=32 * KIB,
    l1_ways=8,
    l2_bytes=512 * KIB,
    l2_bytes_per_cycle=32.0,
    fill_buffers=24,
)
ZEN_5 = machine_of(
    32, 64, 32.0, l1_bytes=48 * KIB, l1_ways=12, l2_bytes=1024 * KIB, l2_bytes_per_cycle=64.0,
    branch_latency=15.0, results_in_flight=384,
)  # fmt: skip
NEOVERSE = machine_of(
    32, 16, 16.0, l1_bytes=64 * KIB, l1_ways=4, l2_bytes=1024 * KIB, memory_bytes_per_cycle=16.0,
    branch_latency=11.0, results_in_flight=256, fill_buffers=20,
)  # fmt: skip
DERIVED = {
    "independent_operations": (8, 8, 16),
    "streaming_accumulators": (4, 4, 8),
    "issue_cycles": (0.5, 0.5, 0.25),
    "l1_way_bytes": (4096, 4096, 16384),
    "conflict_bytes": (2048, 2048, 8192),
    "fetched_byte_cycles": (1 / 32, 1 / 64, 1 / 40),
    "long_chain": (20, 48, 16),
    "branch_operations": (24, 30, 44),
    "line_operations": (10.0, 10.0, 16.0),
    "term_distance": (32, 16, 32),
    "window_distance": (12, 8, 10),
    "batched_rows": (2, 8, 8),
    "summed_run": (32, 16, 64),
}


@pytest.mark.parametrize("name", DERIVED)
def test_thresholds_differ_between_machines(name):
    values = [
        machine.independent_operations
        if name == "independent_operations"
        else getattr(thresholds, name)(machine)
        for machine in (ZEN_3, ZEN_5, NEOVERSE)
    ]
    assert values == pytest.approx(DERIVED[name])


SHARES = {
    "PANEL": (128 * KIB, 256 * KIB, 256 * KIB),
    "STATIONARY": (256 * KIB, 512 * KIB, 512 * KIB),
    "MATRIX": (128 * KIB, 256 * KIB, 256 * KIB),
}


@pytest.mark.parametrize("name", SHARES)
def test_panels_follow_the_second_level_cache(name):
    part = getattr(thresholds, name)
    found = [thresholds.l2_share(machine, part) for machine in (ZEN_3, ZEN_5, NEOVERSE)]
    assert tuple(found) == SHARES[name]


@pytest.mark.parametrize("machine", [ZEN_3, ZEN_5, NEOVERSE])
def test_cache_thresholds_do_not_depend_on_the_width_of_vectors(machine):
    """Prefetches and cache conflicts are functions of caches, lines and latencies."""
    narrow = machine.with_facts(
        register_bytes=16, registers=machine.registers, last_level_bytes=machine.last_level_bytes
    )
    for one in (
        thresholds.l1_way_bytes, thresholds.conflict_bytes, thresholds.last_level_bytes,
        thresholds.strided_block, thresholds.block_distance,
    ):  # fmt: skip
        assert one(narrow) == one(machine)


def test_the_usual_machine_has_the_values_that_were_measured():
    usual = machine_of(32, 64, 16.0)
    assert thresholds.issue_cycles(usual) == 0.5 and usual.independent_operations == 8
    assert thresholds.term_distance(usual) == 16 and thresholds.window_distance(usual) == 8
    assert thresholds.block_distance(usual) == 4 and thresholds.strided_block(usual) == 8
    assert thresholds.long_chain(usual) == 20 and thresholds.branch_operations(usual) == 24
    assert thresholds.long_product(usual, 4) == 1024 and thresholds.conflict_bytes(usual) == 2048
    assert thresholds.line_operations(usual) == pytest.approx(10.0)


def test_a_way_that_is_not_known_is_a_page():
    assert thresholds.l1_way_bytes(MachineModel(l1_bytes=48 * KIB)) == 4096
    assert thresholds.l1_way_bytes(MachineModel(page_bytes=1 << 16)) == 32 * KIB
