"""The examples' own folder is where their shared code is imported from, as when they are run."""

import sys
from pathlib import Path

EXAMPLES = str(Path(__file__).resolve().parents[2] / "examples")

if EXAMPLES not in sys.path:
    sys.path.insert(0, EXAMPLES)
