import json

import pytest

from weft.device import registry
from weft.tools import cli

PROGRAM = """
import sys
from weft import Tensor

a = Tensor.ones(4, 8).contiguous()
b = Tensor.ones(8, 4).contiguous()
print("read back", (a @ b + int(sys.argv[1])).tolist()[0][0])
Tensor([1.0, 2.0]).exp2().realize()
"""


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    return path


def plan_of(folder):
    return json.loads((folder / "plan.json").read_text())


@pytest.mark.parametrize("arch", ["x86-64-v3", "aarch64"])
def test_sources_and_plan(program, tmp_path, capsys, arch):
    pytest.importorskip("weft_cpu_clang")
    out = tmp_path / "out"
    line = ["compile", "--target", f"cpu:{arch}", str(program), "2", "--out", str(out)]
    assert cli.main(line) == 0
    assert "read back 0" in capsys.readouterr().out, "nothing was computed"
    plan = plan_of(out)
    assert plan["target"] == f"cpu:{arch}"
    assert {kernel["source"] for kernel in plan["kernels"]} == {f.name for f in out.glob("*.c")}
    launches = [step for step in plan["steps"] if step["do"] == "launch"]
    for step in launches:
        kernel = plan["kernels"][step["kernel"]]
        assert f"void {kernel['name']}(" in (out / kernel["source"]).read_text()
    assert [one["nbytes"] for one in launches[-1]["buffers"]] == [8, 8]
    assert any(kernel["operations"] >= 2 * 4 * 4 * 8 for kernel in plan["kernels"])


def test_nothing_installed_changes(program, tmp_path):
    pytest.importorskip("weft_cpu_clang")
    before = registry.current()
    line = ["compile", "--target", "CPU:aarch64", str(program), "1", "--out", str(tmp_path / "o")]
    cli.main(line)
    assert registry.current() is before


@pytest.mark.parametrize("target", ["CPU", ":x", "CPU:"])
def test_a_target_has_two_parts(program, target, capsys):
    assert cli.main(["compile", "--target", target, str(program)]) == 1
    assert "family and an architecture" in capsys.readouterr().err


def test_an_architecture_that_is_not_offered(program, capsys):
    assert cli.main(["compile", "--target", "REF:none", str(program)]) == 1
    assert "offers no offline device" in capsys.readouterr().err


def test_no_such_program(capsys):
    assert cli.main(["compile", "--target", "REF:x", "nowhere.py"]) == 1
    assert "no such program" in capsys.readouterr().err


def test_a_program_without_kernels(tmp_path, capsys):
    pytest.importorskip("weft_cpu_clang")
    path = tmp_path / "idle.py"
    path.write_text("import sys\nsys.exit(0)\n")
    out = tmp_path / "out"
    assert cli.main(["compile", "--target", "CPU:aarch64", str(path), "--out", str(out)]) == 1
    assert plan_of(out)["steps"] == []


def test_data_can_be_left_out(program, tmp_path):
    pytest.importorskip("weft_cpu_clang")
    out = tmp_path / "out"
    line = ["compile", "--target", "CPU:aarch64", str(program), "1", "--no-data", "--out", str(out)]
    assert cli.main(line) == 0
    assert not (out / "data").exists()
    assert any(step["do"] == "write" for step in plan_of(out)["steps"])


def softmax(folder):
    """A model with a symbolic size."""
    models = pytest.importorskip("helpers.onnx_models")
    path = folder / "scale.onnx"
    path.write_bytes(
        models.model(
            [models.node("Softmax", ["x"], ["y"])],
            [models.value("x", ["n", 4])],
            [models.value("y", ["n", 4])],
        )
    )
    return path


def test_a_model_becomes_a_library(tmp_path, capsys):
    pytest.importorskip("weft_cpu_clang")
    out = tmp_path / "out"
    line = ["compile", str(softmax(tmp_path)), "--out", str(out), "--size", "n=3", "--no-build"]
    assert cli.main(line) == 0
    assert "x: float[3, 4]" in (out / "scale.h").read_text()
    assert "1 kernel, " in capsys.readouterr().out


def test_a_program_needs_a_target(program, capsys):
    assert cli.main(["compile", str(program)]) == 1
    assert "--target is missing" in capsys.readouterr().err
