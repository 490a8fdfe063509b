"""Launchers: start a program as several processes, by the plugin that can.

A distribution names a function in the entry-point group ``weft.launchers``: it is called with the
number of processes, and with the program and its arguments, and returns the exit code.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import entry_points

from weft.base.errors import CapabilityError

GROUP = "weft.launchers"


def launch(processes: int, program: Sequence[str]) -> int:
    """Run a program as several processes; returns the exit code.

    :raises CapabilityError: if no installed package launches several processes.
    """
    for found in sorted(entry_points(group=GROUP), key=lambda one: one.name):
        return int(found.load()(processes, program))
    raise CapabilityError(
        "nothing here starts a program as several processes",
        asked=f"{processes} processes of {program[0]}",
        because=f"no installed package has an entry point in {GROUP}",
        try_="install a plugin for programs of several processes; README.md lists the plugins",
    )
