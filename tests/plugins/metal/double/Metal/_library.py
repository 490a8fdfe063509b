"""MSL to functions that can be called: by a C++ compiler, over a header that says its words.

Memory is made to know its ends: a `device` pointer among the parameters, and a `threadgroup` array,
become places with bounds (`executor::Place`).
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

DOUBLE = Path(__file__).parent.parent
INCLUDE = DOUBLE / "include"
EXECUTOR = DOUBLE / "executor.cpp"
FLAGS = (
    "-std=c++17 -O1 -w -fPIC -ffreestanding -fsigned-char -fwrapv -ffp-contract=off "
    "-fno-math-errno -fno-strict-aliasing -fno-exceptions -fno-rtti -fvisibility=hidden "
    "-fno-asynchronous-unwind-tables -march=native -Xclang -ffloat16-excess-precision=none"
).split()

_KERNEL = re.compile(
    r"^(?:kernel|\[\[kernel,\s+max_total_threads_per_threadgroup\((\d+)\)\]\])\s+void\s+(\w+)"
    r"\((.*?)\) \{$",
    re.S | re.M,
)
MOST = 1024
"""Threads of a group where a kernel does not say."""
_SHARED = re.compile(r"\bthreadgroup (\w+) (\w+)\[(\d+)\];")
_WAITS = re.compile(r"\b(?:threadgroup_barrier|simdgroup_\w+|simd_\w+)")
_BUILTIN = {
    "threadgroup_position_in_grid": "group",
    "thread_position_in_threadgroup": "item",
}
_loaded: dict[str, ctypes.CDLL] = {}
"""By digest of their source."""


class Entry(ctypes.Structure):
    """One entry of the argument table: an address, and how many bytes there are."""

    _fields_ = (("at", ctypes.c_void_p), ("bytes", ctypes.c_ulong))


class Kernel:
    """A kernel that was compiled.

    :ivar uses: entries of the argument table that it reads.
    :ivar most: threads of a group.
    """

    def __init__(self, library: ctypes.CDLL, waits: bool, uses: frozenset[int], most: int) -> None:
        self._library = library
        self._waits = waits
        self.uses = uses
        self.most = most

    def run(self, arguments: Any, groups: Any, size: Any) -> str:
        """What went wrong; "" if nothing."""
        three = ctypes.c_uint * 3
        here = ctypes.byref(ctypes.c_char.in_dll(self._library, "executor_here"))
        run = _executor().executor_run
        run.restype = ctypes.c_char_p
        said = run(here, self._library.enter, arguments, self._waits, three(*groups), three(*size))
        return said.decode()


def zig(*words: str) -> list[str]:
    """The tools of the wheel ziglang."""
    import ziglang

    return [str(Path(ziglang.__file__).parent / "zig"), *words]


def hosted(source: str) -> tuple[str, str, frozenset[int], int]:
    """The kernel's name, its source with a function that enters it, the arguments that it reads,
    how many threads a group may have."""
    found = _KERNEL.search(source)
    if found is None:
        raise SyntaxError(f"there is no kernel in this:\n{source[:200]}")
    most, name, parameters = found.groups()
    words, declared, uses = [], [], set()
    for parameter in re.split(r",(?![^\[]*\])", parameters):
        kind, own, attribute = re.fullmatch(
            r"\s*(.*?)(\w+) \[\[(.*?)\]\]\s*", parameter, re.S
        ).groups()
        if attribute in _BUILTIN:
            place = f"executor_here.{_BUILTIN[attribute]}"
            words.append(f"uint3{{{place}.x, {place}.y, {place}.z}}")
            declared.append(f"{kind}{own}")
            continue
        index = int(attribute.removeprefix("buffer(").removesuffix(")"))
        uses.add(index)
        element = re.fullmatch(r"(?:device|constant) ((?:const )?\w+)[*&] ?", kind)[1]
        what = "constants" if "&" in kind else "buffer"
        words.append(f"executor::{what}<{element}>(given[{index}])")
        declared.append(
            f"const {element}& {own}" if "&" in kind else f"executor::Place<{element}> {own}"
        )
    head = f"static void {name}({', '.join(declared)}) {{"
    text = source[: found.start()] + head + source[found.end() :]
    text = _SHARED.sub(
        r"static executor::Shared<\1, \3> \2_memory; executor::Place<\1> \2 = \2_memory.begin();",
        text,
    )
    text = re.sub(r"\bthreadgroup ", "", text)
    return name, (
        f"{text}\nexecutor::Here executor_here;\n"
        'extern "C" __attribute__((visibility("default")))\n'
        "void enter(executor::Argument* given) {\n"
        f"  {name}({', '.join(words)});\n}}\n"
    ), frozenset(uses), int(most or MOST)  # fmt: skip


def compiled(source: str) -> tuple[str, Kernel]:
    """The name and the kernel of a source. :raises SyntaxError: with what the compiler said."""
    name, text, uses, most = hosted(source)
    digest = hashlib.sha256(text.encode()).hexdigest()[:24]
    if digest not in _loaded:
        with _folder() as folder:
            made, path = Path(folder, "kernel.o"), Path(folder, f"{digest}.so")
            _run(
                [*zig("clang"), *FLAGS, f"-I{INCLUDE}", "-c", "-x", "c++", "-", "-o", str(made)],
                text,
            )
            _run([*zig("ld.lld"), "-shared", "-Bsymbolic", str(made), "-o", str(path)])
            _loaded[digest] = ctypes.CDLL(str(path))
    return name, Kernel(_loaded[digest], bool(_WAITS.search(source)), uses, most)


def _folder() -> tempfile.TemporaryDirectory[str]:
    """A folder that is removed once the library in it is loaded: a signal leaves nothing behind."""
    return tempfile.TemporaryDirectory(prefix="weft-metal-double-")


@cache
def _executor() -> ctypes.CDLL:
    # the compiler that is here has its standard library; zig would build one first, for a minute
    here = shutil.which("c++")
    compiler = [here] if here else zig("c++", "-fno-sanitize=undefined")
    with _folder() as folder:
        path = Path(folder, "executor.so")
        _run([*compiler, "-std=c++17", "-O2", "-U_FORTIFY_SOURCE", "-w", "-shared", "-fPIC",
              str(EXECUTOR), "-o", str(path)])  # fmt: skip
        return ctypes.CDLL(str(path))


def _run(command: list[str], text: str = "") -> None:
    done = subprocess.run(
        command, input=text.encode(), capture_output=True, env={**os.environ, "LC_ALL": "C"}
    )
    if done.returncode:
        raise SyntaxError(done.stderr.decode())
