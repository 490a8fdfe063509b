"""Which products warpgroups compute, and which they leave to the strategy."""

import pytest

from weft import Tensor
from weft.codegen.pipeline import lower
from weft.device import registry
from weft.plugin import Ops
from weft.tools.dry_run import dry_run


def t(*shape, dtype="float16"):
    return Tensor.empty(*shape, dtype=dtype, device="CUDA")


TAKEN = {
    "plain": lambda: t(256, 128) @ t(128, 256),
    "both transposed": lambda: t(128, 256).T @ t(256, 128).T,
    "bias and activation": lambda: (t(256, 128) @ t(128, 256) + t(256)).relu(),
    "batches": lambda: t(3, 256, 128) @ t(3, 128, 256),
    "rows and terms of any number": lambda: t(250, 136) @ t(136, 264),
    "rows at a distance": lambda: t(256, 192)[:, :128] @ t(128, 256),
    "windows that do not overlap": lambda: t(32768).unfold(0, 64, 64) @ t(64, 128),
    "windows that overlap by pieces": lambda: t(8192).unfold(0, 64, 8) @ t(64, 128),
}
LEFT = {
    "float32": lambda: t(256, 128, dtype="float") @ t(128, 256, dtype="float"),
    "windows that overlap": lambda: t(1024).unfold(0, 64, 1)[:512] @ t(64, 128),
    "windows of columns that overlap": lambda: t(256, 64) @ t(1024).unfold(0, 64, 1)[:512].T,
    "rows that start anywhere": lambda: t(256, 130)[:, :128] @ t(128, 256),
    "columns that start anywhere": lambda: t(256, 128) @ t(128, 264)[:, 1:257],
    "terms that end inside a piece": lambda: t(256, 132) @ t(132, 256),
    "few rows": lambda: t(8, 128) @ t(128, 256),
    "few terms": lambda: t(256, 32) @ t(32, 256),
    "operands with a gate": lambda: t(250, 128).pad(((3, 3), None)) @ t(128, 256),
    "reversed terms": lambda: t(256, 128).flip(1) @ t(128, 256),
}


def names(make, arch):
    """The kernels of a tensor."""
    own, plan = dry_run("CUDA", arch)
    with registry.use(own):
        asts = [item.ast for item in make().schedule() if item.ast.op is Ops.SINK]
        return [lower(ast, plan.offline.target).name for ast in asts]


@pytest.mark.parametrize("case", TAKEN)
def test_warpgroups_compute(case):
    assert any(name.startswith("w_") for name in names(TAKEN[case], "sm_90a"))
    assert not any(name.startswith("w_") for name in names(TAKEN[case], "sm_89"))


@pytest.mark.parametrize("case", LEFT)
def test_the_strategy_computes(case):
    assert not any(name.startswith("w_") for name in names(LEFT[case], "sm_90a"))
