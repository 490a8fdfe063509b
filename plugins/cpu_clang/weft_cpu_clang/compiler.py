"""Compilation: source on the input of clang, and an object on its output.

A run of clang compiles one source, a server many (`compile_server`). Several sources are compiled
at once as one translation unit (`translation_units`). Where `elf` cannot load objects (other
processors, macOS, Windows) a second run links a shared library, and the loader of the system loads
it. On macOS the linker also signs the code, as Apple silicon requires.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from weft.plugin import CompileError, SourceText
from weft_cpu_clang import elf
from weft_cpu_clang.binary import SUFFIX
from weft_cpu_clang.cpu_quota import available
from weft_cpu_clang.process import PROBE_SECONDS, SECONDS, TimedOut, run
from weft_cpu_clang.toolchain import Toolchain

if TYPE_CHECKING:
    from weft_cpu_clang.compile_server import CompileServers

_PATIENT = 2
"""Compilations that may take `SECONDS` in vain; each of the others has `PROBE_SECONDS`."""


class ClangCompiler:
    """Compiles kernels for this processor.

    :param toolchain: which clang.
    :param shared: link shared libraries; None: only where objects cannot be loaded.
    """

    def __init__(self, toolchain: Toolchain, shared: bool | None = None) -> None:
        self.toolchain = toolchain
        self.shared = not elf.loads_here() if shared is None else shared
        self.fingerprint = toolchain.fingerprint + ("-shared" if self.shared else "")
        self._timed_out = 0
        self._servers: CompileServers | None = None

    def compile(self, source: str, name: str) -> bytes:
        """An object file, or a shared library.

        :raises CompileError: with `source` and clang's messages as `log`; TimedOut, if clang does
            not end within two minutes.
        """
        try:
            if self.shared:
                return self._link(source, name)
            return self._objects(source)[0]
        except CompileError as error:
            error.asked = f"kernel {name}"
            raise

    def compile_many(self, sources: Sequence[tuple[str, str]]) -> list[bytes]:
        """The binaries of several (source, name), in one run where that is possible: where all are
        SourceText, whose functions have known names.

        :raises CompileError: if any of them is refused.
        """
        texts = [source for source, _ in sources if isinstance(source, SourceText)]
        if not self.shared and len(texts) == len(sources):
            from weft_cpu_clang.translation_units import endings, joined

            try:
                return self._objects(joined(texts), endings(texts))
            except CompileError:
                pass  # one is at fault, or they do not go together
        return [self.compile(*one) for one in sources]

    def build_library(self, sources: Sequence[Path], library: Path) -> Path:
        """Compile files of C, with kernels and what calls them, and link a shared library.

        :param library: its path without the suffix. :returns: its path.
        :raises CompileError: if the compiler fails.
        """
        import tempfile
        from concurrent.futures import ThreadPoolExecutor

        path = library.with_name(library.name + SUFFIX)
        hosted = ("-nostdlib", "-fvisibility=hidden")
        flags = [one for one in self.toolchain.arguments if one not in hosted]
        with tempfile.TemporaryDirectory(prefix="weft-") as folder:
            objects = [str(Path(folder, f"{number}.o")) for number in range(len(sources))]
            commands = [
                (*flags, "-c", str(source), "-o", made) for source, made in zip(sources, objects)
            ]
            with ThreadPoolExecutor(available()) as threads:
                list(threads.map(self._run, commands, [""] * len(commands)))
            self._run((*self.toolchain.link, "-shared", *objects, "-o", str(path)), "")
        return path

    def _objects(self, source: str, endings: Sequence[str] = ("",)) -> list[bytes]:
        """One run; an object for each ending of functions' names."""
        from weft_cpu_clang.translation_units import (  # where all is known it isn't needed
            FLAGS,
            separated,
        )

        if self._servers is None:
            from weft_cpu_clang.compile_server import CompileServers

            self._servers = CompileServers(self.toolchain, FLAGS)
        arguments = (*self.toolchain.arguments, *FLAGS, "-c", "-x", "c", "-", "-o", "-")
        made = self._servers.compile(source, lambda: self._run(arguments, source))
        return separated(made, endings)

    def _link(self, source: str, name: str) -> bytes:
        """An object, and of it a shared library."""
        import tempfile

        hidden = ("-nostdlib", "-fvisibility=hidden")
        arguments = tuple(one for one in self.toolchain.arguments if one not in hidden)
        if sys.platform == "win32":
            entries = source.entries if isinstance(source, SourceText) else (name,)
            source = exporting(source, entries)
        made = self._run((*arguments, "-c", "-x", "c", "-", "-o", "-"), source)
        with tempfile.TemporaryDirectory(prefix="weft-") as folder:
            object_file, library = Path(folder, f"{name}.o"), Path(folder, name + SUFFIX)
            object_file.write_bytes(made)
            command = (*self.toolchain.link, "-shared", str(object_file), "-o", str(library))
            self._run(command, "")
            return library.read_bytes()

    def _run(self, command: tuple[str, ...], source: str) -> bytes:
        """Run it, with less patience where it hangs again and again."""
        seconds = SECONDS if self._timed_out < _PATIENT else PROBE_SECONDS
        try:
            return run(command, source, seconds)
        except TimedOut:
            self._timed_out += 1
            raise


def exporting(source: str, entries: Iterable[str]) -> str:
    """A source with functions of these names that other modules may call, on Windows: the object
    tells the linker, as it does of functions with ``__declspec(dllexport)``.

    Source: Microsoft, PE Format, "The .drectve Section".
    """
    rows = "".join(f'  ".ascii \\" -export:{name}\\"\\n"\n' for name in entries)
    return f'{source}\n__asm__(".section .drectve,\\"yn\\"\\n"\n{rows}  ".text");\n'
