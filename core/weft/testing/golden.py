"""Golden files: compare the output of a test with a file; ``--update-golden`` rewrites the file.

A reviewer reads the changes of the files. The path follows from the test:
``tests/unit/x/test_y.py::test_z`` has ``tests/golden/unit/x/test_y/test_z.txt``. The argument
``file`` gives another path.
"""

from __future__ import annotations

import difflib
import re
from pathlib import Path

_UNFIT = re.compile(r"[^A-Za-z0-9_.\[\]-]+")


class Golden:
    """The expected text of one test; ``assert text == golden`` compares, or rewrites.

    :param path: of the file.
    :param update: write what is compared instead of comparing.
    """

    def __init__(self, path: Path, update: bool) -> None:
        self.path = path
        self.update = update
        self.found: str | None = None

    def file(self, name: str) -> Golden:
        """Another file below the same ``golden`` folder, such as ``"kernels/softmax.c"``."""
        root = next(parent for parent in self.path.parents if parent.name == "golden")
        return Golden(root / name, self.update)

    @property
    def text(self) -> str | None:
        """What the file says; None if there is none yet."""
        if not self.path.exists():
            return None
        return self.path.read_text(encoding="utf-8")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, str):
            return NotImplemented
        self.found = other if other.endswith("\n") else other + "\n"
        if self.update:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.write_text(self.found, encoding="utf-8")
        return self.text == self.found

    __hash__ = None  # type: ignore[assignment]

    def explain(self) -> list[str]:
        """The lines with which a failed comparison is reported."""
        if self.text is None:
            return [
                f"golden file {self.path} does not exist",
                "run with --update-golden to make it",
            ]
        changes = difflib.unified_diff(
            self.text.splitlines(), (self.found or "").splitlines(), "golden", "now", lineterm=""
        )
        return [f"differs from {self.path}", *changes, "run with --update-golden if that is right"]

    def __repr__(self) -> str:
        return f"<golden {self.path}>"


def golden_path(test_file: Path, test_name: str) -> Path:
    """Where a test's golden file lies; the folder ``tests`` above the test is the root."""
    stem = _UNFIT.sub("-", test_name)
    for parent in test_file.parents:
        if parent.name == "tests":
            inner = test_file.relative_to(parent).with_suffix("")
            return parent / "golden" / inner / f"{stem}.txt"
    return test_file.parent / "golden" / test_file.stem / f"{stem}.txt"
