"""Compare random modules with eager PyTorch, by torch.compile and by torch.export.

    python tests/pytorch/fuzz_programs.py [COUNT] [--first N] [--forward]

Compared are outputs and the gradients of inputs and parameters. Prints each program that differs
or that weft refuses, with its seed and its steps, and the counts.
"""

from __future__ import annotations

import argparse
import sys
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import torch
import torch._dynamo
import torch._dynamo.exc
from random_programs import RandomProgram, draw_program

import weft.torch
from weft.torch.errors import UnsupportedOperators

FORWARD, GRADIENTS = 1e-4, 1e-3


def loss_of(outputs: Sequence[torch.Tensor]) -> torch.Tensor | None:
    """Return a number that depends on each float of the outputs."""
    terms = [
        (each * torch.linspace(0.5, 1.5, each.numel(), dtype=each.dtype).reshape(each.shape)).sum()
        for each in outputs
        if each.is_floating_point() and each.requires_grad
    ]
    return sum(terms[1:], terms[0]) if terms else None


def difference(found: torch.Tensor, expected: torch.Tensor, tolerance: float) -> str | None:
    """Say how a tensor differs; the tolerance is relative to the largest element."""
    if found.shape != expected.shape or found.dtype != expected.dtype:
        return f"{found.dtype} {tuple(found.shape)}, and {expected.dtype} {tuple(expected.shape)}"
    if not expected.numel():
        return None
    one, other = found.double(), expected.double()
    limit = tolerance * max(float(other.abs().max()), 1e-2) if found.is_floating_point() else 0.0
    apart = (one - other).abs()
    if bool((apart <= limit).all()):
        return None
    return f"largest difference {float(apart.max())}, of {float(other.abs().max())}"


def run(
    program: RandomProgram, function: Callable[..., Sequence[torch.Tensor]],
    inputs: Sequence[torch.Tensor], has_gradients: bool,
) -> tuple[list[torch.Tensor], list[torch.Tensor | None]]:  # fmt: skip
    """Return outputs, and gradients of inputs and parameters."""
    program.zero_grad()
    state = {name: each.clone() for name, each in program.state_dict().items()}
    given = [
        each.clone().requires_grad_(has_gradients and each.is_floating_point()) for each in inputs
    ]
    with torch.set_grad_enabled(has_gradients):
        outputs = list(function(*given))
    loss = loss_of(outputs) if has_gradients else None
    gradients: list[torch.Tensor | None] = []
    if loss is not None:
        loss.backward()
        leaves = [*(each for each in given if each.requires_grad), *program.parameters()]
        gradients = [None if each.grad is None else each.grad.clone() for each in leaves]
    program.load_state_dict(state)
    return [each.detach() for each in outputs], gradients


def check_program(seed: int, has_gradients: bool = True) -> None:
    """Compare one program. What PyTorch cannot capture is no finding.

    :raises AssertionError: if outputs or gradients differ.
    """
    program, inputs, steps = draw_program(seed)
    if not steps:
        return
    text = "\n  ".join(steps)
    expected, slopes = run(program, program, inputs, has_gradients)
    torch._dynamo.reset()
    compiled = torch.compile(program, backend="weft")
    try:
        found, gradients = run(program, compiled, inputs, has_gradients)
    except torch._dynamo.exc.TorchRuntimeError:
        return
    for place, (one, other) in enumerate(zip(found, expected, strict=True)):
        told = difference(one, other, FORWARD)
        assert told is None, f"output {place}: {told}\n  {text}"
    largest = max([float(each.abs().max()) for each in slopes if each is not None and each.numel()]
                  or [0.0])  # fmt: skip
    for place, (one, other) in enumerate(zip(gradients, slopes, strict=True)):
        assert (one is None) == (other is None), f"gradient {place}: {one}, {other}\n  {text}"
        if one is not None and other is not None and float(other.abs().max()) > 1e-6 * largest:
            told = difference(one, other, GRADIENTS)
            assert told is None, f"gradient {place}: {told}\n  {text}"
    check_exported(program, inputs, text)


def check_exported(program: RandomProgram, inputs: Sequence[torch.Tensor], text: str) -> None:
    """Compare the exported program in evaluation mode with eager PyTorch."""
    program.eval()
    with torch.no_grad():
        expected = program(*(each.clone() for each in inputs))
        try:
            exported = torch.export.export(program, tuple(each.clone() for each in inputs))
        except Exception:  # noqa: BLE001 (what PyTorch cannot export is no finding)
            return
    model = weft.torch.from_exported(exported)
    found = model(*inputs)
    found = found if isinstance(found, (tuple, list)) else [found]
    for place, (one, other) in enumerate(zip(found, expected, strict=True)):
        told = difference(torch.from_numpy(one.numpy().copy()), other, FORWARD)
        assert told is None, f"exported output {place}: {told}\n  {text}"


def main() -> int:
    """Check a range of seeds; print what differs and the counts."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("count", nargs="?", type=int, default=100)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--forward", action="store_true", help="compare outputs alone")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    counts: Counter[str] = Counter()
    for seed in range(options.first, options.first + options.count):
        try:
            check_program(seed, not options.forward)
            counts["equal"] += 1
        except UnsupportedOperators as error:
            counts["refused"] += 1
            print(f"{seed}: {str(error).splitlines()[0]}", flush=True)
        except AssertionError as error:
            counts["DIFFER"] += 1
            print(f"{seed}: {error}", flush=True)
        except Exception:  # noqa: BLE001 (each other error is a finding)
            counts["ERRORS"] += 1
            print(f"{seed}: {traceback.format_exc()}", flush=True)
    for name, number in counts.most_common():
        print(f"{number:7} {name}")
    return 1 if counts["DIFFER"] or counts["ERRORS"] else 0


if __name__ == "__main__":
    sys.exit(main())
