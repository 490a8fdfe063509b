"""The CPU as a weft device."""
