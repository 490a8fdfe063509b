"""Capture: record the steps that run, for replay, and refuse what cannot be replayed.

Recording belongs to the context (thread or task) that started it; other contexts run as usual.
Recordings are not nested: code inside one takes part in it.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from weft.base.errors import CaptureError
from weft.uop import Ops, UOp, provide

if TYPE_CHECKING:
    from weft.device import Buffer
    from weft.engine.lower_items import ExecItem


class Recording:
    """The record of a run.

    what: the name of the run, for errors. steps: the executed steps, in order. draws: requests to
    the random stream, in order: a seed, or (memory of the counter, its buffer, device, blocks).
    protected: tensors that were copied before a write, with unchanged values. read: variables whose
    values Python took: the record is valid for these values only.

    :param before: the ids of buffers whose content may differ at a replay.
    """

    def __init__(self, what: str, before: Collection[int] = ()) -> None:
        self.what = what
        self._changing = set(before)
        self._written: list[Buffer] = []  # a reference keeps their ids valid: a step may still fail
        self.steps: list[ExecItem] = []
        self.draws: list[Any] = []
        self.protected: list[Any] = []
        self.read: set[UOp] = set()

    def add(self, steps: Sequence[ExecItem]) -> None:
        """Add executed steps."""
        self.steps.extend(steps)

    def follow(self, step: ExecItem) -> None:
        """Mark what an executed step wrote as changing, if it read changing memory."""
        written, read = step.places
        if any(self.is_changing(step.bufs[place]) for place in read):
            owners = [step.bufs[place].owner for place in written]
            self._written += owners
            self._changing.update(map(id, owners))

    def is_changing(self, buffer: Buffer) -> bool:
        """Whether the content of a buffer may differ at a replay. Values computed from numbers of
        Python alone do not: they are constants of the record."""
        return id(buffer) in self._changing or id(buffer.owner) in self._changing

    def read_values_of(self, *sizes: Any) -> None:
        """Note that the run depends on the values of the variables in these sizes."""
        nodes = [size for size in sizes if not isinstance(size, int)]
        self.read.update(u for node in nodes for u in node.toposort() if u.op is Ops.DEFINE_VAR)

    def refuse_reading(self, shape: tuple[Any, ...]) -> None:
        """:raises CaptureError: a value is read by Python, which a replay would not do again."""
        raise CaptureError(
            "a value is read in the middle of a captured function",
            asked=f"item, tolist, numpy or data of a tensor of shape {shape} inside {self.what}",
            because="a replay runs the same kernels again, and no Python: what Python does with "
            "the value now would be done for all values to come",
            try_="return the tensor and read it outside; choose with where(); or, to run without "
            "capturing, with settings.override(JIT=0): ...",
        )


_recording: ContextVar[Recording | None] = ContextVar("weft_recording", default=None)

recording = _recording.get
"""The active recording of this context, or None."""


def _values_read(bound: Iterable[UOp]) -> None:
    """Note that Python takes the values of these BIND nodes."""
    under_way = _recording.get()
    if under_way is not None:
        under_way.read.update(node.src[0] for node in bound)


provide("values_read", _values_read)


@contextmanager
def recorded(what: str, before: Collection[int] = ()) -> Generator[Recording]:
    """Record the steps that run inside. before: see `Recording`."""
    made = Recording(what, before)
    around = _recording.get()
    try:
        _recording.set(made)
        yield made
    finally:
        _recording.set(around)


@contextmanager
def unrecorded() -> Generator[None]:
    """Record nothing inside: for values that are the same in every run, such as constants."""
    around = _recording.get()
    try:
        _recording.set(None)
        yield
    finally:
        _recording.set(around)
