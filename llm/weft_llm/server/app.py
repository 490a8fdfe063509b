"""The ASGI application: endpoints, errors, limits of bodies, API keys."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hmac
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import numpy as np
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from weft.base.errors import CapabilityError, WeftError
from weft_llm.server import requests
from weft_llm.server.answers import Run, choices_of, stream, unless_gone
from weft_llm.server.constraints import ConstraintMaker
from weft_llm.server.metrics import Metrics
from weft_llm.server.requests import BadRequest, ChatRequest, Generation
from weft_llm.server.responses import Responses, error_body
from weft_llm.server.scheduler import QueueFull, Scheduler
from weft_llm.server.tools import schema_of_call

_LARGEST_BODY = 4 << 20
_CLOSED = 499  # the client went away: nobody reads it


class Service:
    """The endpoints of one model."""

    def __init__(self, model: Any, name: str, scheduler: Scheduler, metrics: Metrics) -> None:
        self.model, self.name, self.scheduler, self.metrics = model, name, scheduler, metrics
        self.created = int(time.time())
        self.constraints = ConstraintMaker(model.tokenizer, model.config.vocab_size)

    # ---- endpoints ----------------------------------------------------------------------------

    async def health(self, request: Request) -> Response:
        """Whether the server answers."""
        return JSONResponse({"status": "ok"})

    async def show_metrics(self, request: Request) -> Response:
        """Counters for Prometheus."""
        return PlainTextResponse(self.metrics.text(self.scheduler.gauges()))

    async def models(self, request: Request) -> Response:
        """The list of the one model."""
        return JSONResponse({"object": "list", "data": [self._model()]})

    async def one_model(self, request: Request) -> Response:
        """The model of a name."""
        self._check_model(request.path_params["name"])
        return JSONResponse(self._model())

    async def chat(self, request: Request) -> Response:
        """/v1/chat/completions."""
        wanted = requests.chat_request(requests.parse_body(await _body(request)))
        self._check_model(wanted.generation.model)
        tools = [] if wanted.tool_choice == "none" else wanted.tools
        tokens = await run_in_threadpool(self._chat_tokens, wanted, tools)
        run = self._run([tokens], wanted.generation)
        schema = wanted.schema
        if wanted.tool_choice not in ("auto", "none"):
            schema = schema_of_call(tools, wanted.tool_choice)
        if schema is not None:
            await run_in_threadpool(run.constrain, lambda: self.constraints.for_schema(schema))
        names = [tool["function"]["name"] for tool in tools]
        return await self._answer(request, run, "chat", names, [])

    async def completion(self, request: Request) -> Response:
        """/v1/completions."""
        wanted = requests.completion_request(requests.parse_body(await _body(request)))
        self._check_model(wanted.generation.model)
        prompts = await run_in_threadpool(self._prompts, wanted.prompts)
        run = self._run(prompts, wanted.generation)
        before = [self.model.tokenizer.decode(each) for each in prompts] if wanted.echo else []
        return await self._answer(request, run, "text", [], before)

    async def embedding(self, request: Request) -> Response:
        """/v1/embeddings."""
        wanted = requests.embedding_request(requests.parse_body(await _body(request)))
        self._check_model(wanted.model)
        tokenizer, longest = self.model.tokenizer, self.model.config.max_position_embeddings
        counts = await run_in_threadpool(
            lambda: [len(tokenizer.encode_pair(text)) for text in wanted.texts]
        )
        self._check_length(max(counts), longest + 1)
        vectors = await asyncio.wrap_future(
            self.scheduler.call(lambda: self.model.embed(wanted.texts))
        )
        data = [
            {"object": "embedding", "index": n, "embedding": _written(each, wanted.base64)}
            for n, each in enumerate(vectors)
        ]
        usage = {"prompt_tokens": sum(counts), "total_tokens": sum(counts)}
        return JSONResponse({"object": "list", "data": data, "model": self.name, "usage": usage})

    # ---- parts --------------------------------------------------------------------------------

    def _model(self) -> dict[str, Any]:
        return {
            "id": self.name, "object": "model", "created": self.created, "owned_by": "weft",
            "context_length": self.model.context,
        }  # fmt: skip

    def _check_model(self, name: str | None) -> None:
        if name is not None and name != self.name:
            raise HTTPException(404, f"the model {name!r} is not served; {self.name!r} is")

    def _check_length(self, tokens: int, most: int) -> None:
        if tokens >= most:
            raise BadRequest(
                f"{tokens} tokens are too many: the context has {most}",
                "messages",
                "context_length_exceeded",
            )

    def _chat_tokens(self, wanted: ChatRequest, tools: list[dict[str, Any]]) -> list[int]:
        text = self.model.template.render(wanted.messages, tools)
        tokens: list[int] = self.model.prompt_start(text)
        return tokens

    def _prompts(self, prompts: list[str | list[int]]) -> list[list[int]]:
        found = []
        for each in prompts:
            tokens = self.model.prompt_start(each) if isinstance(each, str) else each
            if not all(0 <= token < self.model.config.vocab_size for token in tokens):
                raise BadRequest("a token of the prompt is none of the model's", "prompt")
            found.append(tokens)
        return found

    def _run(self, prompts: list[list[int]], generation: Generation) -> Run:
        self.model.check_generates()
        for tokens in prompts:
            self._check_length(len(tokens), self.model.context)
        return Run(prompts, generation, self.model.tokenizer, self.model.context)

    async def _answer(
        self, request: Request, run: Run, kind: str, tools: list[str], before: list[str]
    ) -> Response:
        self.scheduler.submit(run.sequences)
        self.metrics.add("requests")
        responses = Responses(kind, self.name, self.model.tokenizer)
        if run.generation.stream:
            pieces = stream(run, self.scheduler, responses, tools, before)
            headers = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
            return StreamingResponse(pieces, media_type="text/event-stream", headers=headers)
        found = await unless_gone(request.receive, run.collect(self.scheduler))
        if found is None:
            return Response(status_code=_CLOSED)
        choices = choices_of(found, run, responses, tools, before)
        return JSONResponse(responses.answer(choices, run.usage()))


def _written(vector: np.ndarray, as_base64: bool) -> Any:
    if as_base64:
        return base64.b64encode(vector.astype("<f4").tobytes()).decode()
    return vector.astype(float).tolist()


async def _body(request: Request) -> bytes:
    """The body of a request. Raises HTTPException for one that is too large or no JSON."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise HTTPException(415, "the body is not declared as application/json")
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > _LARGEST_BODY:
            raise HTTPException(413, f"the body has more than {_LARGEST_BODY} bytes")
    return bytes(body)


