"""Parallel compilation: compile sources while the next ones are generated, several at a time in few
Also: asynchronous compilation.
calls.

In: sources as they are generated. Out: their binaries, waited for one by one. A thread without work
takes its share of the pending sources, so that the first source starts at once, calls grow when
generation outruns the compiler, and threads end at about the same time. Shares are counted in
characters, sources that other threads compile count half, and the longest sources go first. One
processor is left to generation until a result is waited for. A compiler that takes several sources
in one call (`compile_many`) is called that way; if the call fails, each source is compiled by
itself, so that an error names its kernel.

Source: Graham, "Bounds on Multiprocessing Timing Anomalies", SIAM Journal on Applied Mathematics
17, 1969 (longest processing time first).
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import field
from typing import TYPE_CHECKING, Any

from weft.base.deferred_dataclass import dataclass
from weft.base.interrupts import let_through
from weft.device import Compiler

if TYPE_CHECKING:
    from concurrent.futures import Future

_MOST_AT_ONCE = 32  # compilers keep what they needed until they end
_WORTH = 1 << 14
"""Characters that a call is for, of one processor, where so many wait: fewer take less time than a
process needs to start. Where there are more processors to start it, it matters less."""


@dataclass
class _Source:
    compiler: Compiler
    source: str
    name: str
    binary: Future[bytes]


@dataclass
class Compilations:
    """Running compilations, by the key of the binary.

    :param threads: how many calls of compilers there may be at a time.
    """

    threads: int
    _waiting: list[_Source] = field(default_factory=list[_Source])
    _under_way: dict[str, Future[bytes]] = field(default_factory=dict[str, "Future[bytes]"])
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _at_work: dict[int, int] = field(default_factory=dict[int, int])  # characters, by thread
    _is_waited_for: bool = False

    def __post_init__(self) -> None:
        from concurrent.futures import Future, ThreadPoolExecutor  # and with it logging: late

        self._future: Callable[[], Future[bytes]] = Future
        self._pool = ThreadPoolExecutor(self.threads, "weft-compile")

    def __contains__(self, key: str) -> bool:
        return key in self._under_way

    def start(self, key: str, compiler: Compiler, source: str, name: str) -> None:
        """Submit a source for compilation."""
        if key in self._under_way:
            return
        begun = self._under_way[key] = self._future()
        with self._lock:
            self._waiting.append(_Source(compiler, source, name, begun))
        self._pool.submit(self._work)

    def result(self, key: str) -> bytes:
        """The binary of a source that was started, which is given out once.

        :raises WeftError: what its compiler raised.
        """
        begun = self._under_way.pop(key)
        if not begun.done() and not self._is_waited_for:
            with self._lock:
                self._is_waited_for = True
            for _ in range(self.threads):
                self._pool.submit(self._work)
        return begun.result()

    def end(self) -> None:
        """Wait for running calls, and drop pending sources."""
        with self._lock:
            self._waiting.clear()
        self._pool.shutdown(cancel_futures=True)

    def _share(self) -> list[_Source]:
        """The next call of one thread, for one compiler; empty if nothing is pending, or if other
        threads have capacity for the rest."""
        with self._lock:
            most = self.threads if self._is_waited_for else max(1, self.threads - 1)
            if not self._waiting or len(self._at_work) >= most:
                return []
            compiler = self._waiting[0].compiler
            taken = self._waiting[:1]
            if hasattr(compiler, "compile_many"):
                of_one = [one for one in self._waiting if one.compiler is compiler]
                elsewhere = sum(self._at_work.values()) // 2
                taken = _longest(of_one, self.threads, elsewhere)
            chosen = set(map(id, taken))
            self._waiting = [one for one in self._waiting if id(one) not in chosen]
            self._at_work[threading.get_ident()] = sum(len(one.source) for one in taken)
            return taken

    def _work(self) -> None:
        while taken := self._share():
            try:
                _compile(taken)
            finally:
                with self._lock:
                    del self._at_work[threading.get_ident()]


def _compile(taken: list[_Source]) -> None:
    if len(taken) > 1:
        try:
            sources = [(one.source, one.name) for one in taken]
            compiler: Any = taken[0].compiler  # one that has the method
            binaries: list[bytes] = compiler.compile_many(sources)
            pairs = list(zip(taken, binaries, strict=True))
        except Exception as error:
            let_through(error)
            # compile each source by itself below: the error then belongs to one kernel, and every
            # waiting thread gets a result
        else:
            for one, binary in pairs:
                one.binary.set_result(binary)
            return
    for one in taken:
        try:
            one.binary.set_result(one.compiler.compile(one.source, one.name))
        except BaseException as error:
            one.binary.set_exception(error)


def _longest(sources: list[_Source], threads: int, elsewhere: int = 0) -> list[_Source]:
    """The sources that one thread compiles in its next call: its share of all pending characters.

    The longest sources come first, and there is at least one. All sources are taken if the rest is
    too small for another call.
    """
    ordered = sorted(sources, key=lambda one: -len(one.source))
    whole = sum(len(one.source) for one in ordered)
    share = max(whole + elsewhere, _WORTH) // threads
    taken, rest = ordered[:1], ordered[1:]
    left = share - len(taken[0].source)
    for one in rest[: _MOST_AT_ONCE - 1]:
        if len(one.source) <= left:
            taken.append(one)
            left -= len(one.source)
    beyond = whole - sum(len(one.source) for one in taken)
    if 2 * threads * beyond <= _WORTH and len(ordered) <= _MOST_AT_ONCE:
        return ordered
    return taken
