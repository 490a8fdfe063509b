"""The CUDA plugin's tests import it; where it is not installed they are skipped as a whole. Those
of `doubled` need the test doubles from the start of their process (see test_on_doubles.py)."""

import importlib.util
import os

collect_ignore_glob = [] if importlib.util.find_spec("weft_cuda") else ["*"]
if "SIMT_HEADER" not in os.environ:
    collect_ignore_glob.append("doubled/*")
