"""The hand-written choice of optimisations."""

from __future__ import annotations

from collections.abc import Sequence

from weft.codegen.opt.kernel import Kernel
from weft.codegen.opt.opts import Opt


def choose(kernel: Kernel) -> Sequence[Opt]:
    """The optimisations for a kernel."""
    return ()
