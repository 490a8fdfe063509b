import pytest

from weft.tools import cli

PROGRAM = """
from weft import Tensor
print((Tensor([1.0, 2.0], device="REF") * 3).sum().item())
"""


@pytest.fixture
def kept(tmp_path, capfd):
    (tmp_path / "p.py").write_text(PROGRAM)
    folder = tmp_path / "kept"
    assert cli.main(["replay", "capture", "--out", str(folder), str(tmp_path / "p.py")]) == 0
    said = capfd.readouterr().out
    assert "9.0" in said and f"{folder}: 1 schedule, 1 kernel" in said
    return folder


def test_captured_and_compared(kept, capfd):
    assert cli.main(["replay", "compare", str(kept)]) == 0
    assert capfd.readouterr().out == "1 schedule, 0 changed; 1 kernel, 0 changed\n"
    assert cli.main(["replay", "compare", str(kept), "--only", "kernels"]) == 0
    assert capfd.readouterr().out == "1 kernel, 0 changed\n"


def test_a_difference_is_exit_code_one(kept, capfd):
    (path,) = (kept / "kernel").glob("*.txt")
    lines = path.read_text(encoding="utf-8").split("\n")
    lines[-2] += " changed"  # the last line of the source
    path.write_text("\n".join(lines), encoding="utf-8")
    assert cli.main(["replay", "compare", str(kept)]) == 1
    said = capfd.readouterr().out
    assert " changed" in said and said.endswith("1 schedule, 0 changed; 1 kernel, 1 changed\n")
    assert cli.main(["replay", "compare", str(kept), "--only", "schedule"]) == 0


def test_an_architecture_instead_of_the_device(kept, capfd):
    # the reference device offers none: its kernel is of a device that is not here
    assert cli.main(["replay", "compare", str(kept), "--arch", "ref=any"]) == 1
    assert "1 kernel of devices that are not here" in capfd.readouterr().out
    assert cli.main(["replay", "compare", str(kept), "--arch", "any"]) == 1
    assert "--arch takes" in capfd.readouterr().err


def test_nothing_there(tmp_path, capsys):
    assert cli.main(["replay", "compare", str(tmp_path)]) == 1
    assert "nothing was captured here" in capsys.readouterr().err
