"""Measurement workers: build and measure the plans of a search, in helper processes or in this one.

In a helper a kernel may crash or hang. The helper is then replaced, and the new one receives the
same state.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from weft.base.errors import WeftError
from weft.base.interrupts import let_through
from weft.base.text import failure_text
from weft.codegen.opt.search_space import Plan
from weft.device import Feature, OpenDevice, registry
from weft.engine.candidate_measurement import Built, Measurement, Outcome, build
from weft.engine.worker_processes import Helper, HelperFailed, Helpers, helpers_for
from weft.uop import UOp

RUN_SECONDS = 10.0
"""A kernel may take before it counts as one that hangs, if nothing is known of it."""
_BEGIN_SECONDS = 60.0
_BUILD_SECONDS = 20.0
_SPENT = 0.03  # seconds for the runs of one candidate
_MOST_PLAIN = 4e9  # operations that are still carried out without any optimisation
_MOST_PLAIN_HERE = 1e8  # the same in this process, where it cannot be ended


class Workers(Protocol):
    """Builds plans and measures the kernels."""

    most_plain: float

    def built(self, plans: Sequence[Plan]) -> Iterable[tuple[bytes, Any] | str]:
        """(digest, what was built) of each plan, or why there is none."""
        ...

    def expect(self, built: Any, seconds: float) -> str:
        """Take its results for right. Answers why that failed, or nothing."""
        ...

    def time(self, built: Any, good: float | None) -> Outcome | str:
        """Run it, or say why that failed."""
        ...

    def time_interleaved(self, several: Sequence[Any], seconds: float) -> list[float] | str:
        """Time what was built run by run in turn, or say why that failed."""
        ...

    def end(self) -> None:
        """Give the memory back."""


class HelperWorkers:
    """Workers in helper processes."""

    most_plain = _MOST_PLAIN

    def __init__(self, ast: UOp, device: OpenDevice) -> None:
        self.ast = ast
        self.helpers = helpers_of(device)
        self.right: list[Any] = []
        self.life: int | None = None
        self._first()

    def _first(self) -> Helper:
        """The helper that runs kernels, with the current state: it may have been replaced.

        :raises HelperFailed: where the device does not open there, or has no memory.
        """
        first = self.helpers.first
        if self.life is None or first.life != self.life:
            first.ask("begin", self.ast, seconds=_BEGIN_SECONDS)
            for built in self.right:
                first.ask("expect", built, seconds=_BUILD_SECONDS)
            self.life = first.life
        return first

    def built(self, plans: Sequence[Plan]) -> Iterable[tuple[bytes, Any] | str]:
        def one(helper: Any, plan: Plan) -> tuple[bytes, Any] | str:
            try:
                answer: tuple[bytes, Any] = helper.ask(
                    "build", self.ast, plan, seconds=_BUILD_SECONDS
                )
            except HelperFailed as error:
                return str(error)
            return answer

        return self.helpers.spread(one, plans)

    def expect(self, built: Any, seconds: float) -> str:
        first = self._first()
        try:
            first.ask("expect", built, seconds=seconds)
        except HelperFailed as error:
            return str(error)
        self.right.append(built)
        return ""

    def time(self, built: Any, good: float | None) -> Outcome | str:
        first = self._first()
        limit = RUN_SECONDS if good is None else max(RUN_SECONDS, 100 * good)
        try:
            answer: Outcome = first.ask("time", built, _SPENT, good, seconds=limit)
        except HelperFailed as error:
            return str(error)
        return answer

    def time_interleaved(self, several: Sequence[Any], seconds: float) -> list[float] | str:
        first = self._first()
        limit = max(RUN_SECONDS, 10 * seconds)
        try:
            answer: list[float] = first.ask("time_interleaved", several, seconds, seconds=limit)
        except HelperFailed as error:
            return str(error)
        return answer

    def end(self) -> None:
        if self.helpers.first.life == self.life:
            try:
                self.helpers.first.ask("end", seconds=_BUILD_SECONDS)
            except HelperFailed:
                pass


class LocalWorkers:
    """Workers in this process: a kernel that crashes ends the program."""

    most_plain = _MOST_PLAIN_HERE

    def __init__(self, ast: UOp, device: OpenDevice) -> None:
        self.ast, self.device = ast, device
        self.trial = Measurement(ast, device)

    def built(self, plans: Sequence[Plan]) -> Iterable[tuple[bytes, Any] | str]:
        for plan in plans:
            try:
                built = build(self.ast, plan, self.device)
            except WeftError as error:
                yield failure_text(error)
            except Exception as error:  # a fault of ours in one plan is no reason to end the rest
                let_through(error)
                yield f"fault: {failure_text(error)}"
            else:
                yield built.digest, built

    def expect(self, built: Built, seconds: float) -> str:
        try:
            self.trial.expect(built)
        except (WeftError, ArithmeticError, OSError, RuntimeError, MemoryError) as error:
            let_through(error)
            return failure_text(error)
        return ""

    def time(self, built: Built, good: float | None) -> Outcome | str:
        try:
            return self.trial.time(built, _SPENT, good)
        except (WeftError, ArithmeticError, OSError, RuntimeError, MemoryError) as error:
            let_through(error)
            return failure_text(error)

    def time_interleaved(self, several: Sequence[Any], seconds: float) -> list[float] | str:
        try:
            return self.trial.time_interleaved(several, seconds)
        except (WeftError, ArithmeticError, OSError, RuntimeError, MemoryError) as error:
            let_through(error)
            return failure_text(error)

    def end(self) -> None:
        self.trial.buffers.clear()


def helpers_of(device: OpenDevice) -> Helpers:
    """The helper processes of a device, as many as its compiler allows."""
    parallel = device.compiler is None or device.compute.has(Feature.PARALLEL_COMPILE)
    return helpers_for(device.name, device.capabilities.fingerprint, parallel)


def workers_for(ast: UOp, device: OpenDevice, notes: list[str]) -> Workers:
    """Helper processes if they have the same device, else this process.

    :raises WeftError: where neither can do it.
    :raises HelperFailed: where a helper has no memory for the kernel; then this process has none.
    """
    here = "kernels are tried in this process"
    if not registry.current().is_installed(device.id.family):
        notes.append(f"{here}: the plugin was registered by hand")
        return LocalWorkers(ast, device)
    try:
        helpers_of(device).first.ready()
    except HelperFailed as error:
        notes.append(f"{here}: no helper process opens {device.name} ({error})")
        return LocalWorkers(ast, device)
    return HelperWorkers(ast, device)
