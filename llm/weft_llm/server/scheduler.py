"""Continuous batching: a thread that computes prompts and decodes all running sequences together.

Each iteration computes a chunk of one prompt and one token of every sequence that is decoded.
Where no page is left, the youngest sequence loses its pages and is computed again later.

Source: G.-I. Yu et al., "Orca: A Distributed Serving System for Transformer-Based Generative
Models" (2022).
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from weft_llm.server.metrics import Metrics
from weft_llm.server.pages import PageTable
from weft_llm.server.sequence import Sequence
from weft_llm.server.steps import PAGE, Scores, Steps


class QueueFull(Exception):
    """Too many requests wait."""


class Scheduler:
    """Sequences that wait, that are prefilled, and that are decoded."""

    def __init__(
        self, model: Any, metrics: Metrics, parallel: int = 8, queue: int = 64,
        cache_tokens: int | None = None,
    ) -> None:  # fmt: skip
        """cache_tokens: room for the tokens of all sequences, twice the context without it."""
        longest = -(-model.context // PAGE) + 1
        pages = max(-(-(cache_tokens or 2 * model.context) // PAGE), longest) + 1
        self.parallel, self.queue, self.metrics = parallel, queue, metrics
        self.table = PageTable(pages, PAGE)
        self._make_steps = lambda: Steps(
            model.network, pages, longest, parallel, model.cache_format
        )  # fmt: skip
        self.waiting: deque[Sequence] = deque()
        self.running: list[Sequence] = []
        self._jobs: deque[tuple[Callable[[], Any], Future[Any]]] = deque()
        self._wake = threading.Condition()
        self._ends = False
        self._thread = threading.Thread(target=self._run, name="weft-llm", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread after its current step."""
        with self._wake:
            self._ends = True
            self._wake.notify()
        self._thread.join()

    def submit(self, sequences: list[Sequence]) -> None:
        """Put sequences into the queue. Raises QueueFull where it has no room for all."""
        with self._wake:
            if len(self.waiting) + len(sequences) > self.queue or self._ends:
                raise QueueFull
            self.waiting.extend(sequences)
            self._wake.notify()

    def call(self, job: Callable[[], Any]) -> Future[Any]:
        """Call a function on the thread, between two steps. Raises QueueFull."""
        future: Future[Any] = Future()
        with self._wake:
            if len(self._jobs) >= self.queue or self._ends:
                raise QueueFull
            self._jobs.append((job, future))
            self._wake.notify()
        return future

    def gauges(self) -> dict[str, int]:
        """What the metrics show of the state."""
        return {
            "running": len(self.running), "waiting": len(self.waiting),
            "pages_used": self.table.used,
        }  # fmt: skip

    # ---- the thread ---------------------------------------------------------------------------

    def _run(self) -> None:
        steps = None
        while True:
            with self._wake:
                while not (self._ends or self.waiting or self.running or self._jobs):
                    self._wake.wait()
                if self._ends:
                    break
            try:
                self._run_job()
                if self.waiting or self.running:
                    steps = steps or self._make_steps()
                    self._iterate(steps)
            except Exception as error:  # the server goes on with the next requests
                self._fail_all(error)
        self._fail_all(RuntimeError("the server ends"))

    def _run_job(self) -> None:
        with self._wake:
            if not self._jobs:
                return
            job, future = self._jobs.popleft()
        if not future.set_running_or_notify_cancel():
            return
        try:
            future.set_result(job())
        except Exception as error:
            future.set_exception(error)

    def _iterate(self, steps: Steps) -> None:
        self._drop_cancelled()
        self._admit()
        self._prefill_one(steps)
        ready = [each for each in self.running if _is_prefilled(each)]
        ready = [each for each in ready if self._has_pages(each, each.stored + 1)]
        ready = [each for each in ready if each in self.running]  # others took their pages
        if ready:
            scores = steps.decode(ready)
            self.metrics.add("steps")
            for each in ready:
                self._publish(each)
            self._choose(steps, scores, ready)

    def _prefill_one(self, steps: Steps) -> None:
        """Compute a chunk of the oldest prompt that is not stored."""
        new = next((each for each in self.running if not _is_prefilled(each)), None)
        if new is None or not self._has_pages(new, len(new.tokens)):
            return
        scores = steps.prefill(new)
        self._publish(new)
        if new.stored == len(new.tokens):
            self._choose(steps, scores, [new])

    def _choose(self, steps: Steps, scores: Scores, sequences: list[Sequence]) -> None:
        """Choose the next tokens, and let go of the sequences that end."""
        tokens = steps.choose(scores, sequences)
        rows = None
        if any(each.top_scores is not None for each in sequences):
            rows = scores.logits.numpy()
        for number, (each, token) in enumerate(zip(sequences, tokens, strict=True)):
            self.metrics.add("generated_tokens")
            if each.put(int(token), None if rows is None else rows[number]):
                self._release(each)

    def _drop_cancelled(self) -> None:
        with self._wake:
            waiting = [each for each in self.waiting if each.cancelled]
            for each in waiting:
                self.waiting.remove(each)
        running = [each for each in self.running if each.cancelled]
        for each in running:
            self._release(each)
        if waiting or running:
            self.metrics.add("cancelled", len(waiting) + len(running))

    def _admit(self) -> None:
        """Move sequences from the queue to the running ones, while pages for their prompts last."""
        while len(self.running) < self.parallel:
            with self._wake:
                if not self.waiting:
                    return
                first = self.waiting[0]
                if self.running and len(first.tokens) // PAGE + 1 > self.table.available:
                    return
                self.waiting.popleft()
            first.pages = self.table.shared(first.tokens[:-1])
            first.stored = first.reused = len(first.pages) * PAGE
            self.metrics.add("prompt_tokens", len(first.tokens))
            self.metrics.add("reused_tokens", first.reused)
            self.running.append(first)

    def _has_pages(self, sequence: Sequence, tokens: int) -> bool:
        """Get pages for so many tokens, from the youngest sequence where none is left."""
        while len(sequence.pages) * PAGE < tokens:
            if sequence not in self.running:
                return False
            page = self.table.take()
            if page is None:
                self._preempt(self.running[-1])
                continue
            sequence.pages.append(page)
        return sequence in self.running

    def _preempt(self, sequence: Sequence) -> None:
        self._release(sequence)
        with self._wake:
            self.waiting.appendleft(sequence)
        self.metrics.add("preempted")

    def _publish(self, sequence: Sequence) -> None:
        """Let others share the pages that are full now."""
        full = sequence.stored // PAGE
        first = max(full - 4, 0)  # no step fills more
        for count in range(first + 1, full + 1):
            self.table.publish(sequence.pages[:count], sequence.tokens[: count * PAGE])

    def _release(self, sequence: Sequence) -> None:
        self.running.remove(sequence)
        self.table.release(sequence.pages)
        sequence.pages, sequence.stored = [], 0

    def _fail_all(self, error: Exception) -> None:
        with self._wake:
            failed = [*self.running, *self.waiting]
            self.waiting.clear()
            jobs = list(self._jobs)
            self._jobs.clear()
        for each in list(self.running):
            self._release(each)
        for each in failed:
            each.fail(error)
        for _, future in jobs:
            future.set_exception(error)
        self.metrics.add("failed", len(failed) + len(jobs))


def _is_prefilled(sequence: Sequence) -> bool:
    """Whether the last token alone is not stored, so that the sequence can be decoded."""
    return sequence.stored == len(sequence.tokens) - 1
