import json
import xml.etree.ElementTree as xml

import pytest

from weft.base.settings import settings
from weft.engine import search
from weft.tools import cli
from weft.tools.bench import peaks
from weft.tools.commands import bench

PROGRAM = """
import sys
from weft import Tensor

x = Tensor([[1.0, 2.0], [3.0, 4.0]], device="REF").realize()

def step():
    return {"sum": (x * 2.0).sum(), "other": 7}

if __name__ == "__main__":
    print("arguments", sys.argv[1:])
    for _ in range(3):
        (x @ x + 1.0).realize()
"""


@pytest.fixture
def program(tmp_path, monkeypatch):
    monkeypatch.setattr(peaks, "_ENOUGH", 0.0)
    monkeypatch.setattr(peaks, "_ENOUGH_COPIED", 0.0)
    monkeypatch.setattr(peaks, "_TIMES", 1)
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "bench_this.py"
    path.write_text(PROGRAM)
    with settings.override(CACHE_DIR=str(tmp_path / "cache")):
        yield path


def test_a_program_and_its_files(program, tmp_path, capsys):
    assert cli.main(["bench", "--out", "out", str(program), "--a", "b"]) == 0
    told = capsys.readouterr().out
    assert "arguments ['--a', 'b']" in told
    row = next(line for line in told.splitlines() if line.startswith("0  r_"))
    assert row.split()[2] == "3" and "100.0%" in row
    assert "REF: at most" in told
    out = tmp_path / "out"
    assert json.loads((out / "trace.json").read_text())["traceEvents"]
    assert "bench_this.py" in (out / "page.html").read_text()
    assert xml.parse(out / "roofline.svg").getroot().tag.endswith("svg")


@pytest.mark.parametrize("name", ["bench_this.py:step", "bench_this:step"])
def test_a_function_is_called_some_times(program, tmp_path, capsys, name):
    assert cli.main(["bench", "--no-files", "--repeat", "4", name]) == 0
    told = capsys.readouterr().out
    rows = [
        line.split() for line in told.splitlines() if line[:1].isdigit() and "launches" not in line
    ]
    assert [row[2] for row in rows] == ["4"]
    assert not (tmp_path / "weft-bench").exists()


def test_a_module(program, capsys):
    assert cli.main(["bench", "--no-files", "--", "-m", "bench_this", "x", "--"]) == 0
    assert "arguments ['x', '--']" in capsys.readouterr().out


def test_candidates_of_a_search(program, capsys, monkeypatch):
    monkeypatch.setattr(search, "MOST_ROUNDS", 1)
    monkeypatch.setattr(search, "MOST_IN_A_ROUND", 3)
    assert cli.main(["bench", "--most", "2", "kernel", "0", str(program)]) == 0
    captured = capsys.readouterr()
    assert "plans tried" in captured.out and (
        "heuristic" in captured.out or "stays" in captured.out
    )
    assert "tried in" in captured.err
    assert cli.main(["bench", "kernel", "r_", str(program)]) == 0  # and kept
    assert "tried in" not in capsys.readouterr().err
    file = program.parent / "tried.json"
    assert cli.main(["bench", "--json", str(file), "kernel", "0", str(program)]) == 0
    assert len(json.loads(file.read_text())["tries"]) > 3


@pytest.mark.parametrize(
    "words, why",
    [
        ([], "no program was named"),
        (["nothing.py"], "no such program"),
        (["no_such_module:f"], "no such module"),
        (["bench_this.py:nothing"], "no function"),
        (["kernel", "99", "bench_this.py"], "this name"),
    ],
)
def test_invalid_programs(program, capsys, words, why):
    assert cli.main(["bench", "--no-files", *words]) == 1
    assert why in capsys.readouterr().err


def test_a_program_without_kernels(tmp_path, capsys):
    path = tmp_path / "empty.py"
    path.write_text("")
    assert cli.main(["bench", str(path)]) == 1
    assert "no kernel ran" in capsys.readouterr().err
    path.write_text("raise SystemExit(5)")
    assert cli.main(["bench", str(path)]) == 5
    assert "no kernel had run" in capsys.readouterr().err


def test_kernels_before_a_failure_are_reported(program, capsys):
    with program.open("a") as file:
        file.write("    raise KeyError('the end')\n")
    assert cli.main(["bench", "--no-files", str(program)]) == 1
    told = capsys.readouterr()
    assert "KeyError: 'the end'" in told.err and "what ran until then" in told.err
    assert "100.0%" in told.out


def test_a_busy_machine_is_reported(program, capsys, monkeypatch):
    for busy, told in ((1.0, False), (3.0, True)):
        monkeypatch.setattr(bench, "time_limit_factor", lambda busy=busy: busy)
        assert cli.main(["bench", "--no-files", str(program)]) == 0
        assert ("others used the machine" in capsys.readouterr().out) == told


def test_numbers_in_the_place_of_the_table(program, capsys):
    assert cli.main(["bench", "--json", "-", "--no-files", str(program)]) == 0
    told = capsys.readouterr()
    data = json.loads(told.out)
    assert "arguments []" in told.err  # what the program prints is out of the way
    (kernel,) = (one for one in data["kernels"] if one["name"].startswith("r_"))
    assert kernel["launches"] == 3 and "matmul" in str(kernel["from"])


def test_on_another_device_than_the_default(tmp_path, program, capsys):
    text = "from weft import Tensor\n(Tensor([1.0, 2.0]) + 1.0).realize()"
    program.write_text(text)
    assert cli.main(["bench", "--device", "REF", "--no-files", str(program)]) == 0
    assert "REF: at most" in capsys.readouterr().out
    assert cli.main(["bench", "--device", "NOSUCHDEVICE", str(program)]) == 1
    assert "NOSUCHDEVICE" in capsys.readouterr().err
