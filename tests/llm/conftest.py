"""The tests of weft-llm, which are collected where it is installed."""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("weft_llm") else ["test_*.py"]


def pytest_report_header():
    """Say why nothing is collected."""
    return [] if find_spec("weft_llm") else ["tests/llm: skipped, weft-llm is not installed"]
