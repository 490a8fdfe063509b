"""The numbers of the tables, for other programs."""

import json

import pytest

from weft.base.errors import FileError
from weft.base.provenance import Metadata
from weft.codegen.opt.opts import Opt, OptKind
from weft.codegen.opt.search_space import Plan
from weft.device.program import Estimates, LinearProgram
from weft.engine.tuning_database import SearchResult, Try
from weft.tools.bench import as_json
from weft.tools.bench.meter import Measured
from weft.tools.bench.peaks import Peaks


def test_a_program_and_its_kernels(tmp_path):
    program = LinearProgram(
        "k", (), estimates=Estimates(2_000_000, 10, 10), applied=(Opt(OptKind.UPCAST, 0, 4),)
    )
    place = ("model.py", 7, "<module>")
    one = Measured(program, "X", 3, [1e-3, 2e-3, 9e-3], metadata=(Metadata("sum", place),))
    other = Measured(LinearProgram("other", ()), "Y", 1, [2e-3], alone=True)
    data = as_json.measured("model.py", [one, other], 1e-3, {"X": [Peaks(1e9, 1e9)], "Y": []})
    path = as_json.write(data, str(tmp_path / "new" / "bench.json"))
    read = json.loads(path.read_text())
    assert read == data
    first, second = read["kernels"]
    assert first["seconds"] == pytest.approx(6e-3) and first["share"] == pytest.approx(0.75)
    assert first["of_limit"] == pytest.approx(1.0) and first["bound_by"] == "arithmetic"
    assert first["from"] == ["sum"] and first["place"] == "model.py:7"
    assert first["optimisations"] == [["UPCAST", 0, 4]]
    assert second["timed_alone"] and second["of_limit"] is None and second["place"] is None
    assert read["devices"]["X"][0]["flops"] == 1e9 and read["seconds_of_copies"] == 1e-3


def test_all_that_a_search_tried(capsys):
    good, bad = Plan((Opt(OptKind.UNROLL, 1, 4),)), Plan((), prepared=False)
    tries = [Try(good, 1e-3), Try(bad, None, "CompileError: no")]
    found = SearchResult(good, bad, tries, ["a note"])
    assert as_json.write(as_json.searched("r_4", found), "-") is None
    read = json.loads(capsys.readouterr().out)
    assert read["kernel"] == "r_4" and read["notes"] == ["a note"] and read["complete"]
    assert read["best"] == {"optimisations": [["UNROLL", 1, 4]], "prepared": True}
    assert [one["seconds"] for one in read["tries"]] == [1e-3, None]
    assert read["tries"][1]["failed"] == "CompileError: no" and not read["tries"][1]["prepared"]


def test_a_place_where_nothing_can_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match="cannot be written"):
        as_json.write({}, str(tmp_path / "file" / "below.json"))
