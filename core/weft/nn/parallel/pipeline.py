"""Pipeline parallelism: one stage of a model per device, on microbatches in the order 1F1B.
Also: pipeline parallel.

After a few forward passes each stage alternates between the forward pass of one microbatch and the
backward pass of an earlier one. A stage therefore keeps the activations of as many microbatches as
there are stages after it, at most, and not those of all.

Every process goes through the same list of passes. It computes those of its own stage, and waits
only where it receives.

Source: Narayanan et al., "PipeDream: Generalized Pipeline Parallelism for DNN Training", SOSP 2019;
Huang et al., "GPipe: Efficient Training of Giant Neural Networks using Pipeline Parallelism",
NeurIPS 2019.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from weft.base.errors import ArgumentError
from weft.device import Mesh
from weft.nn.module import Module
from weft.nn.state import get_state_dict
from weft.tensor import Tensor


class Pass(NamedTuple):
    """One pass of one stage over one microbatch."""

    stage: int
    microbatch: int
    forward: bool


def one_forward_one_backward(stages: int, microbatches: int) -> list[Pass]:
    """The passes of all stages, each after those whose results it needs.

    Each stage has its passes in the order 1F1B; passes of one time step follow each other.

    >>> [f"{'F' if p.forward else 'B'}{p.microbatch}" for p in
    ...  nn.parallel.one_forward_one_backward(2, 3) if p.stage == 0]
    ['F0', 'F1', 'B0', 'F2', 'B1', 'B2']
    """
    waiting = [_passes_of_stage(stage, stages, microbatches) for stage in range(stages)]
    done: set[Pass] = set()
    order: list[Pass] = []
    while any(waiting):
        step = [own[0] for own in waiting if own and _is_ready(own[0], stages, done)]
        for one in step:
            waiting[one.stage].pop(0)
        done.update(step)
        order += step
    return order


def _passes_of_stage(stage: int, stages: int, microbatches: int) -> list[Pass]:
    ahead = min(stages - stage, microbatches)
    order = [Pass(stage, number, True) for number in range(ahead)]
    for number in range(microbatches):
        order.append(Pass(stage, number, False))
        if number + ahead < microbatches:
            order.append(Pass(stage, number + ahead, True))
    return order


def _is_ready(one: Pass, stages: int, done: set[Pass]) -> bool:
    if one.forward:
        return one.stage == 0 or Pass(one.stage - 1, one.microbatch, True) in done
    if one.stage == stages - 1:
        return Pass(one.stage, one.microbatch, True) in done
    return Pass(one.stage + 1, one.microbatch, False) in done


class Pipeline(Module):
    """Stages of a model, one per device.

    :param stages: callables from tensor to tensor. The tensors of each are moved to its device.
    :param mesh: as many devices as stages.
    :raises ArgumentError: if there are not as many devices as stages.
    """

    def __init__(self, stages: Sequence[Any], mesh: Mesh | Sequence[str]) -> None:
        self.stages = list(stages)
        self.devices = tuple(mesh.devices if isinstance(mesh, Mesh) else mesh)
        if len(self.stages) != len(self.devices):
            raise ArgumentError(
                "a pipeline has one device per stage",
                asked=f"{len(self.stages)} stages on {len(self.devices)} devices",
                try_="join stages, or name as many devices",
            )
        for stage, device in zip(self.stages, self.devices):
            for tensor in get_state_dict(stage).values():
                tensor.to_(device)

    def forward(self, x: Tensor) -> Tensor:
        """The result of the last stage, on its device."""
        for stage, device in zip(self.stages, self.devices):
            x = stage(x.to(device))
        return x

    def train_step(
        self,
        x: Tensor,
        target: Tensor,
        loss: Callable[[Tensor, Tensor], Tensor],
        microbatches: int,
    ) -> Tensor:
        """Run all passes of one batch; gradients are added to those of the parameters.

        loss: the mean over a microbatch. Returns the mean over the batch, on the last device.

        :raises ArgumentError: if the batch has no equal parts.
        """
        if x.shape[0] % microbatches:
            raise ArgumentError(
                "a batch is divided into equal microbatches",
                asked=f"{x.shape[0]} rows in {microbatches} microbatches",
            )
        run = _Run(self, x.chunk(microbatches), target.chunk(microbatches), loss)
        for one in one_forward_one_backward(len(self.stages), microbatches):
            run.forward(one) if one.forward else run.backward(one)
        total = run.losses[0]
        for each in run.losses[1:]:
            total = total + each
        return (total / microbatches).realize()


class _Run:
    """The passes of one batch. inputs, outputs: of each stage, by microbatch."""

    def __init__(
        self, pipeline: Pipeline, x: Sequence[Tensor], target: Sequence[Tensor], loss: Any
    ) -> None:
        self.stages, self.devices = pipeline.stages, pipeline.devices
        self.x, self.target, self.loss = x, target, loss
        self.inputs: dict[tuple[int, int], Tensor] = {}
        self.outputs: dict[tuple[int, int], Tensor] = {}
        self.losses: list[Tensor] = []

    def forward(self, one: Pass) -> None:
        """Run a stage on what the stage before computed."""
        stage, number, _ = one
        device = self.devices[stage]
        given = self.x[number] if stage == 0 else self.outputs[stage - 1, number].detach()
        given = given.to(device).contiguous().realize()
        if stage:
            given = given.requires_grad_(True)
        result = self.stages[stage](given)
        if stage == len(self.stages) - 1:
            result = self.loss(result, self.target[number].to(device))
            self.losses.append(result.detach())
        self.inputs[stage, number], self.outputs[stage, number] = given, result
        result.realize()

    def backward(self, one: Pass) -> None:
        """Run a stage backward from the gradient that the stage after computed."""
        stage, number, _ = one
        result = self.outputs.pop((stage, number))
        if stage == len(self.stages) - 1:
            (result / len(self.x)).backward()
        else:
            after = self.inputs.pop((stage + 1, number))
            assert after.grad is not None
            result.backward(after.grad.to(self.devices[stage]))
        grads = [each.grad for each in get_state_dict(self.stages[stage]).values()]
        if stage:
            grads.append(self.inputs[stage, number].grad)
        found = [grad for grad in grads if grad is not None]
        if found:
            Tensor.realize(*found)
