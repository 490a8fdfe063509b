"""Answers: sequences of a request, their events in the event loop, and what is sent."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any

from weft_llm.generation import StopStrings
from weft_llm.server.constraints import Constraint
from weft_llm.server.requests import Generation
from weft_llm.server.responses import Responses, usage_of
from weft_llm.server.scheduler import Scheduler
from weft_llm.server.sequence import Event, Sequence, TokenScore
from weft_llm.server.tools import find_tool_calls
from weft_llm.tokenizer import Tokenizer


@dataclass
class Collected:
    """What a sequence has said."""

    text: str = ""
    scores: list[TokenScore] = field(default_factory=list)
    reason: str | None = None


class Run:
    """The sequences of one request: `choices` for each prompt, numbered through."""

    def __init__(
        self, prompts: list[list[int]], generation: Generation, tokenizer: Tokenizer, context: int
    ) -> None:
        self.generation, self.tokenizer = generation, tokenizer
        self.prompts = prompts
        self.sequences: list[Sequence] = []
        self._events: asyncio.Queue[tuple[int, Event]] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()
        for tokens in prompts:
            for choice in range(generation.choices):
                self.sequences.append(self._sequence(tokens, choice, context))

    def _sequence(self, tokens: list[int], choice: int, context: int) -> Sequence:
        wanted, index = self.generation, len(self.sequences)
        sampling = wanted.sampling
        if sampling.seed is not None:
            sampling = replace(sampling, seed=sampling.seed + choice)
        remaining = context - len(tokens)
        return Sequence(
            tokens,
            remaining if wanted.limit is None else min(wanted.limit, remaining),
            sampling,
            StopStrings(wanted.stops),
            self.tokenizer,
            lambda event: self._report(index, event),
            wanted.scores,
            ignore_end=wanted.ignore_end,
        )

    def _report(self, index: int, event: Event) -> None:
        try:
            self._loop.call_soon_threadsafe(self._events.put_nowait, (index, event))
        except RuntimeError:  # the event loop has ended
            self.cancel()

    def constrain(self, make: Callable[[], Constraint]) -> None:
        """Give every sequence a constraint of its own."""
        for each in self.sequences:
            each.constraint = make()

    def cancel(self) -> None:
        """Let the scheduler drop what is still computed."""
        for each in self.sequences:
            each.cancelled = True

    async def events(self, scheduler: Scheduler) -> AsyncIterator[tuple[int, Event]]:
        """Yield (number of the sequence, event) until all have ended. Raises their errors."""
        left = len(self.sequences)
        try:
            while left:
                index, event = await self._events.get()
                if event.error is not None:
                    raise event.error
                left -= event.reason is not None
                yield index, event
        finally:
            self.cancel()

    async def collect(self, scheduler: Scheduler) -> list[Collected]:
        """What all sequences say in the end."""
        found = [Collected() for _ in self.sequences]
        async for index, event in self.events(scheduler):
            found[index].text += event.text
            found[index].scores += event.scores
            found[index].reason = event.reason
        return found

    def usage(self) -> dict[str, Any]:
        """The tokens that were used."""
        prompt = sum(map(len, self.prompts))
        generated = sum(len(each.generated) for each in self.sequences)
        first = self.sequences[:: self.generation.choices]
        return usage_of(prompt, generated, sum(each.reused for each in first))


ToolNames = list[str]


def choices_of(
    found: list[Collected], run: Run, responses: Responses, tools: ToolNames, before: list[str]
) -> list[dict[str, Any]]:
    """The choices of an answer. before: texts that are echoed, one for each prompt."""
    choices = []
    for index, each in enumerate(found):
        text, calls = find_tool_calls(each.text, tools) if tools else (each.text, [])
        text = before[index // run.generation.choices] + text if before else text
        scores = None if run.generation.scores is None else each.scores
        choices.append(responses.choice(index, text, each.reason or "stop", scores, calls))
    return choices


async def stream(
    run: Run, scheduler: Scheduler, responses: Responses, tools: ToolNames, before: list[str]
) -> AsyncIterator[bytes]:
    """Yield server-sent events. An answer with tools is sent in one piece, since its text may be
    a call."""
    for index in range(len(run.sequences)):
        text = before[index // run.generation.choices] if before else ""
        delta = {"role": "assistant", "content": ""} if responses.chat else {"content": text}
        if responses.chat or text:
            yield sent(responses.piece([responses.delta(index, delta)]))
    held = [Collected() for _ in run.sequences]
    try:
        async for index, event in run.events(scheduler):
            if tools:
                held[index].text += event.text
                held[index].scores += event.scores
                if event.reason is None:
                    continue
                delta, reason = _delta_with_calls(held[index].text, tools, event.reason)
                scores = held[index].scores
            else:
                delta, reason = {"content": event.text}, event.reason
                scores = list(event.scores)
            yield sent(responses.piece([responses.delta(index, delta, reason, scores)]))
    except Exception as error:
        yield sent({"error": {"message": str(error), "type": "server_error"}})
        return
    if run.generation.usage_in_stream:
        yield sent(responses.piece([], run.usage()))
    yield b"data: [DONE]\n\n"


def _delta_with_calls(text: str, tools: ToolNames, reason: str) -> tuple[dict[str, Any], str]:
    text, calls = find_tool_calls(text, tools)
    if not calls:
        return {"content": text}, reason
    numbered = [{"index": n, **call} for n, call in enumerate(calls)]
    return {"content": text or None, "tool_calls": numbered}, "tool_calls"


def sent(found: dict[str, Any]) -> bytes:
    """An object as a server-sent event."""
    return b"data: " + json.dumps(found).encode() + b"\n\n"


async def unless_gone(receive: Callable[[], Awaitable[Any]], work: Awaitable[Any]) -> Any:
    """The result of `work`, or None as soon as the client goes away."""
    task = asyncio.ensure_future(work)
    gone = asyncio.ensure_future(_gone(receive))
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        return task.result() if task.done() else None
    finally:
        for each in (task, gone):
            each.cancel()
        await asyncio.gather(task, gone, return_exceptions=True)


async def _gone(receive: Callable[[], Awaitable[Any]]) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
