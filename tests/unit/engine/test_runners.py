"""What can run: kernels, copies, windows."""

from weft.engine import run_schedule
from weft.testing.running import floats, read, scheduled


def test_copies_and_windows_run():
    x = floats(1, 2, 3, 4)
    items, result = scheduled(x.reshape((2, 2)).copy_to_device("HOST"))
    run_schedule(items)
    assert read(result) == [1, 2, 3, 4]
