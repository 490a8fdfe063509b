"""Device properties: read the properties of an OpenCL device, and derive its capabilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from weft.plugin import (
    COMMON_DTYPES,
    Capabilities,
    ComputeCaps,
    Feature,
    KernelLimits,
    MachineModel,
    MemoryCaps,
    access_widths,
    dtypes,
)

FUSED = 1 << 5
"""CL_FP_FMA: a fused multiply-add in hardware."""
CORRECT_DIVISION = 1 << 7
"""CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT: division and square root of float32 can be exact."""
FINE_GRAINED = 1 << 1
"""CL_DEVICE_SVM_FINE_GRAIN_BUFFER: host and device may use the same bytes without mapping them."""
POINTER_BYTES = 8
FOR_VARIABLES = 128
"""Bytes of a kernel's parameters that are left for the values of variables."""
SLOW_COMPILER = "PoCL 3."
"""In the version of a platform whose linked binaries hold code for groups of any size, which costs
as much to make as the code of a launch, made all the same (its objects hold none), and which reads
the declarations of all functions before every kernel (see `weft_opencl.declarations`)."""
MOST_GROUPS = (1 << 31) - 1
WIDEST = 16
"""Bytes: the widest access that is one transaction everywhere."""
ROWS = 1 << 14
"""Bytes of a local row: on a processor's stack, or in local memory."""


@dataclass(frozen=True)
class Facts:
    """The answers that code generation and memory depend on; defaults are the least of OpenCL 1.2.

    :param name: of the device, for people.
    :param versions: of platform, device, driver and language: what compiled code is keyed to.
    :param processor: it is a CPU: private memory is stack, and there is no warp.
    :param double: float64.
    :param half: float16.
    :param fused: multiply-add that rounds once, and is quick.
    :param exact_division: float32 division and square root have an exact mode.
    :param modern: its language is OpenCL C 1.2 or newer.
    :param objects: compiling without linking gives all that can be cached, and is faster.
    :param own_declarations: kernels compile quicker if they declare what they call.
    :param group: the largest extent of a work group per dimension.
    :param group_items: the most work items of one group.
    :param shared_bytes: local memory.
    :param parameter_bytes: of all arguments of a kernel.
    :param largest: the largest buffer in bytes.
    :param alignment: of sub-buffers in bytes.
    :param image_size: (width, height) of the largest image; None: no images.
    :param windows: the host can see its memory while kernels use it.
    :param link: who shares its context.
    :param compute_units: that compute side by side; 0: not said.
    :param line_bytes: of a line of the cache of global memory; 0: not said.
    """

    name: str
    versions: str
    processor: bool = False
    double: bool = False
    half: bool = False
    fused: bool = False
    exact_division: bool = False
    modern: bool = True
    objects: bool = False
    own_declarations: bool = False
    group: tuple[int, int, int] = (1, 1, 1)
    group_items: int = 1
    shared_bytes: int = 32 << 10
    parameter_bytes: int = 1024
    largest: int | None = None
    alignment: int = 128
    image_size: tuple[int, int] | None = None
    windows: bool = False
    link: str | None = None
    compute_units: int = 0
    line_bytes: int = 0


OFFLINE = {
    "pocl": Facts(
        name="PoCL on an x86-64 processor",
        versions="offline pocl",
        processor=True,
        double=True,
        fused=True,
        exact_division=True,
        group=(4096, 4096, 4096),
        group_items=4096,
        shared_bytes=1 << 20,
        image_size=(16384, 16384),
        windows=True,
    ),
    "gpu": Facts(
        name="a graphics processor as most are",
        versions="offline gpu",
        double=True,
        half=True,
        fused=True,
        group=(256, 256, 256),
        group_items=256,
        shared_bytes=32 << 10,
        image_size=(16384, 16384),
    ),
}
"""Devices that need not be present, by the name that ``weft_offline`` is given."""


