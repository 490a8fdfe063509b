import os
import re
import subprocess
import sys

import pytest

from weft.device.hookspecs import API_VERSION
from weft.tools import cli
from weft.tools.commands import new_device


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """A package as it is generated, installed by its metadata alone: on a path, with an entry."""
    folder = tmp_path_factory.mktemp("new") / "weft-mine"
    assert cli.main(["new-device", "Mine", "--out", str(folder)]) == 0
    metadata = folder / "weft_mine-0.1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: weft-mine\nVersion: 0.1.0\n")
    (metadata / "entry_points.txt").write_text("[weft.devices]\nMINE = weft_mine\n")
    return folder


def python(package, *arguments, folder=None):
    path = os.pathsep.join(filter(None, (str(package), os.environ.get("PYTHONPATH"))))
    return subprocess.run(
        [sys.executable, "-m", *arguments], cwd=folder or package, capture_output=True, text=True,
        timeout=900, env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip


def test_the_plugin_is_under_a_hundred_lines(package):
    assert len((package / "weft_mine" / "__init__.py").read_text().splitlines()) < 100


def test_no_word_is_left_to_fill_in(package):
    for path in package.rglob("*"):
        if path.is_file():
            assert not re.search(r"@[A-Z]+@", path.read_text()), path
    text = (package / "weft_mine" / "__init__.py").read_text()
    assert f"weft_api = {API_VERSION}" in text


def test_everything_is_there(package):
    found = {str(p.relative_to(package)) for p in package.rglob("*") if p.is_file()}
    assert found >= {
        "README.md", "pyproject.toml", "xfails.txt", "weft_mine/__init__.py",
        "tests/test_weft_mine.py", ".github/workflows/tests.yml",
    }  # fmt: skip


def test_it_is_well_written(package):
    pytest.importorskip("ruff")
    style = ("--no-cache", "--isolated", "--config", "line-length=100")
    done = python(package, "ruff", "check", *style, "--select", "E,F,I,UP,B", ".")
    assert done.returncode == 0, done.stdout
    done = python(package, "ruff", "format", "--check", *style, ".")
    assert done.returncode == 0, done.stdout


def test_it_is_listed(package):
    done = python(package, "weft.tools.cli", "devices")
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("MINE ")]
    assert "weft-mine 0.1.0" in line and ("ready" in line or "no C compiler" in line)


def test_its_own_tests_pass(package):
    done = python(package, "pytest", "-q", "-p", "no:cacheprovider", "tests")
    assert done.returncode == 0, done.stdout
    assert re.search(r"3 passed|1 passed, 2 skipped", done.stdout)


def test_it_passes_the_kit_from_the_start(package, tmp_path):
    done = python(
        package, "pytest", "-q", "-p", "no:cacheprovider", "--pyargs", "weft.testing.conformance",
        "--weft-device", "MINE", "--weft-xfails", str(package / "xfails.txt"),
        "--weft-report", str(tmp_path / "sheet.md"), folder=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-6000:]
    assert (tmp_path / "sheet.md").read_text().startswith("# MINE: conforms")


@pytest.mark.parametrize("name", ["8bit", "a-b", "", "a:b"])
def test_names_that_no_family_can_have(name, capsys, tmp_path):
    assert cli.main(["new-device", name, "--out", str(tmp_path / "x")]) == 1
    assert "name of a device family" in capsys.readouterr().err
    assert not (tmp_path / "x").exists()


def test_names_that_are_taken(capsys, tmp_path):
    assert cli.main(["new-device", "ref", "--out", str(tmp_path / "x")]) == 1
    assert "of this name already" in capsys.readouterr().err


def test_nothing_is_overwritten(tmp_path, capsys):
    (tmp_path / "notes.txt").write_text("mine")
    assert cli.main(["new-device", "MINE", "--out", str(tmp_path)]) == 1
    assert "something already" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_words():
    assert new_device.replacements("My_Chip")["DISTRIBUTION"] == "weft-my-chip"
