"""Responses of OpenAI's API: objects of answers, and of the pieces of a stream."""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence as Items
from typing import Any

from weft_llm.server.sequence import TokenScore
from weft_llm.tokenizer import Tokenizer


class Responses:
    """Makes the objects of one request, which share an id, a time and a model."""

    def __init__(self, kind: str, model: str, tokenizer: Tokenizer) -> None:
        """kind: "chat" or "text"."""
        self.chat = kind == "chat"
        self._tokenizer = tokenizer
        prefix = "chatcmpl" if self.chat else "cmpl"
        self._common = {
            "id": f"{prefix}-{secrets.token_hex(12)}",
            "created": int(time.time()),
            "model": model,
        }

    def answer(self, choices: list[dict[str, Any]], usage: dict[str, int]) -> dict[str, Any]:
        """The object of a whole answer."""
        name = "chat.completion" if self.chat else "text_completion"
        return {**self._common, "object": name, "choices": choices, "usage": usage}

    def piece(
        self, choices: list[dict[str, Any]], usage: dict[str, int] | None = None
    ) -> dict[str, Any]:
        """The object of a piece of a stream."""
        name = "chat.completion.chunk" if self.chat else "text_completion"
        found = {**self._common, "object": name, "choices": choices}
        return found if usage is None else {**found, "usage": usage}

    def choice(
        self, index: int, text: str, reason: str, scores: Items[TokenScore] | None,
        calls: list[dict[str, Any]] | None = None,
    ) -> dict[str, Any]:  # fmt: skip
        """A whole choice. calls: tool calls, which replace the reason."""
        logprobs = None if scores is None else self.scores(scores)
        reason = "tool_calls" if calls else reason
        common = {"index": index, "finish_reason": reason, "logprobs": logprobs}
        if not self.chat:
            return {**common, "text": text}
        message: dict[str, Any] = {"role": "assistant", "content": text}
        if calls:
            message["content"] = text or None
            message["tool_calls"] = calls
        return {**common, "message": message}

    def delta(
        self, index: int, delta: dict[str, Any], reason: str | None = None,
        scores: Items[TokenScore] | None = None,
    ) -> dict[str, Any]:  # fmt: skip
        """A choice of a piece. delta: {"content": text}, and more for chats."""
        logprobs = self.scores(scores) if scores else None
        common = {"index": index, "finish_reason": reason, "logprobs": logprobs}
        if self.chat:
            return {**common, "delta": delta}
        return {**common, "text": delta.get("content", "")}

    def scores(self, scores: Items[TokenScore]) -> dict[str, Any]:
        """Log probabilities in the form of the endpoint."""
        if self.chat:
            return {"content": [self._chat_score(each) for each in scores], "refusal": None}
        pieces = [self._tokenizer.piece(each.token) for each in scores]
        offsets, at = [], 0
        for piece in pieces:
            offsets.append(at)
            at += len(piece)
        return {
            "tokens": pieces,
            "token_logprobs": [each.value for each in scores],
            "top_logprobs": [
                {self._tokenizer.piece(token): value for token, value in each.top}
                for each in scores
            ],
            "text_offset": offsets,
        }

    def _chat_score(self, score: TokenScore) -> dict[str, Any]:
        top = [self._token(token, value) for token, value in score.top]
        return {**self._token(score.token, score.value), "top_logprobs": top}

    def _token(self, token: int, value: float) -> dict[str, Any]:
        piece = self._tokenizer.piece(token)
        return {"token": piece, "logprob": value, "bytes": list(piece.encode())}


def usage_of(prompt: int, generated: int, reused: int = 0) -> dict[str, Any]:
    """The object of the tokens that were used."""
    return {
        "prompt_tokens": prompt,
        "completion_tokens": generated,
        "total_tokens": prompt + generated,
        "prompt_tokens_details": {"cached_tokens": reused},
    }


def error_body(
    message: str, kind: str, field: str | None = None, code: str | None = None
) -> dict[str, Any]:
    """The object of an error."""
    return {"error": {"message": message, "type": kind, "param": field, "code": code}}
