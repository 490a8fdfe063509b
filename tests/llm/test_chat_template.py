"""Chat templates: what they print, and hostile ones."""

import pytest

from weft.base.errors import ArgumentError, FormatError
from weft_llm import chat_template
from weft_llm.chat_template import CHATML, ChatTemplate

pytest.importorskip("jinja2", reason="jinja2 is not installed")
MESSAGES = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]


def test_messages_become_a_prompt():
    text = ChatTemplate(CHATML, {}).render(MESSAGES)
    assert text == (
        "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\nHello<|im_end|>\n"
        "<|im_start|>assistant\n"
    )
    assert not ChatTemplate(CHATML, {}).render(MESSAGES, prompt=False).endswith("assistant\n")


def test_templates_know_special_tokens_tools_and_helpers():
    text = (
        "{{ bos_token }}{% for tool in tools %}{{ tool | tojson }}{% endfor %}"
        "{% for m in messages %}{% if loop.index0 %}{% break %}{% endif %}{{ m.role }}{% endfor %}"
    )
    found = ChatTemplate(text, {"bos_token": "<s>"}).render(MESSAGES, tools=[{"name": "f"}])
    assert found == '<s>{"name": "f"}user'


HOSTILE = {
    "attributes": "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "globals": "{{ self.__init__.__globals__ }}",
    "changes": "{{ messages.append(1) }}",
    "format": "{{ '{0.__class__.__init__.__globals__}'.format(messages) }}",
    "recursion": "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
    "padding": "{{ 'a'.center(10 ** 12) }}",
    "doubling": "{% set n = namespace(x='a') %}{% for i in range(64) %}{% set n.x = n.x ~ n.x %}"
    "{% endfor %}",
    "range": "{% for i in range(10 ** 9) %}{% endfor %}",
    "syntax": "{% for",
    "unknown": "{{ nothing.of.this }}",
    "import": "{% include '/etc/passwd' %}",
    "refusal": "{{ raise_exception('roles must alternate') }}",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_templates_are_refused(name):
    with pytest.raises((ArgumentError, FormatError)):
        print(ChatTemplate(HOSTILE[name], {}).render(MESSAGES)[:100])


def test_endless_templates_end(monkeypatch):
    monkeypatch.setattr(chat_template, "_SECONDS", 0.5)
    endless = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"
    with pytest.raises(FormatError, match="limits"):
        ChatTemplate(endless, {}).render(MESSAGES)
    assert "Hi" in ChatTemplate(CHATML, {}).render(MESSAGES)  # a new process renders it


def test_templates_are_texts():
    with pytest.raises(FormatError):
        ChatTemplate(None, {})
