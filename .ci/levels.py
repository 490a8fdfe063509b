"""Lists the levels of x86-64 that this processor executes, and which tests each one needs.

Prints ``LEVEL all``, or ``LEVEL like OTHER`` where the code that is generated equals that of OTHER,
a level above or the processor itself, which the tests ran on before. Packed dot products do not
count: what generates them are the plugin's own tests, which run at each level.
"""

from __future__ import annotations

import os
from dataclasses import replace

from weft.plugin import DeviceUnavailable
from weft_cpu_clang.levels import LEVELS, NATIVE, VARIABLE
from weft_cpu_clang.toolchain import Facts, find_toolchain


def generated(facts: Facts) -> Facts:
    """What code depends on, of the features of a compiler and processor."""
    return replace(facts, flags=(), level="", version="", pairs=())


def main() -> None:
    """Print a line for each level."""
    tested: dict[Facts, str] = {}
    for level in (NATIVE, *reversed(LEVELS)):
        os.environ[VARIABLE] = level
        find_toolchain.cache_clear()
        try:
            facts = generated(find_toolchain().facts)
        except DeviceUnavailable:
            continue
        if level != NATIVE:
            print(level, f"like {tested[facts]}" if facts in tested else "all", flush=True)
        tested.setdefault(facts, level)


if __name__ == "__main__":
    main()
