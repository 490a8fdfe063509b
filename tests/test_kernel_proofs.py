"""The kernels whose sources are kept: no access outside of a buffer, no two work items in a place.

The first needs the solver of weft[proof]; the second is counted out.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from weft.codegen.pipeline import lower
from weft.device import registry
from weft.testing import proofs
from weft.testing.races import races
from weft.uop import Ops

HERE = Path(__file__).parent


def module(path):
    name = f"proved_{path.parent.name}_{path.stem}"
    if name not in sys.modules:
        spec = spec_from_file_location(name, path)
        sys.modules[name] = made = module_from_spec(spec)
        spec.loader.exec_module(made)
    return sys.modules[name]


GOLDEN = module(HERE / "test_golden_programs.py")
CUDA, METAL, OPENCL = (
    module(HERE / "plugins" / name / "cases.py") for name in ("cuda", "metal", "opencl")
)


def on_processor(case):
    device = registry.offline("CPU", "x86-64-v4")
    tensors = GOLDEN.CASES[case]()
    items = tensors[0].schedule(*tensors[1:])
    return [lower(item.ast, device.target) for item in items if item.ast.op is Ops.SINK]


MAKE = {
    "cpu": (GOLDEN.CASES, on_processor),
    "cuda": (CUDA.CASES, lambda case: [p for p, _ in CUDA.programs(case, "sm_90a")]),
    "metal": (METAL.CASES, lambda case: [p for p, _ in METAL.programs(case, "apple8")]),
    "opencl": (OPENCL.CASES, lambda case: [p for p, _ in OPENCL.programs(case)]),
}
ALL = [(family, case) for family, (cases, _) in MAKE.items() for case in cases]


def kernels(family, case):
    plugin = {"cpu": "weft_cpu_clang"}.get(family, f"weft_{family}")
    if find_spec(plugin) is None:
        pytest.skip(f"{plugin} is not installed")
    return MAKE[family][1](case)


@pytest.mark.parametrize("family, case", ALL)
def test_every_access_is_inside(family, case):
    pytest.importorskip("z3", reason="the solver of weft[proof] is not installed")
    for program in kernels(family, case):
        assert [str(finding) for finding in proofs.unproven(program, seconds=30)] == []


@pytest.mark.parametrize("family, case", [one for one in ALL if one[0] in ("cuda", "metal")])
def test_no_two_work_items_meet(family, case):
    for program in kernels(family, case):
        assert [str(race) for race in races(program)] == []
