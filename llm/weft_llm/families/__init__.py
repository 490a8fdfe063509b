"""Families of models, one module each; `FAMILIES` finds the class by the family's name."""

from weft_llm.families.bert import Bert
from weft_llm.families.gemma import Gemma, Gemma2, Gemma3
from weft_llm.families.gpt2 import GPT2
from weft_llm.families.llama import Llama
from weft_llm.families.mistral import Mistral
from weft_llm.families.mixtral import Mixtral
from weft_llm.families.phi3 import Phi3
from weft_llm.families.qwen import Qwen2, Qwen3
from weft_llm.families.qwen_moe import Qwen2Moe, Qwen3Moe
from weft_llm.layers import Network

FAMILIES: dict[str, type[Network]] = {
    "llama": Llama, "mistral": Mistral, "mixtral": Mixtral, "qwen2": Qwen2, "qwen3": Qwen3,
    "qwen2_moe": Qwen2Moe, "qwen3_moe": Qwen3Moe, "gemma": Gemma, "gemma2": Gemma2,
    "gemma3": Gemma3, "phi3": Phi3, "gpt2": GPT2, "bert": Bert,
}  # fmt: skip
