"""The kernels whose sources are kept: no access outside of a buffer, no two work items in a place.

The first needs the solver of weft[proof]; the second is counted out. What the passes for one
processor make is proved of kernels that go through them, of sizes that nothing divides.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
from tests.plugins.simd.transforms.test_packed_words import product as product_of_words

from helpers import proofs
from helpers.races import races
from weft import Tensor
from weft.base import trace
from weft.base.dtype import dtypes
from weft.codegen.loops import zero_elimination
from weft.codegen.pipeline import lower
from weft.codegen.vectorization import prefix_scan, vector_memory
from weft.device import registry
from weft.device.packed_dot import PairDot
from weft.uop import Ops, UOp
from weft.uop.args import PREFETCH_L1, PREFETCH_L2, PREFETCH_STREAM
from weft_simd.prefetch import patterns

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


# ---- what the passes for one processor make ------------------------------------------------------


def t(*shape, dtype="float32"):
    return Tensor.empty(*shape, device="REF", dtype=dtype)


def slope(channels, size, stride, n):
    """The gradient of images, of which windows are read `stride` apart."""
    x, w = t(2, channels, n, n), t(16, channels, size, size)
    y = x.conv2d(w, stride=stride, padding=size // 2)
    return y.gradient(x, gradient=t(*y.shape))[0]


def before_it(keys):
    """How many equals of an element come before it."""
    key, index = (keys >> 3) & 7, Tensor.arange(keys.shape[-1], device=keys.device)
    earlier = index < index.unsqueeze(-1)
    return ((key.unsqueeze(-1) == key.unsqueeze(-2)) & earlier).where(1, 0).sum(-1)


def put(rows, count):
    table = t(rows, 7)
    table[t(count, dtype="int32")] = t(count, 7)
    return table


def rows_of_a_gradient(rows, width, count):
    table = t(rows, width)
    return table[t(count, dtype="int32")].gradient(table, gradient=t(count, width))[0]


@dataclass(frozen=True)
class Case:
    """A kernel, or a tensor: the passes that it goes through, and what they call and leave in it.

    :param asks: of LOADs.
    :param calls: functions of a module that find something in it.
    """

    make: Callable[[], object]
    passes: tuple[str, ...] = ()
    asks: tuple[str, ...] = ()
    calls: tuple[tuple[object, str], ...] = ()


WINDOWS, ROWS = (patterns, "_window_streams"), (patterns, "_lines_of_best_pass")
LOADED, STORED = (vector_memory, "columns_of"), (vector_memory, "_stored_transposed")
PASSES = {
    "product": Case(lambda: t(603, 515) @ t(515, 517), ("software_prefetch",), (PREFETCH_L1,)),
    "product, transposed": Case(
        lambda: t(603, 515) @ t(517, 515).T,
        ("software_prefetch", "loop_peeling"),
        (PREFETCH_L1,),
        (LOADED,),
    ),
    "product of few rows": Case(lambda: t(7, 515) @ t(515, 1031)),
    "windows": Case(
        lambda: t(2, 128, 56, 56).conv2d(t(33, 128, 3, 3), padding=1),
        ("software_prefetch",),
        (PREFETCH_L1,),
        (WINDOWS,),
    ),
    "blanks": Case(lambda: slope(16, 3, 2, 9), calls=((zero_elimination, "mask_zero_products"),)),
    "rows": Case(
        lambda: t(513, 4099).softmax(-1),
        ("software_prefetch", "loop_peeling"),
        (PREFETCH_L2,),
        (ROWS,),
    ),
    "ahead": Case(lambda: t(1 << 20).sum(), ("software_prefetch",), (PREFETCH_STREAM,)),
    "stream": Case(lambda: t(1_000_003) * 2 + 1, ("non_temporal_stores",)),
    "transposed tile, stored": Case(
        lambda: t(1, 64, 14, 14).conv2d(t(70, 64, 3, 3), padding=1), calls=(STORED,)
    ),
    "transposed": Case(lambda: t(515, 131).T.contiguous(), calls=(LOADED,)),
    "tails": Case(lambda: t(37, 1003).sum(1), ("loop_peeling",)),
    "epilogue": Case(lambda: (t(3, 515) @ t(517, 515).T + t(517)).gelu(), ("reduction_rows",)),
    "segments": Case(lambda: t(20, 37).pad((4, 5)).contiguous(), ("index_set_splitting",)),
    "segments of several": Case(
        lambda: t(11, 37).cat(t(11, 21), dim=1), ("predicate_simplification", "index_set_splitting")
    ),
    "ranks": Case(lambda: before_it(t(3, 37, dtype="int32")), ("keyed_prefix_count",)),
    "places of a sort": Case(
        lambda: t(2, 5001, dtype="int32").argsort(),
        ("one_hot_gather", "keyed_prefix_count", "scatter_add", "indexed_stores"),
    ),
    "puts": Case(lambda: put(101, 13), ("indexed_stores",)),
    "puts along an axis": Case(
        lambda: t(31, 17).scatter(0, t(9, 17, dtype="int32"), t(9, 17)), ("indexed_stores",)
    ),
    "scatter": Case(lambda: rows_of_a_gradient(1001, 33, 57), ("scatter_add",)),
    "lookups": Case(
        lambda: t(41, 33).gather(0, t(29, 33, dtype="int32")), ("clamped_gather", "one_hot_gather")
    ),
    "rows picked": Case(lambda: t(523, 1043)[t(71, dtype="int32")], ("one_hot_gather",)),
    "rows picked, wide": Case(lambda: t(523, 1040)[t(71, dtype="int32")], ("one_hot_gather",)),
    "rows added": Case(lambda: t(523, 1043).sum(0)),
    "pieces": Case(lambda: t(7, 9, 64, 96).permute(3, 1, 0, 2).contiguous(), calls=(LOADED,)),
    "columns": Case(
        lambda: t(2100, 1007).gather(0, t(701, 1007, dtype="int32")),
        ("clamped_gather", "table_column_blocking"),
    ),
    "running": Case(lambda: t(30, 320).cumsum(1), calls=((prefix_scan, "run"),)),
    "digits": Case(lambda: t(130, 4099).cumsum(1), ("delinearization",)),
    "words": Case(
        lambda: product_of_words(67, 132, 69, dtypes.uint8, dtypes.int8, dtypes.int32),
        ("packed_words",),
    ),
    "pairs": Case(
        lambda: product_of_words(67, 132, 69, dtypes.int16, dtypes.int16, dtypes.int32),
        ("packed_words",),
    ),
}


def target_of(arch):
    """A processor of which the last cache is small and narrow numbers are added up in words."""
    target = registry.offline("CPU", arch).target
    lanes = (target.compute.vector_bytes // 4,)
    dots = (
        PairDot(dtypes.int16, dtypes.int32, lanes),
        PairDot(dtypes.uint8, dtypes.int32, lanes, dtype_other=dtypes.int8),
    )
    return replace(target, compute=replace(target.compute, cache_bytes=1 << 20, pair_dots=dots))


def lowered(case, arch):
    """The kernels of a case, and the names of the passes that changed one."""
    made, changed = case.make(), set()
    asts = [made] if isinstance(made, UOp) else [item.ast for item in made.schedule()]

    def hear(event):
        facts = event.facts
        if facts.get("after") is not facts.get("before"):
            changed.add(facts["name"])

    stop = trace.subscribe(hear, only=("pass",))
    try:
        target = target_of(arch)
        programs = [lower(ast, target) for ast in asts if ast.op is Ops.SINK]
    finally:
        stop()
    return programs, changed


@pytest.fixture
def called(monkeypatch):
    """The names of watched functions that found something, in `lowered`."""
    found = []

    def watch(module, name):
        real = getattr(module, name)

        def recorded(*given, **named):
            result = real(*given, **named)
            if result is not given[0] and result not in ([], ()):
                found.append(name)
            return result

        monkeypatch.setattr(module, name, recorded)

    for module, name in {call for case in PASSES.values() for call in case.calls}:
        watch(module, name)
    return found


@pytest.mark.parametrize("arch", ["x86-64-v3", "x86-64-v4"])
@pytest.mark.parametrize("name", PASSES)
def test_results_of_passes_access_no_memory_out_of_bounds(name, arch, called):
    pytest.importorskip("weft_cpu_clang", reason="there is no plugin for this processor")
    case = PASSES[name]
    programs, changed = lowered(case, arch)
    asked = {u.arg for p in programs for u in p.uops if u.op is Ops.LOAD}
    assert set(case.passes) <= changed and set(case.asks) <= asked
    assert {function for _, function in case.calls} <= set(called)
    pytest.importorskip("z3", reason="the solver of weft[proof] is not installed")
    for program in programs:
        assert [str(finding) for finding in proofs.unproven(program, seconds=30)] == []
