"""The core never spells a device's name: it reads capabilities.

The names are those that the installed plugins serve, and those that the house expects; the core's
own (for staging and for tests) are common words and found by their role. Looked at are string
literals and identifiers, not comments and docstrings.
"""

import ast
import re
from pathlib import Path

import pytest

from weft.device.discovery import installed_plugins

ROOT = Path(__file__).resolve().parents[2] / "core" / "weft"
EXPECTED = {"CPU", "CUDA", "METAL", "OPENCL", "DISK"}
EXEMPT = ("host/", "testing/")


def family_names():
    return EXPECTED | {p.family for p in installed_plugins() if not p.from_core}


def docstrings(tree):
    """The nodes of string statements: prose."""
    return {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }


def spelt(tree, names):
    """(line, text) of every literal or identifier that is, or starts with, one of the names."""
    literal = re.compile(rf"^({'|'.join(sorted(names))})(:|$)")
    prose = docstrings(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
            if literal.match(node.value):
                yield node.lineno, node.value
        elif isinstance(node, ast.Name) and node.id in names:
            yield node.lineno, node.id
        elif isinstance(node, ast.Attribute) and node.attr in names:
            yield node.lineno, node.attr
        elif isinstance(node, ast.keyword) and node.arg in names:
            yield node.lineno, node.arg


def modules():
    for path in sorted(ROOT.rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        if not name.startswith(EXEMPT):
            yield name, path


@pytest.mark.parametrize("name,path", list(modules()), ids=lambda value: str(value)[-40:])
def test_no_name_is_spelt(name, path):
    found = list(spelt(ast.parse(path.read_text(encoding="utf-8")), family_names()))
    assert found == [], f"core/weft/{name} spells a device's name"


def test_the_test_would_notice():
    code = 'x = "CPU"\nif name == "DISK:":\n    pass\n"CPU in prose"\ny = "CPUS"\nCUDA = 1\n'
    assert sorted(line for line, _ in spelt(ast.parse(code), family_names())) == [1, 2, 6]
