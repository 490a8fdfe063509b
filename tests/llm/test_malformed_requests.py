"""Malformed requests are refused with a status of 4xx and an error object; the server lives."""

import pytest

pytest.importorskip("httpx", reason="httpx is not installed")
pytest.importorskip("starlette", reason="starlette is not installed")

from starlette.testclient import TestClient

from weft_llm.server.app import create_app

MESSAGES = [{"role": "user", "content": "hi"}]
CHAT, TEXT, EMBED = "chat/completions", "completions", "embeddings"
GOOD = {CHAT: {"messages": MESSAGES}, TEXT: {"prompt": "hi"}, EMBED: {"input": "hi"}}
WRONG = {
    "max_tokens": [0, -1, "3", 1.5, True, [], {}, 1 << 60],
    "temperature": [-1, "hot", [], 1e9, True],
    "top_p": [-0.1, 1.1, "x", {}],
    "top_k": [-1, "x", []],
    "min_p": [-1, 2, "x"],
    "frequency_penalty": ["x", 1e9, []],
    "presence_penalty": ["x", -1e9, {}],
    "repetition_penalty": [0, -1, "x"],
    "seed": ["x", 1.5, 1 << 70, []],
    "stop": [3, [3], [""], "", ["a"] * 17, {}, ["a" * 1001], "\ud800"],
    "n": [0, -1, 9, "x", 1.5],
    "stream": ["yes", 1, []],
    "stream_options": [3, "x", {"include_usage": 3}],
    "model": [3, [], "other", {}],
    "logit_bias": [{"1": 2}],
    "ignore_eos": [3, "x"],
}
ONLY = {
    CHAT: {
        "messages": [
            None, [], {}, "x", [3], [None], [{}], [{"role": "user"}], [{"content": "x"}],
            [{"role": "cat", "content": "x"}], [{"role": 3, "content": "x"}],
            [{"role": "user", "content": 3}], [{"role": "user", "content": None}],
            [{"role": "user", "content": [3]}], [{"role": "user", "content": [{"type": "text"}]}],
            [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}],
            [{"role": "user", "content": "\ud800"}], [{"role": "user", "content": "a " * 3000}],
            [{"role": "assistant", "tool_calls": 3, "content": "x"}], MESSAGES * 5000,
        ],
        "tools": [
            3, [3], [{}], [{"type": "x"}], [{"type": "function"}],
            [{"type": "function", "function": {}}],
            [{"type": "function", "function": {"name": ""}}],
            [{"type": "function", "function": {"name": "f", "parameters": 3}}],
        ],
        "tool_choice": ["required", "x", 3, {}, {"function": 3}, {"function": {"name": "no"}}],
        "response_format": [
            3, "json", {}, {"type": "x"}, {"type": "json_schema"},
            {"type": "json_schema", "json_schema": 3},
            {"type": "json_schema", "json_schema": {"schema": 3}},
            {"type": "json_schema", "json_schema": {"schema": {"type": "nothing"}}},
            {"type": "json_schema", "json_schema": {"schema": {"$ref": "http://x.y/z"}}},
        ],
        "top_logprobs": [3, "x", -1], "logprobs": [3, "x"],
    },
    TEXT: {
        "prompt": [
            None, 3, {}, [], [[]], [3.5], [[3.5]], ["a", 3], [True], ["a"] * 65, [-1], [1 << 40],
            [[10**6]], "a " * 3000, "\ud800", [{}],
        ],
        "logprobs": [-1, 21, "x", True], "echo": [3, "x"], "suffix": ["x", 3],
        "best_of": [2, "x"],
    },
    EMBED: {
        "input": [None, 3, {}, [], [3], [""], "", ["a"] * 65, "\ud800", "a " * 3000, [[1]]],
        "encoding_format": ["x", 3, []], "dimensions": [3, "x"], "model": [3, "other"],
    },
}  # fmt: skip
BODIES = [
    b"", b"{", b"[]", b"3", b"null", b'"x"', b"{'a': 1}", b"\xff\xfe", b"{}", b'{"messages": }',
    b"[" * 100_000, b'{"a":' * 50_000, b'{"messages": 1e999}', b"9" * 5000,
    b'{"seed": ' + b"9" * 5000 + b"}", b"\x00" * 100,
]  # fmt: skip


def cases():
    for path in (CHAT, TEXT):
        for name, values in WRONG.items():
            for value in values:
                yield path, {**GOOD[path], name: value}
    for path, fields in ONLY.items():
        for name, values in fields.items():
            for value in values:
                yield path, {**GOOD[path], name: value}


@pytest.fixture(scope="module")
def client(small_model):
    with TestClient(create_app(small_model, "small"), raise_server_exceptions=False) as found:
        yield found


def check(response):
    assert 400 <= response.status_code < 500, response.text[:300]
    error = response.json()["error"]
    assert error["message"] and error["type"]


def test_wrong_fields_are_refused(client):
    pytest.importorskip("llguidance", reason="llguidance is not installed")
    import json

    tried = list(cases())
    assert len(tried) >= 200
    kept = []
    for path, body in tried:
        data = json.dumps(body)
        response = client.post(
            f"/v1/{path}", content=data, headers={"Content-Type": "application/json"}
        )
        if not 400 <= response.status_code < 500:
            kept.append((path, data[:200], response.status_code, response.text[:200]))
            continue
        check(response)
    assert kept == []
    good = client.post(f"/v1/{CHAT}", json={**GOOD[CHAT], "max_tokens": 2})
    assert good.status_code == 200


@pytest.mark.parametrize("number", range(len(BODIES)))
@pytest.mark.parametrize("path", [CHAT, TEXT, EMBED])
def test_wrong_bodies_are_refused(client, path, number):
    headers = {"Content-Type": "application/json"}
    check(client.post(f"/v1/{path}", content=BODIES[number], headers=headers))


def test_wrong_methods_paths_and_kinds_are_refused(client):
    check(client.get(f"/v1/{CHAT}"))
    check(client.post("/v1/models"))
    check(client.get("/nothing"))
    check(client.get("/v1/models/other"))
    check(client.post(f"/v1/{CHAT}", content=b"{}", headers={"Content-Type": "text/plain"}))
    assert client.post(f"/v1/{CHAT}", content=b"{}").status_code == 415


def test_large_bodies_are_refused(client):
    headers = {"Content-Type": "application/json"}
    response = client.post(f"/v1/{CHAT}", content=b" " * (5 << 20), headers=headers)
    assert response.status_code == 413
