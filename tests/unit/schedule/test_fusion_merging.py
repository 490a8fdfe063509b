"""Which two kernels may become one, asked of two at a time."""

from helpers.graphs import buffer, lookup
from weft.device.capabilities import Capabilities, ComputeCaps, Feature, KernelLimits
from weft.schedule.fusion_analysis import RootKernels
from weft.schedule.fusion_merging import Merging
from weft.schedule.use_def import uses_in
from weft.uop import Ops, UOp

GRID = Capabilities(compute=ComputeCaps(limits=KernelLimits(global_size=(64, 64, 64))))
THREADS = Capabilities(compute=ComputeCaps(features=frozenset({Feature.THREADS})))


def asked(*roots, asked_for=(), **devices):
    """The merging of these kernels, and each of them as a draft; all but `asked_for` are not."""
    uses = uses_in(UOp.sink(*(asked_for or roots)))
    merging = Merging(uses, RootKernels(uses, dict.fromkeys(roots)), lookup(**devices))
    return merging, [merging.single(known) for known in merging.roots.facts]


def test_a_fused_producer_is_not_stored():
    x = buffer(24).reshape((4, 6))
    top = x.reduce(Ops.MAX, (1,))
    out = x - top.expand((4, 6))
    merging, (first, second) = asked(top, out, asked_for=[out])
    merged = merging.merged(second, first, None)
    assert merged.members == [top, out] and merged.allowed == {1, 4}
    assert merging.group(merged).stored == [out]


def test_values_with_other_readers_are_stored_as_well():
    x = buffer(24)
    one = x + 1
    merging, drafts = asked(one, one * 2)
    assert merging.group(merging.merged(*drafts, None)).stored == [one, one * 2]


def test_devices_that_differ_and_such_as_do_not_compute_have_nothing_in_common():
    x, y = buffer(4, device="X"), buffer(4, device="Y")
    merging, (first, second) = asked(x + 1, y + 1)
    assert merging.merged(first, second, None) is None
    merging, (first, second) = asked(x + 1, x * 2, X=Capabilities())
    assert first.device is None and merging.merged(first, second, x) is None


def test_no_loop_in_common_is_put_off_to_the_end():
    x = buffer(1000)
    total = x.reduce(Ops.ADD, (0,))
    few = total.expand((2,)) + buffer(2)
    for facts, wanted in (({}, True), ({"X": GRID}, False)):
        merging, (first, second) = asked(total, few, asked_for=[few], **facts)
        assert merging.merged(first, second, None) is None
        assert merging.deferred == {(first, second, None)}
        merging.is_last_phase = True
        assert (merging.merged(first, second, None) is not None) is wanted


def test_side_by_side_there_must_be_something_to_gain():
    x, y = buffer(24), buffer(24)
    merging, (first, second) = asked(x + y, x * y)
    assert merging.merged(first, second, x).members == [x + y, x * y]
    rows = x.reshape((4, 6)).reduce(Ops.ADD, (1,))
    columns = x.reshape((4, 6)).reduce(Ops.ADD, (0,))
    merging, (first, second) = asked(rows, columns)
    assert merging.merged(first, second, x) is None


def test_small_sums_one_after_the_other_but_not_twice_the_same():
    sums = [buffer(rows * 8).reshape((rows, 8)).reduce(Ops.ADD, (1,)) for rows in (4, 4, 5)]
    merging, (one, alike, other) = asked(*sums)
    assert merging.merged_in_sequence(one, alike) is None
    merged = merging.merged_in_sequence(one, other)
    assert merged.parts == (one, other) and merging.group(merged).stored == [sums[0], sums[2]]
    assert merging.merged_in_sequence(merged, alike) is None


def test_parallel_kernels_are_not_merged_in_sequence():
    large = buffer(1 << 20).reshape((1 << 10, 1 << 10)).reduce(Ops.ADD, (1,))
    small = buffer(8).reduce(Ops.ADD, (0,))
    merging, drafts = asked(large, small, X=THREADS)
    assert merging.merged_in_sequence(*drafts) is None


def test_two_kernels_that_share_much_are_looked_at_once(monkeypatch):
    shared = [buffer(24) for _ in range(4)]
    one, other = (sum(shared[1:], shared[0] * n) for n in (2, 3))
    one = one.reshape((4, 6)).reduce(Ops.ADD, (1,))
    merging, (first, second) = asked(one, other)
    looked = []
    look = merging._allowed_reads
    monkeypatch.setattr(merging, "_allowed_reads", lambda a, b: looked.append(1) or look(a, b))
    found = [merging.merged(first, second, each) for each in shared]
    assert len({each is None for each in found}) == 1
    once = len(looked)
    for each in shared:
        merging.merged(first, second, each)
    assert 0 < len(looked) == once <= 3
