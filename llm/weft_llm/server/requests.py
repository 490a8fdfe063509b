"""Requests of OpenAI's API: bodies in JSON, checked field by field."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from weft.base.errors import ArgumentError
from weft_llm.sampling import Sampling

MOST_CHOICES, MOST_SCORES, MOST_STOPS, MOST_TEXTS = 8, 20, 16, 64
_ROLES = ("system", "developer", "user", "assistant", "tool", "function")


class BadRequest(Exception):
    """A request that is refused: the message, the field, and a code."""

    def __init__(self, message: str, field: str | None = None, code: str | None = None) -> None:
        super().__init__(message)
        self.message, self.field, self.code = message, field, code


@dataclass(frozen=True)
class Generation:
    """What a request asks for, apart from its prompt."""

    model: str | None
    limit: int | None
    sampling: Sampling
    stops: tuple[str, ...]
    choices: int
    scores: int | None
    stream: bool
    usage_in_stream: bool
    ignore_end: bool


@dataclass(frozen=True)
class ChatRequest:
    """A body of /v1/chat/completions."""

    generation: Generation
    messages: list[dict[str, Any]]
    tools: list[dict[str, Any]] = field(default_factory=list)
    tool_choice: Any = "auto"
    schema: dict[str, Any] | None = None


@dataclass(frozen=True)
class CompletionRequest:
    """A body of /v1/completions; prompts are texts or tokens."""

    generation: Generation
    prompts: list[str | list[int]]
    echo: bool = False


@dataclass(frozen=True)
class EmbeddingRequest:
    """A body of /v1/embeddings."""

    model: str | None
    texts: list[str]
    base64: bool


def parse_body(body: bytes) -> dict[str, Any]:
    """The object in a body. Raises BadRequest."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise BadRequest(f"the body is no JSON: {str(error)[:200]}") from error
    if not isinstance(found, dict):
        raise BadRequest("the body is no JSON object")
    return found


def chat_request(body: Mapping[str, Any]) -> ChatRequest:
    """Check a body of /v1/chat/completions. Raises BadRequest."""
    messages = _list(body, "messages", 1, 4096)
    tools = _list(body, "tools", 0, 128) if body.get("tools") is not None else []
    for tool in tools:
        _check_tool(tool)
    wanted = _bool(body, "logprobs", False)
    top = _integer(body, "top_logprobs", 0, MOST_SCORES)
    if top is not None and not wanted:
        raise BadRequest("top_logprobs needs logprobs", "top_logprobs")
    return ChatRequest(
        _generation(body, (top or 0) if wanted else None),
        [_message(each) for each in messages],
        tools,
        _tool_choice(body.get("tool_choice", "auto"), tools),
        _schema(body.get("response_format")),
    )


def completion_request(body: Mapping[str, Any]) -> CompletionRequest:
    """Check a body of /v1/completions. Raises BadRequest."""
    prompt = body.get("prompt")
    if isinstance(prompt, str) or _is_tokens(prompt):
        prompts: list[Any] = [prompt]
    else:
        prompts = _list(body, "prompt", 1, MOST_TEXTS)
    for each in prompts:
        if not isinstance(each, str) and not _is_tokens(each):
            raise BadRequest("prompt is a text, a list of tokens, or a list of those", "prompt")
        if isinstance(each, str):
            _check_text(each, "prompt")
    for name in ("suffix", "best_of"):
        if body.get(name) not in (None, "", 1):
            raise BadRequest(f"{name} is not supported", name)
    scores = _integer(body, "logprobs", 0, MOST_SCORES)
    return CompletionRequest(_generation(body, scores), prompts, _bool(body, "echo", False))


def embedding_request(body: Mapping[str, Any]) -> EmbeddingRequest:
    """Check a body of /v1/embeddings. Raises BadRequest."""
    given = body.get("input")
    texts = [given] if isinstance(given, str) else _list(body, "input", 1, MOST_TEXTS)
    for each in texts:
        if not isinstance(each, str) or not each:
            raise BadRequest("input is a text or a list of texts, none empty", "input")
        _check_text(each, "input")
    form = body.get("encoding_format", "float")
    if form not in ("float", "base64"):
        raise BadRequest("encoding_format is float or base64", "encoding_format")
    if body.get("dimensions") is not None:
        raise BadRequest("dimensions is not supported", "dimensions")
    return EmbeddingRequest(_model(body), texts, form == "base64")


def _generation(body: Mapping[str, Any], scores: int | None) -> Generation:
    longest = "max_completion_tokens" if "max_completion_tokens" in body else "max_tokens"
    options = body.get("stream_options") or {}
    if not isinstance(options, dict):
        raise BadRequest("stream_options is an object", "stream_options")
    return Generation(
        _model(body),
        _integer(body, longest, 1, 1 << 30),
        _sampling(body),
        _stops(body.get("stop")),
        _integer(body, "n", 1, MOST_CHOICES) or 1,
        scores,
        _bool(body, "stream", False),
        _bool(options, "include_usage", False),
        _bool(body, "ignore_eos", False),
    )


