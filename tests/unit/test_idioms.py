"""Idioms: what people who know PyTorch, NumPy or tinygrad type first, run as they write it.

The tables are the files under `idioms`. A row is

    == name | marks
    code, a line or more
    -> the value of the last line, in Python        (or)   !! what the error says to write instead

`weft` in the code is the package, and in a second test PyTorch, for rows with the mark `torch`:
then both give the same. The mark `hint` is of what weft does not do on purpose: its error names
what to write. Values are compared as numbers, lists and names of dtypes.
"""

from __future__ import annotations

import ast
import copy
import io
import math
import os
import pickle
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft
from weft import Device, Tensor, dtypes, jit, nn, optim
from weft.base.dtype import DType

ROOT = Path(__file__).resolve().parents[2]
TABLES = sorted((Path(__file__).parent / "idioms").glob("*.txt"))
NUMBER_NAMES = {d: n for n, d in dtypes.fields().items() if n[-1].isdigit() or n == "bool"}


@dataclass(frozen=True)
class Idiom:
    """A row of a table."""

    name: str
    marks: tuple[str, ...]
    code: str
    value: str | None
    hint: str | None


def rows(path: Path) -> list[Idiom]:
    found = []
    for block in path.read_text(encoding="utf-8").split("\n== ")[1:]:
        head, _, body = block.strip().partition("\n")
        name, _, marks = head.partition(" | ")
        code, _, last = body.rpartition("\n")
        assert last[:3] in ("-> ", "!! "), f"{path.name}: {name} has no value"
        value, hint = (last[3:], None) if last[0] == "-" else (None, last[3:])
        found.append(Idiom(name, tuple(marks.split()), code, value, hint))
    return found


IDIOMS = [idiom for path in TABLES for idiom in rows(path)]


def names(torch: Any, folder: Path) -> dict[str, Any]:
    """What an idiom finds imported: of weft, or of PyTorch."""
    found = {
        "np": np, "math": math, "copy": copy, "io": io, "os": os, "pickle": pickle,
        "folder": str(folder),
    }  # fmt: skip
    if torch is not None:
        data, own = torch.utils.data, {"weft": torch, "nn": torch.nn, "optim": torch.optim}
        own |= {"F": torch.nn.functional, "Tensor": torch.Tensor}
    else:
        data, own = weft.data, {"weft": weft, "nn": nn, "optim": optim, "F": nn.functional}
        own |= {"Tensor": Tensor, "dtypes": dtypes, "jit": jit, "Device": Device}
    classes = ("DataLoader", "Dataset", "TensorDataset", "random_split")
    return found | own | {name: getattr(data, name) for name in classes}


def run(idiom: Idiom, torch: Any, folder: Path) -> Any:
    """The value of the last line."""
    space = names(torch, folder)
    tree = ast.parse(idiom.code)
    last = tree.body.pop()
    assert isinstance(last, ast.Expr | ast.Assign | ast.If), "the last line has a value"
    exec(compile(tree, idiom.name, "exec"), space)
    if isinstance(last, ast.Expr):
        return eval(compile(ast.Expression(last.value), idiom.name, "eval"), space)
    return exec(compile(ast.Module([last], []), idiom.name, "exec"), space)


def plain(value: Any) -> Any:
    """A value as numbers, lists and text."""
    if isinstance(value, tuple | list):
        return [plain(each) for each in value]
    if isinstance(value, DType):
        return NUMBER_NAMES[value]
    if type(value).__name__ == "dtype" and str(value).startswith("torch."):
        return str(value).removeprefix("torch.")
    if hasattr(value, "detach"):
        return plain(value.detach().tolist())
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    return value


def near(found: Any, expected: Any) -> bool:
    if isinstance(expected, list):
        same = isinstance(found, list) and len(found) == len(expected)
        return same and all(near(a, b) for a, b in zip(found, expected, strict=True))
    if isinstance(expected, float) and isinstance(found, int | float):
        return found == pytest.approx(expected, rel=1e-5, abs=1e-6, nan_ok=True)
    return type(found) in (type(expected), float) and found == expected


@pytest.mark.parametrize("idiom", IDIOMS, ids=lambda idiom: idiom.name)
def test_an_idiom_works_or_suggests_an_alternative(idiom: Idiom, tmp_path: Path) -> None:
    if idiom.hint is not None:
        with pytest.raises((weft.WeftError, AttributeError)) as error:
            run(idiom, None, tmp_path)
        assert idiom.hint in str(error.value)
        return
    assert idiom.value is not None
    found, expected = plain(run(idiom, None, tmp_path)), plain(eval(idiom.value))
    assert near(found, expected), f"{found} is not {expected}"


@pytest.mark.parametrize(
    "idiom", [i for i in IDIOMS if "torch" in i.marks], ids=lambda idiom: idiom.name
)
def test_an_idiom_of_pytorch_equals_pytorch(idiom: Idiom, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch says what its idioms give")
    assert idiom.value is not None
    found, expected = plain(run(idiom, torch, tmp_path)), plain(eval(idiom.value))
    assert near(found, expected), f"PyTorch: {found} is not {expected}"


def test_the_tables_are_long_and_most_of_them_work() -> None:
    refused = [idiom for idiom in IDIOMS if idiom.hint is not None]
    assert len(IDIOMS) >= 101 and len({idiom.name for idiom in IDIOMS}) == len(IDIOMS)
    assert (len(IDIOMS) - len(refused)) * 101 >= len(IDIOMS) * 95
    assert all(("hint" in idiom.marks) == (idiom.hint is not None) for idiom in IDIOMS)
    assert sum("torch" in idiom.marks for idiom in IDIOMS) >= 101
    assert {mark for idiom in IDIOMS for mark in idiom.marks} <= {"torch", "hint", "weft"}
    said = re.search(
        r"(\d+) idioms of\s.*?of which (\d+) run as they are\s+written,\s+and\s+(\d+) raise",
        (ROOT / "docs" / "differences.md").read_text(encoding="utf-8"), re.DOTALL,
    )  # fmt: skip
    counts = len(IDIOMS), len(IDIOMS) - len(refused), len(refused)
    assert said is not None and tuple(map(int, said.groups())) == counts
