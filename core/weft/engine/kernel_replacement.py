"""Kernel replacement: optimise a ready kernel that is launched often, in the background.
Also: tiered compilation.

A ready kernel counts its launches. After `LAUNCHES` of them the optimised kernel is generated, and
a thread compiles it. The first launch after that replaces the runner, so that plans which hold the
kernel launch the optimised code from then on.

Kernels of fewer than `FROM` iterations stay: their launches take longer than the kernels. So do
reductions of floats, whose results would change within a process: the order of additions differs.

Source: U. Hölzle, D. Ungar, "A third-generation SELF implementation" (OOPSLA 1994).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from weft.base.dtype import dtypes
from weft.base.errors import WeftError
from weft.base.interrupts import let_through
from weft.device import Dims, Runner
from weft.engine.runners import KernelRunner, concrete
from weft.uop import Ops, UOp

LAUNCHES = 64
"""Launches before a kernel is optimised."""
FROM = 1024
"""Iterations from which on a kernel is optimised."""
_NAME = "weft-optimise"


def may_be_replaced(ast: UOp, iterations: int) -> bool:
    """Whether the ready kernel of an AST is replaced by an optimised one."""
    return iterations >= FROM and not any(
        node.op is Ops.REDUCE_AXIS and dtypes.is_float(node.dtype) for node in ast.toposort()
    )


class Replaceable:
    """The runner of a ready kernel until it is replaced.

    :param kernel: gets the optimised runner.
    :param compile: compiles the optimised kernel without loading it, on a thread of its own.
    :param load: the optimised kernel.
    :param values: of the arguments that the ready kernel has besides.
    """

    def __init__(
        self,
        kernel: KernelRunner,
        compile: Callable[[], Callable[[], object]],
        load: Callable[[], KernelRunner],
        values: Mapping[UOp, int],
    ) -> None:
        self._kernel = kernel
        self._compile = compile
        self._load = load
        self._values = values
        self._runner = kernel.runner
        self._left = LAUNCHES
        self._thread: threading.Thread | None = None
        self._is_compiled = False

    def __call__(
        self,
        handles: Sequence[Any],
        *,
        global_size: Dims | None = None,
        local_size: Dims | None = None,
        values: Sequence[int] = (),
        wait: bool = False,
    ) -> float | None:
        """Launch the ready kernel."""
        self._left -= 1
        if self._left <= 0:
            self._advance()
        return self._runner(
            handles, global_size=global_size, local_size=local_size, values=values, wait=wait
        )

    def _advance(self) -> None:
        """Start the compilation, or replace the runner after it."""
        self._left = LAUNCHES
        if self._thread is None:
            try:
                work = self._compile()
            except WeftError:
                self._kernel.runner = self._runner
                return
            self._thread = threading.Thread(
                target=self._without_errors, args=(work,), name=_NAME, daemon=True
            )
            self._thread.start()
        elif not self._thread.is_alive():
            self._kernel.runner = self._runner  # also where the other cannot be loaded
            if not self._is_compiled:
                return
            try:
                optimised = self._load()
            except WeftError:
                return
            adapted = _Optimised.of(self._kernel, optimised, self._values)
            if adapted is not None:
                self._kernel.runner = adapted

    def _without_errors(self, work: Callable[[], object]) -> None:
        """Compile on a thread; where it fails the ready kernel stays."""
        try:
            work()
            self._is_compiled = True
        except Exception as error:
            let_through(error)


class _Optimised:
    """The runner of an optimised kernel, with the parameters of the ready kernel."""

    def __init__(
        self,
        runner: Runner,
        handles: tuple[int, ...],
        values: tuple[int, ...],
        sizes: tuple[Dims | None, Dims | None],
    ) -> None:
        self._runner, self._handles, self._values = runner, handles, values
        self._global_size, self._local_size = sizes

    @staticmethod
    def of(
        ready: KernelRunner, optimised: KernelRunner, values: Mapping[UOp, int]
    ) -> _Optimised | None:
        """None where the parameters do not correspond."""
        program = optimised.p.program
        sizes: Any = [*(program.global_size or ()), *(program.local_size or ())]
        if set(optimised.slots) != set(ready.slots) or any(isinstance(s, UOp) for s in sizes):
            return None
        if not set(optimised.variables) <= set(ready.variables):
            return None
        return _Optimised(
            optimised.runner,
            tuple([ready.slots.index(slot) for slot in optimised.slots]),
            tuple([ready.variables.index(variable) for variable in optimised.variables]),
            (concrete(program.global_size, values), concrete(program.local_size, values)),
        )

    def __call__(
        self,
        handles: Sequence[Any],
        *,
        global_size: Dims | None = None,
        local_size: Dims | None = None,
        values: Sequence[int] = (),
        wait: bool = False,
    ) -> float | None:
        """Launch the optimised kernel."""
        return self._runner(
            [handles[place] for place in self._handles],
            global_size=self._global_size,
            local_size=self._local_size,
            values=[values[place] for place in self._values],
            wait=wait,
        )


def running() -> list[threading.Thread]:
    """The threads that compile optimised kernels now."""
    return [thread for thread in threading.enumerate() if thread.name == _NAME]
