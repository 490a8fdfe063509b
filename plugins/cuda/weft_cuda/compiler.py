"""Source to what the driver loads, by NVRTC: the chip's machine code, or PTX for chips it does not
know yet, which the driver translates."""

from __future__ import annotations

import hashlib
from functools import cached_property

from weft_cuda import defects
from weft_cuda.nvrtc import Nvrtc, find_nvrtc

OPTIONS = (
    "--std=c++17",
    # weft's arithmetic: every operation rounds by itself, subnormal numbers are kept, division
    # and square root are exact. What may be fused is written as such.
    "--fmad=false",
    "--ftz=false",
    "--prec-div=true",
    "--prec-sqrt=true",
    "--device-as-default-execution-space",
    "--disable-warnings",
)


class NvrtcCompiler:
    """Compiles kernels for one architecture.

    :param arch: such as ``"sm_80"``.
    :param nvrtc: the library; None: the first that is found, when it is first needed.
    """

    def __init__(self, arch: str, nvrtc: Nvrtc | None = None) -> None:
        self.arch = arch
        self._given = nvrtc

    @property
    def nvrtc(self) -> Nvrtc:
        """:raises DeviceUnavailable: if there is none."""
        return self._given or find_nvrtc()

    @cached_property
    def fingerprint(self) -> str:
        """The version, the architecture, the options."""
        version = ".".join(map(str, self.nvrtc.version))
        said = "\n".join((self.nvrtc.path, version, *self.options(binary=True)))
        return f"nvrtc-{version}-{self.arch}-{hashlib.sha256(said.encode()).hexdigest()[:16]}"

    @property
    def known(self) -> bool:
        """Whether NVRTC makes machine code for this architecture."""
        return _number(self.arch) in self.nvrtc.architectures

    def options(self, binary: bool) -> tuple[str, ...]:
        """The options for NVRTC."""
        if self.known:
            kind = "sm" if binary else "compute"
            return (f"--gpu-architecture={self.arch.replace('sm', kind, 1)}", *OPTIONS)
        number = _number(self.arch)
        newest = max((n for n in self.nvrtc.architectures if n <= number), default=number)
        return (f"--gpu-architecture=compute_{newest}", *OPTIONS)

    def compile(self, source: str, name: str) -> bytes:
        """Machine code ("cubin"), or PTX.

        :raises CompileError: with `source` and NVRTC's messages as `log`.
        """
        options = self.options(binary=True)
        made = self.nvrtc.compile(source, name, options)
        if not self.known:
            return made.ptx
        number, version = _number(self.arch), self.nvrtc.version
        if defects.is_compiled_wrongly(made.ptx, number, version):
            made = self.nvrtc.compile(source, name, (*options, defects.NO_OPTIMIZATION))
        return made.cubin

    def ptx(self, source: str, name: str) -> str:
        """PTX, for people. :raises CompileError: as `compile`."""
        made = self.nvrtc.compile(source, name, self.options(binary=False))
        return made.ptx.rstrip(b"\0").decode()


def _number(arch: str) -> int:
    return int("".join(c for c in arch if c.isdigit()))
