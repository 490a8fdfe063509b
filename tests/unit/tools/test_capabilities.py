import json
from dataclasses import replace

import pytest

from weft.base.dtype import dtypes
from weft.base.errors import FormatError
from weft.device import registry
from weft.device.capabilities import (
    Capabilities,
    ComputeCaps,
    Feature,
    KernelLimits,
    MemoryCaps,
)
from weft.device.tensor_core import FragmentLayout, TensorCore
from weft.tools.capabilities import plain, read

CORE = TensorCore(
    "mma", (2, 2, 2), 2, dtypes.float16, dtypes.float32,
    FragmentLayout(((1, 0),), ((0, 1),)), FragmentLayout(((1, 0),), ((0, 1),)),
    FragmentLayout(((1, 0),), ((0, 1),)),
)  # fmt: skip
RICH = ComputeCaps(
    dtypes=frozenset({dtypes.float32, dtypes.bfloat16, dtypes.bool}),
    limits=KernelLimits(8, (10, 20, 30), None, 256, 1024),
    features=frozenset({Feature.BARRIER, Feature.THREADS}),
    vector_widths={dtypes.float32: (4, 2), dtypes.half: (8,)},
    vector_bytes=32,
    tensor_cores=(CORE,),
)


@pytest.mark.parametrize("compute", [ComputeCaps(), RICH])
def test_there_and_back(compute):
    text = json.dumps(plain(compute), sort_keys=True)
    again = read(ComputeCaps, json.loads(text))
    assert again == compute and hash(again) == hash(compute)


@pytest.mark.parametrize("device", ["REF", "REF:grid", "HOST"])
def test_those_of_devices(device):
    caps = registry.capabilities(device)
    assert read(Capabilities, json.loads(json.dumps(plain(caps)))) == caps


def test_fields_of_other_versions_are_ignored():
    said = plain(MemoryCaps(alignment=16))
    said["colour"] = "blue"
    del said["resident"]
    assert read(MemoryCaps, said) == MemoryCaps(alignment=16)
    said = plain(RICH)
    said["features"].append("levitation")
    assert read(ComputeCaps, said) == RICH


@pytest.mark.parametrize(
    "change",
    [{"dtypes": ["floaty"]}, {"features": 7}, {"limits": 3}, {"vector_bytes": "many"},
     {"limits": {"global_size": [1, 2]}}, {"tensor_cores": [{}]}, {"vector_widths": [4]}],
)  # fmt: skip
def test_damaged_ones_are_refused(change):
    with pytest.raises(FormatError):
        read(ComputeCaps, {**plain(RICH), **change})


def test_equal_sets_have_one_text():
    other = replace(RICH, dtypes=frozenset([dtypes.bool, dtypes.bfloat16, dtypes.float32]))
    assert json.dumps(plain(other)) == json.dumps(plain(RICH))
