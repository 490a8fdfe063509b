import gc
import weakref

from weft.base.dtype import dtypes
from weft.base.provenance import Metadata
from weft.tools.viz.node_table import LONGEST_ARG, NONE, NodeTable, short_arg
from weft.uop import Ops, UOp
from weft.uop.args import Kernel, Reduce


def number(name):
    return UOp.variable(name, 0, 9)


def test_every_node_once_and_sources_before_users():
    table = NodeTable()
    x, y = number("x"), number("y")
    first = table.number((x + y) * x)
    again = table.number((x + y) * x)
    other = table.number(x + y)
    columns = table.as_json()
    assert first == again and other in columns["src"][first]
    assert len(columns["op"]) == 4
    assert all(source < n for n, sources in enumerate(columns["src"]) for source in sources)
    names = [columns["texts"][op] for op in columns["op"]]
    assert names[first] == "MUL" and names[other] == "ADD"


def test_no_node_is_kept_alive_and_one_that_comes_again_is_known():
    table = NodeTable()
    node = number("gone") + 17
    numbered = table.number(node)
    last = weakref.ref(node)
    del node
    gc.collect()
    assert last() is None
    assert table.number(number("gone") + 17) == numbered
    assert len(table) == 3


def test_a_full_table_says_so_and_stays_consistent():
    table = NodeTable(most=3)
    x = number("x")
    kept = table.number(x + 1)
    assert kept != NONE and not table.full
    assert table.number((x + 1) * 2) == NONE and table.full
    assert table.number(x + 1) == kept
    columns = table.as_json()
    assert {len(columns[name]) for name in ("op", "dtype", "src", "arg", "inside", "origin")} == {3}


def test_the_ast_inside_a_kernel_is_kept_too():
    table = NodeTable()
    ast = UOp.sink(number("x") + 1)
    kernel = UOp(Ops.KERNEL, src=(), arg=Kernel(ast, (Metadata("sum", ("t.py", 3, "<module>")),)))
    columns_at = table.number(kernel)
    columns = table.as_json()
    assert columns["inside"][columns_at] == table.number(ast)
    assert columns["texts"][columns["origin"][columns_at]] == "sum (t.py:3)"
    assert columns["texts"][columns["arg"][columns_at]] == "sum"
    assert short_arg(Kernel(ast)) == "SINK of 4 nodes"


def test_args_read_as_in_the_text_of_a_graph_and_are_cut():
    assert short_arg(Reduce(Ops.ADD, (1,))) == "Reduce(Ops.ADD, (1, ))"
    assert short_arg((number("n"), 3)).startswith("(UOp(")
    cut = short_arg("x" * 5000)
    assert len(cut) < LONGEST_ARG and " ... " in cut


def test_a_sink_has_no_dtype_to_show():
    table = NodeTable()
    at = table.number(UOp.sink(UOp.const(dtypes.int, 1)))
    columns = table.as_json()
    assert columns["texts"][columns["dtype"][at]] == ""
