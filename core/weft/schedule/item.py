"""Schedule item: one kernel, copy, host call or view to run, and the memory that it uses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.base.deferred_dataclass import dataclass
from weft.device import Buffer
from weft.uop import Ops, UOp


@dataclass(frozen=True, eq=False)
class ScheduleItem:
    """A kernel's AST (SINK), a COPY, COLLECTIVE, HOST_CALL or BUFFER_VIEW node, with its buffers.

    bufs: outputs first; those of a kernel are at the slot of their DEFINE_GLOBAL.
    metadata: the Tensor methods that are fused in it.
    """

    ast: UOp
    bufs: tuple[Buffer, ...]
    metadata: tuple[Any, ...] = ()

    @staticmethod
    def of(ast: UOp, memory: Sequence[Buffer], metadata: tuple[Any, ...]) -> ScheduleItem:
        """The item over this memory, of which a COPY into a window writes that window only."""
        if ast.op is Ops.COPY and (window := ast.arg) is not None:
            target = memory[0].view(window.size, ast.dtype, window.offset * ast.dtype.itemsize)
            memory = (target, *memory[1:])
        return ScheduleItem(ast, tuple(memory), metadata)

    @property
    def outputs(self) -> tuple[Buffer, ...]:
        """The buffers that are written."""
        return tuple(self.bufs[slot] for slot in sorted(stored_slots(self.ast)))

    @property
    def inputs(self) -> tuple[Buffer, ...]:
        """The buffers that are only read."""
        stored = stored_slots(self.ast)
        return tuple(buf for slot, buf in enumerate(self.bufs) if slot not in stored)


def stored_slots(ast: UOp) -> set[int]:
    """Which of its arguments a kernel, COPY, COLLECTIVE, HOST_CALL or BUFFER_VIEW writes."""
    if ast.op is Ops.COLLECTIVE:
        return set(range(ast.arg.devices))
    if ast.op is not Ops.SINK:
        return {0}
    return {store.src[0].base.arg for store in ast.src if store.op is Ops.STORE}
