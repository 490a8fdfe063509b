"""Which loop becomes the lanes of one processor."""

from __future__ import annotations

from dataclasses import replace

from helpers.simd import simd_target
from weft import Tensor
from weft.base.dtype import dtypes
from weft.codegen.opt.opts import OptKind
from weft.codegen.opt.search_space import by_heuristic
from weft.codegen.pipeline import loops_for, lower
from weft.device.capabilities import ComputeCaps
from weft.device.program import LinearProgram
from weft.uop import Ops

EIGHT = ComputeCaps(
    vector_widths={dtypes.float: (8,), dtypes.int: (8,)}, vector_bytes=32, vector_registers=16
)


def program_of(found: Tensor) -> LinearProgram:
    return lower(found.schedule()[-1].ast, simd_target(EIGHT))


def divisions(program: LinearProgram) -> set[int]:
    return {u.dtype.count for u in program.uops if u.op is Ops.FDIV}


def test_elementwise_work_after_short_reductions_has_lanes() -> None:
    """Windows of 8 may be lanes of their sums; the chain after them would then be one by one."""
    windows = Tensor.empty(64, 71).unfold(1, 8, 1)
    most = windows.max(2, keepdim=True)
    total = (windows - most).square().sum(2) + most.squeeze(2)
    for _ in range(3):
        total = 1 / (total * total + 1)
    program = program_of(total)
    assert divisions(program) == {8}


def test_elementwise_work_after_long_reductions_is_ignored() -> None:
    program = program_of(1 / (Tensor.empty(64, 4096).sum(1) + 1))
    assert divisions(program) == {1}
    assert any(u.op is Ops.LOAD and u.dtype.count == 8 for u in program.uops)


def test_of_narrow_numbers_under_conditions_no_more_lanes_than_make_sense() -> None:
    """32 lanes of bytes, each with a gate of its own, would be slow to compile and no faster."""
    # one long row, which is not cut where the one part ends and the other begins
    parts = [Tensor.empty(size, dtype=dtypes.uint8).realize() for size in (53_001, 75_000)]
    whole = program_of(Tensor.cat(*parts))
    assert {u.src[1].dtype.count for u in whole.uops if u.op is Ops.STORE} == {8}
    plain = program_of(parts[0] + parts[0])
    assert max(u.src[1].dtype.count for u in plain.uops if u.op is Ops.STORE) == 32


def test_several_gathered_vectors_are_unrolled() -> None:
    """Where indices fill a register as the elements do; conditions alone are no reason for it."""

    def lanes(found: Tensor) -> int:
        uops = program_of(found).uops
        return max(u.src[1].dtype.count for u in uops if u.op is Ops.STORE)

    table, index = Tensor.empty(64, 96), Tensor.empty(64, 96, dtype=dtypes.int32)
    assert lanes(table.gather(1, index)) == 32
    assert lanes(table.flatten()[index.flatten()]) == 32
    assert lanes(table.gather(1, index[:, :88])) == 8  # parts of 32 would overlap
    assert lanes(table[Tensor.empty(64, dtype=dtypes.int32)]) == 8  # whole rows
    assert lanes(Tensor.cat(table.flatten()[:5000], index.flatten().cast(dtypes.float)[:5000])) == 8


def test_gathered_rows_are_unrolled_if_several_streams_are_prefetched() -> None:
    target = simd_target(replace(EIGHT, read_streams=8))

    def opts(found: Tensor) -> dict[OptKind, int]:
        kernel = loops_for(found.schedule()[-1].ast, target, True)
        return {opt.kind: opt.amount for opt in by_heuristic(kernel).opts}

    table, index = Tensor.empty(64, 96), Tensor.empty(64, 96, dtype=dtypes.int32)
    addresses = EIGHT.vector_bytes // 8
    picked = {OptKind.VECTOR: addresses, OptKind.UPCAST: 4}
    assert opts(table.gather(1, index)) == picked
    assert opts(table.flatten()[index.flatten()]) == picked
    assert OptKind.UPCAST not in opts(table[Tensor.empty(64, dtype=dtypes.int32)])  # whole rows
    assert OptKind.UPCAST not in opts(table + 1.0)


def test_masked_elements_have_lanes_that_do_not_overlap() -> None:
    """At the edges of what is pooled: one at a time is three times as long, and of vectors that
    begin where their width says only the first has tests."""

    def lanes(size: int, **how: int) -> set[int]:
        uops = program_of(Tensor.empty(4, 8, size, size).max_pool2d((3, 3), **how)).uops
        return {u.src[1].dtype.count for u in uops if u.op is Ops.STORE}

    assert lanes(32, stride=2, padding=1) == {8}
    assert lanes(24, stride=2, padding=1) == {4}  # twelve: three of four, not two of eight
    assert lanes(30, stride=2, padding=1) == {8}  # fifteen: nothing divides it
    assert lanes(33, stride=2) == {1}  # no tests: the compiler finds vectors of its own
    assert lanes(32, stride=1, padding=1) == {1}


def test_two_vectors_of_a_row_that_takes_a_long_chain_are_under_way_at_once() -> None:
    """A row buffered until its sum is known; more than two vectors need too many registers."""

    def lanes(steps: int, columns: int = 96) -> set[int]:
        row = Tensor.empty(64, columns)
        for _ in range(steps):
            row = 1 / (row * row + 1)
        total = row.sum(1, keepdim=True)
        return divisions(program_of(row * (total + row)))

    assert lanes(8) == {16}
    assert lanes(3) == {8}
    assert lanes(8, 88) == {8}  # which sixteen lanes do not divide


def test_windows_over_short_rows_have_lanes_along_the_rows() -> None:
    """Sixteen channels at once would be picked up one by one; eight columns, and then six of them
    again, lie side by side, and a few steps decide which are outside of the image."""
    sixteen = ComputeCaps(
        vector_widths={dtypes.float: (16, 8), dtypes.int: (16, 8)},
        vector_bytes=64,
        vector_registers=32,
    )

    def lanes(size: int) -> int:
        found = Tensor.empty(4, 240, 14, 14).conv2d(
            Tensor.empty(240, 1, size, size), groups=240, padding=size // 2
        )
        target = simd_target(sixteen)
        uops = lower(found.schedule()[-1].ast, target).uops
        return max(u.src[1].dtype.count for u in uops if u.op is Ops.STORE)

    assert lanes(3) == lanes(5) == 8


def lanes_of(found: Tensor) -> list[int]:
    """The amounts of VECTOR on a target with eight lanes."""
    return [opt.amount for opt in program_of(found).applied if opt.kind is OptKind.VECTOR]


def test_the_last_vector_of_an_awkward_extent_overlaps() -> None:
    """2 divides 99 * 131 * 18, and 4 divides 31500; both are far fewer than eight lanes."""
    for size in (99 * 131 * 18, 31500):
        assert lanes_of(Tensor.empty(size).exp()) == [8]


def test_vectors_that_would_do_most_work_twice_do_not_overlap() -> None:
    assert lanes_of(Tensor.empty(4).exp()) == [4]


def test_what_is_written_in_place_has_lanes_that_divide() -> None:
    x = Tensor.empty(31500).realize()
    assert lanes_of(x.assign(x + 1)) == [4]


def test_a_transpose_has_blocks_although_two_lanes_divide_its_extent() -> None:
    assert lanes_of(Tensor.empty(34, 34).transpose(0, 1).contiguous()) == [8]
    assert lanes_of(Tensor.empty(36, 36).transpose(0, 1).contiguous()) == [4]
