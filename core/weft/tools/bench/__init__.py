"""`weft bench`: what the kernels of a program take, and how far that is from what a device can do.

| room | what it does |
|---|---|
| `meter.py` | listens to a program that runs: which kernels, how often, how long |
| `peaks.py` | what a device can do at most: multiply-adds and copies, measured once |
| `table.py` | both as a table |
| `perfetto.py` | what ran when, as trace events that Perfetto opens |
| `roofline.py` | kernels under their roof, as a picture |
| `tried.py` | what a search tried for one kernel |
"""
