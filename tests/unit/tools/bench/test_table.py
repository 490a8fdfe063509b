from weft.base.dtype import dtypes
from weft.base.provenance import Metadata
from weft.device.program import Estimates, LinearProgram
from weft.tools.bench import table
from weft.tools.bench.meter import Measured
from weft.tools.bench.peaks import Peaks
from weft.uop import UOp

ROOFS = {"X": [Peaks(1e9, 1e9), Peaks(2e9, 1e9, True)]}


def kernel(name, seconds, ops=0, moved=0, launches=None, device="X", alone=False):
    program = LinearProgram(name, (), estimates=Estimates(ops, moved, moved))
    return Measured(program, device, launches or len(seconds), list(seconds), alone)


def rows(text):
    return [line.split() for line in text.splitlines()]


def test_the_costliest_come_first_with_their_share():
    small = kernel("small", [1e-3], ops=1000, moved=1000)
    large = kernel("large", [1e-3, 3e-3, 2e-3], ops=1_000_000, moved=1000)
    head, first, second, *_ = rows(table.text([small, large], 0.0, ROOFS))
    assert head[:3] == ["#", "kernel", "runs"]
    assert first[:3] == ["1", "large", "3"] and second[:3] == ["0", "small", "1"]
    assert first[3:8] == ["2.00", "ms", "6.00", "ms", "85.7%"]
    assert first[8:10] == ["0.5", "0.0"]


def test_how_near_a_kernel_is_to_the_limit():
    busy = kernel("busy", [2e-3], ops=2_000_000, moved=10)
    part, word = table.of_limit(busy, ROOFS)
    assert round(part, 9) == 0.5 and word == "arithmetic"  # of all threads
    moving = kernel("moving", [4e-3], ops=10, moved=1_000_000)
    assert table.of_limit(moving, ROOFS) == (0.25, "memory")
    assert table.of_limit(busy, {"X": []}) is None
    assert table.of_limit(kernel("odd", [1.0], device="Y"), ROOFS) is None
    assert table.of_limit(kernel("empty", [1.0]), ROOFS) is None


def test_short_kernels_are_bound_by_launch():
    quick = kernel("quick", [1e-6], ops=1000, moved=1000)
    assert table.of_limit(quick, ROOFS)[1] == "launch"


def test_origin_of_a_kernel():
    one = kernel("k", [1.0])
    assert table.origin(one) == ""
    place = ("/home/me/model.py", 41, "forward")
    names = ("matmul", "add", "matmul", "relu")
    one.metadata = tuple(Metadata(name, place) for name in names)
    assert table.origin(one) == "matmul add relu, model.py:41 in forward"
    assert table.origin(one, most=38) == "... add relu, model.py:41 in forward"
    assert table.origin(one, most=8) == "... relu, model.py:41 in forward"
    one.metadata = (Metadata("sum"),)
    assert table.origin(one) == "sum"


def test_long_names_are_cut():
    name = "r_" + "_".join(["16"] * 20)
    row = rows(table.text([kernel(name, [1.0])], 0.0, ROOFS))[1]
    assert row[1] == name[:25] + "..."


def test_costs_that_depend_on_a_variable_are_left_out():
    n = UOp.variable("n", 1, 8, dtypes.int)
    text = table.text([kernel("open", [1e-3], ops=n * 2, moved=n * 4)], 0.0, ROOFS)
    assert rows(text)[1][-5:] == ["-"] * 5  # and nothing of where it comes from


def test_summary_below_the_table():
    several = [kernel(f"k{number}", [1e-3]) for number in range(5)]
    text = table.text(several, 2e-3, {"X": []}, most=2)
    assert "... and 3 more, 3.00 ms" in text
    assert "5 kernels, 5 launches, 5.00 ms; copies and the like 2.00 ms" in text
    assert "could not be measured" in text
    seldom = table.text([kernel("k", [1e-3], launches=1, alone=True)], 0.0, ROOFS)
    assert "1*" in seldom and "timed by itself" in seldom
    assert "one thread: at most 1 GFLOP/s" in seldom and "all threads: at most 2" in seldom


def test_the_whole_of_it(golden):
    kernels = [
        kernel("r_512_512_512", [1.1e-3, 1.2e-3, 1.3e-3], ops=268_435_456, moved=3_145_728),
        kernel("E_4096", [5e-6], ops=8192, moved=49152, launches=3, alone=True),
        kernel("r_other", [2e-4], ops=10, moved=10, device="Y"),
    ]
    roofs = {"X": [Peaks(2.5e11, 4e10), Peaks(5e11, 5e10, True)], "Y": []}
    assert table.text(kernels, 1e-3, roofs) == golden
