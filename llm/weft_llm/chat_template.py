"""Chat templates: messages to a prompt, rendered by a sandboxed process.

A template is a program that a stranger wrote. It is rendered by jinja2's sandbox in a process of
its own, with limits of memory and time: a template that loops or grows ends that process alone.
"""

from __future__ import annotations

import atexit
import json
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from weft.base.errors import ArgumentError, FormatError

_SECONDS = 10.0
_LONGEST = 1 << 26
CHATML = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n"
    "{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


class ChatTemplate:
    """A jinja2 template for chats, as Hugging Face's tokenizers have."""

    def __init__(self, text: str, special: Mapping[str, str]) -> None:
        """special: texts that the template may name, such as bos_token and eos_token."""
        if not isinstance(text, str) or len(text) > _LONGEST:
            raise FormatError("the chat template is no text that can be used")
        self.text, self.special = text, dict(special)

    def render(
        self,
        messages: Sequence[Mapping[str, Any]],
        tools: Sequence[Mapping[str, Any]] | None = None,
        prompt: bool = True,
        **settings: Any,
    ) -> str:
        """The prompt for messages, each with "role" and "content".

        prompt: end with the beginning of an answer. Raises ArgumentError where the template
        refuses the messages or fails, FormatError where it exceeds the limits.
        """
        values = {
            **self.special, **settings, "messages": list(messages), "tools": tools or None,
            "add_generation_prompt": prompt,
        }  # fmt: skip
        found = _worker.ask({"template": self.text, "values": values})
        if "error" in found:
            raise ArgumentError(
                "the chat template does not take these messages", because=str(found["error"])
            )
        return str(found["text"])


class _Worker:
    """The process that renders; it starts with the first template and after a failure."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    def ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """What the process answers."""
        line = json.dumps(request).encode() + b"\n"
        with self._lock:
            process = self._started()
            timer = threading.Timer(_SECONDS, process.kill)
            timer.start()
            try:
                assert process.stdin is not None and process.stdout is not None
                process.stdin.write(line)
                process.stdin.flush()
                answer = process.stdout.readline(_LONGEST)
            except OSError:
                answer = b""
            finally:
                timer.cancel()
            if not answer.endswith(b"\n"):
                self.stop()
                raise FormatError(
                    "the chat template exceeds the limits",
                    because=f"it takes more than {_SECONDS:g} s, or more memory than is allowed",
                    try_="give another template",
                )
        found: dict[str, Any] = json.loads(answer)
        return found

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            program = Path(__file__).with_name("template_worker.py")
            self._process = subprocess.Popen(
                [sys.executable, "-I", str(program)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        return self._process

    def stop(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            for pipe in (self._process.stdin, self._process.stdout):
                if pipe is not None:
                    try:
                        pipe.close()
                    except OSError:
                        pass
            self._process = None


_worker = _Worker()
atexit.register(_worker.stop)
