"""Recovery: the ranks that are left go on as a smaller program when one is lost.
Also: user-level failure mitigation (ULFM), fault tolerance.

``mpirun --with-ft ulfm`` keeps the other ranks alive. Their next exchange raises `PeerLost`. All of
them call `shrink`, which numbers them anew, and load a checkpoint:

    try:
        loss = step(x, target).item()
    except PeerLost:
        shrink()
        mesh = Device.mesh(("data", current().size))
        ...  # make the model again, and nn.state.load_sharded(folder)

Source: Bland et al., "Post-failure recovery of MPI communication capability: Design and rationale",
International Journal of High Performance Computing Applications 27, 2013.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from weft.plugin import DeviceError, register


class PeerLost(DeviceError):
    """Ranks of this program have ended, and this rank may go on without them.

    :ivar ranks: their numbers, as far as this rank knows them.
    """

    ranks: tuple[int, ...] = ()


def is_enabled() -> bool:
    """Whether the program was started with ``--with-ft ulfm``: the others outlive a lost rank."""
    return os.environ.get("OMPI_MCA_mpi_ft_enable", "0") not in ("0", "false")


def is_loss(mpi: Any, error: Any) -> bool:
    """Whether a call of MPI failed because a rank has ended, or because another rank saw that."""
    if not isinstance(error, mpi.Exception):
        return False
    known = (mpi.ERR_PROC_FAILED, mpi.ERR_PROC_FAILED_PENDING, mpi.ERR_REVOKED)
    return error.Get_error_class() in known


def lost_ranks(mpi: Any, world: Any) -> tuple[int, ...]:
    """The ranks of a communicator that have ended."""
    failed = world.Get_failed()
    if not failed.size:
        return ()
    found = mpi.Group.Translate_ranks(failed, list(range(failed.size)), world.Get_group())
    return tuple(sorted(found))


def peer_lost(ranks: tuple[int, ...], what: str) -> PeerLost:
    """The error of a rank that waited for `what`."""
    names = ", ".join(map(str, ranks)) or "of unknown number"
    error = PeerLost(
        f"rank {names} of this program is lost",
        asked=what,
        because="its process has ended",
        try_="weft_mpi.recovery.shrink() on every rank that is left, then load a checkpoint",
    )
    error.ranks = ranks
    return error


def shrink() -> None:
    """Go on without the ranks that are lost. Every rank that is left calls it.

    The ranks are numbered anew, in their order. Tensors on the devices of ranks belong to the
    program before: make them again on a mesh of the ranks that are left.
    """
    from weft_mpi.process import current

    current().shrink()
    register(sys.modules["weft_mpi"], "MPI", "weft-mpi")  # closes the devices of the old ranks
