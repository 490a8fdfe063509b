import json
from types import SimpleNamespace

import pytest

from weft.base.errors import DeviceUnavailable, UnknownDevice
from weft.device import Capabilities, Device, DeviceId, Plugin, Registry, registry
from weft.device.hookspecs import hookimpl
from weft.plugin import API_VERSION
from weft.testing.fakes import fake_capabilities, fake_computer, fake_plugin
from weft.tools import cli
from weft.tools.commands import devices


def installed(family, module=None, error=None):
    def load():
        if error is not None:
            raise error
        return module

    return Plugin(family, f"weft-{family.lower()}", "2.0", family, SimpleNamespace(load=load))


def refusing(family, error):
    def refuse(id):
        raise error

    return opening(family, refuse)


def opening(family, opened):
    """A plugin whose weft_open gives what `opened` makes of an id."""
    module = fake_plugin(family)

    @hookimpl
    def weft_open(id):
        return opened(id)

    module.weft_open = weft_open
    return module


def declaring(family, answer):
    """A plugin whose weft_devices gives this."""
    module = fake_plugin(family)
    module.weft_devices = hookimpl(lambda: answer, specname="weft_devices")
    return module


@pytest.fixture
def rows():
    path_wanted = fake_plugin("FILES", computes=False, canonical=refuse)
    plugins = [
        installed("READY", fake_computer("READY", max_buffers=8)),
        installed("GONE", refusing("GONE", DeviceUnavailable("no card", because="no driver"))),
        installed("BROKEN", error=ImportError("libx.so")),
        installed("OLD", fake_plugin("OLD", api=(0, 1))),
        installed("FILES", path_wanted),
    ]
    with registry.use(Registry(plugins)):
        yield {row.family: row for row in devices.collect()}


def refuse(locator):
    raise UnknownDevice("a path is needed", try_='"FILES:/x"')


def test_states_and_causes(rows):
    assert {family: row.state for family, row in rows.items()} == {
        "READY": "ready",
        "GONE": "unavailable",
        "BROKEN": "import failed",
        "OLD": "incompatible",
        "FILES": "by name",
    }
    assert rows["READY"].default and rows["READY"].cause == ""
    assert rows["GONE"].cause == "DeviceUnavailable: no card: no driver"
    assert rows["BROKEN"].cause == "ImportError: libx.so"
    assert "weft-old 2.0" in rows["OLD"].cause
    assert rows["FILES"].cause == 'named as "FILES:/x"'
    assert all(
        row.distribution.startswith("weft-") and row.version == "2.0" for row in rows.values()
    )


def test_json_is_complete(rows, capsys):
    assert cli.main(["devices", "--json"]) == 0
    found = {row["family"]: row for row in json.loads(capsys.readouterr().out)}
    compute = found["READY"]["capabilities"]["compute"]
    assert compute["limits"]["max_buffers"] == 8
    assert "float" in compute["dtypes"]
    assert found["READY"]["api"] == list(API_VERSION) and found["BROKEN"]["api"] is None
    assert found["GONE"]["state"] == "unavailable"


def test_the_table_names_everyone(rows, capsys):
    assert cli.main(["devices"]) == 0
    printed = capsys.readouterr().out
    lines = printed.splitlines()
    assert len(lines) == 6 and lines[0].startswith("family")
    assert any("READY (default)" in line and "8 buffers a kernel" in line for line in lines)
    assert any("libx.so" in line for line in lines)


def test_the_coloured_table(rows, capsys):
    pytest.importorskip("rich")
    devices._print_rich(list(rows.values()))
    printed = capsys.readouterr().out
    assert "READY" in printed and "import failed" in printed


def test_no_default_device_is_an_exit_code(capsys):
    with registry.use(Registry([installed("BROKEN", error=ImportError("x"))])):
        assert cli.main(["devices"]) == 1
    assert "BROKEN" in capsys.readouterr().out


def lying(id):
    return Device(id, Capabilities())


def half_lying(id):
    return Device(id, fake_capabilities())


BAD = {
    "crashes at import": (lambda: installed("BAD", error=ImportError("libx.so\n...")), "libx.so"),
    "leaves at import": (lambda: installed("BAD", error=SystemExit(3)), "SystemExit: 3"),
    "is no module": (lambda: installed("BAD", None), "state the version"),
    "declares a number": (lambda: installed("BAD", declaring("BAD", 42)), "it gave an int"),
    "declares nothing": (lambda: installed("BAD", declaring("BAD", [])), "no family of that name"),
    "opens a text": (
        lambda: installed("BAD", opening("BAD", str)), "return Device: it returned str",
    ),
    "opens nothing": (
        lambda: installed("BAD", opening("BAD", lambda id: None)), "it returned nothing",
    ),
    "opens another": (
        lambda: installed("BAD", opening("BAD", lambda id: Device(DeviceId("X"), Capabilities()))),
        "must return the requested device: it returned X",
    ),
    "fails to open": (lambda: installed("BAD", refusing("BAD", KeyError("k"))), "KeyError: 'k'"),
    "says nonsense of itself": (
        lambda: installed("BAD", opening("BAD", lambda id: Device(id, "everything"))),
        "must return Capabilities: it returned str",
    ),
    "says it computes": (lambda: installed("BAD", opening("BAD", lying)), "no ComputeCaps"),
    "renders nothing": (lambda: installed("BAD", opening("BAD", half_lying)), "no plugin renders"),
    "is too old": (lambda: installed("BAD", fake_plugin("BAD", api=(0, 1))), "plugin is the older"),
    "is too new": (lambda: installed("BAD", fake_plugin("BAD", api=(9, 0))), "weft is the older"),
}  # fmt: skip


@pytest.mark.parametrize("bad", BAD)
def test_a_bad_plugin_is_one_clear_line_and_does_not_affect_others(bad, capsys):
    make, said = BAD[bad]
    with registry.use(Registry([make(), installed("GOOD", fake_computer("GOOD"))])):
        assert cli.main(["devices"]) == 0
        printed = capsys.readouterr().out.splitlines()
        assert str(registry.open("GOOD").id) == "GOOD"
        assert str(registry.default()) == "GOOD"
    (line,) = [line for line in printed if line.startswith("BAD ")]
    assert said in line and "weft-bad 2.0" in line and "ready" not in line
    (line,) = [line for line in printed if line.startswith("GOOD (default)")]
    assert " ready " in line


def test_a_family_owned_twice_is_reported_for_both(capsys):
    one, two = (installed("TWICE", fake_plugin("TWICE")) for _ in range(2))
    one.distribution, two.distribution = "weft-first", "weft-second"
    with registry.use(Registry([one, two, installed("GOOD", fake_computer("GOOD"))])):
        assert cli.main(["devices"]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("TWICE")]
    assert len(lines) == 2
    assert all("weft-first 2.0 and weft-second 2.0 both declare it" in line for line in lines)
