"""Schedule cache: look up the schedule of a graph by its structural key.
Also: memoization.

The cache is bounded, evicts the least recently used entry, and is safe to use from several
threads. It is bypassed while the passes are observed, because a lookup runs no pass.

Source: Michie, "Memo Functions and Machine Learning", Nature 218, 1968.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from weft.base import trace
from weft.base.locks import lock
from weft.base.settings import settings
from weft.schedule.pipeline import kernelize_map
from weft.schedule.schedule_template import ScheduleTemplate, make_template
from weft.schedule.structural_key import Structure

MOST_NODES = 1 << 18
"""Nodes in all structures that are kept, together."""


class ScheduleCache:
    """Schedule templates by structure. hits, misses: the numbers of lookups with and without
    success."""

    def __init__(self, most_nodes: int = MOST_NODES) -> None:
        self.hits = 0
        self.misses = 0
        self._most_nodes = most_nodes
        self._nodes = 0
        self._templates: OrderedDict[Any, ScheduleTemplate] = OrderedDict()
        self._lock = lock()

    def get(self, structure: Structure) -> ScheduleTemplate | None:
        """The template of an equal structure."""
        with self._lock:
            found = self._templates.get(structure.key)
            if found is None:
                self.misses += 1
            else:
                self.hits += 1
                self._templates.move_to_end(structure.key)
            return found

    def put(self, structure: Structure, template: ScheduleTemplate) -> None:
        """Keep a template, unless its structure is larger than the cache."""
        size = len(structure.sources)
        if size > self._most_nodes:
            return
        with self._lock:
            if structure.key in self._templates:
                return
            self._templates[structure.key] = template
            self._nodes += size
            while self._nodes > self._most_nodes:
                (rows, *_), _ = self._templates.popitem(last=False)
                self._nodes -= len(rows)

    def clear(self) -> None:
        """Drop all templates."""
        with self._lock:
            self._templates.clear()
            self._nodes = 0

    def __len__(self) -> int:
        return len(self._templates)


schedules = ScheduleCache()
"""Of this process."""


def template_for(structure: Structure) -> ScheduleTemplate:
    """The template of a graph, from the cache or new.

    Raises what `kernelize_map` raises, and ScheduleError where kernels wait for each other.
    """
    cached = settings.SCHEDULE_CACHE and not _watched()
    template = schedules.get(structure) if cached else None
    if template is None:
        template = make_template(structure, kernelize_map(structure.sink))
        if cached:
            schedules.put(structure, template)
    return template


def _watched() -> bool:
    return settings.DEBUG >= 6 or trace.enabled("pass") or trace.enabled("schedule")
