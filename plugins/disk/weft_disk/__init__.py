"""Files as weft devices."""
