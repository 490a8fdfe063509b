"""Language models on weft: load a model, generate text, serve it.

>>> model = load("model.gguf")  # doctest: +SKIP
>>> for piece in model.stream("Once upon a time"):  # doctest: +SKIP
...     print(piece, end="")
"""

from weft_llm.generation import Answer
from weft_llm.model import LanguageModel, load
from weft_llm.sampling import Sampling

__all__ = ["Answer", "LanguageModel", "Sampling", "load"]
