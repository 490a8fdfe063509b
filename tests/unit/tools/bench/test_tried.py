import pytest

from weft.base.errors import ArgumentError
from weft.codegen.opt.opts import Opt, OptKind
from weft.codegen.opt.search_space import Plan
from weft.device.program import LinearProgram
from weft.engine.tuning_database import SearchResult, Try
from weft.tools.bench.meter import Measured
from weft.tools.bench.tried import chosen, text

PLANS = [Plan((Opt(OptKind.UPCAST, 0, n),)) for n in (2, 3, 4, 5)]


def found(best):
    tries = [
        Try(PLANS[0], 3e-3),
        Try(PLANS[1], 1e-3),
        Try(PLANS[2], None, "CompileError: no such thing"),
        Try(PLANS[3], 2e-3),
    ]
    return SearchResult(best, PLANS[0], tries, ["something to know"])


def test_best_first_with_the_place_of_the_heuristic():
    head, first, second, third, *rest = text("k", found(PLANS[1])).splitlines()
    assert head == "k: 4 plans tried, 1 of them failed"
    assert first.split()[:5] == ["1", "1.00", "ms", "best", "UPCAST"]
    assert second.split()[:4] == ["2", "2.00", "ms", "UPCAST"]
    assert third.split()[:4] == ["3", "3.00", "ms", "heuristic"]
    assert rest[0].split(None, 2) == ["1", "failed:", "CompileError"]
    assert "UPCAST 0 4: CompileError: no such thing" in rest[1]
    assert rest[-1] == "note: something to know"


def test_however_few_rows_the_heuristic_is_among_them():
    lines = text("k", found(PLANS[1]), most=1).splitlines()
    assert [line.split()[3] for line in lines[1:3]] == ["best", "heuristic"]
    assert "stays" in text("k", found(PLANS[0]))


def test_which_kernel_is_meant():
    kernels = [Measured(LinearProgram(name, ()), "X") for name in ("r_4", "r_44", "E_4")]
    assert chosen(kernels, "1") is kernels[1]
    assert chosen(kernels, "r_4") is kernels[0]
    assert chosen(kernels, "E") is kernels[2]
    for wrong in ("r", "x", "7"):
        with pytest.raises(ArgumentError, match="this name"):
            chosen(kernels, wrong)
