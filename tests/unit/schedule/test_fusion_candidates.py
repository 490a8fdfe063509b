"""Kernels to be: which are alike, and several of them one after the other."""

from helpers.graphs import buffer
from weft.schedule.fusion_analysis import facts_of
from weft.schedule.fusion_candidates import Candidate, Group, sequential_group
from weft.uop import Ops


def draft_of(root):
    return Candidate([facts_of(root, {root: None})], None, "X")


def columns(rows, length):
    return buffer(rows * length).reshape((rows, length)).reduce(Ops.ADD, (0,))


def test_a_candidate_has_members_and_work():
    root = columns(4, 8)
    draft = draft_of(root)
    assert draft.members == [root] and draft.work >= 4 * 8
    assert Candidate(draft.facts * 2, None, "X").work == 2 * draft.work


def test_signatures_ignore_buffers():
    one, other, shorter = (draft_of(columns(*shape)) for shape in ((4, 8), (4, 8), (4, 7)))
    assert one.signature == other.signature != shorter.signature
    assert one.signature != draft_of(columns(4, 8) + 1).signature


def test_each_part_has_axes_of_its_own():
    row, stored, sums, more = (columns(4, n) for n in (8, 9, 10, 11))
    shapes = {row: (4, 8), stored: (4, 9)}
    first = Group([row, stored], [stored], shapes, (4,), [row])
    others = [Group([node], [node]) for node in (sums, more)]
    whole = sequential_group([row, stored, sums, more], [stored, sums, more], [*others, first])
    assert (whole.outer, whole.kept) == ((4,), [row])
    assert whole.shapes == {**shapes, sums: (1, 1, 1, 10), more: (1, 1, 1, 1, 1, 11)}
    assert sequential_group([sums, more], [sums, more], others).shapes == {
        sums: (1, 10), more: (1, 1, 1, 11)
    }  # fmt: skip
