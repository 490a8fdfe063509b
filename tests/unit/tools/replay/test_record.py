import os
import threading

import pytest

from weft.base.errors import FileError, FormatError
from weft.tools.replay.record import Record, from_text, read, write

KERNEL = Record(
    "kernel",
    {"name": "E_4", "settings": {"NOOPT": 0, "DEVICE": "X"}, "opts": [], "none": None},
    {"ast": "%0 = A\n%1 = B %0", "source": "==== ast 1\nvoid f() {\r\n  \x0c}\n\n", "empty": ""},
)


def test_a_record_reads_back_exactly(golden):
    text = KERNEL.to_text()
    assert from_text(text) == KERNEL
    assert text.replace("\r", "<CR>").replace("\x0c", "<FF>") == golden.file(
        "observation/record.txt"
    )


def test_the_same_content_is_one_file_and_other_content_is_another(tmp_path):
    first, again = write(KERNEL, tmp_path), write(KERNEL, tmp_path)
    other = write(Record("kernel", {**KERNEL.facts, "name": "E_5"}, KERNEL.sections), tmp_path)
    assert first == again != other and first.parent == tmp_path / "kernel"
    assert read(first) == KERNEL
    assert len(list((tmp_path / "kernel").iterdir())) == 2


def test_many_writers_at_once_leave_whole_files(tmp_path):
    def work():
        for number in range(20):
            write(Record("schedule", {"number": number}, {"sink": "x" * 1000}), tmp_path)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    files = list((tmp_path / "schedule").iterdir())
    assert sorted(read(path).fact("number") for path in files) == list(range(20))


def cut(text):
    """Every way to lose the end, by lines and in the middle of one."""
    lines = text.split("\n")
    return ["\n".join(lines[:n]) for n in range(1, len(lines))] + [text[:-1], text[:-7]]


def test_a_file_that_was_cut_is_found_out():
    kept = 0
    for text in cut(KERNEL.to_text()):
        try:
            record = from_text(text + "\n" if not text.endswith("\n") else text)
        except FormatError as error:
            assert error.because
            continue
        # it ended between two whole parts: a missing part is named when it is read
        kept += 1
        missing = set(KERNEL.sections) - set(record.sections)
        assert missing
        with pytest.raises(FormatError):
            record.section(missing.pop())
    assert kept > 0


@pytest.mark.parametrize(
    "text",
    ["", "\n", "hello\n", "weft replay 1\n", "weft replay 1 song\n", "weft replay 9 kernel\n",
     "weft replay 1 kernel\nname: {\n", "weft replay 1 kernel\nno fact\n",
     "weft replay 1 kernel\n==== ast\n", "weft replay 1 kernel\n==== ast x\n",
     "weft replay 1 kernel\n==== ast -1\n", "weft replay 1 kernel\n==== ast 99\na\n",
     "weft replay 1 kernel\nname: 1"],
)  # fmt: skip
def test_invalid_records_are_refused(text):
    with pytest.raises(FormatError) as caught:
        from_text(text)
    assert caught.value.because and caught.value.try_


def test_a_missing_fact_is_named():
    with pytest.raises(FormatError, match="does not say its device"):
        KERNEL.fact("device")


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(FileError):
        read(tmp_path / "none.txt")
    (tmp_path / "binary.txt").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(FormatError):
        read(tmp_path / "binary.txt")


def test_a_full_disk_is_reported_and_leaves_no_file(tmp_path, monkeypatch):
    def full(source, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(FileError) as caught:
        write(KERNEL, tmp_path)
    assert "No space left" in caught.value.because and "WEFT_PROCESS_REPLAY" in caught.value.try_
    assert list((tmp_path / "kernel").iterdir()) == []
