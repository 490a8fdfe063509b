"""`weft bench`: the time of a program's kernels, compared with the limits of the device.

| module | what it does |
|---|---|
| `meter.py` | the kernels of a running program: number and time of runs |
| `peaks.py` | limits of a device: multiply-adds and copies, measured once |
| `table.py` | kernels and limits as a table |
| `perfetto.py` | the timeline as trace events for Perfetto |
| `roofline.py` | roofline plot |
| `tried.py` | the measured plans of one kernel |
"""
