"""What a process reads before its first result, where another has computed the same before."""

from __future__ import annotations

import os
import subprocess
import sys

PROGRAM = """
import sys
from weft import Tensor
print((Tensor([1, 2], device="CPU") * 2).tolist())
print(*sorted(sys.modules))
"""
WATCHES = ("SPEC", "DEBUG", "VIZ", "PROCESS_REPLAY", "BEAM", "NOOPT")


def started(caches):
    """(what it prints, the modules that it has imported)."""
    kept = {k: v for k, v in os.environ.items() if k not in {f"WEFT_{name}" for name in WATCHES}}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env={**kept, "WEFT_CACHE_DIR": str(caches)},
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    result, modules = done.stdout.splitlines()
    return result, set(modules.split())


def test_a_second_process_reads_nothing_of_how_kernels_are_made(tmp_path):
    first, cold = started(tmp_path)
    second, warm = started(tmp_path)
    assert first == second == "[2, 4]"
    assert {"weft.codegen.pipeline", "subprocess"} <= cold
    assert not {"weft.codegen.pipeline", "weft_simd.choice.strategy", "subprocess"} & warm
    assert not {"numpy", "importlib.metadata", "email", "concurrent.futures", "logging"} & warm
