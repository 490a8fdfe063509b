import subprocess
import sys

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
    text = "# all of it\n\ntest_a  # no atomics\n test_b[float16]\n"
    assert expected_failures(text) == [
        ("test_a", "no atomics"), ("test_b[float16]", "listed without a reason"),
    ]  # fmt: skip


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
