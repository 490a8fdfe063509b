"""Small real data sets that travel with the package."""

from weft.nn.datasets.digits import Digits, load_digits

__all__ = ["Digits", "load_digits"]
