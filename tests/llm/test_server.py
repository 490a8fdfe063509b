"""The server through the client of OpenAI and through plain HTTP."""

import base64
import json
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

httpx = pytest.importorskip("httpx", reason="httpx is not installed")
openai = pytest.importorskip("openai", reason="openai is not installed")
uvicorn = pytest.importorskip("uvicorn", reason="uvicorn is not installed")
pytest.importorskip("starlette", reason="starlette is not installed")

from contextlib import contextmanager  # noqa: E402

from weft_llm.server.app import create_app  # noqa: E402

CHAT = {"messages": [{"role": "user", "content": "the fox"}], "max_tokens": 6, "temperature": 0}
TOOL = {
    "type": "function",
    "function": {
        "name": "weather",
        "parameters": {
            "type": "object",
            "properties": {"city": {"enum": ["Rome", "Oslo"]}},
            "required": ["city"],
            "additionalProperties": False,
        },
    },
}


@contextmanager
def served(model, **settings):
    """A server on a free port: (address, application)."""
    app = create_app(model, "small", **settings)
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error", lifespan="on"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}", app
    finally:
        server.should_exit = True
        thread.join(60)
        assert not thread.is_alive()


@pytest.fixture(scope="module")
def server(small_model):
    with served(small_model, queue=256) as found:
        yield found


@pytest.fixture(scope="module")
def client(server):
    with openai.OpenAI(base_url=f"{server[0]}/v1", api_key="none", max_retries=0) as found:
        yield found


def post(server, path, body, **settings):
    return httpx.post(f"{server[0]}/v1/{path}", json=body, timeout=120, **settings)


def until_idle(app):
    """Wait until the scheduler has nothing to do."""
    scheduler = app.state.scheduler
    end = time.monotonic() + 60
    while scheduler.running or scheduler.waiting:
        assert time.monotonic() < end, "sequences are still computed"
        time.sleep(0.02)
    return scheduler


def test_a_chat_is_answered_as_the_model_does(client, small_model):
    found = client.chat.completions.create(model="small", **CHAT)
    expected = small_model.generate(CHAT["messages"], max_tokens=6)
    assert found.choices[0].message.content == expected
    assert found.usage.completion_tokens <= 6
    assert found.usage.prompt_tokens == len(small_model.prompt_tokens(CHAT["messages"]))


def test_a_stream_gives_the_same_text(client):
    whole = client.chat.completions.create(model="small", **CHAT).choices[0].message.content
    options = {"include_usage": True}
    pieces = list(
        client.chat.completions.create(model="small", stream=True, stream_options=options, **CHAT)
    )
    text = "".join(p.choices[0].delta.content or "" for p in pieces if p.choices)
    assert text == whole
    assert pieces[-1].usage.completion_tokens > 0
    assert [p.choices[0].finish_reason for p in pieces if p.choices][-1] in ("stop", "length")


def test_completions_take_texts_and_tokens(client, small_model):
    tokens = small_model.tokenizer.encode("the dog")
    found = client.completions.create(
        model="small", prompt="the dog", max_tokens=5, temperature=0, echo=True
    )
    same = client.completions.create(model="small", prompt=tokens, max_tokens=5, temperature=0)
    assert found.choices[0].text == "the dog" + same.choices[0].text


def test_several_prompts_and_choices_are_numbered(client):
    found = client.completions.create(
        model="small", prompt=["a", "b"], n=2, max_tokens=3, seed=1, temperature=1.5
    )
    assert [each.index for each in found.choices] == [0, 1, 2, 3]


def test_seeds_do_not_depend_on_the_batch(client):
    settings = {"model": "small", "prompt": "the lazy", "max_tokens": 8, "seed": 5}
    alone = client.completions.create(**settings).choices[0].text
    with ThreadPoolExecutor(4) as pool:
        others = pool.map(
            lambda n: client.completions.create(model="small", prompt=f"fox {n}", max_tokens=8),
            range(3),
        )
        beside = client.completions.create(**settings).choices[0].text
        list(others)
    assert beside == alone


def test_log_probabilities_are_of_the_chosen_tokens(client):
    found = client.chat.completions.create(model="small", logprobs=True, top_logprobs=3, **CHAT)
    for each in found.choices[0].logprobs.content:
        assert each.logprob == pytest.approx(each.top_logprobs[0].logprob)  # greedy
        assert len(each.top_logprobs) == 3 and each.logprob <= 0
    text = client.completions.create(model="small", prompt="a", max_tokens=3, logprobs=2)
    assert len(text.choices[0].logprobs.token_logprobs) == 3


def test_stop_strings_end_an_answer(client):
    settings = {"model": "small", "prompt": "the fox", "max_tokens": 12, "temperature": 0}
    text = client.completions.create(**settings).choices[0].text
    found = client.completions.create(stop=text[2:4], **settings).choices[0]
    assert found.text == text[: text.index(text[2:4])] and found.finish_reason == "stop"


def test_embeddings_are_those_of_the_model(client, small_model):
    found = client.embeddings.create(model="small", input=["the fox", "a"])
    expected = small_model.embed(["the fox", "a"])
    np.testing.assert_allclose([each.embedding for each in found.data], expected, rtol=1e-4)


def test_embeddings_are_written_in_base64(server):
    found = post(server, "embeddings", {"input": "a", "encoding_format": "base64"}).json()
    raw = base64.b64decode(found["data"][0]["embedding"])
    assert np.frombuffer(raw, "<f4").shape == (32,)


