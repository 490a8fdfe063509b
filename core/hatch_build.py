"""Build hook: compile the modules that pyproject.toml names, where the environment asks for it.

`WEFT_COMPILED=1 pip wheel ./core` makes a wheel for this platform and this version of Python: the
modules are translated by Cython, from the files that the pure wheel has too, and compiled by the C
compiler of the system (or `CC`). Without the variable nothing is compiled, and neither Cython nor a
compiler is asked for. An editable install is always pure.
"""

from __future__ import annotations

import os
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

VARIABLE = "WEFT_COMPILED"
TOOLS = ["cython>=3.1,<4", "setuptools>=70"]
# annotations stay comments, as they are to Python: `int` there includes bool and the members of Ops
DIRECTIVES = {"language_level": 3, "annotation_typing": False, "binding": True}


class CompiledModules(BuildHookInterface[Any]):
    """Adds the compiled modules to a wheel, beside their sources."""

    def dependencies(self) -> list[str]:
        """What the build needs besides hatchling."""
        return TOOLS if _is_asked_for() else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile before the wheel is written. version: "editable" for an editable install."""
        if not _is_asked_for() or self.target_name != "wheel" or version == "editable":
            return
        self._folder = tempfile.TemporaryDirectory()
        made = _compile(list(self.config["modules"]), Path(self.root), Path(self._folder.name))
        build_data["force_include"].update({str(path): name for name, path in made.items()})
        build_data["pure_python"] = False
        build_data["infer_tag"] = True

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Drop what was compiled: the wheel has it."""
        if hasattr(self, "_folder"):
            self._folder.cleanup()


def _is_asked_for() -> bool:
    value = os.environ.get(VARIABLE, "0")
    if value not in ("", "0", "1"):
        raise ValueError(f"{VARIABLE}={value}: 1 compiles modules, 0 does not")
    return value == "1"


def _compile(modules: list[str], root: Path, folder: Path) -> dict[str, Path]:
    """The shared library of each module, by its name in the wheel.

    :raises RuntimeError: without the headers of Python, or where a module does not compile.
    """
    from Cython.Build import cythonize
    from setuptools import Distribution, Extension

    headers = Path(sysconfig.get_path("include"))
    if not (headers / "Python.h").exists():
        raise RuntimeError(
            f"{VARIABLE}=1 needs the headers of Python, and there is no {headers / 'Python.h'}: "
            f"install them (Debian: apt install python3-dev), or build without {VARIABLE}"
        )
    before, jobs = Path.cwd(), os.cpu_count() or 1
    os.chdir(root)  # cythonize names modules and their C files by relative paths
    try:
        flags = [] if os.name == "nt" else ["-g0"]
        sources = [
            Extension(name, [f"{name.replace('.', '/')}.py"], extra_compile_args=flags)
            for name in modules
        ]
        translated = cythonize(
            sources, compiler_directives=DIRECTIVES, build_dir=str(folder / "c"), quiet=True
        )
        command = Distribution({"ext_modules": translated}).get_command_obj("build_ext")
        command.build_temp, command.build_lib = str(folder / "objects"), str(folder / "built")
        command.parallel = jobs
        command.ensure_finalized()
        command.run()
    except Exception as error:
        raise RuntimeError(
            f"{VARIABLE}=1: the modules do not compile ({error}): set CC to a C compiler, or build "
            f"without {VARIABLE}"
        ) from error
    finally:
        os.chdir(before)
    found = {str(path.relative_to(folder / "built")): path for path in folder.glob("built/**/*")}
    return {name.replace(os.sep, "/"): path for name, path in found.items() if path.is_file()}
