from weft.tools import cli

PROGRAM = """
import sys
from weft import Tensor
print((Tensor([1.0, 2.0], device="REF") * 3).tolist(), sys.argv[1:])
sys.exit(4)
"""


def test_a_program_is_run_and_its_page_made(tmp_path, capfd, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.py").write_text(PROGRAM)
    assert cli.main(["viz", "p.py", "--more"]) == 4
    said = capfd.readouterr()
    assert said.out == "[3.0, 6.0] ['--more']\n" and "weft-viz.html" in said.err
    assert cli.main(["viz", "--out", "other.html", "--", "-m", "p"]) == 4
    assert (tmp_path / "weft-viz.html").exists() and (tmp_path / "other.html").exists()


def test_without_a_program(capsys):
    assert cli.main(["viz"]) == 1
    assert "no program was named" in capsys.readouterr().err
