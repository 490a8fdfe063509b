"""Command-line tools: everything behind the ``weft`` command."""
