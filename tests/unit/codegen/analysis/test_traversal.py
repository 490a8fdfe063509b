"""The nodes of a kernel are traversed once for passes that do not change it, and then freed."""

from weft.base.dtype import dtypes
from weft.codegen.analysis import traversal
from weft.uop import UOp


def test_the_node_list_is_cached_until_it_is_cleared():
    first, second = (UOp.sink(UOp.const(dtypes.int, number)) for number in (1, 2))
    nodes = traversal.nodes_of(first)
    assert nodes == list(first.toposort()) and traversal.nodes_of(first) is nodes
    assert traversal.nodes_of(second) == list(second.toposort())
    assert traversal.nodes_of(first) == nodes
    traversal.clear_cache()
    assert traversal.nodes_of(first) is not nodes
    traversal.clear_cache()
    assert not traversal._last