# ---- errors -------------------------------------------------------------------------------------

_KINDS = {401: "authentication_error", 404: "not_found_error", 429: "rate_limit_error"}


def _failure(status: int, message: str, field: str | None = None, code: str | None = None) -> Any:
    kind = _KINDS.get(status, "invalid_request_error" if status < 500 else "server_error")
    headers = {"Retry-After": "1"} if status == 429 else None
    return JSONResponse(error_body(message, kind, field, code), status, headers)


async def _bad_request(request: Request, error: Any) -> Response:
    return _failure(400, error.message, error.field, error.code)


async def _http_error(request: Request, error: Any) -> Response:
    return _failure(error.status_code, str(error.detail))


async def _weft_error(request: Request, error: Any) -> Response:
    missing = isinstance(error, CapabilityError)
    because = f": {error.because}" if error.because else ""
    return _failure(501 if missing else 400, f"{error.summary}{because}")


async def _any_error(request: Request, error: Exception) -> Response:
    return _failure(500, f"{type(error).__name__}: {error}"[:500])


async def _closed(request: Request, error: Exception) -> Response:
    return Response(status_code=_CLOSED)


# ---- the application ----------------------------------------------------------------------------


class _KeyCheck:
    """Refuse requests without the API key, except for /health."""

    def __init__(self, app: Any, key: str) -> None:
        self.app, self._key = app, b"Bearer " + key.encode()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http" or scope["path"] == "/health":
            await self.app(scope, receive, send)
            return
        given = dict(scope["headers"]).get(b"authorization", b"")
        if hmac.compare_digest(given, self._key):
            await self.app(scope, receive, send)
        else:
            await _failure(401, "the API key is missing or wrong")(scope, receive, send)


def create_app(
    model: Any, name: str, key: str | None = None, parallel: int = 8, queue: int = 64,
    cache_tokens: int | None = None,
) -> Any:  # fmt: skip
    """The ASGI application that serves a model under a name.

    key: requests need it as a bearer token. parallel: most sequences that are computed at once.
    queue: most that wait. cache_tokens: room for the tokens of all sequences.
    """
    metrics = Metrics()
    scheduler = Scheduler(model, metrics, parallel, queue, cache_tokens)
    service = Service(model, name, scheduler, metrics)

    async def queue_full(request: Request, error: Exception) -> Response:
        metrics.add("rejected")
        return _failure(429, "too many requests wait", code="queue_full")

    @contextlib.asynccontextmanager
    async def lifespan(app: Any) -> AsyncIterator[None]:
        scheduler.start()
        yield
        await run_in_threadpool(scheduler.stop)

    handlers: dict[Any, Callable[[Request, Any], Awaitable[Response]]] = {
        BadRequest: _bad_request, HTTPException: _http_error, WeftError: _weft_error,
        QueueFull: queue_full, ClientDisconnect: _closed, Exception: _any_error,
    }  # fmt: skip
    app = Starlette(routes=_routes(service), exception_handlers=handlers, lifespan=lifespan)
    app.state.scheduler = scheduler
    return app if key is None else _KeyCheck(app, key)


def _routes(service: Service) -> list[Route]:
    return [
        Route("/health", service.health),
        Route("/metrics", service.show_metrics),
        Route("/v1/models", service.models),
        Route("/v1/models/{name:path}", service.one_model),
        Route("/v1/chat/completions", service.chat, methods=["POST"]),
        Route("/v1/completions", service.completion, methods=["POST"]),
        Route("/v1/embeddings", service.embedding, methods=["POST"]),
    ]
