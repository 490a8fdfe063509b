"""Products of block-quantised weights: bytes of weights per second, and the share of the bandwidth.

    python benchmarks/quantized.py                     every format, random weights
    python benchmarks/quantized.py --model FILE.gguf   all products of one token, beside llama.cpp

The bandwidth is that of a sum over a float32 tensor that no cache holds, on as many threads. The
peer is `xllamacpp`, where it is installed: its time for a token includes attention and sampling.
The best of several runs counts, because other work on the machine only adds time. On a machine that
is never idle, `--cpu-time` counts the processor's time instead, with one thread.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from weft import Tensor, jit
from weft.io import gguf_load
from weft.quantization import FORMATS, dequantize, linear_int8, linear_int16, storage_of

BANDWIDTH_BYTES = 1 << 28
PROMPT = "The capital of France is"


clock = time.perf_counter


def best_seconds(call: Callable[[], Any], runs: int) -> float:
    """The shortest of several runs, after three that compile and record."""
    for _ in range(3):
        call()
    found = float("inf")
    for _ in range(runs):
        started = clock()
        call()
        found = min(found, clock() - started)
    return found


def read_bandwidth(runs: int) -> float:
    """Bytes per second of a sum over a tensor that no cache holds."""
    values = Tensor.ones(BANDWIDTH_BYTES // 4).contiguous().realize()
    total = jit(lambda x: x.sum())
    return BANDWIDTH_BYTES / best_seconds(lambda: total(values).realize(), runs)


def random_blocks(name: str, count: int) -> Tensor:
    """The bytes of blocks with finite scales."""
    layout, source = FORMATS[name], np.random.default_rng(0)
    raw = source.integers(0, 256, (count, layout.nbytes), dtype=np.uint8)
    for at in (layout.scale, layout.minimum):
        if at is not None and not layout.exponent_scale:
            raw[:, at : at + 2] = np.float16(source.uniform(-1, 1, (count, 1))).view(np.uint8)
    return Tensor(raw.reshape(-1)).realize()


def time_format(name: str, rows: int, size: tuple[int, int], runs: int) -> dict[str, float]:
    """Bytes of weights per second of the product with float and with integer activations."""
    data = random_blocks(name, size[0] * size[1] // FORMATS[name].length)
    x = Tensor.randn(rows, size[1]).realize()
    products: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
        "float32": lambda x, data: x @ dequantize(data, name, size).transpose(0, 1),
        "int8": lambda x, data: linear_int8(x, dequantize(data, name, size)),
        "int16": lambda x, data: linear_int16(x, dequantize(data, name, size)),
    }
    found: dict[str, float] = {}
    for kind, product in products.items():
        run = jit(product)
        seconds = best_seconds(lambda run=run: run(x, data).realize(), runs)
        found[kind] = int(data.shape[0]) / seconds
    return found


def print_formats(arguments: argparse.Namespace) -> None:
    size = (arguments.columns, arguments.length)
    bandwidth = read_bandwidth(arguments.runs)
    print(f"{os.environ['WEFT_CPU_THREADS']} threads: read bandwidth {bandwidth / 1e9:.1f} GB/s")
    print("| format | rows | float32, GB/s | share | int8, GB/s | share | int16, GB/s | share |")
    print("|---|---|---|---|---|---|---|---|")
    for name in arguments.formats or FORMATS:
        for rows in arguments.rows:
            speeds = time_format(name, rows, size, arguments.runs).values()
            cells = [f"{speed / 1e9:.1f} | {100 * speed / bandwidth:.0f} %" for speed in speeds]
            print(f"| {name} | {rows} | {' | '.join(cells)} |", flush=True)


def print_model(arguments: argparse.Namespace) -> None:
    """Time all products of one token, in one captured function."""
    _, tensors = gguf_load(arguments.model)
    weights = [t for t in tensors.values() if t.ndim == 2 and storage_of(t) is not None]
    nbytes = sum(int(storage_of(weight).data.shape[0]) for weight in weights)
    given = {w.shape[1]: Tensor.randn(1, w.shape[1]).realize() for w in weights}
    run = jit(lambda: [linear_int8(given[weight.shape[1]], weight) for weight in weights])
    seconds = best_seconds(lambda: Tensor.realize(*run()), arguments.runs)
    print(
        f"{os.environ['WEFT_CPU_THREADS']} threads: {len(weights)} products, {nbytes / 1e6:.0f} MB,"
        f" {1e3 * seconds:.2f} ms, {nbytes / seconds / 1e9:.1f} GB/s, {1 / seconds:.0f} tokens/s"
    )
    peer = peer_tokens(arguments.model, int(os.environ["WEFT_CPU_THREADS"]))
    print("llama.cpp: not installed" if peer is None else f"llama.cpp: {peer:.0f} tokens/s")


def peer_tokens(path: str, threads: int) -> float | None:
    """Tokens per second of llama.cpp; None where it is not installed."""
    try:
        import xllamacpp
    except ImportError:
        return None
    given = xllamacpp.CommonParams()
    given.model.path, given.n_ctx, given.n_parallel = path, 512, 1
    given.cpuparams.n_threads = given.cpuparams_batch.n_threads = threads
    server = xllamacpp.Server(given)
    asked = {"prompt": PROMPT, "n_predict": 128, "temperature": 0, "ignore_eos": True}
    answers = [server.handle_completions(asked) for _ in range(3)]
    read = [answer if isinstance(answer, dict) else json.loads(answer) for answer in answers]
    return max(answer["timings"]["predicted_per_second"] for answer in read)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--model", help="a GGUF file")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rows", type=int, nargs="+", default=[1, 4])
    parser.add_argument("--formats", nargs="+", choices=list(FORMATS))
    parser.add_argument("--columns", type=int, default=16384)
    parser.add_argument("--length", type=int, default=4096)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--cpu-time", action="store_true", help="count processor time; one thread")
    parser.add_argument("--here", action="store_true", help="in this process, with its threads")
    arguments = parser.parse_args()
    if arguments.cpu_time:
        global clock
        clock, arguments.threads = time.process_time, [1]
    if arguments.here:
        (print_model if arguments.model else print_formats)(arguments)
        return
    for threads in arguments.threads:  # the number of threads belongs to a process
        settings = os.environ | {"WEFT_CPU_THREADS": str(threads)}
        subprocess.run(
            [sys.executable, __file__, *sys.argv[1:], "--here"], env=settings, check=True
        )


if __name__ == "__main__":
    main()
