"""A kernel cache that is damaged in any way costs its entries at most: no error, no wrong value.

WEFT_TEST_EXAMPLES=1000 explores; the default run repeats a few kinds of damage.
"""

from __future__ import annotations

import itertools
import os
import random
import shutil
import sqlite3
import threading
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from weft import Tensor
from weft.base import disk_cache
from weft.base.disk_cache import DiskCache
from weft.base.errors import DeviceUnavailable
from weft.base.settings import settings
from weft.device import registry
from weft.engine.programs import forget_programs

EXAMPLES = int(os.environ.get("WEFT_TEST_EXAMPLES", "40"))
FILE = "cache.sqlite3"
CACHES = [DiskCache("programs", 1), DiskCache("binaries", 1), DiskCache("search", "2 of x")]
ENTRIES = {
    (number, f"key {entry}"): random.Random(entry * 3 + number).randbytes(entry * entry * 17)
    for number in range(len(CACHES))
    for entry in range(24)
}


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Path]]:
    """Two intact caches: one that is closed, one whose last writes are in the write-ahead log."""
    base = tmp_path_factory.mktemp("intact")
    places = {"closed": base / "closed", "open": base / "open"}

    def fill(place: Path) -> None:
        with settings.override(CACHE_DIR=str(place), CACHE=1):
            for (number, key), value in ENTRIES.items():
                CACHES[number].put(key, value)

    for place in places.values():
        apart(lambda place=place: fill(place))
    keep = sqlite3.connect(places["open"] / FILE)
    keep.execute("SELECT count(*) FROM sqlite_master").fetchone()
    apart(lambda: fill(places["open"]))
    yield places
    keep.close()


def apart(work: Callable[[], None]) -> None:
    """Run it in a thread of its own, as a process that comes new to the files."""
    errors: list[BaseException] = []

    def guarded() -> None:
        try:
            work()
            disk_cache.forget_files()
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=guarded)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]


# ---- kinds of damage -----------------------------------------------------------------------------


def some_file(folder: Path, rng: random.Random) -> Path:
    files = sorted(path for path in folder.iterdir() if path.stat().st_size)
    return rng.choice([folder / FILE, *files])


def flip_a_bit(folder: Path, rng: random.Random) -> None:
    change(some_file(folder, rng), rng, 1)


def flip_many_bits(folder: Path, rng: random.Random) -> None:
    change(some_file(folder, rng), rng, rng.randrange(2, 400))


def flip_in_the_schema(folder: Path, rng: random.Random) -> None:
    """The first page: the header, and the text of the tables' definitions."""
    change(folder / FILE, rng, rng.randrange(1, 9), 4096)


def change(path: Path, rng: random.Random, bits: int, within: int | None = None) -> None:
    data = bytearray(path.read_bytes())
    for _ in range(bits):
        at = rng.randrange(min(len(data), within or len(data)))
        data[at] ^= 1 << rng.randrange(8)
    write_over(path, data)


def write_over(path: Path, data: bytes) -> None:
    with path.open("r+b") as file:  # the same file, as a disk would damage it
        file.write(data)


def truncate(folder: Path, rng: random.Random) -> None:
    path = some_file(folder, rng)
    os.truncate(path, rng.randrange(path.stat().st_size))


