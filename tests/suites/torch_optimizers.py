"""Runs weft's optimisers with the options of PyTorch's optimiser tests (`optim_db`), and compares.

    python tests/suites/torch_optimizers.py [--name Adam] [--dtypes float64] [--steps 5]

It needs the packages torch and expecttest. Both optimisers take the same steps along the gradients
of the same loss; then the values of the parameters and the state are compared, each goes on from
the state of the other, and the values are compared again. It prints the options that differ, and
at the end how many agree.
"""

from __future__ import annotations

import argparse
import collections
import warnings
from typing import Any

import numpy as np
import torch
from torch.testing._internal.common_optimizers import optim_db
from torch_operators import DTYPES, ours

from weft import Tensor, nn, optim

MATRICES = {"Muon": 5e-2}
"""Optimisers of parameters of two axes; PyTorch computes their steps in bfloat16."""
SCRATCH = {"al"}
"""What PyTorch saves of LBFGS, and makes anew where it is missing."""
TOLERANCES = {torch.float64: 1e-6, torch.float32: 1e-4, torch.bfloat16: 0.1}
SHAPES = ((3, 4), (5,), (2, 3, 2))


class Side:
    """A library: its parameters, its optimiser, and how it takes a step."""

    def __init__(self, make: Any, kind: Any, values: list[np.ndarray], options: Any) -> None:
        self.make, self.kind, self.options = make, kind, options
        self.params = [make(value) for value in values]
        self.targets = [make(np.sin(value * 3.0)) for value in values]
        for each in self.params:
            each.requires_grad_(True)
        self.optimizer = kind(self.params, **options)

    def loss(self) -> Any:
        """A loss whose gradient depends on the values, and is 0 nowhere nearby."""
        self.optimizer.zero_grad()
        parts = [
            ((p - t) * (p - t)).sum() + (p * p * p * p).sum() * 0.1
            for p, t in zip(self.params, self.targets, strict=True)
        ]
        total = sum(parts[1:], parts[0])
        total.backward()
        return total

    def advance(self, steps: int) -> None:
        """Take steps."""
        for _ in range(steps):
            if "max_iter" in self.optimizer.param_groups[0]:
                self.optimizer.step(self.loss)
            else:
                self.loss()
                self.optimizer.step()

    def values(self) -> list[np.ndarray]:
        """The parameters."""
        wide = [
            each.detach().float() if _is_narrow(each) else each.detach() for each in self.params
        ]
        return [each.numpy().copy() for each in wide]

    def reload(self, state: Any) -> None:
        """A new optimiser with a saved state."""
        self.optimizer = self.kind(self.params, **self.options)
        self.optimizer.load_state_dict(state)


def _is_narrow(x: Any) -> bool:
    return str(x.dtype) in ("torch.bfloat16", "dtypes.bfloat16")


def _theirs(x: Any, kind: torch.dtype) -> Any:
    """A saved value of weft as PyTorch's."""
    if isinstance(x, Tensor):
        return torch.tensor(x.numpy()) if not _is_narrow(x) else torch.tensor(x.float().numpy())
    if isinstance(x, dict):
        return {key: _theirs(value, kind) for key, value in x.items()}
    return [_theirs(value, kind) for value in x] if isinstance(x, list) else x


def difference(name: str, options: dict[str, Any], kind: torch.dtype, steps: int) -> str | None:
    """How weft's optimiser differs from PyTorch's for these options; None where it agrees."""
    chance = np.random.default_rng(0)
    shapes = SHAPES[:1] if name in MATRICES else SHAPES
    values = [chance.standard_normal(shape) for shape in shapes]
    own = {key: ours(value) for key, value in options.items()}
    theirs = Side(
        lambda x: torch.tensor(x, dtype=kind), getattr(torch.optim, name), values, options
    )
    mine = Side(
        lambda x: nn.Parameter(Tensor(x, dtype=DTYPES[kind])), getattr(optim, name), values, own
    )
    for stage in ("steps", "steps from the other's state"):
        mine.advance(steps)
        theirs.advance(steps)
        for found, expected in zip(mine.values(), theirs.values(), strict=True):
            error = float(np.abs(found - expected).max()) / max(1.0, np.abs(expected).max())
            if not error <= max(TOLERANCES[kind], MATRICES.get(name, 0.0)):
                return f"{stage}: error {error}"
        states = [each.optimizer.state_dict() for each in (mine, theirs)]
        for number, expected_state in states[1]["state"].items():
            lacks = expected_state.keys() - states[0]["state"][number].keys() - SCRATCH
            if lacks:
                return f"state: {sorted(lacks)} is missing"
        theirs.reload(_theirs(states[0], kind))
        mine.reload(states[1])
    return None


def main() -> None:
    """Compare the optimisers that the arguments choose."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--name", default="", help="optimisers whose name contains this")
    parser.add_argument("--dtypes", nargs="+", default="float64 float32 bfloat16".split())
    parser.add_argument("--steps", type=int, default=5, help="before and after the states change")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")
    counts: collections.Counter[str] = collections.Counter()
    missing = []
    for info in optim_db:
        name = info.optim_cls.__name__
        if arguments.name not in name:
            continue
        if not hasattr(optim, name):
            missing.append(name)
            continue
        for kind in arguments.dtypes:
            for sample in info.optim_inputs_func(device="cpu"):
                try:
                    text = difference(name, sample.kwargs, getattr(torch, kind), arguments.steps)
                except Exception as error:
                    text = f"{type(error).__name__}: {error}".replace("\n", " ")
                counts["agree" if text is None else "differ"] += 1
                if text is not None:
                    print(f"{name} {kind} {sample.kwargs}: {text:.300}", flush=True)
    print("without an optimiser:", *missing)
    print(f"{counts['agree']} samples agree, {counts['differ']} differ")


if __name__ == "__main__":
    main()