def test_models_and_health_are_listed(server, client):
    assert [each.id for each in client.models.list()] == ["small"]
    assert client.models.retrieve("small").id == "small"
    assert httpx.get(f"{server[0]}/health").json() == {"status": "ok"}
    assert "weft_llm_steps_total" in httpx.get(f"{server[0]}/metrics").text


def test_output_follows_a_schema(client):
    pytest.importorskip("llguidance", reason="llguidance is not installed")
    schema = {
        "type": "object",
        "properties": {"kind": {"enum": ["x", "yy"]}, "sure": {"type": "boolean"}},
        "required": ["kind", "sure"],
        "additionalProperties": False,
    }
    found = client.chat.completions.create(
        model="small", messages=CHAT["messages"], max_tokens=80, seed=1,
        response_format={"type": "json_schema", "json_schema": {"name": "s", "schema": schema}},
    )  # fmt: skip
    value = json.loads(found.choices[0].message.content)
    assert value["kind"] in ("x", "yy") and isinstance(value["sure"], bool)


@pytest.mark.parametrize("streams", [False, True])
def test_a_tool_is_called(client, streams):
    pytest.importorskip("llguidance", reason="llguidance is not installed")
    found = client.chat.completions.create(
        model="small", messages=CHAT["messages"], max_tokens=120, tools=[TOOL], seed=2,
        tool_choice="required", stream=streams,
    )  # fmt: skip
    if streams:
        last = list(found)[-1].choices[0]
        calls = last.delta.tool_calls
    else:
        last = found.choices[0]
        calls = last.message.tool_calls
    assert last.finish_reason == "tool_calls"
    assert calls[0].function.name == "weather"
    assert json.loads(calls[0].function.arguments)["city"] in ("Rome", "Oslo")


def test_thirty_two_clients_get_their_own_answers(client, server):
    settings = {"model": "small", "max_tokens": 10, "temperature": 0}
    prompts = [f"the quick fox number {n}" for n in range(4)]
    alone = [client.completions.create(prompt=p, **settings).choices[0].text for p in prompts]
    with ThreadPoolExecutor(32) as pool:
        found = list(
            pool.map(
                lambda n: client.completions.create(prompt=prompts[n % 4], **settings), range(64)
            )
        )
    assert [each.choices[0].text for each in found] == [alone[n % 4] for n in range(64)]
    assert until_idle(server[1]).table.used == 0


def test_beginnings_of_prompts_are_reused(client, server):
    prompt = "the quick brown fox jumps over the lazy dog " * 3
    settings = {"model": "small", "max_tokens": 4, "temperature": 0}
    first = client.completions.create(prompt=prompt, **settings)
    second = client.completions.create(prompt=prompt, **settings)
    assert second.choices[0].text == first.choices[0].text
    assert second.usage.prompt_tokens_details.cached_tokens >= 32


def test_clients_that_go_away_are_dropped(server):
    address, app = server
    host, port = address.removeprefix("http://").split(":")
    body = json.dumps({**CHAT, "max_tokens": 150, "stream": True, "ignore_eos": True}).encode()
    head = (
        f"POST /v1/chat/completions HTTP/1.1\r\nHost: {host}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    for read in (1, 400):
        with socket.create_connection((host, int(port))) as connection:
            connection.sendall(head.encode() + body)
            connection.recv(read)
    whole = body.replace(b'"stream": true', b'"stream": false')
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(head.replace(str(len(body)), str(len(whole))).encode() + whole)
        time.sleep(0.05)
    assert until_idle(app).table.used == 0
    assert post(server, "chat/completions", CHAT).status_code == 200


def test_half_a_body_leaves_the_server_alive(server):
    host, port = server[0].removeprefix("http://").split(":")
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(
            b"POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            b"Content-Length: 100\r\n\r\n{"
        )
    assert post(server, "chat/completions", CHAT).status_code == 200


def test_full_queues_refuse_requests(small_model):
    with served(small_model, parallel=1, queue=1) as server:
        body = {**CHAT, "max_tokens": 60, "ignore_eos": True}
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(lambda _: post(server, "chat/completions", body), range(8)))
        codes = {each.status_code for each in found}
        assert codes == {200, 429}
        assert all("retry-after" in each.headers for each in found if each.status_code == 429)


def test_sequences_share_too_few_pages(small_model):
    with served(small_model, parallel=4, cache_tokens=288) as server:
        body = {"prompt": "the quick brown", "max_tokens": 150, "temperature": 0,
                "ignore_eos": True}  # fmt: skip
        alone = post(server, "completions", body).json()["choices"][0]["text"]
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda _: post(server, "completions", body).json(), range(4)))
        assert [each["choices"][0]["text"] for each in found] == [alone] * 4
        scheduler = until_idle(server[1])
        assert scheduler.metrics.value("preempted") > 0 and scheduler.table.used == 0


def test_a_key_is_asked_for(small_model):
    with served(small_model, key="secret") as server:
        assert httpx.get(f"{server[0]}/health").status_code == 200
        assert httpx.get(f"{server[0]}/v1/models").status_code == 401
        wrong = {"Authorization": "Bearer wrong"}
        assert httpx.get(f"{server[0]}/v1/models", headers=wrong).status_code == 401
        right = {"Authorization": "Bearer secret"}
        assert httpx.get(f"{server[0]}/v1/models", headers=right).status_code == 200
