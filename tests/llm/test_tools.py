"""Tool calls in the forms that models write, and texts that are none."""

import json

import pytest

from weft_llm.server.tools import find_tool_calls, schema_of_call

CALL = {"name": "f", "arguments": {"a": 1}}
WRITTEN = {
    "tagged": ("<tool_call>\n%s\n</tool_call>", ""),
    "tagged with text": ("Let me see. <tool_call>%s</tool_call>", "Let me see."),
    "tagged, cut": ("<tool_call>%s", ""),
    "mistral": ("[TOOL_CALLS] [%s]", ""),
    "alone": ("%s", ""),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_calls_are_found(name):
    form, text = WRITTEN[name]
    found, calls = find_tool_calls(form % json.dumps(CALL), ["f", "g"])
    assert found == text and len(calls) == 1
    assert calls[0]["function"]["name"] == "f" and calls[0]["id"].startswith("call_")
    assert json.loads(calls[0]["function"]["arguments"]) == {"a": 1}


def test_several_calls_are_found():
    text = "<tool_call>{0}</tool_call><tool_call>{0}</tool_call>".format(json.dumps(CALL))
    assert len(find_tool_calls(text, ["f"])[1]) == 2
    parameters = json.dumps([{"name": "f", "parameters": {}}] * 3)
    assert len(find_tool_calls(parameters, ["f"])[1]) == 3


@pytest.mark.parametrize(
    "text",
    [
        "hello", "{", "[]", "3", '{"name": "other"}', '{"name": "f", "arguments": 3}',
        "<tool_call>hm</tool_call>", '{"name": ["f"]}', "[TOOL_CALLS] x", "[" * 100_000,
    ],
)  # fmt: skip
def test_other_texts_stay(text):
    assert find_tool_calls(text, ["f"]) == (text, [])


def test_the_schema_of_a_call():
    tools = [{"function": {"name": "f"}}, {"function": {"name": "g", "parameters": {"type": "x"}}}]
    one = schema_of_call(tools, {"name": "g"})
    assert one["properties"]["name"] == {"const": "g"}
    assert one["properties"]["arguments"] == {"type": "x"}
    assert len(schema_of_call(tools, "required")["anyOf"]) == 2
