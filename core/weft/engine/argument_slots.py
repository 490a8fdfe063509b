"""Argument slots: the positions of one memory among the arguments of recorded launches.

in:  argument lists, and graphs of launches      out: functions that set a memory everywhere
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any

from weft.base.deferred_dataclass import dataclass
from weft.device import Buffer, SettableGraph
from weft.engine.recorded_steps import Argument


@dataclass(eq=False, slots=True)
class ArgumentSlots:
    """The positions of one memory in the argument lists: as a handle, or (copies) as a buffer;
    setters and windows: in graphs, whole and in part."""

    handles: list[tuple[list[Any], int]] = field(default_factory=list[tuple[list[Any], int]])
    setters: list[Callable[[Any], None]] = field(default_factory=list[Callable[[Any], None]])
    windows: list[tuple[Callable[[Any], None], Argument]] = field(
        default_factory=list[tuple[Callable[[Any], None], Argument]]
    )
    others: list[tuple[list[Any], int, Argument, bool]] = field(
        default_factory=list[tuple[list[Any], int, Argument, bool]]
    )

    @property
    def is_needed(self) -> bool:
        """Whether the memory is an argument anywhere."""
        return bool(self.handles or self.setters or self.windows or self.others)

    @property
    def only_setter(self) -> Callable[[Any], None] | None:
        """The single setter of its handle; None where there are other positions."""
        alone = not (self.handles or self.windows or self.others) and len(self.setters) == 1
        return self.setters[0] if alone else None

    def updater(self) -> Callable[[Buffer], None]:
        """`update`, or a faster function if there is only one position."""
        if self.windows or self.others or len(self.setters) + len(self.handles) != 1:
            return self.update
        if self.setters:
            setter = self.setters[0]
            return lambda buffer: setter(buffer.handle)
        ((arguments, index),) = self.handles

        def update(buffer: Buffer) -> None:
            arguments[index] = buffer.handle

        return update

    def update(self, buffer: Buffer) -> None:
        handle = buffer.handle
        for arguments, index in self.handles:
            arguments[index] = handle
        for setter in self.setters:
            setter(handle)
        for setter, argument in self.windows:
            setter(argument.of(buffer).handle)
        for arguments, index, argument, whole in self.others:
            part = argument.of(buffer)
            arguments[index] = part if whole else part.handle

    def move_to(self, graph: SettableGraph, launches: Mapping[int, int]) -> None:
        """Register a graph's setters for changing positions. launches: the number of each argument
        list, by id."""
        places = [(launches[id(own)], i) for own, i in self.handles if id(own) in launches]
        if places:
            self.setters.append(graph.setter(places))
        self.handles = [entry for entry in self.handles if id(entry[0]) not in launches]
        for own, index, argument, _ in self.others:
            if id(own) in launches:
                self.windows.append((graph.setter([(launches[id(own)], index)]), argument))
        self.others = [entry for entry in self.others if id(entry[0]) not in launches]
