"""Third-party packages, installed together: a fault of one is a line about it,
and does not affect the others. They are real distributions on a path."""

import os
import subprocess
import sys

import pytest

SOUND = """
from weft.plugin import Allocator, Capabilities, Device, DeviceFamily, hookimpl

weft_api = (1, 0)


class Memory(Allocator):
    def allocate(self, nbytes, hints):
        return memoryview(bytearray(nbytes))

    def copy_in(self, dst, src):
        dst[:] = src

    def copy_out(self, dst, src):
        dst[:] = src


@hookimpl
def weft_devices():
    return [DeviceFamily("FAMILY", computes=False, about="it stores")]


@hookimpl
def weft_open(id):
    return Device(id, Capabilities())


@hookimpl
def weft_allocator():
    return Memory()
"""


def changed(old, new):
    assert old in SOUND
    return SOUND.replace(old, new)


COMPUTES = changed("computes=False, ", "priority=900, ").replace(
    "import Allocator,", "import Allocator, ComputeCaps, CStyleRenderer,"
).replace("Capabilities()", "Capabilities(compute=ComputeCaps())")  # fmt: skip
OPENED = "return Device(id, Capabilities())"
DECLARED = 'return [DeviceFamily("FAMILY", computes=False, about="it stores")]'

STRANGERS = {
    "SOUND": (SOUND, "ready", "stores, does not compute"),
    "LOUD": ("print('hello from a plugin')\n" + SOUND, "ready", "stores"),
    "NODRIVER": (
        changed(OPENED, "raise DeviceUnavailable('no card', because='no driver')").replace(
            "hookimpl\n", "DeviceUnavailable, hookimpl\n", 1
        ),
        "unavailable",
        "no card: no driver",
    ),
    "CRASHES": ("import a_library_that_is_not_there\n", "import failed", "No module named 'a_libr"),
    "DIVIDES": ("1 / 0\n", "import failed", "ZeroDivisionError: division by zero"),
    "MISSPELT": ("import weft.plugin as\n", "import failed", "SyntaxError"),
    "LEAVES": ("raise SystemExit(3)\n", "import failed", "SystemExit: 3"),
    "STALE": (changed("(1, 0)", "(0, 9)"), "incompatible", "so the plugin is the older side"),
    "EARLY": (changed("(1, 0)", "(1, 99)"), "incompatible", "so weft is the older side"),
    "NEXT": (changed("(1, 0)", "(2, 0)"), "incompatible", "so weft is the older side"),
    "MUTE": (changed("weft_api = (1, 0)", ""), "import failed", "must state the version"),
    "NUMBER": (changed(DECLARED, "return 7"), "import failed", "list of families: it gave an int"),
    "OTHERS": (changed('"FAMILY"', '"ELSE"'), "import failed", "no family of that name"),
    "LOWER": (changed('"FAMILY"', '"family"'), "import failed", "plain upper-case name"),
    "URGENT": (changed('about="it', 'priority="high", about="it'), "import failed", "priority of"),
    "TYPO": (changed("def weft_allocator", "def weft_alocator"), "import failed", "no hook weft_"),
    "NAMES": (changed("weft_open(id)", "weft_open(it)"), "import failed", "no argument 'it'"),
    "OPENSTEXT": (changed(OPENED, "return 'me'"), "broken", "weft_open must return Device: it re"),
    "OPENSODD": (
        changed(OPENED, "class Odd:\n        __repr__ = None\n    return Odd()"),
        "broken",
        "it returned Odd a Odd whose repr raises TypeError",
    ),
    "WRONGCAPS": (changed("Capabilities()", "Capabilities('all')"), "broken", "memory of Capabil"),
    "WRONGTYPE": (
        COMPUTES.replace("ComputeCaps()", "ComputeCaps(dtypes=['float'])"), "broken", "dtypes of",
    ),
    "EMPTY": (changed("return Memory()", "return None"), "broken", "weft_allocator must return A"),
    "SILENT": (COMPUTES, "broken", "no plugin renders kernels for this device"),
    "BADPART": (
        COMPUTES + "\n\n@hookimpl\ndef weft_renderer():\n    return 1 / 0\n", "broken", "ZeroDiv",
    ),
    "MISLOCATES": (
        SOUND + "\n\n@hookimpl\ndef weft_locate(source):\n    raise KeyError(source)\n",
        "ready",
        "",
    ),
    "HOST": (SOUND, "import failed", "HOST belongs to weft itself: weft-host 1.0 declares it"),
    "REF": (SOUND, "import failed", "REF belongs to weft itself"),
}  # fmt: skip
"""Per family: its package's source, the reported state, and a part of the line."""


def distribution(folder, name, family, text):
    """A package and its metadata, as an installer leaves them."""
    package = name.replace("-", "_")
    (folder / f"{package}.py").write_text(text.replace("FAMILY", family))
    metadata = folder / f"{package}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[weft.devices]\n{family} = {package}\n")


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """``python(*arguments, **environment)`` where all of them are installed, and TWICE twice."""
    folder = tmp_path_factory.mktemp("site")
    for family, (text, _, _) in STRANGERS.items():
        distribution(folder, f"weft-{family.lower()}", family, text)
    for name in ("weft-one", "weft-two"):
        distribution(folder, name, "TWICE", SOUND)
    (folder / "gone-1.0.dist-info").mkdir()
    (folder / "gone-1.0.dist-info" / "METADATA").write_text("Name: weft-gone\nVersion: 1.0\n")
    points = "[weft.devices]\nGONE = a_module_that_was_removed\nnot a name! = weft_sound\n"
    (folder / "gone-1.0.dist-info" / "entry_points.txt").write_text(points)
    path = os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH"))))

    def run(*arguments, **environment):
        return subprocess.run(
            [sys.executable, *arguments], capture_output=True, text=True, timeout=120,
            env={**os.environ, "PYTHONPATH": path, **environment},
        )  # fmt: skip

    return run