def read(device: Any) -> Facts:
    """Ask a driver about one of its devices.

    :param device: a ``pyopencl.Device``.
    """
    import pyopencl

    extensions = set(device.extensions.split())
    single = _answer(device, "single_fp_config", 0)
    shared = _answer(device, "svm_capabilities", 0) & FINE_GRAINED
    platform, kinds = device.platform, pyopencl.device_type
    said = (platform.name, platform.version, device.name, device.version, device.driver_version,
            device.opencl_c_version)  # fmt: skip
    modern = _version(device.opencl_c_version) >= (1, 2)
    group = tuple(min(n, device.max_work_group_size) for n in device.max_work_item_sizes[:3])
    return Facts(
        name=f"{device.name.strip()} ({platform.name.strip()})",
        versions="; ".join(part.strip() for part in said),
        processor=bool(device.type & kinds.CPU) and not device.type & kinds.GPU,
        double=bool(_answer(device, "double_fp_config", 0)) or "cl_khr_fp64" in extensions,
        half="cl_khr_fp16" in extensions,
        fused=bool(single & FUSED),
        exact_division=bool(single & CORRECT_DIVISION),
        modern=modern,
        objects=SLOW_COMPILER in platform.version,
        own_declarations=SLOW_COMPILER in platform.version,
        group=(group[0], group[1], group[2]),
        group_items=device.max_work_group_size,
        shared_bytes=device.local_mem_size,
        parameter_bytes=device.max_parameter_size,
        largest=device.max_mem_alloc_size,
        alignment=max(1, device.mem_base_addr_align // 8),
        image_size=_image_size(device) if modern else None,
        windows=bool(shared and _answer(device, "host_unified_memory", 0)),
        link=f"OPENCL {device.int_ptr:x}",
        compute_units=_answer(device, "max_compute_units", 0),
        line_bytes=_answer(device, "global_mem_cacheline_size", 0),
    )


def _answer(device: Any, name: str, otherwise: int) -> int:
    """A query that older drivers do not know."""
    import pyopencl

    try:
        return int(getattr(device, name))
    except (pyopencl.Error, AttributeError):
        return otherwise


def _image_size(device: Any) -> tuple[int, int] | None:
    """The largest image; None where there are none. Who has images has those of four channels of
    float and half."""
    if not _answer(device, "image_support", 0):
        return None
    size = (_answer(device, "image2d_max_width", 0), _answer(device, "image2d_max_height", 0))
    return size if min(size) > 0 else None


def _version(text: str) -> tuple[int, ...]:
    """``"OpenCL C 1.2 more"`` -> (1, 2)."""
    words = text.split()
    try:
        return tuple(int(part) for part in words[2].split("."))
    except (IndexError, ValueError):
        return (1, 1)


def machine_model(facts: Facts) -> MachineModel:
    """The machine model from the properties of the driver, which has no throughputs or latencies.

    The cores of a processor are left out: its kernels are the same for any number of threads.
    """
    usual = MachineModel()
    return MachineModel(
        cores=0 if facts.processor else facts.compute_units,
        line_bytes=facts.line_bytes or usual.line_bytes,
    )


def describe(facts: Facts) -> Capabilities:
    """The same as capabilities."""
    known = set(COMMON_DTYPES)
    if not facts.double:
        known.discard(dtypes.float64)
    if facts.half:
        known.add(dtypes.float16)
    features = {Feature.BARRIER}
    if facts.shared_bytes:
        features.add(Feature.SHARED)
    if facts.processor:
        features.add(Feature.EMULATED_GROUPS)
    compute = ComputeCaps(
        dtypes=frozenset(known),
        limits=KernelLimits(
            max_buffers=max(1, (facts.parameter_bytes - FOR_VARIABLES) // POINTER_BYTES),
            global_size=(MOST_GROUPS, MOST_GROUPS, MOST_GROUPS),
            local_size=facts.group,
            local_threads=facts.group_items,
            shared_bytes=facts.shared_bytes,
            row_bytes=ROWS if facts.processor or facts.shared_bytes >= ROWS else 0,
            image_size=facts.image_size,
        ),
        features=frozenset(features),
        vector_widths={dtype: access_widths(dtype, WIDEST) for dtype in known},
        machine=machine_model(facts),
    )
    memory = MemoryCaps(
        alignment=facts.alignment, max_allocation=facts.largest, link_group=facts.link
    )
    return Capabilities(memory, compute, facts.name, facts.versions, speed=facts.name)
