"""The table of operations: methods of Tensor on every dtype, compared with a reference.

    cd tests && python -m cases.operations_table CPU REF --write ../docs/operations.md

runs each check of `elementwise` and the modules beside it on the devices named, and on the device
that stores files; writes the page; and fails where a method has no check and no reason for having
none, or where a cell is wrong. A new method appears by itself: it fails until
a line is entered for it.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from cases.operations_table import networks, shapes, torch_names
from cases.operations_table.cells import Check, Wrong, run
from cases.operations_table.elementwise import CHECKS
from cases.operations_table.reasons import REASONS, WORDS
from weft.base.dtype import DType, dtypes
from weft.device import registry
from weft.tensor import Tensor

_LOADED = (torch_names, networks, shapes)  # which enter their checks

Found = dict[str, dict[str, str]]
"""The text of a cell by method and dtype."""

SOME = (dtypes.bool, dtypes.uint8, dtypes.int32, dtypes.float16, dtypes.float32)
"""Dtypes of every kind, for devices that take long to compile."""


def methods() -> list[str]:
    """The public names of Tensor."""
    return sorted(name for name in dir(Tensor) if not name.startswith("_"))


def missing() -> list[str]:
    """Methods that have neither a check nor a reason for having none."""
    return [name for name in methods() if name not in CHECKS and name not in REASONS]


def stale() -> list[str]:
    """Checks and reasons of methods that are no more, or that have both."""
    known = set(methods())
    both = set(CHECKS) & set(REASONS)
    return sorted((set(CHECKS) | set(REASONS)) - known | both)


def cell_text(check: Check, dtype: DType, device: str) -> str:
    """The text of a cell; "-" where the device lacks the dtype. :raises Wrong: see `run`."""
    try:
        return run(check, dtype, device).text()
    except Wrong as error:
        if _lacks(dtype, device) and str(error).startswith("refused"):
            return "-"
        raise


def _lacks(dtype: DType, device: str) -> bool:
    compute = registry.open(device).capabilities.compute
    return compute is None or dtype not in compute.dtypes


def fill(
    device: str, names: Iterable[str], say: Any, kinds: Sequence[DType] = dtypes.all
) -> tuple[Found, list[str]]:
    """The cells of a device, and what is wrong with those that are."""
    found: Found = {}
    wrong: list[str] = []
    for name in names:
        row = found[name] = {}
        for dtype in kinds:
            try:
                row[dtype.name] = cell_text(CHECKS[name], dtype, device)
            except Wrong as error:
                row[dtype.name] = "WRONG"
                wrong.append(f"{name} of {dtype.name} on {device}: {error}")
        say(f"{device} {name:24} {' '.join(row.values())}")
    return found, wrong


def accuracy(names: Iterable[str], device: str, say: Any) -> Found:
    """Errors of functions of a real number, over all values of short floats and many of others."""
    found: Found = {}
    for name in names:
        check = CHECKS[name]
        if check.family != "Functions":
            continue
        near = 3e6 if name in ("cos", "tan") else math.inf
        dense = dataclasses.replace(
            check, inputs=lambda m, near=near: [_within(m.every(), near)], most=math.inf,
            zeros=False,
        )  # fmt: skip
        found[name] = {d.name: run(dense, d, device).text() for d in dtypes.floats}
        say(f"accuracy of {name}: {' '.join(found[name].values())}")
    return found


def _within(values: Any, bound: float) -> Any:
    import numpy

    with numpy.errstate(all="ignore"):
        wide = numpy.abs(values.astype(numpy.float64))
    return values[(wide < bound) | ~numpy.isfinite(wide)]


def stored(names: Iterable[str], say: Any) -> dict[str, bool]:
    """Which methods a device that stores and does not compute can do: float32, in files."""
    found: dict[str, bool] = {}
    with tempfile.TemporaryDirectory() as folder:
        device = f"{registry.locate(Path(folder) / 'x')}{{}}"
        for name in names:
            if CHECKS[name].creates:
                continue
            try:
                found[name] = run(CHECKS[name], dtypes.float32, device).units is not None
            except Wrong as error:
                if not str(error).startswith("refused"):
                    raise
                found[name] = False
    say(f"stored: {sum(found.values())} of {len(found)}")
    return found


# ---- the page ------------------------------------------------------------------------------------


def _worst(texts: Sequence[str]) -> str:
    """Of what devices say, the largest error; a refusal is one everywhere."""
    said = [text for text in texts if text != "-"]
    return max(said, key=_units) if said else "-"


def _units(text: str) -> float:
    try:
        return float(text.removeprefix("~"))
    except ValueError:
        return 0.0


def page(found: dict[str, Found], dense: Found, kept: dict[str, bool]) -> str:
    """The Markdown page.

    :param found: cells by device; a device may have cells for some of the dtypes only.
    :param dense: what `accuracy` found.
    :param kept: what a device that only stores can do.
    """
    devices = list(found)
    used = {text for rows in found.values() for row in rows.values() for text in row.values()}
    lines = [HEAD.format(devices=_listed(devices), signs=_legend(used)), ""]
    families = dict.fromkeys(check.family for check in CHECKS.values())
    for family in families:
        names = sorted(n for n in CHECKS if CHECKS[n].family == family and n in found[devices[0]])
        heads = ["method", "reference", *(d.name for d in dtypes.all)]
        lines += [f"## {family}", "", _row(heads), "|" + "---|" * len(heads)]
        for name in names:
            cells = [
                _worst([found[device].get(name, {}).get(d.name, "-") for device in devices])
                for d in dtypes.all
            ]
            lines.append(_row([f"`{name}`", CHECKS[name].against, *cells]))
        lines.append("")
    heads = ["function", *(d.name for d in dtypes.floats)]
    lines += ["## Accuracy of functions", "", DENSE, "", _row(heads), "|" + "---|" * len(heads)]
    lines += [_row([f"`{n}`", *(row[d.name] for d in dtypes.floats)]) for n, row in dense.items()]
    lines += ["", "## What devices lack", ""]
    for device in devices:
        lacking = [d.name for d in dtypes.all if _all_lacking(found[device], d)]
        asked = list(next(iter(found[device].values())))
        limits = [] if len(asked) == len(dtypes.all) else [f"asked for {_listed(asked)}"]
        if len(found[device]) < len(found[devices[0]]):
            limits.append(f"in {len(found[device])} of the {len(found[devices[0]])} methods")
        limited = f" ({' '.join(limits)})" if limits else ""
        lines.append(f"- {device}: {', '.join(lacking) or 'nothing'}{limited}")
    yes = [f"`{name}`" for name, can in kept.items() if can]
    no = [f"`{name}`" for name, can in kept.items() if not can]
    lines += ["", STORED.format(yes=", ".join(yes), no=", ".join(no)), ""]
    lines += ["## Methods without a row", "", REST, ""]
    for reason in dict.fromkeys(REASONS.values()):
        names = [f"`{n}`" for n, r in sorted(REASONS.items()) if r == reason]
        lines.append(f"- {', '.join(names)}: {reason}")
    return "\n".join(lines) + "\n"


def _all_lacking(found: Found, dtype: DType) -> bool:
    said = {row[dtype.name] for row in found.values() if dtype.name in row}
    return "-" in said and said <= set(WORDS)


def _legend(used: set[str]) -> str:
    return "\n".join(f"- `{sign}`: {word}" for sign, word in WORDS.items() if sign in used)


def _listed(words: Sequence[str]) -> str:
    return ", ".join(words[:-1]) + " and " + words[-1] if len(words) > 1 else words[0]


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def read_page(text: str) -> Found:
    """The cells of a page."""
    found: Found = {}
    names = [d.name for d in dtypes.all]
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| `") and len(cells) == len(names) + 2:
            found[cells[0].strip("`")] = dict(zip(names, cells[2:]))
    return found


HEAD = """# Operations

