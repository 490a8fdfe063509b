"""Loss scaling for training with float16 (Micikevicius and others, 2018, section 3.2), with the
scale found by trial: it grows while gradients are finite, and shrinks when they are not.

Scale, count of steps and the flag "a gradient was not finite" are tensors, so that all of it can be
part of a captured function.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import FunctionType, ModuleType
from typing import Any

from weft.base.arguments import kind_of, real, whole
from weft.base.dtype import dtypes
from weft.base.errors import ArgumentError, GradientError
from weft.engine.capture import recording
from weft.tensor import Tensor


class GradScaler:
    """Scale a loss so that its float16 gradients do not vanish, and skip steps that overflow.

    Gradients are taken of `scaler.scale(loss)`, `scaler.step(optimizer)` divides them by the scale
    and makes the step if all are finite, `scaler.update()` finds the next scale. bfloat16 has the
    range of float32 and needs none of it: `enabled=False` makes all of this pass through.

    :param device: where scale and flags are kept; None: the default device.
    :param init_scale: the first scale.
    :param growth_factor: what the scale is multiplied by after `growth_interval` good steps.
    :param backoff_factor: what it is multiplied by where a gradient was not finite.
    :raises ArgumentError: for a growth that is not above 1, a backoff that is not between 0 and 1.

    >>> w = Tensor([1.0, 2.0], requires_grad=True)
    >>> optimizer = nn.optim.SGD([w], lr=0.5)
    >>> scaler = weft.amp.GradScaler(init_scale=1024.0)
    >>> with Tensor.train():
    ...     _ = scaler.scale((w * w).sum()).backward()
    ...     scaler.step(optimizer)
    ...     scaler.update()
    >>> w.tolist(), scaler.get_scale()
    ([0.0, 0.0], 1024.0)
    """

    def __init__(
        self,
        device: str | None = None,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        self.enabled = bool(enabled)
        self.growth_factor = float(real(growth_factor, "growth_factor"))
        self.backoff_factor = float(real(backoff_factor, "backoff_factor"))
        self.growth_interval = whole(growth_interval, "growth_interval", least=1)
        if not self.growth_factor > 1 or not 0 < self.backoff_factor < 1:
            raise ArgumentError(
                "a scale grows by more than 1 and shrinks by less than 1",
                asked=f"GradScaler(growth_factor={growth_factor}, backoff_factor={backoff_factor})",
                because="it would not find the largest scale that gradients bear",
                try_="growth_factor=2.0, backoff_factor=0.5",
            )
        self._scale = _number(real(init_scale, "init_scale"), device)
        self._good_steps = _number(0, device)
        self._overflows: dict[int, Tensor] = {}  # by optimiser: 1 where a gradient is not finite
        self._stepped: set[int] = set()

    def scale(self, outputs: Any) -> Any:
        """A loss, or a list, tuple or dict of them, times the scale.

        >>> weft.amp.GradScaler(init_scale=8.0).scale(Tensor([0.5])).tolist()
        [4.0]
        """
        if not self.enabled:
            return outputs
        if isinstance(outputs, Tensor):
            return outputs * _beside(self._scale, outputs)
        if isinstance(outputs, Mapping):
            return {name: self.scale(each) for name, each in outputs.items()}
        if isinstance(outputs, list | tuple):
            scaled = [self.scale(each) for each in outputs]
            return scaled if isinstance(outputs, list) else tuple(scaled)
        raise ArgumentError(
            "what is scaled is a tensor, or a list, tuple or dict of them",
            asked=f"scale({kind_of(outputs)})",
            try_="scaler.scale(loss)",
        )

    def unscale_(self, optimizer: Any) -> None:
        """Divide the gradients of this optimiser's parameters by the scale, for clipping say;
        `step` does so itself where it was not done.

        :raises GradientError: if it was done since the last `update`, or there is no gradient.
        """
        if not self.enabled:
            return
        if id(optimizer) in self._overflows:
            raise GradientError(
                "these gradients have been unscaled",
                asked=f"unscale_({type(optimizer).__name__})",
                because="unscale_ or step was called for this optimiser since the last update",
                try_="scaler.update() after each step",
            )
        parameters = [each for each in _parameters(optimizer) if each.grad is not None]
        if not parameters:
            raise GradientError(
                "no parameter has a gradient",
                asked=f"unscale_({type(optimizer).__name__})",
                try_="scaler.scale(loss).backward() first",
            )
        overflow = self._scale.zeros_like()
        for each in parameters:
            given: Any = each.grad
            gradient = given.detach() * _beside(self._scale.reciprocal(), given)
            bad = gradient.isfinite().logical_not().any().cast(dtypes.float32).reshape(1)
            overflow = overflow.maximum(bad.to(overflow.device))
            each.grad = gradient.cast(given.dtype)
        self._overflows[id(optimizer)] = overflow

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """`optimizer.step(...)` if all gradients are finite; else nothing. Gives what it gives.

        In a captured function the step is recorded, and each replay keeps the old values where a
        gradient is not finite.

        :raises GradientError: if it was called since the last `update`.
        """
        if not self.enabled:
            return optimizer.step(*args, **kwargs)
        if id(optimizer) in self._stepped:
            raise GradientError(
                "this optimiser has made its step",
                asked=f"step({type(optimizer).__name__})",
                because="step was called for it since the last update",
                try_="scaler.update() after each step",
            )
        if id(optimizer) not in self._overflows:
            self.unscale_(optimizer)
        self._stepped.add(id(optimizer))
        overflow = self._overflows[id(optimizer)]
        if recording() is not None:
            return _selected_step(optimizer, overflow)
        gradients = [each.grad for each in _parameters(optimizer) if each.grad is not None]
        Tensor.realize(overflow, *gradients)
        return None if overflow.item() else optimizer.step(*args, **kwargs)

    def update(self, new_scale: float | Tensor | None = None) -> None:
        """Find the next scale, at the end of each step; or set it.

        :raises GradientError: if no gradients were looked at since the last `update`.
        """
        if not self.enabled:
            return
        if new_scale is not None:
            value = new_scale.item() if isinstance(new_scale, Tensor) else new_scale
            self._scale.assign(self._scale.full_like(float(real(value, "new_scale")))).realize()
        elif not self._overflows:
            raise GradientError(
                "nothing is known of the gradients",
                asked="update()",
                because="neither step nor unscale_ was called since the last update",
                try_="scaler.step(optimizer) first",
            )
        else:
            self._adapt()
        self._overflows.clear()
        self._stepped.clear()

    def _adapt(self) -> None:
        first, *others = self._overflows.values()
        for each in others:
            first = first.maximum(each)
        overflow = first.to(self._scale.device) > 0
        count = self._good_steps + 1
        is_due = count == self.growth_interval
        grown = self._scale * self.growth_factor
        grown = (is_due & grown.isfinite()).where(grown, self._scale)
        scale = overflow.where(self._scale * self.backoff_factor, grown)
        count = (overflow | is_due).where(0, count)
        self._scale.assign(scale)
        self._good_steps.assign(count)
        Tensor.realize(self._scale, self._good_steps)

    def get_scale(self) -> float:
        """The present scale; 1 where scaling is not enabled."""
        return float(self._scale.item()) if self.enabled else 1.0

    def get_growth_factor(self) -> float:
        """What the scale is multiplied by after enough good steps."""
        return self.growth_factor

    def get_backoff_factor(self) -> float:
        """What the scale is multiplied by where a gradient was not finite."""
        return self.backoff_factor

    def get_growth_interval(self) -> int:
        """How many good steps in a row make the scale grow."""
        return self.growth_interval

    def is_enabled(self) -> bool:
        """Whether losses are scaled at all."""
        return self.enabled

    def state_dict(self) -> dict[str, Any]:
        """Scale, factors and count as plain numbers, under PyTorch's names.

        >>> weft.amp.GradScaler(init_scale=8.0).state_dict()["scale"]
        8.0
        """
        if not self.enabled:
            return {}
        return {
            "scale": self.get_scale(),
            "growth_factor": self.growth_factor,
            "backoff_factor": self.backoff_factor,
            "growth_interval": self.growth_interval,
            "_growth_tracker": int(self._good_steps.item()),
        }

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Restore a saved state.

        :raises ArgumentError: if it is empty: it was saved from a scaler that was not enabled.
        """
        if not self.enabled:
            return
        if not state_dict:
            raise ArgumentError(
                "this state says nothing",
                asked="load_state_dict({})",
                because="it is that of a scaler that was not enabled",
                try_="GradScaler(enabled=False)",
            )
        self.growth_factor = float(state_dict["growth_factor"])
        self.backoff_factor = float(state_dict["backoff_factor"])
        self.growth_interval = int(state_dict["growth_interval"])
        self._scale.assign(self._scale.full_like(float(state_dict["scale"])))
        tracker = float(state_dict["_growth_tracker"])
        self._good_steps.assign(self._good_steps.full_like(tracker))
        Tensor.realize(self._scale, self._good_steps)


