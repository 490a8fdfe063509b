"""Builds the test doubles of libcuda and NVRTC, and says how a process uses them.

::

    eval "$(python tests/plugins/cuda/doubles/build.py)"      # prints export lines
    WEFT_DEVICE=CUDA python -m pytest --pyargs weft.testing.conformance --weft-device CUDA

They are compiled once, into a folder named by their sources' content, by the C++ compiler that is
here, else by the wheel ziglang, which then spends a minute on the standard library first.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
CHECKS = ("shared_checks.cpp", "shared_checks.o")
LIBRARIES = {"libcuda.cpp": "libcuda.so.1", "libnvrtc.cpp": "libnvrtc.so.13"}


def missing() -> str:
    """Why they cannot be built here; empty if they can."""
    if not sys.platform.startswith("linux") or platform.machine() != "x86_64":
        return "the doubles switch fibers on x86-64 Linux only"
    if importlib.util.find_spec("ziglang") is None:
        return "the doubles compile kernels by the wheel ziglang, which is not installed"
    return ""


def _zig() -> str:
    spec = importlib.util.find_spec("ziglang")
    assert spec is not None and spec.submodule_search_locations  # `missing` was asked
    return str(Path(next(iter(spec.submodule_search_locations)), "zig"))


def build(root: Path | None = None) -> Path:
    """The folder that holds both libraries and what kernels are linked to, built if it is not there
    yet."""
    sources = sorted(p for p in HERE.iterdir() if p.suffix in (".cpp", ".h"))
    key = hashlib.sha256(b"".join(p.read_bytes() for p in sources)).hexdigest()[:16]
    found = shutil.which("c++")
    compiler = [found] if found else [_zig(), "c++", "-fno-sanitize=undefined"]
    root = root or Path(os.environ.get("WEFT_CACHE_DIR") or Path(tempfile.gettempdir()))
    folder = root / f"cuda-doubles-{key}"
    folder.mkdir(parents=True, exist_ok=True)
    for source, library in LIBRARIES.items():
        _made(folder / library, [
            *compiler, "-std=c++17", "-O2", "-U_FORTIFY_SOURCE", "-shared", "-fPIC", "-w",
            f"-Wl,-soname,{library}", str(HERE / source),
        ])  # fmt: skip
    source, checks = CHECKS
    _made(folder / checks, [
        _zig(), "clang", "-c", "-std=c++17", "-O2", "-ffreestanding", "-fPIC", "-fno-exceptions",
        "-fno-rtti", "-fno-stack-protector", "-w", str(HERE / source),
    ])  # fmt: skip
    return folder


def _made(file: Path, command: list[str]) -> None:
    """Have a file made, unless it is there."""
    if file.exists():
        return
    made = file.with_name(f"{file.name}.{os.getpid()}")
    subprocess.run([*command, "-o", str(made)], check=True)
    made.replace(file)  # so that no process loads half of one


def environment(folder: Path) -> dict[str, str]:
    """What a process must have in its environment from its start."""
    zig = _zig()
    path = os.environ.get("LD_LIBRARY_PATH")
    return {
        "LD_LIBRARY_PATH": f"{folder}:{path}" if path else str(folder),
        "WEFT_NVRTC": str(folder / "libnvrtc.so.13"),
        "SIMT_CLANG": f"'{zig}' clang",
        "SIMT_LINKER": f"'{zig}' ld.lld",
        "SIMT_HEADER": str(HERE / "cuda_on_cpu.h"),
        "SIMT_CHECKS": str(folder / CHECKS[1]),
    }


if __name__ == "__main__":
    reason = missing()
    if reason:
        sys.exit(reason)
    for name, value in environment(build()).items():
        print(f'export {name}="{value}"')