def _model(body: Mapping[str, Any]) -> str | None:
    model = body.get("model")
    if model is not None and not isinstance(model, str):
        raise BadRequest("model is a text", "model")
    return model


def _sampling(body: Mapping[str, Any]) -> Sampling:
    defaults = {"temperature": 1.0, "top_p": 1.0}
    names = ("temperature", "top_k", "top_p", "min_p", "repetition_penalty", "frequency_penalty",
             "presence_penalty")  # fmt: skip
    given = {name: body[name] for name in names if body.get(name) is not None}
    seed = _integer(body, "seed", -(1 << 63), (1 << 64) - 1)
    if body.get("logit_bias"):
        raise BadRequest("logit_bias is not supported", "logit_bias")
    try:
        return Sampling(**{**defaults, **given}, seed=seed)
    except ArgumentError as error:
        name = (error.asked or "").partition("=")[0] or None
        raise BadRequest(f"{error.summary}: {error.because}", name) from error


def _stops(given: Any) -> tuple[str, ...]:
    found = [] if given is None else [given] if isinstance(given, str) else given
    if not isinstance(found, list) or len(found) > MOST_STOPS:
        raise BadRequest(f"stop is a text, or a list of up to {MOST_STOPS}", "stop")
    for each in found:
        if not isinstance(each, str) or not each or len(each) > 1000:
            raise BadRequest("stop strings are texts of 1 to 1000 characters", "stop")
        _check_text(each, "stop")
    return tuple(found)


def _message(given: Any) -> dict[str, Any]:
    """A message whose content is one text."""
    if not isinstance(given, dict) or given.get("role") not in _ROLES:
        raise BadRequest(f"each message is an object with a role of {_ROLES}", "messages")
    content = given.get("content")
    if isinstance(content, list):
        parts = [part.get("text") if isinstance(part, dict) else None for part in content]
        if not all(isinstance(part, str) for part in parts):
            raise BadRequest("parts of a content are texts: the model reads no images", "messages")
        content = "".join(map(str, parts))
    calls = given.get("tool_calls")
    if content is None and calls:
        content = ""
    if not isinstance(content, str):
        raise BadRequest("the content of a message is a text", "messages")
    _check_text(content, "messages")
    if calls is not None and not isinstance(calls, list):
        raise BadRequest("tool_calls is a list", "messages")
    role = "system" if given["role"] == "developer" else given["role"]
    kept = {key: given[key] for key in ("name", "tool_calls", "tool_call_id") if given.get(key)}
    return {**kept, "role": role, "content": content}


def _check_tool(tool: Any) -> None:
    function = tool.get("function") if isinstance(tool, dict) else None
    if not isinstance(function, dict) or tool.get("type") != "function":
        raise BadRequest("each tool is an object of the type function", "tools")
    if not isinstance(function.get("name"), str) or not function["name"]:
        raise BadRequest("each function has a name", "tools")
    if not isinstance(function.get("parameters", {}), dict):
        raise BadRequest("the parameters of a function are a JSON schema", "tools")


def _tool_choice(given: Any, tools: list[dict[str, Any]]) -> Any:
    names = [tool["function"]["name"] for tool in tools]
    if given is None or given in ("auto", "none"):
        return given or "auto"
    if given == "required" and tools:
        return given
    function = given.get("function") if isinstance(given, dict) else None
    name = function.get("name") if isinstance(function, dict) else None
    if name not in names:
        raise BadRequest("tool_choice is auto, none, required, or names a tool", "tool_choice")
    return name if isinstance(name, dict) else {"name": name}


def _schema(given: Any) -> dict[str, Any] | None:
    if given is None:
        return None
    kind = given.get("type") if isinstance(given, dict) else None
    if kind == "text":
        return None
    if kind == "json_object":
        return {"type": "object"}
    inner = given.get("json_schema") if kind == "json_schema" else None
    schema = inner.get("schema") if isinstance(inner, dict) else None
    if not isinstance(schema, dict):
        raise BadRequest(
            "response_format is text, json_object, or json_schema with a schema", "response_format"
        )
    return schema


def _is_tokens(given: Any) -> bool:
    return isinstance(given, list) and bool(given) and all(type(each) is int for each in given)


def _check_text(text: str, name: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise BadRequest(f"{name} has half of a surrogate pair", name) from error


def _list(body: Mapping[str, Any], name: str, least: int, most: int) -> list[Any]:
    found = body.get(name)
    if not isinstance(found, list) or not least <= len(found) <= most:
        raise BadRequest(f"{name} is a list of {least} to {most} elements", name)
    return found


def _integer(body: Mapping[str, Any], name: str, least: int, most: int) -> int | None:
    found = body.get(name)
    if found is None:
        return None
    if type(found) is not int or not least <= found <= most:
        raise BadRequest(f"{name} is an integer from {least} to {most}", name)
    return found


def _bool(body: Mapping[str, Any], name: str, default: bool) -> bool:
    found = body.get(name)
    if found is None:
        return default
    if not isinstance(found, bool):
        raise BadRequest(f"{name} is true or false", name)
    return found
