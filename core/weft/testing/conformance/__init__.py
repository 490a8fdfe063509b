"""What every device must keep, as tests that a plugin's author runs::

    pip install "weft[test]" weft-mine
    pytest --pyargs weft.testing.conformance --weft-device MINE

A storage device is named with its locator; ``{tmp}`` in it becomes a fresh folder for each test, as
in ``--weft-device "MINE:{tmp}/kit.bin"``. What a device does not declare is skipped with that
reason. ``--weft-xfails FILE`` lists tests that are expected to fail, with reasons; one that passes
all the same is an error, and so is a line that names none. ``--weft-report PATH`` writes the
device's capability sheet as Markdown, JSON or HTML (``weft.testing.report``).
"""
