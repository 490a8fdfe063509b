"""Work after each of many sums as one function: equal bits with every compiler.

Sources are those for a processor level with many registers, whichever processor runs the tests.
"""

from __future__ import annotations

import numpy as np
import pytest

from weft import Tensor
from weft.codegen.pipeline import lower
from weft.device import registry
from weft.schedule import create_schedule_with_vars, kernelize_map
from weft.uop import UOp
from weft_cpu_clang import elf
from weft_cpu_clang.elf_object import ObjectFile
from weft_cpu_clang.renderer import ClangRenderer
from weft_cpu_clang.thread_loop import index_first


class Inlined(ClangRenderer):
    """Without outlining."""

    def prepare(self, uops):
        return index_first(uops), ()


@pytest.fixture(scope="module")
def wide():
    """A processor with 32 registers of 64 bytes; nothing runs on it."""
    return registry.offline("CPU", "x86-64-v4")


def source_of(value, device, renderer=None):
    sink = UOp.sink(value.uop)
    (item,) = create_schedule_with_vars(sink.substitute(kernelize_map(sink)))[0]
    return (renderer or device.renderer).render(lower(item.ast, device.target))


def layer(rows, inner, columns):
    shapes = ((rows, inner), (columns, inner), (columns,))
    x, weights, bias = (Tensor.empty(*shape, device="CPU") for shape in shapes)
    return (x @ weights.transpose(0, 1) + bias).gelu()


def test_a_tile_of_sums_calls_one_function_that_is_no_part_of_the_loop(wide):
    long = source_of(layer(128, 768, 768), wide)
    assert long.count("steps0(") > 6
    assert "steps0" not in source_of(layer(128, 64, 768), wide)
    plain = Inlined(wide.renderer.dialect)
    assert len(source_of(layer(128, 768, 768), wide, plain)) > 1.25 * len(long)


@pytest.mark.parametrize(("rows", "inner", "columns"), [(64, 256, 96), (33, 300, 101), (1, 512, 7)])
def test_outlined_functions_equal_inlined_code(rows, inner, columns):
    rng = np.random.default_rng(rows)
    x, weights = (rng.standard_normal((n, inner), np.float32) for n in (rows, columns))
    bias = rng.standard_normal(columns, np.float32)
    x[0, 3], x[-1, 5] = np.nan, np.inf
    bias[0] = -0.0
    given = [Tensor(array, device="CPU") for array in (x, weights, bias)]
    sums = given[0] @ given[1].transpose(0, 1) + given[2]
    found = sums.gelu().numpy()
    np.testing.assert_array_equal(found, sums.contiguous().realize().gelu().numpy())


def code(binary):
    """What is run; long constants come along with those of others."""
    whole = ObjectFile(binary)
    named = ((whole.section_name(n), section) for n, section in enumerate(whole.sections))
    return {
        name: bytes(whole.content(section)) for name, section in named if name.startswith(".text")
    }


@pytest.mark.skipif(not elf.loads_here(), reason="libraries are linked alone")
def test_sources_with_equal_function_names_are_compiled_in_one_run(bench, wide):
    first = layer(128, 512, 768)
    shapes = ((128, 512), (768, 512))
    x, weights = (Tensor.empty(*shape, device="CPU") for shape in shapes)
    other = (x @ weights.transpose(0, 1)).sigmoid().exp().sin()
    sources = [(source_of(value, wide), "k") for value in (first, other)]
    assert all("steps0(" in source for source, _ in sources)
    together = bench.compiler.compile_many(sources)
    assert list(map(code, together)) == [code(bench.compiler.compile(*one)) for one in sources]
