"""Run the backend tests of the package `onnx` on the default device, and print the score.

python tests/onnx/run_backend.py [PATTERN ...] [--kind node] [--list-failures] [--jobs N]
"""

from __future__ import annotations

import argparse
import multiprocessing
import re
import signal
import sys
import warnings
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from backend_cases import KINDS, Case, cases

_LIMIT = 240


def run_case(case: Case) -> str:
    """Return "" if a test passes, else why it does not."""

    def stop(number, frame):
        raise TimeoutError(f"it takes more than {_LIMIT} seconds")

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(_LIMIT)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            case.run()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    finally:
        signal.alarm(0)
    return ""


def _run_part(job: tuple[list[str], list[str], int, int]) -> list[tuple[str, str, str]]:
    kinds, patterns, part, parts = job
    chosen = selected(kinds, patterns)[part::parts]
    found = []
    for number, case in enumerate(chosen):
        found.append((case.kind, case.name, run_case(case)))
        if (number + 1) % 100 == 0:
            print(f"  {number + 1} of {len(chosen)}", file=sys.stderr, flush=True)
    return found


def selected(kinds: list[str], patterns: list[str]) -> list[Case]:
    """The tests of some kinds whose names match one of the patterns."""
    return [
        case
        for kind in kinds
        for case in cases(kind)
        if not patterns or any(re.search(each, case.name) for each in patterns)
    ]


def main() -> int:
    """Print failures and the number of passed tests per kind."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("patterns", nargs="*", help="regular expressions for names")
    parser.add_argument("--kind", action="append", choices=KINDS)
    parser.add_argument("--list-failures", action="store_true", help="print names only")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    kinds = options.kind or list(KINDS)
    jobs = [(kinds, options.patterns, part, options.jobs) for part in range(options.jobs)]
    if options.jobs == 1:
        results = _run_part(jobs[0])
    else:
        with multiprocessing.get_context("spawn").Pool(options.jobs) as pool:
            results = [each for part in pool.map(_run_part, jobs) for each in part]
    passed, total = Counter(), Counter()
    for kind, name, why in sorted(results):
        total[kind] += 1
        passed[kind] += not why
        if why:
            print(name if options.list_failures else f"FAILED {kind} {name}: {why}\n")
    for kind in total:
        print(f"{kind:18} {passed[kind]:5} of {total[kind]:5}")
    print(f"{'all':18} {passed.total():5} of {total.total():5}")
    return 0 if passed == total else 1


if __name__ == "__main__":
    sys.exit(main())
