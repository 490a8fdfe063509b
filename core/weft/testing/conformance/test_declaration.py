"""The declaration of the plugin is consistent."""

from __future__ import annotations

import subprocess
import sys

import pytest

from weft.base.dtype import dtypes
from weft.device import Capabilities, DeviceId, Feature, PluginState, Target, registry
from weft.device.hookspecs import API_VERSION


def plugin_of(device):
    return registry.current().plugins_of(device.id.family)[0]


def test_the_plugin_is_loaded_and_has_our_version(weft_device):
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


def test_what_is_declared_holds_together(weft_device, weft_compute):
    """No field promises what another takes back."""
    limits, dtypes_of = weft_compute.limits, weft_compute.dtypes
    wrong = []

    def must(holds, words):
        if not holds:
            wrong.append(words)

    grouped = limits.local_size is not None
    for feature in (Feature.BARRIER, Feature.SHARED, Feature.WARP_REDUCE):
        must(grouped or not weft_compute.has(feature), f"{feature} needs a local_size")
    must(limits.shared_bytes > 0 or not weft_compute.has(Feature.SHARED), "shared: of no bytes")
    must(weft_compute.has(Feature.SHARED) or not limits.shared_bytes, "shared_bytes, not shared")
    must(not grouped or limits.global_size is not None, "groups need a launch grid")
    must(not grouped or (limits.local_threads or 0) > 0, "local_size needs local_threads")
    lanes = weft_compute.warp_size
    must(lanes & (lanes - 1) == 0, "warp_size is a power of two, or 0")
    must(lanes > 1 or not weft_compute.has(Feature.WARP_REDUCE), "warp_reduce needs a warp_size")
    must({dtypes.int32, dtypes.bool} <= dtypes_of, "every kernel needs int32 and bool")
    must(set(weft_compute.vector_widths) <= dtypes_of, "vector_widths of a dtype it lacks")
    for core in weft_compute.tensor_cores:
        must({core.dtype_in, core.dtype_out} <= dtypes_of, f"{core.name}: dtypes it lacks")
        must(grouped or core.threads == 1, f"{core.name}: its lanes need a local_size")
    assert not wrong, wrong


def test_the_machine_model_holds_together(weft_device, weft_compute):
    """Its sizes are sizes of caches, pages and banks; it knows an operation once."""
    machine, wrong = weft_compute.machine, []

    def must(holds, words):
        if not holds:
            wrong.append(words)

    for name in ("line_bytes", "page_bytes", "bank_bytes"):
        size = getattr(machine, name)
        must(size & (size - 1) == 0, f"{name} is a power of two: {size}")
    must(machine.line_bytes <= machine.page_bytes, "a line is longer than a page")
    must(machine.line_bytes <= machine.l1_bytes, "a line is larger than the first-level cache")
    must(machine.l1_bytes <= machine.l2_bytes, "l1_bytes is above l2_bytes")
    must(not machine.last_level_bytes or machine.l1_bytes <= machine.last_level_bytes,
         "l1_bytes is above cache_bytes")  # fmt: skip
    known = [(one.op, one.dtype) for one in machine.throughputs]
    must(len(known) == len(set(known)), "two throughputs of one operation and dtype")
    for one in machine.throughputs:
        must(one.dtype in weft_compute.dtypes, f"a throughput of {one.dtype!r}, which it lacks")
    assert not wrong, wrong


def test_importing_the_plugin_loads_no_other_library(weft_device):
    plugin = plugin_of(weft_device)
    if not hasattr(plugin.module, "__file__"):
        pytest.skip("registered by hand: there is nothing to import")
    code = (
        "import sys, ctypes, weft.plugin\n"
        "before = {name for name in sys.modules}\n"
        f"import {plugin.module.__name__}\n"
        "new = {name.partition('.')[0] for name in set(sys.modules) - before}\n"
        "print(*sorted(new & {'numpy', 'pycuda', 'cuda', 'pyopencl', 'objc', 'Metal', 'torch'}))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    loaded = done.stdout.strip()
    assert not loaded, (
        f"import {plugin.module.__name__} imports {loaded}: `weft devices` imports every plugin: "
        "what is slow or may be missing is imported where it is first used, in weft_open at the "
        "earliest"
    )
