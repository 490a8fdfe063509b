"""``import weft`` is quick: no NumPy, no ctypes, no plugin, no device opened."""

import subprocess
import sys

import pytest

HEAVY = ("numpy", "ctypes", "torch", "rich", "hypothesis", "pytest", "sqlite3", "ml_dtypes")


def modules_after(statement):
    code = f"import sys\n{statement}\nprint('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def test_import_weft():
    loaded = modules_after("import weft")
    heavy = [name for name in HEAVY if name in loaded]
    assert heavy == [], f"import weft pulls {heavy}"
    assert not any(name.startswith("weft_") for name in loaded)
    assert not any(name.startswith(("weft.host", "weft.testing", "weft.tools")) for name in loaded)


def test_import_of_the_plugin_api():
    loaded = modules_after("import weft.plugin")
    assert not {"numpy", "ctypes"} & loaded
    assert not any(name.startswith("weft_") for name in loaded)


def test_listing_devices_imports_no_plugin():
    statement = "from weft.device import catalogue; assert list(catalogue)"
    loaded = modules_after(statement)
    assert not any(name.startswith(("weft_", "weft.host", "weft.testing")) for name in loaded)


@pytest.mark.parametrize("plugin", ["weft_cuda", "weft_metal", "weft_opencl"])
def test_plugins_of_devices_that_are_missing_import_little(plugin):
    pytest.importorskip(plugin, reason=f"{plugin} is not installed")
    loaded = modules_after(f"import {plugin}; {plugin}.weft_devices()")
    light = {plugin, f"{plugin}.locators"}
    assert {name for name in loaded if name.startswith("weft_")} <= light
    assert not any(name.startswith("weft.codegen") for name in loaded)