def _number(value: float, device: str | None) -> Tensor:
    made = Tensor.full((1,), value, dtype=dtypes.float32, device=device, requires_grad=False)
    return made.contiguous().realize()


def _beside(number: Tensor, value: Tensor) -> Tensor:
    """A number of one element where `value` is, as a scalar."""
    there = number if number.device == value.device else number.to(value.device)
    return there.reshape(())


def _parameters(optimizer: Any) -> list[Tensor]:
    """What an optimiser trains: `params`, or the parameters of its `param_groups`."""
    found = getattr(optimizer, "params", None)
    if found is None:
        found = [each for group in optimizer.param_groups for each in group["params"]]
    return list(found)


def _selected_step(optimizer: Any, overflow: Tensor) -> None:
    """A step whose values are kept as they were where there was an overflow, without a branch."""
    held = list(_tensors_in(optimizer))
    # the values as they are now: no views, which would follow the step
    before = [each._from_node(each.detach()._uop, False) for each in held]
    moved = {id(each) for each in optimizer.schedule_step()}
    changed = []
    for each, old in zip(held, before):
        if id(each) in moved:
            is_bad = _beside(overflow, each) > 0
            each.assign(is_bad.where(old, each.detach()))
            changed.append(each)
    Tensor.realize(*changed)


def _tensors_in(root: Any) -> Iterator[Tensor]:
    """All tensors that attributes, lists, tuples and dicts below `root` hold, each once."""
    seen: set[int] = set()
    stack = [root]
    while stack:
        value = stack.pop()
        if id(value) in seen or isinstance(value, type | ModuleType | FunctionType):
            continue
        seen.add(id(value))
        if isinstance(value, Tensor):
            yield value
        elif type(value) is dict:  # another mapping may compute what it gives
            stack.extend(value.values())
        elif isinstance(value, list | tuple):
            stack.extend(value)
        else:
            stack.extend(getattr(value, "__dict__", {}).values())
