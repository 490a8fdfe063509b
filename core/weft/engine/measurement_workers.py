"""Measurement workers: build and measure the plans of a search, in helper processes or in this one.

In a helper a kernel may crash or hang. The helper is then replaced, and the new one receives the
same state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from weft.codegen.opt.search_space import Plan
from weft.device import Feature, OpenDevice, registry
from weft.engine.candidate_measurement import Outcome
from weft.engine.search_budget import Budget
from weft.engine.worker_main import Server
from weft.engine.worker_processes import (
    Helper,
    HelperFailed,
    Helpers,
    helpers_for,
    time_limit_factor,
)
from weft.uop import UOp

T = TypeVar("T")
RUN_SECONDS = 10.0
"""The time limit of a kernel without an earlier measurement."""
_CANDIDATE_SECONDS = 3.0
"""The time limit of a candidate that takes as long as the best one. It includes copies of the
buffers and the comparison of the results."""
_BEGIN_SECONDS = 60.0
_BUILD_SECONDS = 20.0
_LEAST_SECONDS = 1.0
"""The shortest time limit: a helper that is ended early costs the start of another one."""
_SPENT = 0.03  # seconds for the runs of one candidate
_MOST_PLAIN = 4e9  # operations that are still carried out without any optimisation
_MOST_PLAIN_HERE = 1e8  # the same in this process, where it cannot be ended


class LocalHelpers:
    """A helper in this process. A kernel that crashes ends the program."""

    life = 1

    def __init__(self, device: OpenDevice) -> None:
        self._server = Server(device)
        self.first = self

    def ask(self, *question: Any, seconds: float) -> Any:
        """The answer, without a time limit. :raises HelperFailed: if the request is refused."""
        verdict, value = self._server.answer(question)
        if verdict != "ok":
            raise HelperFailed(value)
        return value

    def spread(self, work: Callable[[Any, Any], T], things: Iterable[Any]) -> Iterator[T]:
        """`work(helper, thing)` for all things, one after the other."""
        return (work(self, thing) for thing in things)


class Workers:
    """Builds plans and measures the kernels.

    :param most_plain: the most operations of a kernel that runs without optimisations.
    :param budget: the time limit of all requests together; by default there is none.
    """

    def __init__(
        self,
        ast: UOp,
        helpers: Helpers | LocalHelpers,
        most_plain: float = _MOST_PLAIN,
        budget: Budget | None = None,
    ) -> None:
        self.ast = ast
        self.helpers = helpers
        self.most_plain = most_plain
        self.budget = budget or Budget(0)
        self.right: list[Any] = []
        self.life: int | None = None
        self._first()

    def _first(self) -> Helper | LocalHelpers:
        """The helper that runs kernels, with the current state: it may have been replaced.

        :raises HelperFailed: where the device does not open there, or has no memory.
        """
        first = self.helpers.first
        if self.life is None or first.life != self.life:
            first.ask("begin", self.ast, seconds=self._limit(_BEGIN_SECONDS))
            for built in self.right:
                first.ask("expect", built, seconds=self._limit(_BUILD_SECONDS))
            self.life = first.life
        return first

    def built(self, plans: Sequence[Plan]) -> Iterable[tuple[bytes, Any] | str]:
        """(digest, built kernel) of each plan, or the reason why it cannot be built."""

        def one(helper: Helper | LocalHelpers, plan: Plan) -> tuple[bytes, Any] | str:
            if not self.budget.left:
                return "the budget of the search is spent"
            limit = self._limit(_BUILD_SECONDS)
            return _answer(helper, "build", self.ast, plan, seconds=limit)

        return self.helpers.spread(one, plans)

    def expect(self, built: Any, seconds: float) -> str:
        """Use the results of a kernel as reference. Returns the reason if that failed, else ""."""
        first = self._first()
        try:
            first.ask("expect", built, seconds=self._limit(seconds))
        except HelperFailed as error:
            return str(error)
        self.right.append(built)
        return ""

    def time(self, built: Any, good: float | None) -> Outcome | str:
        """The outcome of a kernel, or the reason why it failed."""
        limit = RUN_SECONDS if good is None else _CANDIDATE_SECONDS + 100 * good
        limit = self._limit(limit)
        return _answer(self._first(), "time", built, _SPENT, good, seconds=limit)

    def time_interleaved(self, several: Sequence[Any], seconds: float) -> list[float] | str:
        """Time built kernels interleaved; the reason if that failed."""
        limit = max(RUN_SECONDS, 10 * seconds)
        limit = self._limit(limit)
        return _answer(self._first(), "time_interleaved", several, seconds, seconds=limit)

    def _limit(self, seconds: float) -> float:
        """A time limit on an idle machine, within what is left of the budget on this one."""
        return max(_LEAST_SECONDS, min(seconds, self.budget.left / time_limit_factor()))

    def end(self) -> None:
        """Free the memory."""
        if self.helpers.first.life == self.life:
            _answer(self.helpers.first, "end", seconds=_BUILD_SECONDS)


def _answer(helper: Helper | LocalHelpers, *question: Any, seconds: float) -> Any:
    """The answer of a helper, or the reason why it failed."""
    try:
        return helper.ask(*question, seconds=seconds)
    except HelperFailed as error:
        return str(error)


def helpers_of(device: OpenDevice) -> Helpers:
    """The helper processes of a device, as many as its compiler allows."""
    parallel = device.compiler is None or device.compute.has(Feature.PARALLEL_COMPILE)
    return helpers_for(device.name, device.capabilities.fingerprint, parallel)


def workers_for(
    ast: UOp, device: OpenDevice, notes: list[str], budget: Budget | None = None
) -> Workers:
    """Helper processes if they have the same device, else this process.

    :raises WeftError: where neither can do it.
    :raises HelperFailed: where a helper has no memory for the kernel; then this process has none.
    """
    here = "kernels are tried in this process"
    if not registry.current().is_installed(device.id.family):
        notes.append(f"{here}: the plugin was registered by hand")
        return Workers(ast, LocalHelpers(device), _MOST_PLAIN_HERE, budget)
    helpers = helpers_of(device)
    try:
        helpers.first.ready()
    except HelperFailed as error:
        notes.append(f"{here}: no helper process opens {device.name} ({error})")
        return Workers(ast, LocalHelpers(device), _MOST_PLAIN_HERE, budget)
    return Workers(ast, helpers, budget=budget)
