"""Compare random ONNX graphs with the package `onnx` and ONNX Runtime.

    python tests/onnx/fuzz_graphs.py [COUNT] [--first N] [--all]

Prints each graph that differs or that weft refuses, with its seed, and the counts. A hundred graphs
share a process: an evaluator that ends its process costs the rest of these only.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
PER_PROCESS = 100


def run_chunk(first: int, count: int, shows_all: bool) -> Counter[str]:
    """Check graphs in this process; print what differs."""
    from helpers.onnx_graphs.comparison import GraphMismatch, GraphRefused, check_graph

    warnings.simplefilter("ignore")
    counts: Counter[str] = Counter()
    for seed in range(first, first + count):
        try:
            check_graph(seed, counts)
            counts["equal"] += 1
        except GraphMismatch as error:
            counts["DIFFER"] += 1
            print(f"{seed}: {error}", flush=True)
        except GraphRefused as error:
            counts["refused by weft"] += 1
            print(f"{seed}: refused: {error}", flush=True)
        except Exception:  # noqa: BLE001 (each other error is a finding)
            counts["ERRORS"] += 1
            print(f"{seed}: {traceback.format_exc()}", flush=True)
    named = ("equal", "nodes", "DIFFER", "ERRORS", "refused by weft", "runs with other sizes")
    return counts if shows_all else Counter({name: counts[name] for name in named})


def main() -> int:
    """Run ranges of seeds in processes of their own; print the counts."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("count", nargs="?", type=int, default=200)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--all", action="store_true", help="count the other evaluators' refusals")
    parser.add_argument("--chunk", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.chunk:
        counts = run_chunk(options.first, options.count, options.all)
        print("\n".join(f"count\t{name}\t{number}" for name, number in counts.items()))
        return 0
    total: Counter[str] = Counter()
    for first in range(options.first, options.first + options.count, PER_PROCESS):
        count = min(PER_PROCESS, options.first + options.count - first)
        with tempfile.TemporaryFile("w+") as errors:
            command = [sys.executable, __file__, str(count), "--first", str(first), "--chunk"]
            command += ["--all"] * options.all
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=errors, text=True)
            if done.returncode:
                errors.seek(0)
                total["ENDED PROCESSES"] += 1
                print(f"{first}: ended with {done.returncode}\n{errors.read()[-1000:]}")
        for line in done.stdout.splitlines():
            if line.startswith("count\t"):
                _, name, number = line.split("\t")
                total[name] += int(number)
            else:
                print(line, flush=True)
    for name, number in total.most_common():
        print(f"{number:7} {name}")
    return 1 if total["DIFFER"] or total["ERRORS"] or total["ENDED PROCESSES"] else 0


if __name__ == "__main__":
    sys.exit(main())
