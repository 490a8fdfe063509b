"""A soak of `weft llm serve`: many clients, long enough to see errors and growth.

    python benchmarks/llm_soak.py                    2,000 requests of 32 clients
    python benchmarks/llm_soak.py --seconds 60       as many as fit

One request in eight is broken off by its client, one in eight is malformed, half of the others are
streamed. Prints the status codes, the memory of the server after every tenth of the run, and tokens
a second. Exits with 1 where a status is not the expected one or the server has ended.
"""

from __future__ import annotations

import argparse
import asyncio
import collections
import random
import socket
import subprocess
import sys
import time
from typing import Any

import httpx
from llm import default_model

WORDS = "the sun sea wind red blue one two three small large cat dog house tree river".split()
MALFORMED: list[Any] = [
    {}, {"messages": []}, {"messages": "hello"}, {"messages": [{"role": "user"}]}, [], "text",
    {"messages": [{"role": "user", "content": "x"}], "temperature": "hot"},
    {"messages": [{"role": "user", "content": "x"}], "max_tokens": -1},
    {"messages": [{"role": "user", "content": "word " * 20000}]},
]  # fmt: skip


class Soak:
    """What the clients share: how many requests are left, and what came of the others."""

    def __init__(self, url: str, requests: int, seconds: float) -> None:
        self.url, self.left, self.end = url, requests, time.monotonic() + seconds
        self.codes: collections.Counter[str] = collections.Counter()
        self.wrong: list[str] = []
        self.tokens = 0

    async def client(self, number: int) -> None:
        """Send requests until none is left."""
        chance = random.Random(number)
        async with httpx.AsyncClient(base_url=self.url, timeout=600) as http:
            while self.left > 0 and time.monotonic() < self.end:
                self.left -= 1
                kind = chance.randrange(8)
                if kind == 0:
                    await self.malformed(http, chance)
                elif kind == 1:
                    await self.broken_off(http, chance)
                elif kind < 5:
                    await self.streamed(http, chance)
                else:
                    await self.whole(http, chance)

    def body(self, chance: random.Random, **more: Any) -> dict[str, Any]:
        """A request for a few tokens."""
        text = " ".join(chance.choices(WORDS, k=chance.randrange(1, 12)))
        settings = {"max_tokens": chance.randrange(1, 9), "temperature": chance.choice([0, 0.8])}
        return {"model": "m", "prompt": text, **settings, **more}

    def note(self, kind: str, code: int, expected: tuple[int, ...]) -> None:
        """Count a status code."""
        self.codes[f"{kind} {code}"] += 1
        if code not in expected:
            self.wrong.append(f"{kind}: {code}")

    async def malformed(self, http: httpx.AsyncClient, chance: random.Random) -> None:
        """A request that the server refuses."""
        answer = await http.post("/v1/chat/completions", json=chance.choice(MALFORMED))
        self.note("malformed", answer.status_code, (400, 413, 422, 429))

    async def broken_off(self, http: httpx.AsyncClient, chance: random.Random) -> None:
        """A streamed request whose client goes away."""
        body = self.body(chance, stream=True) | {"max_tokens": 200}
        async with http.stream("POST", "/v1/completions", json=body) as answer:
            self.note("broken off", answer.status_code, (200, 429))
            async for _ in answer.aiter_bytes():
                break

    async def streamed(self, http: httpx.AsyncClient, chance: random.Random) -> None:
        """A streamed request that is read to its end."""
        lines = []
        async with http.stream(
            "POST", "/v1/completions", json=self.body(chance, stream=True)
        ) as answer:
            self.note("streamed", answer.status_code, (200, 429))
            async for line in answer.aiter_lines():
                lines.append(line)
        if answer.status_code == 200 and "data: [DONE]" not in lines:
            self.wrong.append("a stream without its end")

    async def whole(self, http: httpx.AsyncClient, chance: random.Random) -> None:
        """A request whose answer comes at once."""
        answer = await http.post("/v1/completions", json=self.body(chance))
        self.note("whole", answer.status_code, (200, 429))
        if answer.status_code == 200:
            self.tokens += answer.json()["usage"]["completion_tokens"]


def memory_of(process: int) -> float:
    """Resident memory in MB."""
    with open(f"/proc/{process}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS")) / 1024


async def observe(soak: Soak, process: int, requests: int, found: list[str]) -> None:
    """Note the memory after every tenth of the requests, or every 10 s."""
    mark, before = requests, time.monotonic()
    while True:
        await asyncio.sleep(0.2)
        if soak.left <= mark or time.monotonic() > before + 10:
            found.append(f"{requests - soak.left}: {memory_of(process):.0f} MB")
            mark, before = soak.left - requests // 10, time.monotonic()


async def run(url: str, process: int, options: argparse.Namespace) -> Soak:
    """All clients at once."""
    async with httpx.AsyncClient(base_url=url) as http:
        for _ in range(600):
            try:
                if (await http.get("/health")).status_code == 200:
                    break
            except httpx.TransportError:
                await asyncio.sleep(0.5)
    seconds = options.seconds or float("inf")
    requests = 10**6 if options.seconds else options.requests
    soak, found = Soak(url, requests, seconds), list[str]()
    began = time.monotonic()
    watcher = asyncio.create_task(observe(soak, process, requests, found))
    await asyncio.gather(*(soak.client(number) for number in range(options.clients)))
    watcher.cancel()
    took = time.monotonic() - began
    print(f"{sum(soak.codes.values())} requests of {options.clients} clients in {took:.0f} s")
    print("status:", dict(sorted(soak.codes.items())))
    print("memory after requests:", ", ".join(found), f"end: {memory_of(process):.0f} MB")
    print(f"tokens of whole answers a second: {soak.tokens / took:.1f}")
    async with httpx.AsyncClient(base_url=url, timeout=60) as http:
        soak.note("health", (await http.get("/health")).status_code, (200,))
    return soak


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("model", nargs="?", default=default_model())
    parser.add_argument("--requests", type=int, default=2000)
    parser.add_argument("--seconds", type=float, help="stop after so long instead")
    parser.add_argument("--clients", type=int, default=32)
    options = parser.parse_args()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "weft.tools.cli", "llm", "serve", str(options.model)]
    command += ["--name", "m", "--context", "512", "--port", str(port), "--queue", "64"]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        soak = asyncio.run(run(f"http://127.0.0.1:{port}", server.pid, options))
        ended = server.poll()
    finally:
        server.terminate()
        server.wait()
    print("wrong:", soak.wrong[:10] or "none")
    sys.exit(1 if soak.wrong or ended is not None else 0)


if __name__ == "__main__":
    main()
