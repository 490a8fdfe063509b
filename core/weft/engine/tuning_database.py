"""Tuning database: results of searches on disk.

The key is the kernel, the key of the device's code and times, and the width. Results of another
version of weft are ignored, and so are results that were compared with another heuristic plan.

Source: TVM, auto-scheduler tuning records.
"""

from __future__ import annotations

import json
import sys
from dataclasses import astuple, field
from typing import Any

from weft.base.deferred_dataclass import dataclass
from weft.base.disk_cache import DiskCache
from weft.base.errors import WeftError
from weft.base.interrupts import let_through
from weft.base.settings import settings
from weft.base.text import failure_text
from weft.codegen.opt.opts import OptError, opt_of
from weft.codegen.opt.search_space import Plan, by_heuristic
from weft.codegen.pipeline import loops_for
from weft.device import OpenDevice
from weft.engine.kernel_cache import as_text
from weft.uop import UOp, to_text

cache = DiskCache("search", 2)


@dataclass(frozen=True)
class Try:
    """One measured plan. seconds: its shortest run; because: the reason if it has none."""

    plan: Plan
    seconds: float | None
    because: str = ""


@dataclass
class SearchResult:
    """The result of a search. tries: in the order of measurement; notes: for people; complete:
    whether it ended."""

    best: Plan
    heuristic: Plan
    tries: list[Try] = field(default_factory=list[Try])
    notes: list[str] = field(default_factory=list[str])
    complete: bool = True

    def ranked(self) -> list[Try]:
        """The plans that ran, fastest first; of equal ones the chosen plan first."""
        ran = [one for one in self.tries if one.seconds is not None]
        return sorted(ran, key=lambda one: (one.seconds, one.plan != self.best))


def lookup(key: str, ast: UOp, device: OpenDevice) -> SearchResult | None:
    """The result of an earlier search if it is still valid."""
    data = cache.get(key)
    found = None if data is None else decoded(data)
    if found is None:
        return None
    because = _staleness(found, ast, device)
    if because and settings.DEBUG >= 1:
        print(f"search: what was found before is searched for again: {because}", file=sys.stderr)
    return None if because else found


def store(key: str, found: SearchResult) -> None:
    """Store a result, unless nothing could be timed."""
    if any(one.seconds is not None for one in found.tries):
        cache.put(key, encoded(found))


def _staleness(found: SearchResult, ast: UOp, device: OpenDevice) -> str:
    """Why a stored plan is not valid any more; empty if it is."""
    try:
        chosen = by_heuristic(loops_for(ast, device.target, True))
        kernel = loops_for(ast, device.target, found.best.prepared)
        for opt in found.best.opts:
            kernel.apply(opt)
    except OptError as error:
        return f"{found.best} is not legal any more ({failure_text(error)})"
    except Exception as error:  # what is on disk may be anything
        let_through(error)
        return f"{found.best} is no plan for it ({failure_text(error)})"
    return "" if chosen == found.heuristic else "the heuristic chooses otherwise"


def key_of(ast: UOp, device: OpenDevice, width: int) -> str:
    from importlib.metadata import version

    can = device.capabilities
    compiler = device.compiler
    by = "" if compiler is None else compiler.fingerprint
    parts = (version("weft"), can.fingerprint, can.speed, by, as_text(device.compute))
    return "\0".join(
        (*parts, str(width), str(settings.FUSE_ARANGE), settings.MATMUL_PRECISION, to_text(ast))
    )


def legal_plan(data: Any, ast: UOp, device: OpenDevice) -> Plan | None:
    """The plan of stored data; None if it is damaged, or not legal for this kernel."""
    try:
        plan = _plan_of(data)
        kernel = loops_for(ast, device.target, plan.prepared)
        for opt in plan.opts:
            kernel.apply(opt)
    except (WeftError, ValueError, TypeError, KeyError):  # of another version of weft
        return None
    return plan


def plan_data(plan: Plan) -> list[Any]:
    """A plan as data for JSON."""
    return [plan.prepared, list(map(astuple, plan.opts))]


def _plan_of(data: Any) -> Plan:
    prepared, opts = data
    return Plan(tuple(opt_of(*opt) for opt in opts), prepared)


def encoded(found: SearchResult) -> bytes:
    tries = [[plan_data(one.plan), one.seconds, one.because] for one in found.tries]
    data = [plan_data(found.best), plan_data(found.heuristic), tries, found.notes, found.complete]
    return json.dumps(data, separators=(",", ":")).encode()


def decoded(data: bytes) -> SearchResult | None:
    """The stored result; None for one of another version of weft."""
    try:
        best, heuristic, tries, notes, complete = json.loads(data)
        made = [Try(_plan_of(plan), seconds, because) for plan, seconds, because in tries]
        return SearchResult(_plan_of(best), _plan_of(heuristic), made, notes, bool(complete))
    except (ValueError, TypeError, KeyError, WeftError):
        return None
