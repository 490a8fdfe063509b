"""``weft llm``: chat with a model, continue a text, time a model, serve it.

    weft llm chat MODEL                     a conversation in the terminal; Ctrl-D ends it
    weft llm run MODEL "Once upon a time"   the continuation of a text
    weft llm bench MODEL                    tokens a second: prompts (pp512), generation (tg128)
    weft llm serve MODEL                    OpenAI's API on 127.0.0.1:8080

MODEL is a GGUF file, or a folder with config.json, safetensors and tokenizer.json.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import Any

_FLOATS = ("float32", "float16", "bfloat16")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The subcommands and their options."""
    parser.description, parser.formatter_class = __doc__, argparse.RawDescriptionHelpFormatter
    commands = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    chat = _command(commands, "chat", "talk with a model")
    chat.add_argument("--system", help="what the model is told before the conversation")
    _add_sampling(chat, temperature=0.7)
    run = _command(commands, "run", "continue a text")
    run.add_argument("prompt")
    run.add_argument("--chat", action="store_true", help="the text is a message")
    _add_sampling(run, temperature=0.0)
    bench = _command(commands, "bench", "time a model")
    bench.add_argument("-p", "--prompt-tokens", type=int, default=512, help="512 by default")
    bench.add_argument("-n", "--generated-tokens", type=int, default=128, help="128 by default")
    bench.add_argument("-r", "--repetitions", type=int, default=3, help="3 by default")
    serve = _command(commands, "serve", "serve OpenAI's API")
    serve.add_argument("--host", default="127.0.0.1", help="an address; this machine by default")
    serve.add_argument("--port", type=int, default=8080)
    serve.add_argument("--api-key", help="requests need it; or set WEFT_LLM_API_KEY")
    serve.add_argument("--name", help="of the model; that of the file by default")
    serve.add_argument("--parallel", type=int, default=8, help="sequences computed at once")
    serve.add_argument("--queue", type=int, default=64, help="requests that may wait")


def _command(commands: Any, name: str, summary: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(name, help=summary, description=summary)
    parser.add_argument("model", help="a GGUF file or a folder")
    parser.add_argument("--context", type=int, help="most tokens of a sequence")
    parser.add_argument("--device", help="the device, in the place of WEFT_DEVICE")
    parser.add_argument("--dtype", choices=_FLOATS, help="of the weights in memory")
    parser.add_argument(
        "--cache-format", choices=("float32", "q8"), default="float32",
        help="of keys and values: q8 is int8 with a scale for each 32 numbers",
    )  # fmt: skip
    parser.add_argument(
        "--activations", choices=("int16", "int8", "float32"), default="int16",
        help="what quantised weights are multiplied by: float32 is exact, int8 the fastest",
    )  # fmt: skip
    return parser


def _add_sampling(parser: argparse.ArgumentParser, temperature: float) -> None:
    parser.add_argument("--max-tokens", type=int, default=512)
    parser.add_argument("--temperature", type=float, default=temperature)
    parser.add_argument("--top-k", type=int, default=40)
    parser.add_argument("--top-p", type=float, default=0.95)
    parser.add_argument("--min-p", type=float, default=0.0)
    parser.add_argument("--repetition-penalty", type=float, default=1.0)
    parser.add_argument("--seed", type=int)


def _sampling(arguments: argparse.Namespace) -> dict[str, Any]:
    names = ("temperature", "top_k", "top_p", "min_p", "repetition_penalty", "seed", "max_tokens")
    return {name: getattr(arguments, name) for name in names}


def run(arguments: argparse.Namespace) -> int:
    """Load the model and run the subcommand; returns the exit code."""
    from weft import dtypes
    from weft_llm.model import load

    kind = None if arguments.dtype is None else getattr(dtypes, arguments.dtype)
    model = load(
        arguments.model, arguments.context, arguments.device, kind, arguments.activations,
        arguments.cache_format,
    )  # fmt: skip
    actions: dict[str, Callable[[Any, argparse.Namespace], int]] = {
        "chat": _chat, "run": _run, "bench": _bench, "serve": _serve,
    }  # fmt: skip
    return actions[arguments.action](model, arguments)


def _chat(model: Any, arguments: argparse.Namespace) -> int:
    messages = []
    if arguments.system:
        messages.append({"role": "system", "content": arguments.system})
    while True:
        try:
            text = input("> " if sys.stdin.isatty() else "")
        except EOFError:
            return 0
        if not text.strip():
            continue
        messages.append({"role": "user", "content": text})
        said = _printed(model.stream(messages, **_sampling(arguments)))
        messages.append({"role": "assistant", "content": said})


def _run(model: Any, arguments: argparse.Namespace) -> int:
    prompt: Any = arguments.prompt
    if arguments.chat:
        prompt = [{"role": "user", "content": prompt}]
    else:
        print(prompt, end="", flush=True)
    _printed(model.stream(prompt, **_sampling(arguments)))
    return 0


def _printed(pieces: Any) -> str:
    """Print pieces as they come; Ctrl-C ends the answer."""
    said = []
    try:
        for piece in pieces:
            print(piece, end="", flush=True)
            said.append(piece)
    except KeyboardInterrupt:
        pass
    print()
    return "".join(said)


def _bench(model: Any, arguments: argparse.Namespace) -> int:
    from weft_llm.bench import measure, table

    sizes = arguments.prompt_tokens, arguments.generated_tokens
    print(table(model, measure(model, *sizes, arguments.repetitions)))
    return 0


def _serve(model: Any, arguments: argparse.Namespace) -> int:
    from weft_llm.server import serve

    return serve(model, arguments)
