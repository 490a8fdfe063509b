"""Mistral: Llama with a sliding window, which `Config.windows` gives.

Source: A. Jiang et al., "Mistral 7B" (2023).
"""

from __future__ import annotations

from weft_llm.layers import Decoder


class Mistral(Decoder):
    """Each query attends to the last positions of its window."""