def zero_pages(folder: Path, rng: random.Random) -> None:
    path = some_file(folder, rng)
    data = bytearray(path.read_bytes())
    for _ in range(rng.randrange(1, 5)):
        at = rng.randrange(-(-len(data) // 4096)) * 4096
        data[at : at + 4096] = bytes(len(data[at : at + 4096]))
    write_over(path, data)


def exchange_pages(folder: Path, rng: random.Random) -> None:
    path = folder / FILE
    data = path.read_bytes()
    pages = [data[at : at + 4096] for at in range(0, len(data), 4096)]
    a, b = rng.randrange(len(pages)), rng.randrange(len(pages))
    pages[a], pages[b] = pages[b], pages[a]
    write_over(path, b"".join(pages))


def garbage(folder: Path, rng: random.Random) -> None:
    some_file(folder, rng).write_bytes(rng.randbytes(rng.randrange(20000)))


def empty(folder: Path, rng: random.Random) -> None:
    some_file(folder, rng).write_bytes(b"")


def text_in_the_schema(folder: Path, rng: random.Random) -> None:
    """The definitions are no longer text that can be read."""
    path = folder / FILE
    data = path.read_bytes().replace(b"CREATE", b"\xff\xfeEATE", rng.randrange(1, 4))
    write_over(path, data)


def another_schema(folder: Path, rng: random.Random) -> None:
    """Tables of the right names with other columns, views, triggers, or values of other types."""
    other = sqlite3.connect(folder / FILE)
    for (name,) in other.execute("SELECT name FROM sqlite_master WHERE type='table'").fetchall():
        kind = rng.randrange(6)
        if kind == 0:
            other.execute(f"DROP TABLE {name}")
            other.execute(f"CREATE TABLE {name} (a, b)")
        elif kind == 1:
            other.execute(f"ALTER TABLE {name} RENAME COLUMN sum TO other")
        elif kind == 2:
            other.execute(f"UPDATE {name} SET value = 'text', sum = 17")
        elif kind == 3:
            other.execute(f"DROP TABLE {name}")
            other.execute(f"CREATE VIEW {name} AS SELECT 1 AS key, 'a' AS value, x'00' AS sum")
        elif kind == 4:
            other.execute(
                f"CREATE TRIGGER t{name} BEFORE INSERT ON {name} "
                "BEGIN SELECT RAISE(ABORT, 'no'); END"
            )
        else:
            other.execute(f"UPDATE {name} SET value = x'80ff', key = x'00' || key")
    other.commit()
    other.close()


def a_folder_in_its_place(folder: Path, rng: random.Random) -> None:
    path = folder / (FILE + rng.choice(["", "-wal", "-shm", "-journal"]))
    path.unlink(missing_ok=True)
    path.mkdir()
    (path / "precious").write_text("of somebody")


def a_fifo_in_its_place(folder: Path, rng: random.Random) -> None:
    path = folder / (FILE + rng.choice(["", "-wal", "-shm"]))
    path.unlink(missing_ok=True)
    os.mkfifo(path)


def a_link_to_nowhere(folder: Path, rng: random.Random) -> None:
    path = folder / (FILE + rng.choice(["", "-wal", "-shm"]))
    path.unlink(missing_ok=True)
    path.symlink_to(folder / "not" / "there")


def another_format(folder: Path, rng: random.Random) -> None:
    """A database of another program: another encoding of text, page size and journal."""
    shutil.rmtree(folder)
    folder.mkdir()
    other = sqlite3.connect(folder / FILE)
    other.execute(f"PRAGMA page_size = {rng.choice([512, 8192, 65536])}")
    other.execute(f"PRAGMA encoding = '{rng.choice(['UTF-16le', 'UTF-8'])}'")
    other.execute("CREATE TABLE theirs (a)")
    other.commit()
    other.close()


def a_folder_that_vanishes(folder: Path, rng: random.Random) -> None:
    shutil.rmtree(folder)
    if rng.randrange(2):
        folder.write_text("a file where the folder was")


DAMAGE = [
    flip_a_bit, flip_many_bits, flip_in_the_schema, truncate, zero_pages, exchange_pages, garbage,
    empty, text_in_the_schema, another_schema, a_folder_in_its_place, a_fifo_in_its_place,
    a_link_to_nowhere, another_format, a_folder_that_vanishes,
]  # fmt: skip


# ---- what holds all the same ---------------------------------------------------------------------


def check(repaired: bool) -> None:
    """Every value is right or missing; what is put then is there, where the cache is `repaired`."""
    for (number, key), value in ENTRIES.items():
        assert CACHES[number].get(key) in (None, value), (number, key)
    for number, cache in enumerate(CACHES):
        cache.put("new", bytes([number]) * 3000)
        assert cache.get("new") in (None, bytes([number]) * 3000)
    for number, cache in enumerate(CACHES):  # the first to write may be who finds the damage
        cache.put("newer", bytes([number]) * 3000)
        found = cache.get("newer")
        assert found == bytes([number]) * 3000 or (found is None and not repaired)


@pytest.mark.parametrize("state", ["closed", "open", "in use"])
def test_a_damaged_cache_costs_its_entries_at_most(
    template: dict[str, Path], tmp_path: Path, state: str
) -> None:
    kinds = itertools.cycle(DAMAGE)
    for seed in range(-(-EXAMPLES // 3)):
        rng, damage = random.Random(f"{seed} {state}"), next(kinds)
        folder = tmp_path / f"{seed}"
        shutil.copytree(template["open" if state == "open" else "closed"], folder)
        with (
            settings.override(CACHE_DIR=str(folder), CACHE=1),
            warnings.catch_warnings(record=True) as said,
        ):
            warnings.simplefilter("always")
            if state == "in use":
                if damage in (truncate, empty, garbage):  # would end any process that maps it
                    (folder / f"{FILE}-shm").unlink(missing_ok=True)
                else:
                    check(True)
            damage(folder, rng)
            try:
                check(damage is not a_folder_that_vanishes)
            except BaseException as error:
                error.add_note(f"seed {seed}, {damage.__name__}, {state}")
                raise
            assert len(said) <= 1, (damage.__name__, [str(one.message) for one in said])
        disk_cache.forget_files()
        if folder.is_dir():
            shutil.rmtree(folder)


# ---- kernels -------------------------------------------------------------------------------------


def results() -> list[object]:
    """Of a few kernels, which are loaded from the disk cache or compiled."""
    forget_programs()
    x = Tensor([[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]]).realize()
    return [(x * 3).relu().tolist(), (x @ x.T).tolist(), x.sum(0).tolist(), x.exp().max().item()]


def test_kernels_from_a_damaged_cache_are_right(tmp_path: Path) -> None:
    try:
        registry.default()
    except DeviceUnavailable as error:
        pytest.skip(f"no device computes: {error.because}")

    def fill() -> None:
        with settings.override(CACHE_DIR=str(tmp_path / "intact"), CACHE=1):
            results()

    apart(fill)
    with settings.override(CACHE=0):
        expected = results()
    for seed, damage in zip(range(EXAMPLES // 6), itertools.cycle(DAMAGE)):
        rng, folder = random.Random(seed), tmp_path / f"{seed}"
        shutil.copytree(tmp_path / "intact", folder)
        with (
            settings.override(CACHE_DIR=str(folder), CACHE=1),
            warnings.catch_warnings(record=True) as said,
        ):
            warnings.simplefilter("always")
            damage(folder, rng)
            assert results() == expected, (seed, damage.__name__)
            assert len(said) <= 1
        disk_cache.forget_files()
        if folder.is_dir():
            shutil.rmtree(folder)
    forget_programs()
