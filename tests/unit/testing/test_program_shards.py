"""Shardings of the tensors of random programs."""

from weft.testing.program_shards import Sharded
from weft.testing.programs import Seeded, run_program

TWO = ("REF", "REF:1")


def test_layouts_take_turns():
    make = Sharded(*TWO)
    axes = [make([[1, 2], [3, 4]]).layout.axis for _ in range(4)]
    assert axes == [0, 1, None, 0]
    assert make.full((3,), 2.0).device == TWO and make.arange(3).tolist() == [0, 1, 2]


def test_a_program_says_where_its_tensors_are():
    program = run_program(Seeded(3), devices=TWO)
    assert program.text().splitlines()[0] == "Tensor = Sharded('REF', 'REF:1')"
    tensors = [each for name, each in program.known.items() if name in program.values]
    assert tensors and all(each.device == TWO for each in tensors)