Every public method of `Tensor` on every dtype, compared with a reference on {devices}.
`python -m cases.operations_table` in `tests` runs every cell and writes the page;
`tests/architecture` checks that it lists every method and that a sample of its cells is still true.

A cell says how far the answers are from the truth:

- `=`: equal to the reference, bit for bit: shape, dtype, values, NaN and infinities. For floats
  the reference is the true value rounded once to the dtype.
- a number: the largest error in units in the last place, worst of the devices; 0.5 is the best
  that a dtype can do where a true value lies between two of its numbers. The values are edges
  (zeros of both signs, limits, subnormals, infinities, NaN) and random numbers of every size.
- `~` and a number: the same in units of the largest element of the result, for sums of products.
{signs}

Integers wrap modulo their width. Dividing an integer by zero gives 0, on every device; the least
integer divided by -1 is itself. Shifts by the width or more give 0, or the sign to the right. Casts
of floats to integers lose the fraction. `weft.base.scalars` defines the result for NaN and for
values that the integer cannot hold, equal on every device and in folded constants.
fp8e4m3 has no infinities: a value too large for it is NaN.

Numbers above ten are cancellation: the result is far smaller than its terms, so its units in the
last place are tiny. Examples are `gelu`, `silu` and `quick_gelu` far below zero, and one minus a
cosine near one."""

DENSE = """The largest error in units in the last place, over all values of the floats of 8 and 16
bits, and 80,000 of the others: random bits, and random numbers up to 1.2, 8 and 90 in size (of
`cos` and `tan` up to three million: further out they are exact to that part of 1, not of
themselves)."""

STORED = """On a device that stores and does not compute (files), elements can be moved as far as a
window without gaps reaches, read, and bits seen as other dtypes. Of the calls in this table, of
float32, it can do {yes}. (The `shrink` of this table leaves gaps; of leading axes it does not.) The
others are refused there, with an error that says so and what to do: {no}."""

REST = """These answer nothing that depends on what an element is, or nothing that can be compared
cell by cell; what checks them is said here."""


# ---- the command ---------------------------------------------------------------------------------


def main(arguments: Sequence[str] | None = None) -> int:
    """The command. Nonzero where a method is missing or a cell is wrong."""
    parser = argparse.ArgumentParser(prog="python -m cases.operations_table", description=__doc__)
    parser.add_argument("devices", nargs="*", default=[registry.canonical(None)])
    parser.add_argument("--some", default="", help="of these devices ask for SOME of the dtypes")
    parser.add_argument("--only", help="these methods alone, separated by commas; writes nothing")
    parser.add_argument("--write", type=Path, help="the page to write")
    parser.add_argument("--keep", type=Path, help="a folder: cells found before are read from it")
    parser.add_argument("--quiet", action="store_true")
    asked = parser.parse_args(arguments)
    for names, fault in ((missing(), "no check and no reason"), (stale(), "no method, or both")):
        if names:
            print(f"{fault}: {', '.join(names)}", file=sys.stderr)
            if not asked.only:
                return 1
    say = (lambda line: None) if asked.quiet else lambda line: print(line, flush=True)
    chosen = asked.only.split(",") if asked.only else list(CHECKS)
    found: dict[str, Found] = {}
    wrong: list[str] = []
    for device in asked.devices:
        kinds = SOME if device in asked.some.split(",") else dtypes.all
        found[device], more = _found_or_kept(device, chosen, asked.keep, say, kinds)
        wrong += more
    for line in wrong:
        print(line, file=sys.stderr)
    if asked.write and not asked.only and not wrong:
        dense = accuracy(chosen, asked.devices[0], say)
        asked.write.write_text(page(found, dense, stored(chosen, say)), encoding="utf-8")
    return 1 if wrong else 0


def _found_or_kept(
    device: str, names: Sequence[str], folder: Path | None, say: Any, kinds: Sequence[DType]
) -> tuple[Found, list[str]]:
    """Cells of a device: what the folder does not have is run, and put there."""
    kept: Found = {}
    file = None if folder is None else folder / f"{device}.json"
    if file is not None and file.exists():
        kept = json.loads(file.read_text(encoding="utf-8"))
    found = {n: row for n, row in kept.items() if n in names and "WRONG" not in row.values()}
    wrong: list[str] = []
    for name in names:
        if name in found:
            continue
        row, more = fill(device, [name], say, kinds)
        found |= row
        wrong += more
        if file is not None:  # at once: a device may take an hour, and be stopped before
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps(kept | found), encoding="utf-8")
    return found, wrong
