"""Random modules of PyTorch: 1 to 8 steps of operators and layers, drawn from a seed.

    program = draw_program(seed)     # a module, its inputs

Each step is evaluated by PyTorch when it is drawn, so that the next one knows the shapes. Steps
with jumps (sort, integer parts) take inputs, whose values are certain.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import program_steps
import torch
from torch import nn

MOST_ELEMENTS = 4_000
LARGEST = 1e3


@dataclass
class Step:
    """A function of earlier values; `text` says what it does."""

    text: str
    function: Callable[..., Any]
    places: Sequence[int]


@dataclass
class Drawing:
    """A program under construction.

    :ivar values: tensors so far: inputs first.
    """

    random: random.Random
    dtype: torch.dtype
    values: list[torch.Tensor] = field(default_factory=list)
    inputs: list[torch.Tensor] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    modules: list[nn.Module] = field(default_factory=list)

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def choice(self, options: Sequence[Any]) -> Any:
        return self.random.choice(list(options))

    def between(self, low: int, high: int) -> int:
        return self.random.randint(low, high)

    def tensor(self, shape: Sequence[int]) -> torch.Tensor:
        generator = torch.Generator().manual_seed(self.random.getrandbits(32))
        return torch.randn(tuple(shape), generator=generator, dtype=self.dtype)

    def new(self, shape: Sequence[int]) -> int:
        """Add an input. It is given before all steps run."""
        return self._given(self.tensor(shape))

    def integers(self, shape: Sequence[int], high: int, low: int = 0) -> int:
        generator = torch.Generator().manual_seed(self.random.getrandbits(32))
        return self._given(torch.randint(low, high, tuple(shape), generator=generator))

    def booleans(self, shape: Sequence[int]) -> int:
        generator = torch.Generator().manual_seed(self.random.getrandbits(32))
        return self._given(torch.rand(tuple(shape), generator=generator) < 0.5)

    def _given(self, tensor: torch.Tensor) -> int:
        self.inputs.append(tensor)
        self.values.append(tensor)
        return len(self.values) - 1

    def pick(self, low: int = 0, high: int = 4, *, is_input: bool = False) -> int:
        """Return the place of a float value with so many axes: an earlier one or a new input."""
        found = [
            place
            for place, each in enumerate(self.values)
            if each.is_floating_point() and low <= each.ndim <= high and each.numel()
            and each.dtype == self.dtype
            and (not is_input or any(each is given for given in self.inputs))
        ]  # fmt: skip
        if found and self.chance(0.85):
            return self.random.choice(found[-3:])
        return self.new([self.between(1, 5) for _ in range(self.between(low, high))])

    def like(self, shape: Sequence[int]) -> int:
        """Return the place of a value with this shape."""
        found = [
            place
            for place, each in enumerate(self.values)
            if tuple(each.shape) == tuple(shape) and each.dtype == self.dtype
        ]
        return self.random.choice(found) if found and self.chance(0.5) else self.new(shape)

    def step(self, text: str, function: Callable[..., Any], *places: int) -> list[int]:
        """Add a step if PyTorch evaluates it to moderate numbers; return its results' places."""
        with torch.no_grad():
            try:
                result = function(*(self.values[place].clone() for place in places))
            except (RuntimeError, ValueError, IndexError, NotImplementedError):
                return []
        results = list(result) if isinstance(result, (tuple, list)) else [result]
        if not results or not all(_is_moderate(each) for each in results):
            return []
        self.steps.append(Step(text, function, places))
        first = len(self.values)
        self.values += results
        return list(range(first, len(self.values)))

    def layer(self, module: nn.Module, *places: int) -> list[int]:
        """Add a step that calls a layer."""
        module = module.to(self.dtype)
        made = self.step(repr(module), _first_of(module), *places)
        if made:
            self.modules.append(module)
        return made


def _first_of(module: nn.Module) -> Callable[..., Any]:
    def call(*args: Any) -> Any:
        result = module(*args)
        return result[0] if isinstance(result, tuple) and isinstance(result[0], torch.Tensor) else (
            result
        )  # fmt: skip

    return call


def _is_moderate(value: Any) -> bool:
    if not isinstance(value, torch.Tensor) or value.numel() > MOST_ELEMENTS or value.ndim > 5:
        return False
    if not value.is_floating_point() or not value.numel():
        return not value.is_complex()
    return bool(value.isfinite().all()) and float(value.abs().max()) < LARGEST


class RandomProgram(nn.Module):
    """The steps of a drawing as a module. Its outputs are the values that no step takes."""

    def __init__(self, drawing: Drawing) -> None:
        super().__init__()
        self.layers = nn.ModuleList(drawing.modules)
        self.steps = _ordered(drawing)
        used = {place for _, places, _ in self.steps for place in places}
        made = [place for *_, places in self.steps for place in places]
        self.outputs = [place for place in made if place not in used]

    def forward(self, *inputs: torch.Tensor) -> tuple[torch.Tensor, ...]:
        values: dict[Any, torch.Tensor] = dict(enumerate(inputs))
        for function, places, results in self.steps:
            result = function(*(values[place] for place in places))
            each = list(result) if isinstance(result, (tuple, list)) else [result]
            for place, one in zip(results, each):
                values[place] = one
        return tuple(values[place] for place in self.outputs)


def _ordered(drawing: Drawing) -> list[tuple[Callable[..., Any], list[int], list[int]]]:
    """Number inputs first, results after them."""
    inputs = {id(each): number for number, each in enumerate(drawing.inputs)}
    numbers, count = {}, len(inputs)
    for place, value in enumerate(drawing.values):
        if id(value) in inputs:
            numbers[place] = inputs[id(value)]
        else:
            numbers[place], count = count, count + 1
    made = iter([place for place, each in enumerate(drawing.values) if id(each) not in inputs])
    steps = []
    for step in drawing.steps:
        with torch.no_grad():
            result = step.function(*(drawing.values[place].clone() for place in step.places))
        several = len(result) if isinstance(result, (tuple, list)) else 1
        results = [numbers[next(made)] for _ in range(several)]
        steps.append((step.function, [numbers[place] for place in step.places], results))
    return steps


def draw_program(seed: int) -> tuple[RandomProgram, list[torch.Tensor], list[str]]:
    """Draw a module, its inputs, and the text of each step."""
    torch.manual_seed(seed)
    chosen = random.Random(seed)
    drawing = Drawing(chosen, torch.float64 if seed % 2 else torch.float32)
    count = chosen.randint(1, 8)
    for _ in range(5 * count):
        if len(drawing.steps) >= count:
            break
        program_steps.draw_step(drawing)
    return RandomProgram(drawing), drawing.inputs, [step.text for step in drawing.steps]
