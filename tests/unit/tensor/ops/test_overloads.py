"""The types of parameter aliases match the methods."""

import ast
import inspect
from collections import defaultdict
from pathlib import Path

import pytest

from weft import Tensor
from weft.tensor.ops import overloads
from weft.tensor.ops.parameter_aliases import SPELLINGS


def declared():
    """Method -> the parameters of all its declarations, or of the method it is declared like."""
    tree = ast.parse(Path(overloads.__file__).read_text(encoding="utf-8"))
    found = defaultdict(set)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            arguments = node.args
            named = [*arguments.args[1:], *arguments.kwonlyargs]
            found[node.name] |= {argument.arg for argument in named}
            for decorator in node.decorator_list:
                if isinstance(decorator, ast.Call):  # @_like(mean)
                    found[node.name] |= found[decorator.args[0].id]
    found.pop("_like")
    return found


@pytest.mark.parametrize("name", sorted(declared()))
def test_every_declared_parameter_is_taken(name):
    taken = set(inspect.signature(getattr(Tensor, name)).parameters)
    assert declared()[name] <= taken | set(SPELLINGS.get(name, ()))


@pytest.mark.parametrize("name", sorted(name for name, names in SPELLINGS.items() if names))
def test_every_alias_and_every_parameter_is_declared(name):
    signature = inspect.signature(getattr(Tensor, name))
    named = {
        parameter.name
        for parameter in list(signature.parameters.values())[1:]
        if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    }
    assert declared()[name] >= named | set(SPELLINGS[name])


def test_declarations_are_for_checkers_alone():
    public = [name for name in vars(overloads.OverloadsMixin) if name[0] != "_"]
    assert public == []
