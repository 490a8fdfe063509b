from weft.base.dtype import dtypes
from weft.device.program import Estimates, LinearProgram
from weft.testing.conformance.programs import Builder
from weft.uop import UOp


def test_slots_are_read_off_the_nodes():
    b = Builder()
    both = b.argument(1, dtypes.int, 4)
    out, data = b.argument(0, dtypes.int, 4), b.argument(5, dtypes.int, 4)
    b.store(out, 0, b.load(data, 1) + b.load(both, 0))
    b.store(both, 2, UOp.const(dtypes.int, 1))
    program = LinearProgram.of("k", b.nodes)
    assert program.globals == (0, 1, 5)
    assert program.outs == (0, 1)
    assert program.ins == (1, 5)
    assert program.global_size is None and program.local_size is None


def test_registers_are_no_slots():
    b = Builder()
    register = b.register(0, dtypes.int)
    b.store(register, 0, UOp.const(dtypes.int, 0))
    b.store(b.argument(3, dtypes.int, 1), 0, b.load(register, 0))
    program = LinearProgram.of("k", b.nodes)
    assert (program.globals, program.outs, program.ins) == ((3,), (3,), ())


def test_variables_are_in_order_of_name():
    b = Builder()
    for name in ("m", "a", "z"):
        b.add(UOp.variable(name, 0, 9))
    assert [v.arg.name for v in LinearProgram.of("k", b.nodes).variables] == ["a", "m", "z"]


def test_launch_sizes():
    b = Builder()
    rows = UOp.variable("rows", 1, 9)
    b.special("gidx1", 7)
    b.add(UOp.range(rows, 0).replace(op=b.special("lidx0", 4).op, arg="gidx0"))
    program = LinearProgram.of("k", b.nodes)
    assert program.global_size == (rows, 7, 1)
    assert program.local_size == (4, 1, 1)


def test_estimates_add_up():
    assert Estimates(1, 2, 3) + Estimates(10, 20, 30) == Estimates(11, 22, 33)


def test_variables_have_names_that_differ():
    narrow, wide, word = UOp.variable("n", 0, 3), UOp.variable("n", 0, 9), UOp.variable("int", 0, 1)
    program = LinearProgram.of("k", [wide, word, narrow])
    assert program.variables == (word, narrow, wide)
    assert program.variable_names == ["int_", "n", "n_"]
