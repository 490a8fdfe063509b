import importlib
import sys
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader

import pytest

from weft.tools import cli, compiled_modules


def test_they_are_what_python_imports():
    for name in compiled_modules.compiled_modules():
        importlib.import_module(name)
    loaded = [
        name
        for name, module in sys.modules.items()
        if name.startswith("weft.")
        and isinstance(getattr(module.__spec__, "loader", None), ExtensionFileLoader)
    ]
    assert tuple(sorted(loaded)) == compiled_modules.compiled_modules()


@pytest.mark.parametrize("suffix", EXTENSION_SUFFIXES)
def test_they_are_found_by_their_files(suffix, tmp_path, monkeypatch, capsys):
    folder = tmp_path / "weft" / "some"
    folder.mkdir(parents=True)
    (folder / f"hot{suffix}").touch()
    (folder / "hot.py").touch()
    (folder / "cold.py").touch()
    monkeypatch.setattr(compiled_modules, "PACKAGE", tmp_path / "weft")
    assert compiled_modules.compiled_modules() == ("weft.some.hot",)
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out.endswith(", 1 modules compiled\n")


def test_the_version_says_so_of_pure_python(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(compiled_modules, "PACKAGE", tmp_path)
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out.endswith(", pure Python\n")
