"""The peers of benchmarks/llm.py: weft, llama.cpp and transformers behind one interface.

in:  a GGUF file and a number of threads
out: `SPEED`, what is timed; `values`, tokens and perplexity
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CONTEXT, LENGTH = 1024, 64
PROMPT = [504, 2241, 288, 260]
PROMPTS = [
    "The capital of France is", "Once upon a time", "Water boils at", "def fibonacci(n):",
    "The quick brown fox", "In 1969, humans", "My favourite food is", "To be or not to be",
    "The largest planet is", "A prime number is", "Dear Sir or Madam,", "Photosynthesis is",
    "The recipe needs two eggs,", "import numpy as np", "On Monday she went to", "Gravity is",
    "The three states of matter are", "He opened the door and", "SELECT name FROM",
    "The meaning of life is",
]  # fmt: skip
TEXT = """\
A tide is the rise and fall of the sea. The moon pulls the water on the side of the earth that faces
it more strongly than the earth itself, and the earth more strongly than the water on the far side.
So there are two bulges, and the earth turns below them once a day. Most coasts have two high tides
and two low tides each day, about six hours and thirteen minutes apart. The sun does the same, but
it is so far away that its effect is less than half of that of the moon. When the sun and the moon
are in line, at new moon and at full moon, their effects add up and the tides are large. At half
moon they work against each other and the tides are small. The shape of a coast matters as well. In
a long bay that becomes narrow, the water has nowhere to go but up. In the Bay of Fundy in Canada
the water rises by sixteen metres, while in the Mediterranean it rises by a few centimetres. People
who live by the sea have printed tables of tides for three hundred years. The first machine that
predicted them was built in 1872. It added ten waves, each by a wheel of its own size and speed, and
drew the sum on paper. A year of tides took four hours. Today a computer adds more than a hundred
such waves and needs less than a second.
"""


@dataclass
class Timed:
    """A loaded model. read: compute a prompt. write: so many tokens, one after the other."""

    read: Callable[[Sequence[int]], Any]
    write: Callable[[int], Any]


def weft_timed(file: Path, threads: int) -> Timed:
    """weft; WEFT_CPU_THREADS sets the threads."""
    import weft_llm

    decoder = weft_llm.load(file, context=CONTEXT).decoder

    def read(tokens: Sequence[int]) -> int:
        decoder.tokens.clear()
        decoder.extend(tokens)
        return decoder.likeliest

    def write(count: int) -> None:
        decoder.tokens.clear()
        token = PROMPT[0]
        for _ in range(count):
            decoder.extend([token])
            token = decoder.likeliest

    return Timed(read, write)


def llama_timed(file: Path, threads: int) -> Timed:
    """llama.cpp by xllamacpp."""
    import xllamacpp

    options = xllamacpp.CommonParams()
    options.model.path = str(file)
    options.n_ctx, options.n_batch, options.n_ubatch, options.n_parallel = CONTEXT, 512, 512, 1
    options.cpuparams.n_threads = options.cpuparams_batch.n_threads = threads
    options.warmup = False
    server = xllamacpp.Server(options)

    def complete(prompt: Sequence[int], count: int) -> Any:
        return server.handle_completions(
            {"prompt": list(prompt), "n_predict": count, "temperature": 0.0, "ignore_eos": True,
             "cache_prompt": False}
        )  # fmt: skip

    return Timed(lambda tokens: complete(tokens, 1), lambda count: complete(PROMPT[:1], count))


SPEED = {"weft": weft_timed, "llama.cpp": llama_timed}


# ---- values --------------------------------------------------------------------------------------


@dataclass
class Valued:
    """A loaded model: `read` gives the logits after tokens that follow those read before."""

    reset: Callable[[], Any]
    read: Callable[[Sequence[int]], Any]
    encode: Callable[[str], list[int]]


def weft_valued(file: Path, **formats: str) -> Valued:
    """weft with these activations and this cache."""
    import weft_llm

    model = weft_llm.load(file, context=CONTEXT, **formats)
    decoder = model.decoder

    def read(tokens: Sequence[int]) -> Any:
        return decoder.extend(tokens).numpy()[0]

    return Valued(decoder.tokens.clear, read, model.tokenizer.encode)


def llama_valued(file: Path) -> Valued:
    """llama.cpp by llama-cpp-python, which gives logits."""
    import numpy as np
    from llama_cpp import Llama

    model = Llama(str(file), n_ctx=CONTEXT, n_batch=512, verbose=False)

    def read(tokens: Sequence[int]) -> Any:
        model.eval(list(tokens))
        return np.array(model._ctx.get_logits()[: model.n_vocab()])

    return Valued(model.reset, read, lambda text: model.tokenize(text.encode(), add_bos=False))


def transformers_valued(file: Path) -> Valued:
    """transformers, with its own cache of keys and values."""
    import torch
    import transformers

    model = transformers.AutoModelForCausalLM.from_pretrained(
        str(file.parent), gguf_file=file.name, dtype=torch.float32
    ).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(str(file.parent), gguf_file=file.name)
    state: dict[str, Any] = {"cache": None}

    def read(tokens: Sequence[int]) -> Any:
        with torch.no_grad():
            found = model(
                torch.tensor([list(tokens)]), past_key_values=state["cache"], use_cache=True,
                logits_to_keep=1,
            )  # fmt: skip
        state["cache"] = found.past_key_values
        return found.logits[0, -1].numpy()

    return Valued(lambda: state.update(cache=None), read, lambda text: tokenizer(text).input_ids)


LOADERS: dict[str, Callable[[Path], Valued]] = {
    "weft": weft_valued,
    "weft, int8": lambda file: weft_valued(file, activations="int8"),
    "weft, float32": lambda file: weft_valued(file, activations="float32"),
    "weft, cache in q8": lambda file: weft_valued(file, cache_format="q8"),
    "llama.cpp": llama_valued,
    "transformers, float32": transformers_valued,
}


def likeliest(peer: Valued, prompt: str) -> tuple[list[int], list[float]]:
    """The likeliest tokens after a prompt, and how far each is above the second."""
    import numpy as np

    peer.reset()
    logits = peer.read(peer.encode(prompt))
    tokens, gaps = [], []
    for _ in range(LENGTH):
        second, first = np.partition(logits, -2)[-2:]
        tokens.append(int(np.argmax(logits)))
        gaps.append(float(first - second))
        logits = peer.read(tokens[-1:])
    return tokens, gaps


def perplexity(peer: Valued, text: str) -> float:
    """exp of the mean of -log p of each token after those before it, computed one by one."""
    import numpy as np

    peer.reset()
    tokens, total = peer.encode(text), 0.0
    for token, following in itertools.pairwise(tokens):
        logits = peer.read([token]).astype(np.float64)
        logits -= logits.max()
        total += np.log(np.exp(logits).sum()) - logits[following]
    return float(np.exp(total / (len(tokens) - 1)))


def values(name: str, options: argparse.Namespace) -> dict[str, Any]:
    """Perplexity and tokens of one peer."""
    peer = LOADERS[name](options.model)
    tokens = [likeliest(peer, prompt) for prompt in PROMPTS]
    return {"tokens": tokens, "perplexity": perplexity(peer, TEXT)}
