"""Models of PyTorch: eager, compiled by inductor, and compiled by weft, beside each other.

    python benchmarks/torch_models.py [--models bert resnet18] [--train] [--calls 30] [--threads 1]

Each model runs in one process by all three, one call of each in turn, so that their ratios are of
one run. Cold is the time of the first call. Warm is the median of later calls. Ratios are weft's
time to that of the other; below 1 weft is faster. `pip install "weft[torch]" transformers` first;
`torchvision` for resnet18.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

RUNNERS = ("eager", "inductor", "weft")


def _tokens(count: int) -> torch.Tensor:
    return torch.randint(3, 1000, (1, count))


def mlp() -> tuple[Any, dict[str, Any]]:
    """A perceptron with two hidden layers."""
    nn = torch.nn
    model = nn.Sequential(
        nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10)
    )
    return model, {"input": torch.randn(64, 256)}


def bert() -> tuple[Any, dict[str, Any]]:
    """BERT with four layers of 256 features, 128 tokens."""
    from transformers import BertConfig, BertModel

    config = BertConfig(
        vocab_size=1000, hidden_size=256, num_hidden_layers=4, num_attention_heads=4,
        intermediate_size=1024,
    )  # fmt: skip
    return BertModel(config), {"input_ids": _tokens(128)}


def gpt2() -> tuple[Any, dict[str, Any]]:
    """GPT-2 with four layers of 256 features, 128 tokens."""
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(vocab_size=1000, n_positions=256, n_embd=256, n_layer=4, n_head=4)
    return GPT2LMHeadModel(config), {"input_ids": _tokens(128), "use_cache": False}


def llama() -> tuple[Any, dict[str, Any]]:
    """Llama with four layers of 256 features, 128 tokens."""
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=1000, hidden_size=256, intermediate_size=688, num_hidden_layers=4,
        num_attention_heads=4, num_key_value_heads=2,
    )  # fmt: skip
    return LlamaForCausalLM(config), {"input_ids": _tokens(128), "use_cache": False}


def resnet18() -> tuple[Any, dict[str, Any]]:
    """ResNet-18, one image of 128 x 128."""
    import torchvision

    return torchvision.models.resnet18(weights=None), {"x": torch.randn(1, 3, 128, 128)}


MODELS: dict[str, Callable[[], tuple[Any, dict[str, Any]]]] = {
    "mlp": mlp, "bert": bert, "gpt2": gpt2, "llama": llama, "resnet18": resnet18,
}  # fmt: skip


def _first_tensor(output: Any) -> torch.Tensor:
    if isinstance(output, torch.Tensor):
        return output
    values = output.values() if isinstance(output, dict) else output
    return next(each for each in values if isinstance(each, torch.Tensor))


def measure(name: str, train: bool, calls: int) -> dict[str, Any]:
    """Return cold and warm seconds of each runner, and the largest difference to eager."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "pytorch"))
    from torchvision_import import define_operators_of_torchvision

    define_operators_of_torchvision()  # transformers imports torchvision, too
    torch.manual_seed(0)
    model, inputs = MODELS[name]()
    model.eval()
    positional = [inputs.pop("input")] if "input" in inputs else []

    def step(run: Any) -> torch.Tensor:
        if not train:
            with torch.no_grad():
                return _first_tensor(run(*positional, **inputs))
        model.zero_grad()
        output = _first_tensor(run(*positional, **inputs))
        output.square().mean().backward()
        return output.detach()

    cold, runs, outputs = {}, {}, {}
    for runner in RUNNERS:
        torch._dynamo.reset()
        runs[runner] = model if runner == "eager" else torch.compile(model, backend=runner)
        start = time.perf_counter()
        outputs[runner] = step(runs[runner])
        cold[runner] = time.perf_counter() - start
    seconds: dict[str, list[float]] = {runner: [] for runner in RUNNERS}
    for call in range(calls + 3):
        for runner in RUNNERS:
            start = time.perf_counter()
            step(runs[runner])
            if call >= 3:  # the first calls are traced
                seconds[runner].append(time.perf_counter() - start)
    expected = outputs["eager"]
    return {
        "cold": cold,
        "warm": {runner: statistics.median(each) for runner, each in seconds.items()},
        "difference": float(
            (outputs["weft"] - expected).abs().max() / (expected.abs().max() + 1e-12)
        ),
    }


def main() -> None:
    """Measure every model in a process of its own, and print one table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", nargs="+", default=list(MODELS), choices=list(MODELS))
    parser.add_argument("--train", action="store_true", help="forward and backward")
    parser.add_argument("--calls", type=int, default=30)
    parser.add_argument("--threads", type=int, default=1, help="of all three")
    parser.add_argument("--one", choices=list(MODELS), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        print(json.dumps(measure(args.one, args.train, args.calls)))
        return
    print("| model | eager ms | inductor ms | weft ms | weft / eager | weft / inductor "
          "| cold inductor s | cold weft s | difference |\n" + "|---" * 9 + "|")  # fmt: skip
    ratios = []
    for name in args.models:
        command = [sys.executable, __file__, "--one", name, "--calls", str(args.calls)]
        command += ["--train"] * args.train
        threads = dict.fromkeys(("OMP_NUM_THREADS", "WEFT_CPU_THREADS"), str(args.threads))
        environment = {**os.environ, **threads}
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        if done.returncode:
            print(f"| {name} | failed: {done.stderr.strip().splitlines()[-1]} |" + " |" * 7)
            continue
        found = json.loads(done.stdout.splitlines()[-1])
        warm, cold = found["warm"], found["cold"]
        ratio = [warm["weft"] / warm[each] for each in ("eager", "inductor")]
        ratios.append(ratio)
        times = " | ".join(f"{warm[runner] * 1e3:.2f}" for runner in RUNNERS)
        print(
            f"| {name} | {times} | {ratio[0]:.2f} | {ratio[1]:.2f} | {cold['inductor']:.1f} | "
            f"{cold['weft']:.1f} | {found['difference']:.1e} |",
            flush=True,
        )
    if ratios:
        means = [math.exp(statistics.mean(map(math.log, column))) for column in zip(*ratios)]
        print(f"| geometric mean | | | | {means[0]:.2f} | {means[1]:.2f} | | | |")


if __name__ == "__main__":
    main()
