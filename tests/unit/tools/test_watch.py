"""WEFT_VIZ and WEFT_PROCESS_REPLAY, from outside: other processes, whole."""

import os
import subprocess
import sys

import pytest

from weft.base import trace
from weft.base.settings import settings
from weft.tools import watch
from weft.tools.viz import Recorder

PROGRAM = """
import sys
from weft import Tensor
print((Tensor([1.0, 2.0], device="REF") + 1).tolist())
"""


def python(code, folder, **changes):
    clean = {n: v for n, v in os.environ.items() if not n.startswith("WEFT_")}
    clean["PYTHONPATH"] = os.pathsep.join(os.path.abspath(p) for p in sys.path if p)
    done = subprocess.run(
        [sys.executable, "-c", code], env=clean | changes, text=True, capture_output=True,
        cwd=folder, timeout=120,
    )  # fmt: skip
    return done


def test_a_page_here(tmp_path):
    done = python(PROGRAM, tmp_path, WEFT_VIZ="1")
    assert done.returncode == 0 and done.stdout == "[2.0, 3.0]\n"
    page = tmp_path / "weft-viz.html"
    assert f"recorded to {page}" in done.stderr
    text = page.read_text(encoding="utf-8")
    assert '"create_kernels"' in text and '"linearization"' in text


def test_a_page_there_although_the_program_goes_elsewhere_and_fails(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    code = PROGRAM + "\nimport os; os.chdir('elsewhere'); raise RuntimeError('mine')"
    done = python(code, tmp_path, WEFT_VIZ="sub/p.html")
    assert done.returncode == 1 and "RuntimeError: mine" in done.stderr
    assert (tmp_path / "sub" / "p.html").exists()


@pytest.mark.parametrize("off", ["", "0"])
def test_switched_off_nothing_is_watched_nor_imported(tmp_path, off):
    code = PROGRAM + "\nprint([m for m in sys.modules if m.startswith('weft.tools')])"
    code += "\nfrom weft.base import trace; print(trace.enabled())"
    done = python(code, tmp_path, WEFT_VIZ=off, WEFT_PROCESS_REPLAY=off)
    assert done.stdout == "[2.0, 3.0]\n[]\nFalse\n" and done.stderr == ""
    assert list(tmp_path.iterdir()) == []


def test_a_program_in_which_nothing_happens_leaves_no_page(tmp_path):
    done = python("import weft", tmp_path, WEFT_VIZ="1")
    assert done.returncode == 0 and done.stderr == "" and list(tmp_path.iterdir()) == []


def test_an_unwritable_page_is_reported_and_the_program_continues(tmp_path):
    (tmp_path / "file").write_text("")
    done = python(PROGRAM, tmp_path, WEFT_VIZ="file/page.html")
    assert done.returncode == 0 and done.stdout == "[2.0, 3.0]\n"
    assert "the page cannot be written" in done.stderr and "Traceback" not in done.stderr


def test_both_at_once_and_a_forked_child_writes_no_page(tmp_path):
    code = PROGRAM + (
        "\nimport os\npid = os.fork()\nif pid == 0:\n    sys.exit(0)\nos.waitpid(pid, 0)"
    )
    if not hasattr(os, "fork"):
        pytest.skip("this system has no fork")
    done = python(code, tmp_path, WEFT_VIZ="1", WEFT_PROCESS_REPLAY="kept")
    assert done.returncode == 0 and done.stderr.count("recorded to") == 1
    assert sorted(p.name for p in tmp_path.iterdir()) == ["kept", "weft-viz.html"]
    assert len(list((tmp_path / "kept" / "kernel").glob("*.txt"))) == 1
    assert len(list((tmp_path / "kept" / "schedule").glob("*.txt"))) == 1


def test_started_by_hand_and_ended(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    before = trace.enabled()
    with settings.override(VIZ="p.html", PROCESS_REPLAY=str(tmp_path / "kept")):
        endings = watch.start()
    assert len(endings) == 2 and trace.enabled("pass") and trace.enabled("source")
    with trace.span("realize"):
        pass
    for end in endings:
        end()
    assert trace.enabled() == before
    assert (tmp_path / "p.html").exists() and "recorded to" in capsys.readouterr().err


def test_saving_to_an_unwritable_path(tmp_path, capsys):
    (tmp_path / "p.html").mkdir()
    assert not watch.save(Recorder(), tmp_path / "p.html")
    assert "cannot be written" in capsys.readouterr().err
