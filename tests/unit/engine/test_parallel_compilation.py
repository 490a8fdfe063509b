"""Sources compiled in parallel with the generation of others."""

import threading

import pytest

from weft.base.errors import CompileError, WeftError
from weft.engine.parallel_compilation import Compilations, _longest, _Source


class Compiler:
    """Gives each source back in capitals, when `gate` is open; refuses those that say so."""

    fingerprint = "test"

    def __init__(self):
        self.calls, self.gate = [], threading.Event()

    def compile(self, source, name):
        return self._made([(source, name)])[0]

    def _made(self, sources):
        self.calls.append([name for _, name in sources])
        self.gate.wait(10)
        if any("refused" in source for source, _ in sources):
            raise CompileError("no", source=sources[0][0])
        return [source.upper().encode() for source, _ in sources]


class Several(Compiler):
    """Takes several sources in one call."""

    def compile_many(self, sources):
        return self._made(sources)


def compiled(compiler, sources, threads=1):
    """What each came to; the compiler waits until all are there."""
    compilations, found = Compilations(threads), []
    for number, source in enumerate(sources):
        compilations.start(f"key {number}", compiler, source, f"k{number}")
    compiler.gate.set()
    try:
        for number in range(len(sources)):
            try:
                found.append(compilations.result(f"key {number}"))
            except WeftError as error:
                found.append(error)
    finally:
        compilations.end()
    return found


def test_waiting_sources_are_compiled_in_one_call():
    compiler = Several()
    sources = [f"source {number}" for number in range(9)]
    assert compiled(compiler, sources) == [source.upper().encode() for source in sources]
    assert sorted(sum(compiler.calls, [])) == sorted(f"k{number}" for number in range(9))
    assert len(compiler.calls) <= 2  # one for what was there at first, one for the rest


def test_threads_share_waiting_sources():
    compiler = Several()
    compiled(compiler, [f"{number} {'x' * 10_000}" for number in range(12)], threads=2)
    assert max(map(len, compiler.calls)) <= 6


@pytest.mark.parametrize(
    "lengths, threads, taken",
    [([1, 9, 1, 1], 2, [9]), ([3, 3, 3, 3], 2, [3, 3]), ([1, 2, 3], 1, [3, 2, 1]), ([5], 4, [5])],
)
def test_shares_are_of_characters_and_the_longest_first(lengths, threads, taken):
    waiting = [_Source(Several(), "x" * length * 10_000, "k", None) for length in lengths]
    assert [len(one.source) // 10_000 for one in _longest(waiting, threads)] == taken


@pytest.mark.parametrize(
    "lengths, elsewhere, taken",
    [
        ([4, 3, 3], 0, [4]),
        ([4, 3, 3], 2, [4]),
        ([4, 3, 3], 4, [4, 3]),
        ([4, 3, 3], 10, [4, 3, 3]),
        ([5, 4, 1], 2, [5, 1]),  # the next that is not too long
    ],
)
def test_a_free_thread_takes_more_while_others_work(lengths, elsewhere, taken):
    waiting = [_Source(Several(), "x" * length * 10_000, "k", None) for length in lengths]
    found = _longest(waiting, 2, elsewhere * 10_000)
    assert [len(one.source) // 10_000 for one in found] == taken


def test_short_sources_join_another_call():
    long, short = (_Source(Several(), "x" * length, "k", None) for length in (40_000, 4_000))
    assert _longest([long, short], 2) == [long, short]


def test_a_call_is_for_more_than_it_takes_to_start_it():
    waiting = [_Source(Several(), "x" * 1000, "k", None) for _ in range(12)]
    assert [len(_longest(waiting, threads)) for threads in (1, 2, 8)] == [12, 12, 2]


def test_one_processor_is_reserved_until_a_result_is_awaited():
    compiler, compilations = Compiler(), Compilations(2)
    for number in range(4):
        compilations.start(str(number), compiler, "x", f"k{number}")
    _until(lambda: len(compiler.calls) == 1)
    threading.Event().wait(0.05)
    assert len(compiler.calls) == 1
    found = []
    reader = threading.Thread(
        target=lambda: found.extend([compilations.result(str(number)) for number in range(4)])
    )
    reader.start()
    _until(lambda: len(compiler.calls) == 2)
    compiler.gate.set()
    reader.join()
    compilations.end()
    assert found == [b"X"] * 4


def _until(condition):
    """Wait for what another thread does, however busy the machine is."""
    while not condition():
        threading.Event().wait(0.01)


def test_a_compiler_without_that_is_called_for_each():
    compiler = Compiler()
    assert compiled(compiler, ["a", "b", "c"]) == [b"A", b"B", b"C"]
    assert all(len(names) == 1 for names in compiler.calls)


def test_a_compile_error_names_its_own_kernel():
    compiler = Several()
    found = compiled(compiler, ["a", "b", "refused", "c"])
    assert [found[0], found[1], found[3]] == [b"A", b"B", b"C"]
    assert isinstance(found[2], CompileError) and found[2].source == "refused"


def test_two_compilers_share_no_call():
    first, second = Several(), Several()
    compilations = Compilations(1)
    for number, compiler in enumerate((first, second, first, second, first)):
        compilations.start(str(number), compiler, "x", f"k{number}")
    first.gate.set(), second.gate.set()
    assert all(compilations.result(str(number)) == b"X" for number in range(5))
    compilations.end()
    assert set(sum(first.calls, [])) == {"k0", "k2", "k4"}


def test_an_equal_source_is_started_once_and_given_out_once():
    compiler, compilations = Several(), Compilations(1)
    compiler.gate.set()
    for _ in range(2):
        compilations.start("key", compiler, "x", "k")
    assert "key" in compilations and compilations.result("key") == b"X"
    assert "key" not in compilations
    compilations.end()
    assert compiler.calls == [["k"]]


def test_nothing_that_waits_outlives_the_end():
    compiler = Compiler()
    compilations = Compilations(1)
    for number in range(5):
        compilations.start(str(number), compiler, "x", f"k{number}")
    threading.Timer(0.05, compiler.gate.set).start()
    compilations.end()
    assert len(compiler.calls) <= 1


def test_other_exceptions_are_raised_with_the_result():
    class Broken(Compiler):
        def compile(self, source, name):
            raise ZeroDivisionError("a fault of the plugin")

    compilations = Compilations(1)
    compilations.start("key", Broken(), "x", "k")
    with pytest.raises(ZeroDivisionError):
        compilations.result("key")
    compilations.end()


class Broken(Several):
    """A combined call fails with another exception, or returns too few results."""

    def __init__(self, short):
        super().__init__()
        self.short = short

    def compile_many(self, sources):
        if self.short:
            return self._made(sources)[1:]
        raise MemoryError


@pytest.mark.parametrize("short", [True, False])
def test_a_failing_combined_call_is_retried_per_source(short):
    found = compiled(Broken(short), ["a", "b", "c"])
    assert found == [b"A", b"B", b"C"]
