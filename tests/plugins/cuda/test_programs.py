"""The kernels of small programs for GPUs that are not here: as texts that reviewers read, and
through NVRTC to PTX and machine code."""

import importlib.util
import sys
from pathlib import Path

import pytest

from weft.plugin import (
    CompileError,
    DeviceUnavailable,
    LinearProgram,
    Ops,
    UOp,
    dtypes,
    settings,
)
from weft_cuda.compiler import NvrtcCompiler
from weft_cuda.nvrtc import find_nvrtc
from weft_cuda.renderer import CudaRenderer

_spec = importlib.util.spec_from_file_location("cuda_cases", Path(__file__).with_name("cases.py"))
cases = importlib.util.module_from_spec(_spec)
sys.modules["cuda_cases"] = cases
_spec.loader.exec_module(cases)


@pytest.fixture(scope="module")
def nvrtc():
    try:
        return find_nvrtc()
    except DeviceUnavailable as reason:
        pytest.skip(f"no NVRTC: {reason}")


KEPT = [(case, arch) for arch in ("sm_80", "sm_90a") for case in cases.CASES]
# where copies cannot fly and matrix units are shorter
KEPT += [(case, "sm_75") for case in ("matmul_large", "matmul_half")]


@pytest.mark.parametrize("case, arch", KEPT)
def test_the_source_of(case, arch, golden):
    texts = []
    for program, source in cases.programs(case, arch):
        sizes = f"grid {program.global_size}, block {program.local_size}"
        applied = ", ".join(map(str, program.applied)) or "none"
        texts.append(f"// {sizes}; opts: {applied}\n{source}")
    assert "\n".join(texts) == golden.file(f"kernels/cuda-{arch}/{case}.cu")


@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_90a"])
@pytest.mark.parametrize("case", cases.CASES)
def test_it_compiles_to_ptx_and_machine_code(case, arch, nvrtc):
    compiler = NvrtcCompiler(arch, nvrtc)
    for program, source in cases.programs(case, arch):
        assert f".entry {program.name}" in compiler.ptx(source, program.name)
        assert compiler.compile(source, program.name).startswith(b"\x7fELF")


def test_success_without_a_result_is_an_error(nvrtc, monkeypatch):
    monkeypatch.setattr(nvrtc, "_text", lambda program, what: b"\0")
    with pytest.raises(CompileError, match="NVRTC gives nothing") as caught:
        NvrtcCompiler("sm_80", nvrtc).compile('extern "C" __global__ void f() {}', "f")
    assert caught.value.source and caught.value.because and caught.value.try_


@pytest.mark.parametrize(
    "case, arch, precision, instruction",
    [
        ("matmul_half", "sm_75", "highest", "m16n8k8.row.col.f32.f16.f16.f32"),
        ("matmul_half", "sm_80", "highest", "m16n8k16.row.col.f32.f16.f16.f32"),
        ("matmul_large", "sm_80", "high", "m16n8k8.row.col.f32.tf32.tf32.f32"),
        ("matmul_8_bits", "sm_90a", "highest", "m16n8k32.row.col.f32.e4m3.e4m3.f32"),
    ],
)
def test_products_by_matrix_units(case, arch, precision, instruction, nvrtc):
    with settings.override(MATMUL_PRECISION=precision):
        ((program, source),) = cases.programs(case, arch)
    ptx = NvrtcCompiler(arch, nvrtc).ptx(source, program.name)
    assert f"mma.sync.aligned.{instruction}" in ptx
    assert ("cvt.rna.tf32.f32" in ptx) == (precision == "high")


def test_floats_are_not_rounded_unless_asked_for(nvrtc):
    ((_, source),) = cases.programs("matmul_large", "sm_90a")
    assert "mma" not in source


def test_the_refusal_holds_source_and_log(nvrtc):
    source = 'extern "C" __global__ void k(int* a) { a[0] = nonsense; }'
    with pytest.raises(CompileError) as caught:
        NvrtcCompiler("sm_80", nvrtc).compile(source, "k")
    assert caught.value.source == source
    assert "nonsense" in caught.value.log


def test_an_architecture_unknown_to_nvrtc_gets_ptx(nvrtc):
    compiler = NvrtcCompiler("sm_999", nvrtc)
    made = compiler.compile('extern "C" __global__ void k(int* a) { a[0] = 1; }', "k")
    assert b".entry k" in made and not made.startswith(b"\x7fELF")


def test_sums_and_products_are_not_fused(nvrtc):
    source = 'extern "C" __global__ void k(float* a) { a[0] = a[1] * a[2] + a[3]; }'
    ptx = NvrtcCompiler("sm_80", nvrtc).ptx(source, "k")
    assert "fma" not in ptx and "mul.rn.f32" in ptx


def test_vectors_are_single_accesses(nvrtc):
    i = UOp.range(8, 0)
    source, target = (UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(32), (), s) for s in (1, 0))
    at = i * UOp.const(dtypes.int, 4)
    store = target.index(at).store(source.index(at).load(dtype=dtypes.float.vec(4)))
    uops = [*store.toposort(), UOp(Ops.ENDRANGE, dtypes.void, (i,))]
    written = CudaRenderer().render(LinearProgram.of("rows", uops))
    ptx = NvrtcCompiler("sm_80", nvrtc).ptx(written, "rows")
    assert "ld.global.nc.v4.f32" in ptx and "st.global.v4.f32" in ptx


def test_each_architecture_has_its_own_fingerprint(nvrtc):
    assert len({NvrtcCompiler(a, nvrtc).fingerprint for a in ("sm_75", "sm_80", "sm_90a")}) == 3
