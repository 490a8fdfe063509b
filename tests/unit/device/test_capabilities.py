import pickle

import pytest

from weft.base.dtype import dtypes
from weft.base.errors import ArgumentError
from weft.device.capabilities import (
    COMMON_DTYPES,
    Capabilities,
    ComputeCaps,
    Feature,
    FrozenMap,
    KernelLimits,
    MemoryCaps,
    Target,
    access_widths,
)


def test_plain_containers_are_frozen():
    caps = ComputeCaps(
        dtypes={dtypes.float32},
        features=[Feature.SHARED],
        vector_widths={dtypes.float32: (4,)},
        tensor_cores=[],
    )
    assert caps.dtypes == frozenset({dtypes.float32})
    assert caps.tensor_cores == ()
    assert caps.has(Feature.SHARED) and not caps.has(Feature.BARRIER)
    assert hash(caps) == hash(
        ComputeCaps(frozenset({dtypes.float32}), KernelLimits(), {Feature.SHARED},
                    {dtypes.float32: (4,)})
    )  # fmt: skip
    with pytest.raises(TypeError):
        caps.vector_widths[dtypes.float32] = (8,)


@pytest.mark.parametrize(
    "make,words",
    [
        (lambda: ComputeCaps(dtypes=["float"]), "dtypes of ComputeCaps is scalar dtypes"),
        (lambda: ComputeCaps(dtypes=[dtypes.float32.vec(4)]), "scalar dtypes"),
        (lambda: ComputeCaps(dtypes=None), "not iterable"),
        (lambda: ComputeCaps(features=["barriers"]), "'barriers' is not a valid Feature"),
        (lambda: ComputeCaps(limits={"max_buffers": 3}), "limits of ComputeCaps is KernelLimits"),
        (lambda: ComputeCaps(vector_widths={"float": (4,)}), "widths by scalar dtype"),
        (lambda: ComputeCaps(vector_widths={dtypes.int: 4}), "not iterable"),
        (lambda: KernelLimits(max_buffers=0), "max_buffers of KernelLimits is a whole number"),
        (lambda: KernelLimits(max_buffers="8"), "'8' is a str"),
        (lambda: KernelLimits(local_size=(64, 64)), "3 whole numbers from 1 on, or None"),
        (lambda: KernelLimits(shared_bytes=None), "from 0 on"),
        (lambda: MemoryCaps(alignment=0), "alignment of MemoryCaps"),
        (lambda: MemoryCaps(link_group=3), "link_group of MemoryCaps is str or None"),
        (lambda: Capabilities(compute=True), "compute of Capabilities is ComputeCaps or None"),
        (lambda: Capabilities("memory"), "memory of Capabilities is MemoryCaps"),
    ],
)
def test_a_wrong_field_is_refused_where_it_is_written(make, words):
    with pytest.raises(ArgumentError, match=words):
        make()


def test_words_and_lists_will_do():
    caps = ComputeCaps(features=["barrier"], limits=KernelLimits(local_size=[8, 8, 8]))
    assert caps.has(Feature.BARRIER) and caps.limits.local_size == (8, 8, 8)
    assert hash(ComputeCaps(vector_widths={dtypes.float32: [4, 2]}))


def test_a_plain_device_needs_to_say_nothing():
    caps = ComputeCaps()
    assert caps.dtypes == COMMON_DTYPES
    assert dtypes.float16 not in caps.dtypes
    assert caps.limits.max_buffers is None and caps.vector_bytes == 0
    assert Capabilities().compute is None
    assert MemoryCaps().alignment == 1 and MemoryCaps().resident


def test_capabilities_travel_between_processes():
    caps = Capabilities(MemoryCaps(None), ComputeCaps(vector_widths={dtypes.int: (2, 4)}), "n", "f")
    back = pickle.loads(pickle.dumps(caps))
    assert back == caps and hash(back) == hash(caps)


def test_targets_with_equal_parts_are_equal():
    one = Target(ComputeCaps(), frozenset(), None, "c", "x")
    assert one == Target(ComputeCaps(), frozenset(), None, "c", "x")
    assert one != Target(ComputeCaps(vector_bytes=16), frozenset(), None, "c", "x")


def ours():
    return ()


def chosen(kernel):
    return ()


def test_targets_with_a_strategy_travel_between_processes():
    target = Target(ComputeCaps(), frozenset(), None, "c", "x", ours, chosen)
    back = pickle.loads(pickle.dumps(target))
    assert back == target and hash(back) == hash(target)
    assert target != Target(ComputeCaps(), frozenset(), None, "c", "x")


@pytest.mark.parametrize("field", ["passes", "choose"])
def test_a_strategy_is_a_function(field):
    with pytest.raises(ArgumentError, match=f"{field} of Target is a function or None"):
        Target(ComputeCaps(), frozenset(), None, "c", "x", **{field: ("a pass",)})


def test_equality_of_frozen_maps_ignores_order():
    one, other = FrozenMap({"a": 1, "b": 2}), FrozenMap({"b": 2, "a": 1})
    assert one == other and hash(one) == hash(other)
    assert dict(one) == {"a": 1, "b": 2} and len(one) == 2


def test_access_widths_are_powers_of_two_that_fit():
    assert access_widths(dtypes.float32, 16) == (4, 2)
    assert access_widths(dtypes.int8, 16) == (16, 8, 4, 2)
    assert access_widths(dtypes.float64, 8) == () == access_widths(dtypes.float64, 0)
    assert access_widths(dtypes.float32, 12) == (2,)
