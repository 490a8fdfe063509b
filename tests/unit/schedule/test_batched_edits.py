"""Edits of single nodes, made in one traversal."""

from helpers.graphs import buffer
from weft import Tensor
from weft.schedule.batched_edits import rebuild
from weft.uop import UOp


def test_users_of_an_edited_node_are_rebuilt_and_the_rest_is_unchanged():
    a, b = buffer(), buffer()
    step, other = a + 1, b * 2
    sink = UOp.sink(step.sqrt(), other)
    done = rebuild(sink, {step: lambda done: done[a] * 3})
    assert done[sink] is UOp.sink((a * 3).sqrt(), other)
    assert done[other] is other and done[a] is a


def test_edits_get_replacements_of_their_sources():
    a = buffer()
    lower, upper = a + 1, (a + 1) * 2
    edits = {lower: lambda done: done[a] - 1, upper: lambda done: done[lower].sqrt()}
    assert rebuild(UOp.sink(upper), edits)[upper] is (a - 1).sqrt()


def test_new_nodes_keep_their_provenance():
    total = Tensor.empty(4, 5, device="REF").sum(1).sum(0)
    from_sum = total.uop.base
    (item,) = total.schedule()
    assert "sum" in [known.name for known in item.metadata]
    plain = buffer() + 1
    assert plain.with_provenance_of(buffer()) is plain and plain.meta is None
    assert plain.with_provenance_of(from_sum).meta is from_sum.meta
