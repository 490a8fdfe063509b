"""L-BFGS: a quasi-Newton method that keeps some differences of gradients."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from weft.base.arguments import choice, real, whole
from weft.base.errors import ArgumentError
from weft.nn.optim.base import Optimizer
from weft.nn.optim.line_search import Point, strong_wolfe
from weft.nn.optim.param_groups import Params
from weft.nn.optim.state_dicts import tensor_from
from weft.tensor import Tensor

_LEAST_CURVATURE = 1e-10


class LBFGS(Optimizer):
    """L-BFGS (Liu and Nocedal, 1989): steps along -H gradient, H being the inverse Hessian that the
    last `history_size` changes of value and gradient imply.

    `step(closure)` takes up to max_iter such steps; the closure sets gradients to zero, computes
    the loss, calls backward and returns the loss. It is called up to max_eval times, by default
    max_iter * 5 // 4. A call ends where no element of the gradient is above tolerance_grad, or loss
    and values change by less than tolerance_change. line_search_fn: None takes steps of lr, the
    first one divided by the sum of the absolute gradient where that is above 1; "strong_wolfe"
    searches along each direction.

    Values are read after each evaluation, so a step cannot be captured by `weft.jit`; the closure
    can. All parameters are in one group.

    >>> w = Tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = nn.optim.LBFGS([w], line_search_fn="strong_wolfe")
    >>> def closure():
    ...     optimizer.zero_grad()
    ...     loss = ((w - 3.0) * (w - 3.0)).sum()
    ...     return loss.backward()
    >>> with Tensor.train():
    ...     _ = optimizer.step(closure)
    >>> w.tolist()
    [3.0, 3.0]
    """

    def __init__(
        self,
        params: Params,
        lr: float = 1.0,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        max_iter = whole(max_iter, "max_iter", least=1)
        if line_search_fn is not None:
            choice(line_search_fn, "line_search_fn", ("strong_wolfe",))
        super().__init__(
            params, lr, max_iter=max_iter,
            max_eval=max_iter * 5 // 4 if max_eval is None else whole(max_eval, "max_eval"),
            tolerance_grad=real(tolerance_grad, "tolerance_grad"),
            tolerance_change=real(tolerance_change, "tolerance_change"),
            history_size=whole(history_size, "history_size", least=1),
            line_search_fn=line_search_fn,
        )  # fmt: skip
        if len(self.param_groups) > 1:
            raise _several_groups(len(self.param_groups))
        self._forget()

    def _forget(self) -> None:
        """The state of a new optimiser."""
        self.iterations = self.evaluations = 0
        self.gradient_changes: list[Tensor] = []
        self.value_changes: list[Tensor] = []
        self.inverse_curvatures: list[Tensor] = []
        self.scale: Tensor | None = None  # H of no differences
        self.direction: Tensor | None = None
        self.previous: Tensor | None = None  # the gradient before
        self.length, self.previous_loss = 0.0, 0.0

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """:raises ArgumentError: since there is one group."""
        raise _several_groups(2)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Minimise with the closure; gives its first result.

        :raises ArgumentError: without a closure.
        """
        if closure is None:
            raise ArgumentError(
                "L-BFGS computes the loss several times in one step",
                asked="LBFGS.step()",
                try_="optimizer.step(closure), a function that calls zero_grad and backward and "
                "returns the loss",
            )
        options = self.param_groups[0]
        first = closure()
        point = self._point(first)
        self.evaluations += 1
        used, taken = 1, 0
        if float(point.gradient.abs().max().item()) <= options.tolerance_grad:
            return first
        while taken < options.max_iter:
            taken += 1
            before = point
            direction = self._turned(point)
            slope = float((point.gradient * direction).sum().item())
            if slope > -options.tolerance_change:
                break
            length = float(options["lr"])
            if self.iterations == 1:
                length *= min(1.0, 1.0 / float(point.gradient.abs().sum().item()))
            is_last = taken == options.max_iter
            point, count = self._moved(closure, point, direction, slope, length, is_last)
            self.length = point.step
            used, self.evaluations = used + count, self.evaluations + count
            if self._is_done(before, point, used):
                break
        return first

    def _is_done(self, before: Point, point: Point, used: int) -> bool:
        options, direction = self.param_groups[0], self.direction
        assert direction is not None
        largest, moved = (float(x.abs().max().item()) for x in (point.gradient, direction))
        return (
            used >= options.max_eval
            or largest <= options.tolerance_grad
            or moved * abs(point.step) <= options.tolerance_change
            or abs(point.value - before.value) < options.tolerance_change
        )

    def _turned(self, point: Point) -> Tensor:
        """The next direction; the differences to the point before enter the history."""
        self.iterations += 1
        direction = -point.gradient
        if self.direction is not None and self.previous is not None:
            change = point.gradient - self.previous
            moved = self.direction * self.length
            curvature = (change * moved).sum()
            if float(curvature.item()) > _LEAST_CURVATURE:
                self._remember(change, moved, curvature)
            direction = self._times_inverse(direction)
        self.previous, self.previous_loss = point.gradient, point.value
        self.direction = direction = direction.realize()
        return direction

    def _remember(self, change: Tensor, moved: Tensor, curvature: Tensor) -> None:
        new = [change, moved, 1.0 / curvature, curvature / (change * change).sum()]
        self.scale = new[3]
        Tensor.realize(*new)
        lists = (self.gradient_changes, self.value_changes, self.inverse_curvatures)
        for each, value in zip(lists, new):
            each.append(value)
            del each[: -self.param_groups[0].history_size]

    def _times_inverse(self, vector: Tensor) -> Tensor:
        """H vector, by the two loops over the history."""
        history = list(zip(
            self.gradient_changes, self.value_changes, self.inverse_curvatures, strict=True
        ))  # fmt: skip
        shares = []
        for change, moved, inverse in reversed(history):
            share = ((moved * vector).sum() * inverse).contiguous()
            shares.append(share)
            vector = (vector - change * share).contiguous()
        if self.scale is not None:
            vector = vector * self.scale
        for (change, moved, inverse), share in zip(history, reversed(shares), strict=True):
            more = ((change * vector).sum() * inverse).contiguous()
            vector = (vector + moved * (share - more)).contiguous()
        return vector

    def _moved(
        self, closure: Callable[[], Any], point: Point, direction: Tensor, slope: float,
        length: float, is_last: bool,
    ) -> tuple[Point, int]:  # fmt: skip
        """The point that a step along the direction leads to, and the number of evaluations."""
        start = Point(0.0, point.value, slope, point.gradient)
        values = [each.detach().clone().realize() for each in self.params]

        def evaluate(step: float) -> Point:
            self._put(values, direction, step)
            found = self._point(closure())
            along = float((found.gradient * direction).sum().item())
            return Point(step, found.value, along, found.gradient)

        if self.param_groups[0].line_search_fn is None:
            if not is_last:
                return evaluate(length), 1
            self._put(values, direction, length)
            return start._replace(step=length), 0
        tolerance = self.param_groups[0].tolerance_change
        found, count = strong_wolfe(evaluate, start, length, tolerance)
        self._put(values, direction, found.step)
        return found, count

    def _put(self, values: list[Tensor], direction: Tensor, step: float) -> None:
        """Set the parameters to values + step * direction."""
        first = 0
        for parameter, value in zip(self.params, values, strict=True):
            part = direction[first : first + value.numel()].reshape(value.shape)
            first += value.numel()
            moved = (
                value.cast(self._wide(parameter))
                + self._beside(part, value).cast(self._wide(parameter)) * step
            )
            parameter.assign(moved.cast(parameter.dtype))
        Tensor.realize(*self.params, *self.buffers)

    def _point(self, loss: Any) -> Point:
        """The loss as a number, and the gradients of all parameters as one vector."""
        gradients = [
            (each.zeros_like() if gradient is None else gradient.detach())
            for each, gradient in zip(self.params, self._gradients(), strict=True)
        ]
        flat = [each.reshape(-1).cast(self.dtype).to(self.device) for each in gradients]
        vector = flat[0].cat(*flat[1:]).contiguous().realize()
        value = loss.item() if isinstance(loss, Tensor) else loss
        return Point(0.0, float(value), 0.0, vector)

    def schedule_step(self) -> list[Tensor]:
        """:raises ArgumentError: since a step reads values."""
        raise ArgumentError(
            "a step of L-BFGS reads values and cannot be recorded",
            asked="LBFGS.schedule_step()", try_="optimizer.step(closure)",
        )  # fmt: skip

    def state_dict(self) -> dict[str, Any]:
        """See Optimizer. The state of all parameters is that of the first."""
        groups = super().state_dict()["param_groups"]
        if self.direction is None:
            return {"state": {}, "param_groups": groups}
        tensors = {
            "d": self.direction, "prev_flat_grad": self.previous, "H_diag": self.scale,
            "old_dirs": self.gradient_changes, "old_stps": self.value_changes,
            "ro": self.inverse_curvatures,
        }  # fmt: skip
        copies = {
            name: [each.clone().realize() for each in value]
            if isinstance(value, list)
            else Tensor.ones((), dtype=self.dtype).realize()
            if value is None
            else value.clone().realize()
            for name, value in tensors.items()
        }
        numbers = {
            "func_evals": self.evaluations, "n_iter": self.iterations, "t": self.length,
            "prev_loss": self.previous_loss,
        }  # fmt: skip
        return {"state": {0: {**numbers, **copies}}, "param_groups": groups}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """See Optimizer."""
        found = dict(state_dict) if isinstance(state_dict, Mapping) else state_dict
        state = found.get("state", {}) if isinstance(found, dict) else {}
        if state:
            found = {**found, "state": {}}
        super().load_state_dict(found)
        self._forget()
        saved = state.get(0, state.get("0"))
        if not saved:
            return
        self.evaluations, self.iterations = int(saved["func_evals"]), int(saved["n_iter"])
        self.length, self.previous_loss = float(saved["t"]), float(saved["prev_loss"])
        self.direction, self.previous = self._own(saved["d"]), self._own(saved["prev_flat_grad"])
        for mine, name in (
            (self.gradient_changes, "old_dirs"), (self.value_changes, "old_stps"),
            (self.inverse_curvatures, "ro"),
        ):  # fmt: skip
            mine += [self._own(each) for each in saved[name]]
        if self.value_changes:
            self.scale = self._own(saved["H_diag"])

    def _own(self, value: Any) -> Tensor:
        given = tensor_from(value).detach().cast(self.dtype)
        return given.to(self.device).clone().realize()


def _several_groups(count: int) -> ArgumentError:
    return ArgumentError(
        "L-BFGS has one group of parameters",
        asked=f"LBFGS of {count} groups", because="the history is of all parameters together",
        try_="LBFGS(model.parameters())",
    )  # fmt: skip
