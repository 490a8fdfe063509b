"""Every hook is documented in CONTRIBUTING.md with its exact signature, and exercised by a test."""

import inspect
import re
from pathlib import Path

import pytest

from weft.device import hookspecs

ROOT = Path(__file__).resolve().parents[2]
HOOKS = {name: f for name, f in vars(hookspecs).items() if name.startswith("weft_")}


def signature(name):
    """As it is written in the source: ``weft_open(id: DeviceId) -> Device``."""
    source = inspect.getsource(HOOKS[name])
    found = re.search(r"def (weft_\w+\(.*?\) -> [^:]+):", source, re.DOTALL)
    return re.sub(r"\s+", " ", found.group(1))


@pytest.mark.parametrize("name", HOOKS)
def test_every_hook_is_documented(name):
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert signature(name) in re.sub(r"\s+", " ", text), f"CONTRIBUTING.md lacks {signature(name)}"


@pytest.mark.parametrize("name", HOOKS)
def test_every_hook_is_exercised(name):
    tests = (ROOT / "tests").rglob("test_*.py")
    users = [path for path in tests if f"def {name}(" in path.read_text(encoding="utf-8")]
    own = (ROOT / "core" / "weft").rglob("*.py")
    users += [
        path
        for path in own
        if path.name != "hookspecs.py" and f"def {name}(" in path.read_text(encoding="utf-8")
    ]
    assert users, f"no test implements {name}"
