"""Entry points as they are installed, and as the standard library sees them."""

import sys
import zipfile
from importlib import metadata

import pytest

from weft.device.entry_points import entry_points

GROUP = "weft.test_group"


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A folder at the head of sys.path; gives a function that installs into it."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def install(name, entries, version="1.0", folder=tmp_path, kind="dist-info"):
        facts = folder / f"{name.replace('-', '_')}-{version}.{kind}"
        facts.mkdir(parents=True)
        head = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n\nName: of the text\n"
        (facts / {"dist-info": "METADATA", "egg-info": "PKG-INFO"}[kind]).write_text(head)
        if entries is not None:
            (facts / "entry_points.txt").write_text(entries)

    return install


def by_the_library():
    return sorted(
        (entry.name, entry.value, entry.dist.name, entry.dist.version)
        for entry in metadata.entry_points(group=GROUP)
    )


def by_us():
    return sorted((e.name, e.value, e.distribution, e.version) for e in entry_points(GROUP))


def test_the_files_are_read_as_the_library_reads_them(site):
    site("first-one", f"# none\n[console_scripts]\nA = b:c\n\n[{GROUP}]\nX = json\nY=json:loads\n")
    site("second", f"[{GROUP}]\n  Z  =  os.path:join  \n#no = comment\n[other]\nQ = q\n")
    site("third", None)
    site("old", f"[{GROUP}]\nE = re\n", version="0.3", kind="egg-info")
    assert by_us() == by_the_library()
    assert ("X", "json", "first-one", "1.0") in by_us()
    assert len(by_us()) == 4


def test_entries_are_loaded(site):
    site("one", f"[{GROUP}]\nX = json\nY = json:JSONDecoder.decode [more]\n")
    import json

    loaded = {entry.name: entry.load() for entry in entry_points(GROUP)}
    assert loaded == {"X": json, "Y": json.JSONDecoder.decode}


def test_a_module_that_is_not_there_says_so_when_it_is_loaded(site):
    site("one", f"[{GROUP}]\nX = no_such_module_at_all\n")
    (entry,) = entry_points(GROUP)
    with pytest.raises(ModuleNotFoundError, match="no_such_module_at_all"):
        entry.load()


def test_the_first_on_the_path_hides_another_of_its_name(site, tmp_path, monkeypatch):
    site("some-name", f"[{GROUP}]\nX = json\n", version="2.0")
    site("some.name", f"[{GROUP}]\nX = re\n", folder=tmp_path / "behind")
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path / "behind")])
    assert by_us() == [("X", "json", "some-name", "2.0")]


def test_a_source_folder_takes_precedence_over_an_installed_build(site, tmp_path, monkeypatch):
    """Where a package is worked on its metadata has no version in its name."""
    site("some-name", f"[{GROUP}]\nX = re\n", version="2.0")
    sources = tmp_path / "sources"
    (sources / "some_name.egg-info").mkdir(parents=True)
    (sources / "some_name.egg-info" / "PKG-INFO").write_text("Name: some-name\nVersion: 2.1\n")
    (sources / "some_name.egg-info" / "entry_points.txt").write_text(f"[{GROUP}]\nX = json\n")
    monkeypatch.syspath_prepend(str(sources))
    assert by_us() == by_the_library() == [("X", "json", "some-name", "2.1")]


def test_entry_points_in_an_archive_are_found(tmp_path, monkeypatch):
    archive = tmp_path / "packed.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("packed-1.0.dist-info/METADATA", "Name: packed\nVersion: 1.0\n")
        file.writestr("packed-1.0.dist-info/entry_points.txt", f"[{GROUP}]\nX = json\n")
    monkeypatch.syspath_prepend(str(archive))
    assert by_us() == by_the_library() == [("X", "json", "packed", "1.0")]


def test_a_finder_of_somebodys_own_is_asked(monkeypatch):
    class Finder:
        @staticmethod
        def find_spec(*_):
            return None

        @staticmethod
        def find_distributions(context=None):
            return iter([Known()])

    class Known(metadata.Distribution):
        def read_text(self, name):
            entries = f"[{GROUP}]\nX = a"
            texts = {"METADATA": "Name: held\nVersion: 3\n", "entry_points.txt": entries}
            return texts.get(name)

        def locate_file(self, path):
            raise FileNotFoundError(path)

    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, Finder()])
    assert by_us() == [("X", "a", "held", "3")]


def test_invalid_path_entries_are_ignored(site, tmp_path, monkeypatch):
    site("one", f"[{GROUP}]\nX = json\n")
    (tmp_path / "broken-1.dist-info").write_text("a file where a folder should be")
    monkeypatch.setattr(sys, "path", ["", tmp_path, str(tmp_path / "missing"), *sys.path])
    assert by_us() == [("X", "json", "one", "1.0")]


def test_several_groups_are_read_at_once(site):
    site("one", f"[{GROUP}]\nX = json\n\n[{GROUP}.more]\ny = json\n")
    found = [(entry.group, entry.name) for entry in entry_points(GROUP, f"{GROUP}.more")]
    assert found == [(GROUP, "X"), (f"{GROUP}.more", "y")]
