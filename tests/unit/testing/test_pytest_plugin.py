import json
import subprocess
import sys
from importlib.util import find_spec

import pytest

from weft.testing.pytest_plugin import expected_failures

SUITE = """
def test_that_fails():
    assert False

def test_that_passes(weft_device_name):
    assert weft_device_name == "REF:vector"

def test_golden(golden):
    assert "found" == golden
"""


def pytest_run(folder, *arguments):
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    return done.stdout + done.stderr


def test_the_lines_of_an_xfails_file():
    text = "# all of it\n\ntest_a  # no atomics\n test_b[float16] # rounds twice\n"
    assert expected_failures(text) == [
        ("test_a", "no atomics"), ("test_b[float16]", "rounds twice"),
    ]  # fmt: skip


def test_a_line_without_a_reason_is_refused():
    with pytest.raises(pytest.UsageError, match="line 2: 'test_b' is listed without a reason"):
        expected_failures("test_a  # no atomics\ntest_b\n")


def test_a_listed_test_that_passes_is_an_error(tmp_path):
    (tmp_path / "test_suite.py").write_text("def test_that_passes():\n    pass\n")
    (tmp_path / "xfails.txt").write_text("test_that_passes  # it used to fail\n")
    found = pytest_run(tmp_path, "--weft-xfails", "xfails.txt")
    assert "1 failed" in found and "it used to fail" in found


def test_a_line_that_names_no_test_is_an_error_where_the_suite_is_whole(tmp_path):
    (tmp_path / "test_suite.py").write_text("def test_a():\n    assert 0\ndef test_b(): pass\n")
    (tmp_path / "xfails.txt").write_text("test_a  # rounds twice\ntest_gone  # no atomics\n")
    found = pytest_run(tmp_path, "--weft-xfails", "xfails.txt")
    assert "names what no test is called: 'test_gone' (no atomics)" in found
    if find_spec("xdist"):
        found = pytest_run(tmp_path, "--weft-xfails", "xfails.txt", "-n", "2")
        assert "names what no test is called: 'test_gone' (no atomics)" in found
        assert "1 failed, 1 passed, 1 xfailed" in found
    for narrow in (["test_suite.py"], ["test_suite.py::test_a"]):
        assert "1 xfailed" in pytest_run(tmp_path, "--weft-xfails", "xfails.txt", *narrow)
    (tmp_path / "xfails.txt").write_text("test_a  # rounds twice\n")
    assert "1 passed" in pytest_run(tmp_path, "--weft-xfails", "xfails.txt", "-k", "test_b")
    assert "nowhere.txt: No such file" in pytest_run(tmp_path, "--weft-xfails", "nowhere.txt")


def test_a_report_in_three_forms(tmp_path):
    (tmp_path / "test_suite.py").write_text(
        "import pytest\n"
        "def test_a():\n    pass\n"
        "def test_b():\n    pytest.skip('no images')\n"
        "def test_c():\n    assert 1 == 2\n"
        "def test_d():\n    assert False\n"
    )
    (tmp_path / "xfails.txt").write_text("test_d  # rounds twice\n")
    forms = [f"--weft-report=out/sheet.{suffix}" for suffix in ("md", "json", "html")]
    pytest_run(tmp_path, "--weft-device", "REF:grid", "--weft-xfails", "xfails.txt", *forms)
    found = json.loads((tmp_path / "out" / "sheet.json").read_text())
    assert found["device"] == "REF:grid" and found["counts"] == {
        "passed": 1, "failed": 1, "error": 0, "skipped": 1, "xfailed": 1,
    }  # fmt: skip
    assert found["capabilities"]["compute"]["limits"]["local_threads"] == 64
    text = (tmp_path / "out" / "sheet.md").read_text()
    assert "no images" in text and "rounds twice" in text and "assert 1 == 2" in text
    assert "<td>no images</td>" in (tmp_path / "out" / "sheet.html").read_text()


def test_an_unknown_device_ends_the_run_with_one_message(tmp_path):
    (tmp_path / "test_suite.py").write_text(
        "import pytest\n@pytest.mark.parametrize('n', range(9))\ndef test(n, weft_device): pass\n"
    )
    found = pytest_run(tmp_path, "--weft-device", "REFF")
    assert "REFF cannot be tested" in found and "did you mean REF?" in found
    assert found.count("there is no device family") == 1 and "no tests ran" in found


def test_a_report_of_several_processes_is_of_them_all(tmp_path):
    pytest.importorskip("xdist")
    (tmp_path / "test_suite.py").write_text(
        "import pytest\n@pytest.mark.parametrize('n', range(9))\ndef test(n): pass\n"
    )
    pytest_run(tmp_path, "--weft-device", "REF", "--weft-report", "sheet.json", "-n", "2")
    assert json.loads((tmp_path / "sheet.json").read_text())["counts"]["passed"] == 9


def test_a_report_needs_a_known_form(tmp_path):
    (tmp_path / "test_suite.py").write_text("def test_a():\n    pass\n")
    assert ".md, .json, .html" in pytest_run(tmp_path, "--weft-report", "sheet.pdf")


def test_the_options(tmp_path):
    (tmp_path / "test_suite.py").write_text(SUITE)
    (tmp_path / "xfails.txt").write_text("test_that_fails  # it always does\n")
    found = pytest_run(tmp_path, "--weft-device", "ref:VECTOR", "--weft-xfails", "xfails.txt")
    assert "1 failed, 1 passed, 1 xfailed" in found and "--update-golden" in found
    options = ("--weft-device", "REF:vector", "--update-golden", "-k", "golden")
    assert "1 passed" in pytest_run(tmp_path, *options)
    assert (tmp_path / "golden" / "test_suite" / "test_golden.txt").read_text() == "found\n"


def test_loading_the_plugin_loads_nothing_else_of_weft():
    code = (
        "import sys, weft\n"
        "before = set(sys.modules)\n"
        "import weft.testing.pytest_plugin\n"
        "print(sorted(m for m in set(sys.modules) - before if m.startswith('weft')))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "['weft.testing', 'weft.testing.pytest_plugin']", done.stderr