@pytest.fixture(scope="module")
def listing(python):
    done = python("-m", "weft.tools.cli", "devices")
    assert "Traceback" not in done.stderr, done.stderr
    return done


def lines_of(listing, family, distribution):
    """The lines about one of them; the core's own family of that name has another."""
    lines = listing.stdout.splitlines()
    return [line for line in lines if line.startswith(f"{family} ") and distribution in line]


@pytest.mark.parametrize("family", STRANGERS)
def test_each_is_one_clear_line(family, listing):
    _, state, words = STRANGERS[family]
    (line,) = lines_of(listing, family, f"weft-{family.lower()} 1.0")
    assert f" {state} " in line and words in line, line


def test_two_owners_of_a_family_are_both_reported(listing):
    lines = lines_of(listing, "TWICE", "weft-")
    assert len(lines) == 2
    assert all("weft-one 1.0 and weft-two 1.0 both declare it" in line for line in lines)


def test_metadata_without_a_module_and_names_that_are_none(listing):
    (line,) = lines_of(listing, "GONE", "weft-gone")
    assert "No module named 'a_module_that_was_removed'" in line
    (line,) = lines_of(listing, "NOT A NAME!", "weft-gone")
    assert "import failed" in line


def test_the_table_has_nothing_else_in_it(listing):
    assert "hello from a plugin" not in listing.stdout and "hello" in listing.stderr
    assert listing.stdout.startswith("family ")


def test_other_plugins_are_not_affected(python, tmp_path):
    """The core's own devices compute, files are found, and a default is chosen if one is there."""
    (tmp_path / "numbers.bin").write_bytes(bytes(range(10)))
    code = f"""
from weft import Device, Tensor
from weft.base.errors import DeviceUnavailable, UnknownDevice
from weft.device import registry

assert (Tensor([1, 2, 3], device="REF") * 2).to("HOST").tolist() == [2, 4, 6]
assert Tensor([1, 2, 3], device="SOUND").tolist() == [1, 2, 3]
try:
    assert Device.DEFAULT not in ("SILENT", "BADPART", "WRONGTYPE")
    assert (Tensor([1, 2, 3]) + 1).tolist() == [2, 3, 4]
except DeviceUnavailable as error:
    assert "SILENT" in str(error) and "BADPART: PluginError" in str(error)
try:
    print(registry.locate({str(tmp_path / "numbers.bin")!r}))
except UnknownDevice as error:
    assert "weft-mislocates 1.0 failed: KeyError" in str(error)
"""
    done = python("-c", code, WEFT_DEVICE="")
    assert done.returncode == 0, done.stderr


def test_every_question_can_be_seen(python):
    code = "from weft.device import registry\nregistry.open('SOUND')\nregistry.open('NODRIVER')"
    done = python("-c", code, WEFT_TRACE_PLUGINS="1")
    asked = [line for line in done.stderr.splitlines() if line.startswith("weft_")]
    assert asked[0].startswith("weft_devices() -> [[DeviceFamily(name='SOUND'")
    assert asked[1].startswith(
        "weft_open(id=DeviceId(family='SOUND', locator='0')) -> <Device SOUND>"
    )
    assert asked[-1].endswith("raised DeviceUnavailable: no card: no driver")


DIALECT = (
    COMPUTES.replace("priority=900", "priority=-1").replace(
        "CStyleRenderer, ", "CDialect, CStyleRenderer, "
    )
    + """

@hookimpl
def weft_renderer():
    return CStyleRenderer(CDialect(preamble="// as it was first\\n"))


@hookimpl
def weft_runner(program):
    print(program.source)
    return lambda handles, **sizes: None
"""
)


def test_an_edit_of_a_plugins_file_is_seen_by_the_next_process(tmp_path):
    """Its own file counts even where its renderer is weft's, and it is a module alone in a folder
    of many."""
    distribution(tmp_path, "weft-edited", "EDITED", DIALECT)
    file = tmp_path / "weft_edited.py"
    fixed = DIALECT.replace("FAMILY", "EDITED").replace(
        "Capabilities(compute", "Capabilities(fingerprint='always the same', compute"
    )
    path = os.pathsep.join(filter(None, (str(tmp_path), os.environ.get("PYTHONPATH"))))
    environment = {**os.environ, "PYTHONPATH": path, "WEFT_CACHE_DIR": str(tmp_path / "cache")}
    code = "from weft import Tensor; (Tensor.empty(4, device='EDITED') + 1).realize()"
    for text in ("as it was first", "as it was first", "as it is now"):
        file.write_text(fixed.replace("as it was first", text))
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, timeout=120,
            env=environment,
        )  # fmt: skip
        assert f"// {text}" in done.stdout, done.stdout + done.stderr
