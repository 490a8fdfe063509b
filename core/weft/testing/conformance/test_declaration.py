"""What the plugin says of itself holds together."""

from __future__ import annotations

import subprocess
import sys

import pytest

from weft.device import Capabilities, DeviceId, PluginState, Target, registry
from weft.device.hookspecs import API_VERSION


def plugin_of(device):
    return registry.current().plugins_of(device.id.family)[0]


def test_the_plugin_is_loaded_and_speaks_our_version(weft_device):
    plugin = plugin_of(weft_device)
    assert plugin.state is PluginState.LOADED
    assert plugin.api is not None and plugin.api[0] == API_VERSION[0]


def test_the_locator_is_spelt_in_one_way(weft_device):
    canonical = weft_device.family.canonical
    once = canonical(weft_device.id.locator)
    assert once == weft_device.id.locator
    assert canonical(once) == once


def test_the_device_string_names_the_device(weft_device):
    assert registry.resolve(weft_device.name) == weft_device.id
    assert registry.open(weft_device.name) is weft_device
    family = weft_device.id.family.lower()
    assert registry.resolve(DeviceId(family, weft_device.id.locator)) == weft_device.id


def test_capabilities_are_data(weft_device):
    assert isinstance(weft_device.capabilities, Capabilities)
    assert hash(weft_device.capabilities) == hash(weft_device.capabilities)
    computes = weft_device.capabilities.compute is not None
    assert computes == weft_device.family.computes


def test_a_device_that_computes_has_all_its_parts(weft_device, weft_compute):
    assert isinstance(weft_device.target, Target)
    assert weft_device.capabilities.fingerprint, "compiled code must be keyed to something"
    assert weft_device.renderer.language
    if weft_device.compiler is not None:
        assert weft_device.compiler.fingerprint


def test_importing_the_plugin_loads_no_other_library(weft_device):
    plugin = plugin_of(weft_device)
    if not hasattr(plugin.module, "__file__"):
        pytest.skip("registered by hand: there is nothing to import")
    code = (
        "import sys, ctypes, weft.plugin\n"
        "before = {name for name in sys.modules}\n"
        f"import {plugin.module.__name__}\n"
        "new = {name.partition('.')[0] for name in set(sys.modules) - before}\n"
        "print(sorted(new & {'numpy', 'pycuda', 'cuda', 'pyopencl', 'objc', 'Metal', 'torch'}))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"
