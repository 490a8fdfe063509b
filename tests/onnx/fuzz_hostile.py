"""Load and run mutated models: only errors of weft, no file outside of the folder, little memory.

python tests/onnx/fuzz_hostile.py [COUNT] [--first N] [--device REF]

A mutant fails if it raises another error than a WeftError, opens a file outside of its folder,
takes more than a gigabyte of address space, or more than 60 seconds to load. A loop that runs
longer is stopped: a model may claim any number of iterations.
"""

from __future__ import annotations

import argparse
import resource
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from hostile_models import MODELS, make_folder, mutant

import weft
import weft.onnx
from weft import WeftError

_LIMIT = 60
_LIMIT_OF_RUN = 10
_MOST_MEMORY = 1 << 30


class OpenedFiles:
    """Records the files that are opened while `folder` is set and that lie outside of it."""

    def __init__(self) -> None:
        self.folder: Path | None = None
        self.outside: list[str] = []
        sys.addaudithook(self._hook)

    def _hook(self, event: str, args: tuple) -> None:
        if event != "open" or self.folder is None or not isinstance(args[0], str):
            return
        path = Path(args[0]).resolve()
        if path.suffix in (".py", ".so") or ".pyc" in path.name or "site-packages" in path.parts:
            return
        if not path.is_relative_to(self.folder.resolve()):
            self.outside.append(str(path))


def inputs_of(model: weft.onnx.Model) -> dict[str, np.ndarray]:
    """Zeros for each input; symbolic sizes are 2, large ones are refused by the model."""
    given = {}
    for each in model.inputs:
        shape = [size if isinstance(size, int) and size <= 64 else 2 for size in each.shape or ()]
        dtype = each.dtype if each.dtype in ("float32", "int64", "bool") else "float32"
        given[each.name] = np.zeros(shape, dtype)
    return given


def run(path: Path, device: str, files: OpenedFiles) -> str:
    """Return "loaded and run", the class of a WeftError, or a line that begins with FAILED."""
    files.outside.clear()
    files.folder = path.parent
    signal.alarm(_LIMIT)
    try:
        model = weft.onnx.load(path, device=device, jit=False)
        files.folder = None  # kernels are stored elsewhere
        signal.alarm(_LIMIT_OF_RUN)
        try:
            model(inputs_of(model))
        except TimeoutError:
            return "stopped while it ran"
        return "loaded and run"
    except WeftError as error:
        return type(error).__name__
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return f"FAILED {type(error).__name__}: {error}"
    finally:
        signal.alarm(0)
        files.folder = None


def _stop(number, frame) -> None:
    raise TimeoutError("it takes too long")


def main() -> int:
    """Run the mutants; print how each ended, and those that failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", nargs="?", type=int, default=200)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--device", default="REF")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    first = weft.onnx.load(MODELS[0]().SerializeToString(), device=options.device)
    first(inputs_of(first))  # what is loaded once is no model's
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + _MOST_MEMORY, resource.RLIM_INFINITY))
    signal.signal(signal.SIGALRM, _stop)
    files, ends, failed = OpenedFiles(), Counter(), 0
    with tempfile.TemporaryDirectory() as root:
        path = make_folder(Path(root)) / "model.onnx"
        for number in range(options.first, options.first + options.count):
            path.write_bytes(mutant(number))
            begin = time.monotonic()
            end = run(path, options.device, files)
            if files.outside:
                end = f"FAILED: opened {files.outside}"
            if end.startswith("FAILED"):
                failed += 1
                print(f"{number}: {end[:600]} ({time.monotonic() - begin:.1f} s)", flush=True)
            ends[end if not end.startswith("FAILED") else "FAILED"] += 1
    for end, count in ends.most_common():
        print(f"{count:6} {end}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
