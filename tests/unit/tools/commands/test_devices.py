import json
from types import SimpleNamespace

import pytest

from weft.base.dtype import dtypes
from weft.base.errors import DeviceUnavailable, UnknownDevice
from weft.device import ComputeCaps, Plugin, Registry, registry
from weft.device.hookspecs import hookimpl
from weft.testing.fakes import fake_capabilities, fake_plugin
from weft.tools import cli
from weft.tools.commands import devices


def installed(family, module=None, error=None):
    def load():
        if error is not None:
            raise error
        return module

    return Plugin(family, f"weft-{family.lower()}", "2.0", family, SimpleNamespace(load=load))


def refusing(family, error):
    module = fake_plugin(family)

    @hookimpl
    def weft_open(id):
        raise error

    module.weft_open = weft_open
    return module


@pytest.fixture
def rows():
    path_wanted = fake_plugin("FILES", computes=False, canonical=refuse)
    plugins = [
        installed("READY", fake_plugin("READY", capabilities=fake_capabilities(max_buffers=8))),
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
    assert found["READY"]["api"] == [1, 0] and found["BROKEN"]["api"] is None
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


def test_plain_types():
    caps = ComputeCaps(dtypes={dtypes.float32}, vector_widths={dtypes.float32: (4, 8)})
    plain = devices._plain(caps)
    assert plain["dtypes"] == ["float"] and plain["vector_widths"] == {"float": [4, 8]}
