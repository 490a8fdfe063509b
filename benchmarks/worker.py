"""One peer in one process: reads a case per line, answers with the seconds one call took.

`python worker.py NAME` answers, as JSON lines: first what it is and can do, then for each line
`case` on standard input {"seconds", "result"}. A case's first line prepares and warms it up.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from time import perf_counter

from peers import PEERS, TRAINING_STEPS_UNTIL_COMPARED

LEAST_SECONDS = 0.02
"""One measurement repeats a short job until it has lasted this long."""


def warm_up(job: Callable[[], float]) -> float:
    """Call it until compilers, caches and recorders have settled; gives the compared result."""
    result = 0.0
    for _ in range(TRAINING_STEPS_UNTIL_COMPARED):
        result = job()
    return result


def measure(job: Callable[[], float]) -> float:
    """Seconds per call."""
    calls, began = 0, perf_counter()
    while True:
        job()
        calls += 1
        passed = perf_counter() - began
        if passed >= LEAST_SECONDS:
            return passed / calls


def main(name: str) -> None:
    """Serve until standard input ends."""
    try:
        peer = PEERS[name]()
    except Exception as error:
        print(json.dumps({"missing": f"{type(error).__name__}: {error}".partition("\n")[0]}))
        return
    jobs = peer.cases()
    about = {"version": peer.version, "notes": peer.notes, "cases": list(jobs)}
    print(json.dumps(about), flush=True)
    ready: dict[str, Callable[[], float]] = {}
    for line in sys.stdin:
        case, result = line.strip(), None
        try:
            if case not in ready:
                ready[case] = jobs[case]()
                result = warm_up(ready[case])
            answer = {"seconds": measure(ready[case]), "result": result}
        except Exception as error:
            answer = {"failed": f"{type(error).__name__}: {error}".partition("\n")[0]}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
