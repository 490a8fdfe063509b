"""Counters of the server, as text that Prometheus reads."""

from __future__ import annotations

import threading
from collections.abc import Mapping

_HELP = {
    "weft_llm_requests_total": ("counter", "Requests that were accepted."),
    "weft_llm_rejected_total": ("counter", "Requests that were refused because the queue is full."),
    "weft_llm_cancelled_total": ("counter", "Requests whose client went away."),
    "weft_llm_failed_total": ("counter", "Requests that ended with an error of the server."),
    "weft_llm_preempted_total": ("counter", "Sequences that lost their pages for a time."),
    "weft_llm_prompt_tokens_total": ("counter", "Tokens of prompts."),
    "weft_llm_reused_tokens_total": ("counter", "Tokens of prompts whose pages were reused."),
    "weft_llm_generated_tokens_total": ("counter", "Tokens that were generated."),
    "weft_llm_steps_total": ("counter", "Decoding steps."),
    "weft_llm_running": ("gauge", "Sequences that are computed."),
    "weft_llm_waiting": ("gauge", "Sequences that wait."),
    "weft_llm_pages_used": ("gauge", "Pages of the cache in use."),
}


class Metrics:
    """Counters by short names: `add("steps")` counts weft_llm_steps_total."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts = {name: 0 for name, (kind, _) in _HELP.items() if kind == "counter"}

    def add(self, name: str, count: int = 1) -> None:
        """Add to a counter."""
        with self._lock:
            self._counts[f"weft_llm_{name}_total"] += count

    def value(self, name: str) -> int:
        """A counter's value."""
        return self._counts[f"weft_llm_{name}_total"]

    def text(self, gauges: Mapping[str, int]) -> str:
        """The text format of Prometheus; gauges by short names."""
        with self._lock:
            values = {**self._counts, **{f"weft_llm_{k}": v for k, v in gauges.items()}}
        lines = []
        for name, value in values.items():
            kind, summary = _HELP[name]
            lines += [f"# HELP {name} {summary}", f"# TYPE {name} {kind}", f"{name} {value}"]
        return "\n".join(lines) + "\n"
