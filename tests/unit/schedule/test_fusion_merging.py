"""Which two kernels may become one, asked of two at a time."""

from helpers.graphs import buffer, lookup
from weft.device.capabilities import Capabilities, ComputeCaps, Feature, KernelLimits
from weft.schedule.fusion_analysis import Roots
from weft.schedule.fusion_merging import Unions
from weft.schedule.use_def import uses_in
from weft.uop import Ops, UOp

GRID = Capabilities(compute=ComputeCaps(limits=KernelLimits(global_size=(64, 64, 64))))
THREADS = Capabilities(compute=ComputeCaps(features=frozenset({Feature.THREADS})))


def asked(*roots, asked_for=(), **devices):
    """The unions of these kernels, and each of them as a draft; all but `asked_for` are not."""
    uses = uses_in(UOp.sink(*(asked_for or roots)))
    unions = Unions(uses, Roots(uses, dict.fromkeys(roots)), lookup(**devices))
    return unions, [unions.alone(known) for known in unions.roots.facts]


def test_a_kernel_and_what_it_reads_are_one_and_nothing_is_stored_between():
    x = buffer(24).reshape((4, 6))
    top = x.reduce(Ops.MAX, (1,))
    out = x - top.expand((4, 6))
    unions, (first, second) = asked(top, out, asked_for=[out])
    united = unions.united(second, first, None)
    assert united.members == [top, out] and united.allowed == {1, 4}
    assert unions.group(united).stored == [out]


def test_what_somebody_else_reads_is_stored_as_well():
    x = buffer(24)
    one = x + 1
    unions, drafts = asked(one, one * 2)
    assert unions.group(unions.united(*drafts, None)).stored == [one, one * 2]


def test_devices_that_differ_and_such_as_do_not_compute_have_nothing_in_common():
    x, y = buffer(4, device="X"), buffer(4, device="Y")
    unions, (first, second) = asked(x + 1, y + 1)
    assert unions.united(first, second, None) is None
    unions, (first, second) = asked(x + 1, x * 2, X=Capabilities())
    assert first.device is None and unions.united(first, second, x) is None


def test_no_loop_in_common_is_put_off_to_the_end():
    x = buffer(1000)
    total = x.reduce(Ops.ADD, (0,))
    few = total.expand((2,)) + buffer(2)
    for facts, wanted in (({}, True), ({"X": GRID}, False)):
        unions, (first, second) = asked(total, few, asked_for=[few], **facts)
        assert unions.united(first, second, None) is None
        assert unions.left_for_the_end == {(first, second, None)}
        unions.at_the_end = True
        assert (unions.united(first, second, None) is not None) is wanted


def test_side_by_side_there_must_be_something_to_gain():
    x, y = buffer(24), buffer(24)
    unions, (first, second) = asked(x + y, x * y)
    assert unions.united(first, second, x).members == [x + y, x * y]
    rows = x.reshape((4, 6)).reduce(Ops.ADD, (1,))
    columns = x.reshape((4, 6)).reduce(Ops.ADD, (0,))
    unions, (first, second) = asked(rows, columns)
    assert unions.united(first, second, x) is None


def test_small_sums_one_after_the_other_but_not_twice_the_same():
    sums = [buffer(rows * 8).reshape((rows, 8)).reduce(Ops.ADD, (1,)) for rows in (4, 4, 5)]
    unions, (one, alike, other) = asked(*sums)
    assert unions.one_after_the_other(one, alike) is None
    united = unions.one_after_the_other(one, other)
    assert united.parts == (one, other) and unions.group(united).stored == [sums[0], sums[2]]
    assert unions.one_after_the_other(united, alike) is None


def test_not_what_threads_would_share():
    large = buffer(1 << 20).reshape((1 << 10, 1 << 10)).reduce(Ops.ADD, (1,))
    small = buffer(8).reduce(Ops.ADD, (0,))
    unions, drafts = asked(large, small, X=THREADS)
    assert unions.one_after_the_other(*drafts) is None


def test_two_kernels_that_share_much_are_looked_at_once(monkeypatch):
    shared = [buffer(24) for _ in range(4)]
    one, other = (sum(shared[1:], shared[0] * n) for n in (2, 3))
    one = one.reshape((4, 6)).reduce(Ops.ADD, (1,))
    unions, (first, second) = asked(one, other)
    looked = []
    look = unions._allowed_between
    monkeypatch.setattr(unions, "_allowed_between", lambda a, b: looked.append(1) or look(a, b))
    found = [unions.united(first, second, each) for each in shared]
    assert len({each is None for each in found}) == 1
    once = len(looked)
    for each in shared:
        unions.united(first, second, each)
    assert 0 < len(looked) == once <= 3
