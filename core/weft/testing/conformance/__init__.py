"""What every device must keep, as tests that a plugin's author runs::

    pip install "weft[test]" weft-mine
    pytest --pyargs weft.testing.conformance --weft-device MINE

A storage device is named with its locator; ``{tmp}`` in it becomes a fresh folder for each test, as
in ``--weft-device "MINE:{tmp}/kit.bin"``. What a device does not declare is skipped with that
reason, so the report is the device's capability sheet.
"""
