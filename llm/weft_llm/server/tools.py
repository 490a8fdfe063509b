"""Tool calls: find them in what a model writes, and constrain an answer to one.

Models write calls as Hermes and Qwen do, `<tool_call>{"name": ..., "arguments": ...}</tool_call>`,
as Mistral does, `[TOOL_CALLS] [{...}]`, or as a JSON object alone, as Llama 3 does.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Mapping, Sequence
from typing import Any

_TAGGED = re.compile(r"<tool_call>\s*(.*?)\s*(?:</tool_call>|\Z)", re.S)
_MISTRAL = "[TOOL_CALLS]"


def find_tool_calls(text: str, names: Sequence[str]) -> tuple[str, list[dict[str, Any]]]:
    """(text without calls, calls as OpenAI's API gives them). Only tools of these names count."""
    if "<tool_call>" in text:
        calls = [_call(part, names) for part in _TAGGED.findall(text)]
        if calls and all(calls):
            return _TAGGED.sub("", text).strip(), [call for call in calls if call]
        return text, []
    before, mark, after = text.partition(_MISTRAL)
    found = _calls_in(after if mark else text, names)
    if not found:
        return text, []
    return before.strip() if mark else "", found


def _calls_in(text: str, names: Sequence[str]) -> list[dict[str, Any]]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return []
    calls = [_formed(each, names) for each in (found if isinstance(found, list) else [found])]
    return [call for call in calls if call] if all(calls) else []


def _call(text: str, names: Sequence[str]) -> dict[str, Any] | None:
    found = _calls_in(text, names)
    return found[0] if len(found) == 1 else None


def _formed(found: Any, names: Sequence[str]) -> dict[str, Any] | None:
    if not isinstance(found, dict) or found.get("name") not in names:
        return None
    arguments = found.get("arguments", found.get("parameters", {}))
    if not isinstance(arguments, dict):
        return None
    return {
        "id": f"call_{secrets.token_hex(12)}",
        "type": "function",
        "function": {"name": found["name"], "arguments": json.dumps(arguments)},
    }


def schema_of_call(tools: Sequence[Mapping[str, Any]], choice: Any) -> dict[str, Any]:
    """The JSON schema of a call of one of the tools, or of the chosen one."""
    functions = [tool["function"] for tool in tools]
    if isinstance(choice, dict):
        functions = [each for each in functions if each["name"] == choice["name"]]
    options = [
        {
            "type": "object",
            "properties": {
                "name": {"const": each["name"]},
                "arguments": each.get("parameters") or {"type": "object"},
            },
            "required": ["name", "arguments"],
            "additionalProperties": False,
        }
        for each in functions
    ]
    return options[0] if len(options) == 1 else {"anyOf": options}
