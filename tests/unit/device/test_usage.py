from weft.device.usage import Usage


def test_peak_and_reset():
    usage = Usage()
    usage.allocated("A", 100)
    usage.allocated("B", 50)
    usage.freed("A", 100)
    assert (usage.resident, usage.peak) == (50, 150)
    assert dict(usage.by_device) == {"A": 0, "B": 50}
    usage.reset_peak()
    assert usage.peak == 50
