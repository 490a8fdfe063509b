from pathlib import Path

import pytest

from weft.testing.golden import Golden, golden_path


def test_paths_of_golden_files():
    path = golden_path(Path("/x/tests/unit/a/test_b.py"), "test_c[float32-1]")
    assert path == Path("/x/tests/golden/unit/a/test_b/test_c[float32-1].txt")
    assert golden_path(Path("/y/test_b.py"), "a/b c") == Path("/y/golden/test_b/a-b-c.txt")


def test_comparing_and_updating(tmp_path):
    path = tmp_path / "golden" / "a.txt"
    assert "text" != Golden(path, update=False)
    assert "text" == Golden(path, update=True)
    assert path.read_text() == "text\n"
    assert "text" == Golden(path, update=False)
    assert "text\n" == Golden(path, update=False)
    assert "other" != Golden(path, update=False)
    assert path.read_text() == "text\n"


def test_another_file(tmp_path):
    golden = Golden(tmp_path / "golden" / "unit" / "a.txt", update=False)
    assert golden.file("kernels/b.c").path == tmp_path / "golden" / "kernels" / "b.c"


def test_a_failure_is_a_diff(tmp_path):
    golden = Golden(tmp_path / "golden" / "a.txt", update=False)
    assert "does not exist" in golden.explain()[0]
    assert "same\nold" == Golden(golden.path, update=True)
    assert not golden == "same\nnew"
    assert "-old" in golden.explain() and "+new" in golden.explain()


def test_the_fixture(golden, request):
    assert golden.path.parts[-4:] == ("unit", "testing", "test_golden", "test_the_fixture.txt")
    assert golden.update == request.config.getoption("--update-golden")


def test_only_text_compares(tmp_path):
    with pytest.raises(TypeError):
        hash(Golden(tmp_path, False))
    assert Golden(tmp_path / "x", False) != 5
