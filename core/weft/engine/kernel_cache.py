"""Kernel cache: keep the sources of kernels on disk for later processes.
Also: content-addressed compilation cache.

A process that finds its kernels there neither lowers nor renders.

The key is the text of the AST, the capabilities, the settings that matter, and a stamp of all
source files of this package, of the plugin, and of the packages that define the device's passes and
strategy. A device whose renderer is in no file (for example in a notebook) is not cached. The
linear program is not stored; its nodes are made again when they are needed.

Source: ccache, direct mode (a compilation is looked up by its inputs).
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, fields, is_dataclass
from functools import cache
from types import FunctionType, ModuleType
from typing import Any, cast

from weft.base import trace
from weft.base.disk_cache import DiskCache
from weft.base.errors import WeftError
from weft.base.interrupts import let_through
from weft.base.settings import settings
from weft.codegen.opt.opts import opt_of
from weft.device import ComputeCaps, Estimates, LinearProgram, OpenDevice, SourceText
from weft.engine import tuned_plans
from weft.uop import UOp, from_text, to_text

_programs = DiskCache("programs", 1)
_SHOWS_NODES = 5  # of DEBUG

settings_of_a_kernel = settings.reader("NOOPT", "FUSE_ARANGE", "BEAM", "MATMUL_PRECISION")
"""Gives the values of the settings that code generation depends on."""


def key_of(ast: UOp, chosen: tuple[Any, ...], device: OpenDevice) -> str | None:
    """The key of a kernel on a device; None where nothing is to be kept or looked up.

    chosen: the values of the settings that code generation depends on.
    """
    made = key_of_device(chosen, device)
    return None if made is None else f"{made}\0{to_text(ast)}"


def key_of_device(chosen: Iterable[Any], device: OpenDevice) -> str | None:
    """The part of a key that all kernels of a device share: the device, these values, and stamps
    of the code that generates kernels. None where nothing is to be kept or looked up."""
    watched = trace.enabled() or settings.DEBUG >= _SHOWS_NODES or settings.SPEC
    # The plugin's own files count as well as the renderer's: it may give a record of its own, a
    # dialect, to a renderer of another package.
    strategy = [part for part in (device.device.passes, device.device.choose) if part is not None]
    parts = (LinearProgram, type(device.renderer), *device.makers, *strategy)
    places = {_source_location(part) for part in parts}
    if watched or None in places or not device.capabilities.fingerprint or not settings.CACHE:
        return None
    stamps = [tuned_plans.stamp(device), *map(_stamp, sorted(filter(None, places)))]
    said = (
        device.id.family, device.capabilities.fingerprint, _cached_text(device.target.compute),
        *map(_name_of, strategy), *chosen, *stamps,
    )  # fmt: skip
    return "\0".join(map(str, said))


def find(
    key: str, ast: UOp, again: Callable[[], LinearProgram]
) -> tuple[LinearProgram, str] | None:
    """The program and the source in the cache. again: lowers the program, if its nodes are
    needed."""
    kept = _programs.get(key)
    if kept is None:
        return None
    try:
        facts = json.loads(kept)
        source = SourceText(str(facts["source"]), facts["functions"], facts["entries"])
        return program_from(facts, ast, lambda: again().uops), source
    except (ValueError, TypeError, KeyError, WeftError):
        return None


def put(key: str, program: LinearProgram, source: str) -> None:
    """Store what was generated."""
    text = source if isinstance(source, SourceText) else SourceText(source)
    names = {"functions": text.functions, "entries": text.entries}
    _programs.put(key, json.dumps(facts_of(program) | names | {"source": source}).encode())


def program_from(
    facts: Mapping[str, Any], ast: UOp | None, make_nodes: Callable[[], tuple[UOp, ...]]
) -> LinearProgram:
    """A program from what `facts_of` returned.

    :raises ValueError, TypeError, KeyError, WeftError: if the facts are damaged.
    """
    return LinearProgram.without_nodes(
        make_nodes,
        name=facts["name"],
        globals=tuple(facts["globals"]),
        outs=tuple(facts["outs"]),
        ins=tuple(facts["ins"]),
        variables=tuple(map(from_text, facts["variables"])),
        global_size=_sizes(facts["global_size"]),
        local_size=_sizes(facts["local_size"]),
        estimates=Estimates(*map(_number, facts["estimates"])),
        source_ast=ast,
        applied=tuple(opt_of(*opt) for opt in facts["applied"]),
    )


def facts_of(program: LinearProgram) -> dict[str, Any]:
    """A program without its nodes as plain values, which JSON takes."""
    estimates = program.estimates
    return {
        "name": program.name,
        "globals": program.globals,
        "outs": program.outs,
        "ins": program.ins,
        "variables": [to_text(variable) for variable in program.variables],
        "global_size": _written(program.global_size),
        "local_size": _written(program.local_size),
        "estimates": _written((estimates.ops, estimates.lds, estimates.bytes)),
        "applied": list(map(astuple, program.applied)),
    }


def _written(sizes: tuple[Any, ...] | None) -> list[Any] | None:
    if sizes is None:
        return None
    return [to_text(size) if isinstance(size, UOp) else size for size in sizes]


def _sizes(written: list[Any] | None) -> tuple[Any, ...] | None:
    return None if written is None else tuple(map(_number, written))


def _number(written: Any) -> Any:
    return from_text(written) if isinstance(written, str) else written


# ---- what generated code depends on --------------------------------------------------------------


def _name_of(function: object) -> str:
    """The qualified name of a function, which distinguishes strategies of one package."""
    return f"{getattr(function, '__module__', '')}.{getattr(function, '__qualname__', '')}"


def _source_location(part: object) -> str | None:
    """The folder of the package that defines an object, or the file of its module; None if it is in
    no file."""
    owner = part if isinstance(part, type | ModuleType | FunctionType) else type(part)
    name = owner.__name__ if isinstance(owner, ModuleType) else owner.__module__
    module = sys.modules.get(name.partition(".")[0])
    file = getattr(module, "__file__", None)
    if file is None or not _exists(file):
        return None
    file = os.path.abspath(file)
    return os.path.dirname(file) if hasattr(module, "__path__") else file


def _exists(file: str) -> bool:
    """Whether a file exists."""
    try:
        os.stat(file)
    except (OSError, ValueError) as error:  # as `os.path.exists` does
        let_through(error)
        return False
    return True


@cache
def _stamp(place: str) -> str:
    """A value that changes when a file or a source file below a folder does."""
    if os.path.isdir(place):
        files = "\n".join(sorted(_files(place)))
    else:
        facts = os.stat(place)
        files = f"{place} {facts.st_size} {facts.st_mtime_ns}"
    return hashlib.sha256(files.encode()).hexdigest()[:24]


def _files(folder: str) -> Iterator[str]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                if not entry.name.startswith((".", "__pycache__")):
                    yield from _files(entry.path)
            elif entry.name.endswith(".py"):
                facts = entry.stat()
                yield f"{entry.path} {facts.st_size} {facts.st_mtime_ns}"


_last: list[tuple[ComputeCaps, str]] = []


def _cached_text(compute: ComputeCaps) -> str:
    """`as_text` of capabilities, cached: kernels of one device are generated one after the
    other."""
    for known, text in _last:  # one at most; another thread may have another device
        if known is compute:
            return text
    text = as_text(compute)
    _last[:] = [(compute, text)]
    return text


def as_text(value: Any) -> str:
    """Plain data as text that is the same in every process: sets have no order of their own."""
    if is_dataclass(value) and not isinstance(value, type):
        parts = (f"{field.name}={as_text(getattr(value, field.name))}" for field in fields(value))
        return f"{type(value).__name__}({', '.join(parts)})"
    if isinstance(value, Mapping):
        known = cast("Mapping[Any, Any]", value)
        pairs = sorted(f"{as_text(key)}: {as_text(held)}" for key, held in known.items())
        return "{" + ", ".join(pairs) + "}"
    if isinstance(value, (set, frozenset)):
        return "{" + ", ".join(sorted(map(as_text, cast("set[Any]", value)))) + "}"
    if isinstance(value, (tuple, list)):
        return "(" + ", ".join(map(as_text, cast("Sequence[Any]", value))) + ")"
    return repr(value)
